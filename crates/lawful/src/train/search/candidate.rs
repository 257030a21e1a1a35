//! One start on its way: its point, its precisions and its evidence.

use super::minimum::{Minimum, NoiseOfStates};
use super::process_noise::realisation;
use crate::least_squares::{
    Damping, Evidence, LevenbergMarquardt, Point, Precisions, Residuals, Stepped,
};
use crate::objective::PathResiduals;

/// Iterations before the evidence chooses precisions.
const BEFORE_EVIDENCE: f64 = 10.0;
/// Weight of laws beside that of measurements, and its factor in each round.
const LAWS: f64 = 10.0;
const ROUND: f64 = 10.0;
/// A stalled start has ended when its precisions change by less than this share.
const SETTLED: f64 = 1e-3;
/// Halvings of a start's output layer that cannot be solved.
const HALVINGS: usize = 10;

/// A start on its way.
pub(super) struct Candidate {
    residuals: PathResiduals,
    point: Point,
    method: LevenbergMarquardt,
    evidence: Evidence,
    precisions: Precisions,
    /// Its number among the starts.
    pub(super) number: usize,
    /// Log evidence at the last point; −∞ for a start that cannot be solved.
    pub(super) log_evidence: f64,
    /// ρ of laws, once multipliers are in use.
    fixed_weight: Option<f64>,
    steps: f64,
    ended: bool,
    weights: Vec<f64>,
    priors: Vec<f64>,
}

impl Candidate {
    /// The start at x. If its path cannot be solved, the output layer is halved until it can.
    pub(super) fn new(
        number: usize,
        mut residuals: PathResiduals,
        evidence: Evidence,
        mut x: Vec<f64>,
        output: std::ops::Range<usize>,
    ) -> Self {
        let mut point = Point::new(&mut residuals, x.clone());
        for _ in 0..HALVINGS {
            if point.is_some() {
                break;
            }
            x[output.clone()].iter_mut().for_each(|w| *w *= 0.5);
            point = Point::new(&mut residuals, x.clone());
        }
        let alive = point.is_some();
        let (m, n) = (residuals.residual_len(), residuals.parameter_len());
        let point = point.unwrap_or(Point { x, ..Point::default() });
        let mut candidate = Self {
            number,
            point,
            method: LevenbergMarquardt::new(Damping::default()),
            precisions: evidence.start(),
            log_evidence: f64::NEG_INFINITY,
            fixed_weight: None,
            steps: 0.0,
            ended: !alive,
            weights: vec![0.0; m],
            priors: vec![0.0; n],
            residuals,
            evidence,
        };
        candidate.assess();
        candidate
    }

    /// ρ of laws.
    pub(super) fn law_weight(&self) -> f64 {
        let beta = &self.precisions.beta;
        let now = LAWS * beta.iter().sum::<f64>() / beta.len() as f64;
        self.fixed_weight.unwrap_or(now)
    }

    /// Takes one step, and chooses the precisions at the accepted point.
    pub(super) fn iterate(&mut self) {
        if self.ended {
            return;
        }
        let law_weight = self.law_weight();
        let Self { residuals, point, method, evidence, precisions, weights, priors, .. } = self;
        evidence.weights(precisions, law_weight, weights, priors);
        let stepped = method.step(residuals, point, weights, priors);
        self.steps += 1.0;
        let mut change = 0.0_f64;
        if self.steps > BEFORE_EVIDENCE && evidence.measure(point, precisions, law_weight).is_ok() {
            let old = precisions.alpha.iter().chain(&precisions.beta);
            let new = evidence.wanted().alpha.iter().chain(&evidence.wanted().beta);
            change = old.zip(new).map(|(old, new)| (new / old - 1.0).abs()).fold(0.0, f64::max);
            precisions.copy_from(evidence.wanted());
        }
        if stepped == Stepped::Stalled && self.steps > BEFORE_EVIDENCE && change < SETTLED {
            self.ended = true;
        }
        self.assess();
    }

    /// Measures the evidence under the current precisions.
    fn assess(&mut self) {
        let law_weight = self.law_weight();
        let Self { point, evidence, precisions, .. } = self;
        let solved = !point.residuals.is_empty();
        let log = solved.then(|| evidence.measure(point, precisions, law_weight).ok()).flatten();
        self.log_evidence = log.filter(|log| log.is_finite()).unwrap_or(f64::NEG_INFINITY);
    }

    /// Begins a round: updates the multipliers and raises the weight of laws.
    pub(super) fn begin_round(&mut self) {
        if self.point.residuals.is_empty() {
            return;
        }
        let weight = self.law_weight();
        // The misfit is that of the last trial.
        if self.point.evaluate(&mut self.residuals) {
            self.residuals.update_multipliers(1.0 / ROUND);
            self.fixed_weight = Some(ROUND * weight);
            self.point.evaluate(&mut self.residuals);
            self.ended = false;
            self.method = LevenbergMarquardt::new(Damping::default());
            self.assess();
        }
    }

    /// Returns θ.
    pub(super) fn theta(&self) -> Vec<f64> {
        self.residuals.theta(&self.point.x)
    }

    /// Returns its residuals.
    pub(super) fn residuals(&self) -> &PathResiduals {
        &self.residuals
    }

    /// Returns its residuals, for evaluations between steps.
    pub(super) fn residuals_mut(&mut self) -> &mut PathResiduals {
        &mut self.residuals
    }

    /// Returns the effective parameters of the last point measured.
    pub(super) fn effective(&self) -> f64 {
        self.evidence.effective().iter().sum()
    }

    /// Returns the noise of each kind of measurement in units of the residuals.
    pub(super) fn noise(&self) -> Vec<f64> {
        let measured = &self.precisions.beta[..self.evidence.measured_kinds()];
        measured.iter().map(|beta| beta.powf(-0.5)).collect()
    }

    /// Returns the standard deviation of process noise per square root of time, in the data's units; none
    /// without it.
    pub(super) fn process_noise(&self) -> Vec<f64> {
        if self.residuals.increments().is_empty() {
            return Vec::new();
        }
        super::process_noise::sizes(&self.residuals, &self.evidence, &self.precisions)
    }

    /// Returns its point with all that draws around it need. `None` if it cannot be solved.
    pub(super) fn minimum(&mut self) -> Option<Minimum> {
        let law_weight = self.law_weight();
        let Self { point, evidence, precisions, .. } = self;
        if point.residuals.is_empty() {
            return None;
        }
        evidence.measure(point, precisions, law_weight).ok()?;
        let kept = self.residuals.objective().layout().kept();
        let factor = evidence.curvature(precisions, law_weight, &kept).ok()?;
        let process_noise = realisation(&mut self.residuals, evidence, precisions, &point.x);
        Some(Minimum {
            number: self.number,
            theta: self.residuals.objective().layout().keep(&self.theta()),
            process_noise,
            noise: NoiseOfStates::new(self.residuals()),
            shifts: self.residuals.shifts().to_vec(),
            point: self.point.clone(),
            precisions: self.precisions.clone(),
            evidence: self.evidence.clone(),
            law_weight,
            factor,
        })
    }

    /// Returns the length of a row that [`save`](Self::save) adds.
    pub(super) fn saved_len(&self) -> usize {
        let precisions = self.precisions.alpha.len() + self.precisions.beta.len();
        5 + precisions + self.point.x.len() + self.residuals.shifts().len()
    }

    /// Adds its state to a row.
    pub(super) fn save(&self, row: &mut Vec<f64>) {
        row.extend([
            self.number as f64,
            self.method.damping,
            self.steps,
            f64::from(u8::from(self.ended)),
            self.fixed_weight.unwrap_or(0.0),
        ]);
        row.extend(self.precisions.alpha.iter().chain(&self.precisions.beta));
        row.extend(&self.point.x);
        row.extend(self.residuals.shifts());
    }

    /// Restores the state that was saved, and evaluates its point again.
    pub(super) fn restore(&mut self, row: &[f64]) {
        let (head, row) = row.split_at(5);
        self.method.damping = head[1];
        self.steps = head[2];
        self.ended = head[3] > 0.0;
        self.fixed_weight = (head[4] > 0.0).then_some(head[4]);
        let (alpha, row) = row.split_at(self.precisions.alpha.len());
        let (beta, row) = row.split_at(self.precisions.beta.len());
        self.precisions.alpha.copy_from_slice(alpha);
        self.precisions.beta.copy_from_slice(beta);
        let (x, shifts) = row.split_at(self.point.x.len());
        self.residuals.shifts_mut().copy_from_slice(shifts);
        self.point = Point::new(&mut self.residuals, x.to_vec())
            .unwrap_or(Point { x: x.to_vec(), ..Point::default() });
        self.assess();
    }
}
