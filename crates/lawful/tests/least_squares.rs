//! Levenberg–Marquardt against NIST's certified values and `SciPy`'s minima.

use lawful::least_squares::{Damping, LevenbergMarquardt, Point, Residuals, Stepped};

/// Residuals `model(x, t) − y` of a curve with its derivatives.
struct Curve<'a> {
    t: &'a [f64],
    y: &'a [f64],
    parameters: usize,
    /// Value, and derivatives with respect to the parameters.
    model: fn(&[f64], f64, &mut [f64]) -> f64,
    x: Vec<f64>,
}

impl Residuals for Curve<'_> {
    fn residual_len(&self) -> usize {
        self.t.len()
    }

    fn parameter_len(&self) -> usize {
        self.parameters
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        self.x = x.to_vec();
        let mut slopes = vec![0.0; x.len()];
        for ((r, t), y) in residuals.iter_mut().zip(self.t).zip(self.y) {
            *r = (self.model)(x, *t, &mut slopes) - y;
        }
        residuals.iter().all(|r| r.is_finite())
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        for (row, t) in jacobian.chunks_exact_mut(self.parameters).zip(self.t) {
            (self.model)(&self.x, *t, row);
        }
    }
}

/// The model and derivatives of each set.
type Model = fn(&[f64], f64, &mut [f64]) -> f64;

const MODELS: [(&str, Model); 9] = [
    ("Misra1a", |b, x, d| {
        let e = (-b[1] * x).exp();
        (d[0], d[1]) = (1.0 - e, b[0] * x * e);
        b[0] * (1.0 - e)
    }),
    ("Chwirut2", |b, x, d| {
        let (e, below) = ((-b[0] * x).exp(), b[1] + b[2] * x);
        let y = e / below;
        (d[0], d[1], d[2]) = (-x * y, -y / below, -x * y / below);
        y
    }),
    ("DanWood", |b, x, d| {
        let power = x.powf(b[1]);
        (d[0], d[1]) = (power, b[0] * power * x.ln());
        b[0] * power
    }),
    ("Thurber", |b, x, d| {
        let powers = [1.0, x, x * x, x * x * x];
        let above: f64 = powers.iter().zip(b).map(|(p, b)| p * b).sum();
        let below = 1.0 + b[4] * x + b[5] * x * x + b[6] * x * x * x;
        for k in 0..4 {
            d[k] = powers[k] / below;
        }
        for k in 1..4 {
            d[3 + k] = -above * powers[k] / (below * below);
        }
        above / below
    }),
    ("MGH09", |b, x, d| {
        let (above, below) = (x * x + x * b[1], x * x + x * b[2] + b[3]);
        d[0] = above / below;
        d[1] = b[0] * x / below;
        d[2] = -b[0] * above * x / (below * below);
        d[3] = -b[0] * above / (below * below);
        b[0] * above / below
    }),
    ("MGH17", |b, x, d| {
        let (e, f) = ((-x * b[3]).exp(), (-x * b[4]).exp());
        (d[0], d[1], d[2], d[3], d[4]) = (1.0, e, f, -x * b[1] * e, -x * b[2] * f);
        b[0] + b[1] * e + b[2] * f
    }),
    ("Eckerle4", |b, x, d| {
        let z = (x - b[2]) / b[1];
        let e = (-0.5 * z * z).exp();
        let y = b[0] / b[1] * e;
        (d[0], d[1], d[2]) = (e / b[1], y * (z * z - 1.0) / b[1], y * z / b[1]);
        y
    }),
    ("Rat43", |b, x, d| {
        let e = (b[1] - b[2] * x).exp();
        let power = (1.0 + e).powf(-1.0 / b[3]);
        let slope = -b[0] / b[3] * power / (1.0 + e) * e;
        (d[0], d[1], d[2]) = (power, slope, -x * slope);
        d[3] = b[0] * power * (1.0 + e).ln() / (b[3] * b[3]);
        b[0] * power
    }),
    ("BoxBOD", |b, x, d| {
        let e = (-b[1] * x).exp();
        (d[0], d[1]) = (1.0 - e, b[0] * x * e);
        b[0] * (1.0 - e)
    }),
];

/// Steps until no trial is better. Returns the number of steps.
fn minimise(residuals: &mut dyn Residuals, point: &mut Point, w: &[f64], a: &[f64]) -> usize {
    let mut method = LevenbergMarquardt::new(Damping::default());
    (0..2000).find(|_| method.step(residuals, point, w, a) == Stepped::Stalled).unwrap_or(2000)
}

/// NIST's certified values: eleven digits, computed with 128-bit numbers; see `nist/extract.py`.
#[test]
fn nist_sets_reach_their_certified_values_from_both_starts() {
    let mut lines = include_str!("least_squares/nist/nonlinear.txt").lines();
    for (name, model) in MODELS {
        let mut numbers = |key: &str| -> Vec<f64> {
            let line = lines.next().expect("another line");
            let values = line.strip_prefix(key).expect(key).split_whitespace();
            values.filter(|word| *word != name).map(|word| word.parse().expect(word)).collect()
        };
        numbers("set");
        let starts = [numbers("first"), numbers("second")];
        let (certified, squares) = (numbers("certified"), numbers("squares")[0]);
        let (y, t) = (numbers("y"), numbers("x"));
        let parameters = certified.len();
        // From the first start of BoxBOD every downhill step ends where the model is flat in b₂.
        let starts = starts.iter().skip(usize::from(name == "BoxBOD"));
        for start in starts {
            let mut curve = Curve { t: &t, y: &y, parameters, model, x: Vec::new() };
            let mut point = Point::new(&mut curve, start.clone()).expect("residuals at the start");
            let (w, a) = (vec![1.0; t.len()], vec![0.0; parameters]);
            let steps = minimise(&mut curve, &mut point, &w, &a);
            for (found, certified) in point.x.iter().zip(&certified) {
                let digits = (found / certified - 1.0).abs();
                assert!(digits < 1e-7, "{name} from {start:?}, {steps} steps: {:?}", point.x);
            }
            let found = 2.0 * point.value(&w, &a);
            assert!((found / squares - 1.0).abs() < 1e-9, "{name}: {found}, certified {squares}");
        }
    }
}

#[test]
fn derivatives_of_the_nist_models_match_central_differences() {
    for (name, model) in MODELS {
        let b = [0.7, 0.3, 0.4, 0.6, 0.2, 0.5, 0.1];
        let (x, mut exact, mut unused) = (1.3, [0.0; 7], [0.0; 7]);
        model(&b, x, &mut exact);
        for k in 0..7 {
            let mut at = |shift: f64| {
                let mut moved = b;
                moved[k] += shift;
                model(&moved, x, &mut unused)
            };
            let difference = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
            assert!((difference - exact[k]).abs() < 1e-7, "{name} {k}: {exact:?} {difference}");
        }
    }
}

/// `r_i = Σ_j x_2j tanh(x_2j+1 t_i + 0.3 j) − sin 2t_i`.
struct Tanhs {
    units: usize,
    rows: usize,
    x: Vec<f64>,
}

impl Residuals for Tanhs {
    fn residual_len(&self) -> usize {
        self.rows
    }

    fn parameter_len(&self) -> usize {
        2 * self.units
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        self.x.clear();
        self.x.extend_from_slice(x);
        for (i, r) in residuals.iter_mut().enumerate() {
            let t = i as f64 / 4.0;
            let units = x.chunks_exact(2).enumerate();
            let sum: f64 = units.map(|(j, x)| x[0] * (x[1] * t + 0.3 * j as f64).tanh()).sum();
            *r = sum - (2.0 * t).sin();
        }
        true
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        for (i, row) in jacobian.chunks_exact_mut(2 * self.units).enumerate() {
            let t = i as f64 / 4.0;
            for (j, (row, x)) in row.chunks_exact_mut(2).zip(self.x.chunks_exact(2)).enumerate() {
                let a = (x[1] * t + 0.3 * j as f64).tanh();
                (row[0], row[1]) = (a, x[0] * (1.0 - a * a) * t);
            }
        }
    }
}

/// The minima of `least_squares/scipy_minima.py`; the first has fewer residuals than parameters.
#[test]
fn regularised_minima_are_those_of_scipy() {
    let minima: [(usize, usize, f64, f64, &[f64]); 3] = [
        (
            6,
            8,
            0.5,
            3.072_328_481_032_388_3,
            &[
                1.756_072_931_43,
                1.532_099_575_15,
                -0.323_572_713_383,
                0.148_976_770_724,
                -0.416_964_499_676,
                0.120_253_806_19,
                -0.492_979_716_576,
                0.098_978_731_333_6,
                1.538_783_245_34,
                -0.896_676_577_541,
                -0.578_142_674_925,
                0.064_800_564_232_7,
            ],
        ),
        (
            3,
            30,
            0.1,
            159.132_727_383_317_27,
            &[
                3.696_530_107_97,
                1.838_808_614_04,
                3.289_386_362_09,
                -1.005_150_829_85,
                -2.029_497_822_92,
                -0.082_203_818_143_6,
            ],
        ),
        (
            2,
            12,
            0.0,
            8.823_073_117_399_801,
            &[1.245_455_441_26, 1.770_228_565_31, 2.581_680_160_92, -0.550_588_307_024],
        ),
    ];
    for (units, rows, precision, value, x) in minima {
        let mut tanhs = Tanhs { units, rows, x: Vec::new() };
        let start: Vec<f64> = (0..2 * units).map(|k| (k as f64 + 1.0).sin()).collect();
        let weights: Vec<f64> = (0..rows).map(|i| 10.0 + i as f64).collect();
        let precisions = vec![precision; 2 * units];
        let mut point = Point::new(&mut tanhs, start).unwrap();
        let steps = minimise(&mut tanhs, &mut point, &weights, &precisions);
        let found = point.value(&weights, &precisions);
        assert!((found / value - 1.0).abs() < 1e-10, "{units} units, {steps} steps: {found}");
        for (found, x) in point.x.iter().zip(x) {
            assert!((found - x).abs() < 1e-5, "{units} units: {:?}", point.x);
        }
    }
}

/// A parabola that fails where x is above 1.
struct Fails;

impl Residuals for Fails {
    fn residual_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        residuals[0] = x[0] - 3.0;
        x[0] <= 1.0
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        jacobian[0] = 1.0;
    }
}

#[test]
fn a_failed_trial_is_repeated_with_more_damping() {
    let mut point = Point::new(&mut Fails, vec![0.0]).unwrap();
    minimise(&mut Fails, &mut point, &[1.0], &[0.0]);
    assert!(point.x[0] > 0.9 && point.x[0] <= 1.0, "{:?}", point.x);
    assert!(Point::new(&mut Fails, vec![2.0]).is_none());
}
