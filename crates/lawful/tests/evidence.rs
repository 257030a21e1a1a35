//! The evidence and its precisions against an independent implementation, and by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use lawful::least_squares::{Evidence, EvidenceError, Group, Noise, NoisePrior, Point};
use lawful::ode::{InitialValueProblems, NoInputs, Path, sensitivities, solve, tableaus};
use lawful::{Activation, Control, Mlp, MlpShape, Precision, Scaled, Scaling, Solver, VectorField};

/// Pelts of hares and lynxes in thousands, 1900–1920 (Hudson's Bay Company).
const PELTS: [[f64; 2]; 21] = [
    [30.0, 4.0],
    [47.2, 6.1],
    [70.2, 9.8],
    [77.4, 35.2],
    [36.3, 59.4],
    [20.6, 41.7],
    [18.1, 19.0],
    [21.4, 13.0],
    [22.0, 8.3],
    [25.4, 9.1],
    [27.1, 7.4],
    [40.3, 8.0],
    [57.0, 12.3],
    [76.6, 19.5],
    [52.3, 45.7],
    [19.5, 51.1],
    [11.2, 29.7],
    [7.6, 15.8],
    [14.6, 9.7],
    [16.2, 10.1],
    [24.7, 8.6],
];
/// Every fourth row from the third is held out.
fn is_held_out(row: usize) -> bool {
    row % 4 == 2
}

/// Units in the network, and the state variables.
const UNITS: usize = 8;
const D: usize = 2;
/// Output weights in the network, of W₂/√n.
const OUTPUT: std::ops::Range<usize> = 24..40;

/// `dz/dt = rate · (W₂ tanh(W₁ z + b₁)/√n + b₂)` from `z₀ + δ`, solved by the 3/8 rule in four steps a year:
/// residuals and Jacobian at `w_i = 0.3 sin i`, `δ = 0.01`.
fn fixed_point() -> Point {
    let (mean, std) = ([33.337_5, 20.743_75], [20.679_363_959_029_3, 16.788_759_958_302_46]);
    let rate = [0.847_902_202_778_063_7, 0.774_335_512_709_398_4];
    let z: Vec<[f64; 2]> =
        PELTS.iter().map(|row| [0, 1].map(|i| (row[i] - mean[i]) / std[i])).collect();
    let shape = MlpShape {
        state: D,
        outputs: D,
        inputs: 0,
        time: false,
        hidden: vec![UNITS],
        activations: vec![Activation::Tanh],
    };
    let network = Box::new(Mlp::new(shape, Precision::Double).unwrap());
    let scaling = Scaling { rate: rate.to_vec(), ..Scaling::none(D, 0) };
    let mut field = Scaled::new(network, scaling).unwrap();
    let p = field.parameter_len();
    let root = (UNITS as f64).sqrt();
    let mut x: Vec<f64> = (1..=p).map(|i| 0.3 * (i as f64).sin()).collect();
    x[OUTPUT].iter_mut().for_each(|w| *w /= root);
    field.set_parameters(&x);
    let mut ivps = InitialValueProblems::new(D);
    let times: Vec<f64> = (0..PELTS.len()).map(|row| row as f64).collect();
    ivps.push(&times, &[z[0][0] + 0.01, z[0][1] + 0.01]).unwrap();
    let solver = Solver::new(&tableaus::RK4_38, Control::Grid { substeps: 4 }).unwrap();
    let mut path = Path::new();
    solve(&mut field, &solver, &ivps, &NoInputs, &mut path).unwrap();
    let mut matrix = vec![0.0; PELTS.len() * D * (p + D)];
    sensitivities(&mut field, &solver, &ivps, &NoInputs, &mut path, &mut matrix);
    x.extend([0.01; D]);
    let mut point = Point { x, ..Point::default() };
    for (row, z) in z.iter().enumerate().filter(|(row, _)| !is_held_out(*row)) {
        for (i, z) in z.iter().enumerate() {
            let cell = row * D + i;
            point.residuals.push(path.all_observed()[cell] - z);
            point.jacobian.extend_from_slice(&matrix[cell * (p + D)..][..p + D]);
        }
    }
    point
}

fn group(name: &str, range: std::ops::Range<usize>, precision: f64, chosen: bool) -> Group {
    Group { name: name.to_owned(), members: range.collect(), precision, chosen }
}

fn noise(of: Vec<usize>, kinds: usize) -> Noise {
    Noise {
        of,
        kinds,
        precision: 100.0,
        prior: NoisePrior { observations: 4.0, ..NoisePrior::default() },
        increments: Vec::new(),
    }
}

/// Numbers of `least_squares/evidence.py`, an implementation in JAX with W₂/√n in the network, at α = 0.3 and β = 100:
/// N = 32, `E_D` = 182.3422739, `E_W` = 0.9586040333, γ = 8.452609117, log evidence −18204.89726.
#[test]
fn evidence_of_hares_and_lynxes_at_a_fixed_point_is_that_of_jax() {
    let point = fixed_point();
    let n = point.x.len();
    assert_eq!((point.residuals.len(), n), (32, 44));
    let mut relative = vec![1.0; n];
    relative[OUTPUT].fill(UNITS as f64);
    let groups =
        vec![group("weights", 0..42, 0.3, true), group("initial states", 42..44, 1.0, false)];
    let copies = Evidence::copies(&[UNITS], &[Activation::Tanh]);
    let mut evidence = Evidence::new(groups, relative.clone(), noise(vec![0; 32], 1), copies);
    let precisions = evidence.start();
    let errors = 0.5 * point.residuals.iter().map(|r| r * r).sum::<f64>();
    assert!((errors / 182.342_273_9 - 1.0).abs() < 1e-9, "{errors}");
    let sizes = point.x[..42].iter().zip(&relative).map(|(x, u)| u * x * x);
    let sizes = 0.5 * sizes.sum::<f64>();
    assert!((sizes / 0.958_604_033_3 - 1.0).abs() < 1e-9, "{sizes}");
    let log = evidence.measure(&point, &precisions, 0.0).unwrap();
    assert!((log / -18_204.897_26 - 1.0).abs() < 1e-9, "{log}");
    let effective = evidence.effective()[0];
    assert!((effective / 8.452_609_117 - 1.0).abs() < 1e-8, "{effective}");
    // β = (32 − γ + 4)/(2 E_D + 4·0.05²) = 0.07554 is more than a factor of 3 away.
    assert!((evidence.wanted().beta[0] - 100.0 / 3.0).abs() < 1e-12);
    assert!(evidence.wanted().alpha[0] > 0.3 && (evidence.wanted().alpha[1] - 1.0).abs() < 1e-300);
}

/// A linear model has a normal marginal likelihood: `y ~ N(0, J A⁻¹ Jᵀ + B⁻¹)`.
#[test]
fn evidence_of_a_linear_model_is_its_marginal_likelihood() {
    // r = J x − y, J = (1, 2)ᵀ, y = (1, 3), two kinds of noise.
    let (j, y, alpha, beta) = ([1.0, 2.0], [1.0, 3.0], 0.7, [4.0, 0.5]);
    let h = beta[0] * 1.0 + beta[1] * 4.0 + alpha;
    let x = (beta[0] * 1.0 + beta[1] * 6.0) / h;
    let residuals = vec![j[0] * x - y[0], j[1] * x - y[1]];
    let point = Point { x: vec![x], residuals, jacobian: j.to_vec() };
    let mut evidence =
        Evidence::new(vec![group("x", 0..1, alpha, true)], vec![1.0], noise(vec![0, 1], 2), 0.0);
    let mut precisions = evidence.start();
    precisions.beta.copy_from_slice(&beta);
    let log = evidence.measure(&point, &precisions, 0.0).unwrap();
    // Covariance by hand: [[1/α + 1/β₀, 2/α], [2/α, 4/α + 1/β₁]].
    let [a, b, d] = [1.0 / alpha + 1.0 / beta[0], 2.0 / alpha, 4.0 / alpha + 1.0 / beta[1]];
    let determinant = a * d - b * b;
    let square = (d * y[0] * y[0] - 2.0 * b * y[0] * y[1] + a * y[1] * y[1]) / determinant;
    let expected = -0.5 * square - 0.5 * determinant.ln() - std::f64::consts::TAU.ln();
    assert!((log - expected).abs() < 1e-12, "{log} {expected}");
    // γ_s = β_s j_s²/h and α = (1 − α/h)/x².
    let wanted = (1.0 - alpha / h) / (x * x);
    assert!((evidence.wanted().alpha[0] - wanted).abs() < 1e-12);
    assert!((evidence.effective()[0] - beta[0] / h).abs() < 1e-12);
    let beta_0 = (1.0 - beta[0] / h + 4.0) / (point.residuals[0].powi(2) + 0.01);
    assert!((evidence.wanted().beta[0] - beta_0.min(12.0)).abs() < 1e-9, "{beta_0}");
}

#[test]
fn active_laws_lower_the_effective_parameters_and_not_the_evidence() {
    let laws_and_data = |law: f64| Point {
        x: vec![0.2, 0.1],
        residuals: vec![0.3, -0.1, 0.0],
        jacobian: vec![1.0, 0.4, 0.2, 1.0, law, -law],
    };
    let groups = || vec![group("x", 0..2, 1.0, true)];
    let mut with = Evidence::new(groups(), vec![1.0; 2], noise(vec![0, 0], 1), 0.0);
    let mut without = with.clone();
    let precisions = with.start();
    let a = with.measure(&laws_and_data(1.0), &precisions, 1e6).unwrap();
    let b = without.measure(&laws_and_data(0.0), &precisions, 1e6).unwrap();
    assert!((a - b).abs() < 1e-12);
    assert!(with.effective()[0] < 1.0 + 1e-3 && without.effective()[0] > 1.5);
}

#[test]
fn exchanged_units_and_signs_count_as_copies() {
    // 3! 2³ · 2! for a layer of three tanh units and one of two softplus units.
    let copies = Evidence::copies(&[3, 2], &[Activation::Tanh, Activation::Softplus]);
    assert!((copies - (48.0_f64 * 2.0).ln()).abs() < 1e-12);
}

#[test]
fn a_point_whose_curvature_is_not_finite_has_no_evidence() {
    let point = Point { x: vec![0.0], residuals: vec![1.0], jacobian: vec![f64::NAN] };
    let mut evidence =
        Evidence::new(vec![group("x", 0..1, 1.0, true)], vec![1.0], noise(vec![0], 1), 0.0);
    let precisions = evidence.start();
    assert_eq!(evidence.measure(&point, &precisions, 0.0), Err(EvidenceError::Curvature));
    let point = Point { jacobian: vec![2.0], ..point };
    assert!(evidence.measure(&point, &precisions, 0.0).is_ok());
}
