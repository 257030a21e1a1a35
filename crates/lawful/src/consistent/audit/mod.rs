//! The audit of laws: whether they and the measurements agree, without a model.

mod mean;
mod misfit;
mod noise_level;
mod words;

use lawful_law::{Enforcement, Law};
use rayon::prelude::*;

use super::{TableMaker, TableSettings};
use crate::{Dataset, LearnedConstant, scaling, units};
use mean::{MeanResidual, mean_residual};
use misfit::{Distance, SMOOTHNESS, Tables};
use noise_level::NoiseLevels;

/// Squares of misfits in units of noise that differ by this much are told apart, three standard deviations …
const APART: f64 = 9.0;
/// … if it is also this share of what is to be explained.
const SHARE: f64 = 0.25;

/// Whether laws and measurements agree.
///
/// The table of states nearest to the measured cells on which laws hold is, for true laws, as near as the
/// true states: its misfit is noise. For false laws it is more. Three tests find out which law is
/// false:
///
/// 1. every law alone, by the table on which it holds,
/// 2. every equality whose states are all measured, by its mean residual against its standard error,
/// 3. the laws that pass together; if their table is above the noise, with one left out at a time.
///
/// The noise is the least root mean square of divided differences, at least half the unit of the last
/// written digit.
///
/// ```
/// use lawful::{Audit, Dataset, Laws};
/// let times: Vec<f64> = (0..20).map(f64::from).collect();
/// let states = times.iter().flat_map(|t| [0.6 + 0.3 * t.sin(), 0.4 - 0.3 * t.sin()]).collect();
/// let data = Dataset::single(&["a", "b"], times, states)?;
/// let laws = Laws::parse(&data, ["a + b == 1", "a <= 0.7", "b >= 0.1"])?;
/// let audit = Audit::new(&data, laws.laws(), laws.constants());
/// assert!(audit.contradicts(0).is_none() && audit.contradicts(2).is_none());
/// let contradiction = audit.contradicts(1).unwrap();
/// assert!(contradiction.with.is_empty());
/// assert!(audit.describe(1).unwrap().starts_with("the law `a <= 0.7` contradicts the data: at t = 14"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// The result for each law, in order.
    pub laws: Vec<LawAudit>,
    /// The names of the state variables.
    pub state: Vec<String>,
    /// Standard deviation of the noise of each state variable.
    pub noise: Vec<f64>,
}

/// The audit of one law.
#[derive(Debug, Clone, PartialEq)]
pub struct LawAudit {
    /// The name of the law.
    pub name: String,
    /// The law as written.
    pub text: String,
    /// What was found.
    pub finding: Finding,
}

/// What the audit of a law found.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The law and the measurements agree.
    Agrees {
        /// Root mean square shift of the cells that the law moves, in standard deviations; 0 if it moves
        /// none.
        misfit: f64,
        /// The largest misfit that is noise.
        noise: f64,
    },
    /// The law, alone or with others, contradicts the measurements.
    Contradicted(Contradiction),
    /// It was not audited.
    NotAudited {
        /// Why not.
        reason: &'static str,
    },
}

/// A contradiction of a law and the measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The other laws with which it contradicts the measurements, any one of which may be false; empty if
    /// the law itself is false.
    pub with: Vec<usize>,
    /// What shows it.
    pub evidence: Evidence,
}

/// What shows a contradiction.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// The nearest table on which the laws hold is further from the measurements than their noise.
    Misfit {
        /// Root mean square shift of the cells that the laws move, in standard deviations.
        misfit: f64,
        /// The largest misfit that would be noise.
        noise: f64,
        /// The cell that is moved furthest.
        place: Option<Place>,
    },
    /// No states at all obey the laws.
    Impossible,
    /// The mean residual is not 0.
    Mean {
        /// Left side minus right side, on average.
        residual: f64,
        /// Its standard error.
        error: f64,
    },
    /// The residual from its initial or final value has a trend.
    Trend {
        /// Change of left side minus right side over the longest trajectory.
        change: f64,
        /// Its standard error.
        error: f64,
    },
}

/// A measured cell, and the nearest value that laws allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The trajectory.
    pub trajectory: String,
    /// The time.
    pub time: f64,
    /// The state variable.
    pub variable: usize,
    /// The measured value.
    pub measured: f64,
    /// The value in the nearest table on which the laws hold.
    pub nearest: f64,
}

impl Audit {
    /// Audits these laws on these data. Laws that are only monitored, that use `rate(…)`, which needs a
    /// model, or learned constants, whose values are not known yet, are not audited.
    pub fn new(dataset: &Dataset, laws: &[Law], constants: &[LearnedConstant]) -> Self {
        let scaling = scaling(dataset);
        let units = units(dataset, laws, constants, &scaling);
        let noise = NoiseLevels::new(dataset, &scaling);
        let settings = TableSettings { smoothness: SMOOTHNESS, ..TableSettings::default() };
        let (scaling, units) = (&scaling, &units);
        let maker = TableMaker { dataset, laws, constants, scaling, units, settings };
        let firsts = maker.firsts();
        let tables = Tables::new(maker, &firsts, &noise);
        let d = dataset.state().len();
        let mut search = Search {
            tables: &tables,
            findings: laws.iter().enumerate().map(|(k, law)| tables.first(k, law, d)).collect(),
        };
        search.alone(|k| mean_residual(dataset, &laws[k], &firsts, (&noise, units.law(k))));
        search.together();
        let results = laws.iter().zip(search.findings).map(|(law, finding)| LawAudit {
            name: law.name().to_owned(),
            text: law.text().to_owned(),
            finding,
        });
        let laws = results.collect();
        Self { laws, state: dataset.state().to_vec(), noise: noise.sigma }
    }

    /// Returns the contradiction that law `k` is part of.
    pub fn contradicts(&self, k: usize) -> Option<&Contradiction> {
        match &self.laws.get(k)?.finding {
            Finding::Contradicted(contradiction) => Some(contradiction),
            _ => None,
        }
    }

    /// Returns whether no law contradicts the measurements.
    pub fn agrees(&self) -> bool {
        (0..self.laws.len()).all(|k| self.contradicts(k).is_none())
    }
}

impl Tables<'_> {
    /// Returns the finding of a law before any test.
    fn first(&self, k: usize, law: &Law, states: usize) -> Finding {
        let reason = if law.enforcement() == Enforcement::Monitor {
            "it is only monitored"
        } else if law.uses_rates() {
            "it uses `rate(…)`, which needs a model"
        } else if self.touched[k][states..].contains(&true) {
            "it depends on a learned constant"
        } else if !self.has_points(k) {
            "it has no finite value on the data"
        } else {
            return Finding::Agrees { misfit: 0.0, noise: 0.0 };
        };
        Finding::NotAudited { reason }
    }
}

/// The search for contradictions.
struct Search<'a> {
    tables: &'a Tables<'a>,
    findings: Vec<Finding>,
}

impl Search<'_> {
    /// Returns which laws have passed so far.
    fn passed(&self) -> Vec<bool> {
        self.findings.iter().map(|finding| matches!(finding, Finding::Agrees { .. })).collect()
    }

    fn contradicted(&mut self, k: usize, with: Vec<usize>, evidence: Evidence) {
        self.findings[k] = Finding::Contradicted(Contradiction { with, evidence });
    }

    /// Tests every law alone.
    fn alone(&mut self, mean: impl Fn(usize) -> Option<MeanResidual> + Sync) {
        let (passed, tables) = (self.passed(), self.tables);
        let numbers: Vec<usize> = (0..passed.len()).filter(|&k| passed[k]).collect();
        let test = |&k: &usize| {
            let wanted: Vec<bool> = (0..passed.len()).map(|law| law == k).collect();
            (tables.distance(&wanted), mean(k).filter(|mean| mean.is_above_noise))
        };
        let tests: Vec<_> = numbers.par_iter().map(test).collect();
        for (k, (distance, mean)) in numbers.into_iter().zip(tests) {
            if let Some(mean) = mean {
                self.contradicted(k, Vec::new(), mean.evidence());
            } else if distance.is_above_noise() {
                self.contradicted(k, Vec::new(), distance.evidence());
            } else {
                let (misfit, noise) = distance.misfit_and_noise();
                self.findings[k] = Finding::Agrees { misfit, noise };
            }
        }
    }

    /// Tests the laws that agree alone together, and leaves out one at a time until the others agree.
    fn together(&mut self) {
        let mut wanted = self.passed();
        if wanted.iter().filter(|&&wanted| wanted).count() < 2 {
            return;
        }
        let mut whole = self.tables.distance(&wanted);
        while whole.is_above_noise() {
            let numbers: Vec<usize> = (0..wanted.len()).filter(|&k| wanted[k]).collect();
            let without: Vec<(usize, Distance)> = (numbers.par_iter())
                .map(|&k| {
                    let mut others = wanted.clone();
                    others[k] = false;
                    (k, self.tables.distance(&others))
                })
                .collect();
            let Some(best) = (without.iter().map(|(_, distance)| distance))
                .min_by(|a, b| a.measure().total_cmp(&b.measure()))
            else {
                return;
            };
            // Those that cure as much as the best one.
            let most = best.measure() + APART.max(SHARE * (whole.measure() - best.measure()));
            let cures = |distance: &Distance| {
                distance.is_above_noise() == best.is_above_noise() && distance.measure() <= most
            };
            let group: Vec<usize> =
                without.iter().filter(|(_, distance)| cures(distance)).map(|(k, _)| *k).collect();
            for &k in &group {
                let with = group.iter().copied().filter(|&other| other != k).collect();
                self.contradicted(k, with, whole.evidence());
            }
            wanted[group[0]] = false;
            let left = without.into_iter().find(|(k, _)| *k == group[0]);
            whole = left.map(|(_, distance)| distance).unwrap_or_default();
        }
    }
}

impl MeanResidual {
    fn evidence(&self) -> Evidence {
        let &Self { mean, error, is_trend, .. } = self;
        if is_trend {
            Evidence::Trend { change: mean, error }
        } else {
            Evidence::Mean { residual: mean, error }
        }
    }
}

impl Distance {
    /// Returns the square of the misfit in units of noise; infinite if there is no table.
    fn measure(&self) -> f64 {
        if self.is_impossible() { f64::MAX } else { self.square }
    }

    fn evidence(&self) -> Evidence {
        if self.is_impossible() {
            return Evidence::Impossible;
        }
        let (misfit, noise) = self.misfit_and_noise();
        let place = self.worst.as_ref().map(|(_, place)| place.clone());
        Evidence::Misfit { misfit, noise, place }
    }
}
