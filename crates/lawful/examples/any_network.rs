//! A strategy without differential equations: a small regression network, trained under the law that
//! its curve never falls.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lawful::optimiser::{Adam, AdamSettings, Optimiser};
use lawful::strategy::{
    Evaluator, L1, LawRows, MisfitView, SelfAdaptive, Strategy, Vanilla, fill_violations,
};
use lawful::{Random, Relation};

const UNITS: usize = 12;
/// Distance of the points at which the law is evaluated.
const H: f64 = 1.0 / 16.0;

/// `y = Σ_j a_j tanh(w_j x + b_j)` with θ = (a, w, b), and its derivative by θ.
fn network(theta: &[f64], x: f64, gradient: &mut [f64]) -> f64 {
    let mut y = 0.0;
    for j in 0..UNITS {
        let (a, w, b) = (theta[j], theta[UNITS + j], theta[2 * UNITS + j]);
        let s = (w * x + b).tanh();
        let slope = a * (1.0 - s * s);
        (gradient[j], gradient[UNITS + j], gradient[2 * UNITS + j]) = (s, slope * x, slope);
        y += a * s;
    }
    y
}

/// Trains a network. Returns the mean squared error and the total fall of the curve.
fn train(strategy: Box<dyn Strategy>, measured: &[(f64, f64)], grid: &[f64]) -> (f64, f64) {
    let mut random = Random::new(1, "weights");
    let mut theta: Vec<f64> = (0..3 * UNITS).map(|_| random.normal()).collect();
    let mut adam = Adam::new(AdamSettings { rate: 0.02, ..Default::default() }, theta.len());
    // The curve does not fall: c ≤ 0 for its negative slope at each pair of neighbours.
    let n = grid.len() - 1;
    let laws = [LawRows { relation: Relation::AtMost, start: 0, len: n, points: n }];
    let points: Vec<usize> = (0..n).collect();
    let mut evaluator = Evaluator::new(strategy, &laws).expect("settings for one law");
    let mut violations = vec![0.0; n];
    let mut result = (0.0, 0.0);
    for iteration in 0..=5000 {
        // The misfit: squared errors of the data, and the residuals of the law.
        let mut gradients = vec![[0.0; 3 * UNITS]; measured.len() + grid.len()];
        let (of_data, of_grid) = gradients.split_at_mut(measured.len());
        let pairs = measured.iter().zip(of_data);
        let errors: Vec<f64> = pairs.map(|((x, y), g)| network(&theta, *x, g) - y).collect();
        let curve: Vec<f64> =
            grid.iter().zip(of_grid).map(|(x, g)| network(&theta, *x, g)).collect();
        let terms: Vec<f64> = errors.iter().map(|e| e * e).collect();
        let residuals: Vec<f64> = curve.windows(2).map(|pair| (pair[0] - pair[1]) / H).collect();
        fill_violations(&laws, &residuals, 0.0, &mut violations);
        let view = MisfitView {
            margin: 0.0,
            terms: &terms,
            residuals: &residuals,
            violations: &violations,
            points: &points,
            laws: &laws,
        };
        result = (view.fit(), violations.iter().sum::<f64>() * H);

        // The strategy returns the value and its slopes; the chain rule gives the gradient.
        let value = evaluator.evaluate(&view, iteration);
        let slopes = evaluator.slopes();
        let mut gradient = vec![0.0; theta.len()];
        let mut add = |factor: f64, row: usize| {
            gradient.iter_mut().zip(gradients[row]).for_each(|(sum, g)| *sum += factor * g);
        };
        for (n, error) in errors.iter().enumerate() {
            add(slopes.terms[n] * 2.0 * error, n);
        }
        for (n, slope) in slopes.residuals.iter().enumerate() {
            add(slope / H, measured.len() + n);
            add(-slope / H, measured.len() + n + 1);
        }
        adam.advance(&mut theta, value.value, &gradient, 1.0);
    }
    result
}

fn main() {
    let mut noise = Random::new(4, "noise");
    let x = |n: i32| 0.25 * f64::from(n) - 2.0;
    let measured: Vec<_> = (0..17).map(|n| (x(n), x(n).tanh() + 0.1 * noise.normal())).collect();
    let grid: Vec<f64> = (0..65).map(|n| H * f64::from(n) - 2.0).collect();
    let strategies: [Box<dyn Strategy>; 3] =
        [Box::new(Vanilla), Box::new(L1::default()), Box::new(SelfAdaptive::default())];
    for strategy in strategies {
        let name = strategy.name();
        let (loss, falls) = train(strategy, &measured, &grid);
        println!("{name:14} mean squared error {loss:.4}, the curve falls by {falls:.4} in all");
    }
}
