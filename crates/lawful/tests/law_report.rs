//! What is measured of laws on a dense grid, on fields whose violations are known in closed form.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::f64::consts::PI;

use lawful::law::Words;
use lawful::ode::tableaus;
use lawful::{
    Adaptive, ConservingDescription, Constant, Control, Dataset, Enforcement, FieldDescription,
    FieldPart, Interpolation, KnownDescription, LawDescription, LawReport, LawStatus, LawVerdict,
    Laws, Measured, Model, ModelDescription, Solver, SolverDescription, Trajectory, law_sizes,
};

/// A model whose rates are written down.
struct Known<'a> {
    rates: &'a [(&'a str, &'a str)],
    laws: &'a [&'a str],
    tolerance: Option<f64>,
    sums: Vec<Vec<f64>>,
    solver: Solver,
}

fn adaptive() -> Solver {
    let tolerances = Control::Adaptive(Adaptive::with_tolerances(1e-10, 1e-12));
    Solver::new(&tableaus::DOPRI5, tolerances).unwrap()
}

impl<'a> Known<'a> {
    fn new(rates: &'a [(&'a str, &'a str)], laws: &'a [&'a str]) -> Self {
        Self { rates, laws, tolerance: None, sums: Vec::new(), solver: adaptive() }
    }

    fn model(&self) -> Model {
        let owned = |text: &str| text.to_owned();
        let state: Vec<String> = self.rates.iter().map(|(name, _)| owned(name)).collect();
        let rates = self.rates.iter().map(|(name, rate)| (owned(name), owned(rate))).collect();
        let known = KnownDescription { rates, learn: Vec::new() };
        let mut field = FieldDescription::new(&state);
        field.parts = vec![FieldPart::Known(known)];
        if !self.sums.is_empty() {
            let sums = self.sums.clone();
            field.parts.push(FieldPart::Conserving(ConservingDescription { sums }));
        }
        let law = |text: &&str| LawDescription {
            name: owned(text),
            holds: owned(text),
            strategy: owned(Enforcement::Monitor.name()),
            tolerance: self.tolerance,
        };
        let description = ModelDescription {
            field,
            laws: self.laws.iter().map(law).collect(),
            interpolation: Interpolation::Linear,
            solver: SolverDescription::of(&self.solver),
            starts: Vec::new(),
            count_above: 0.0,
            accuracy: None,
            subjects: None,
            iteration: 0,
        };
        Model::new(description, Vec::new()).unwrap()
    }

    fn report(&self, sets: &[(&str, &Dataset)], horizon: Option<f64>) -> LawReport {
        self.model().measure(sets, horizon)
    }
}

/// Rows of `x(t)` at these times.
fn data(times: &[f64], x: impl Fn(f64) -> f64) -> Dataset {
    Dataset::single(&["x"], times.to_vec(), times.iter().map(|&t| x(t)).collect()).unwrap()
}

/// `x = sin t` at t = 0, π, 2π: it is 0 at every row.
fn wave() -> (Dataset, [(&'static str, &'static str); 1]) {
    (data(&[0.0, PI, 2.0 * PI], |t| t), [("x", "cos(t)")])
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
}

fn only(report: &LawReport) -> &LawVerdict {
    assert_eq!(report.laws.len(), 1);
    &report.laws[0]
}

#[test]
fn a_bound_is_measured_between_the_rows() {
    let (data, rates) = wave();
    let report = Known::new(&rates, &["x <= 0.5"]).report(&[("training", &data)], None);
    let law = only(&report);
    assert_eq!((law.status, law.measured), (LawStatus::Broken, Measured::Everywhere));
    close(law.violation, 0.5, 1e-3);
    assert!(law.rows < 1e-9 && law.start < 1e-9, "{law:?}");
    let place = law.place.as_ref().unwrap();
    close(place.time, PI / 2.0, 0.02);
    assert_eq!((place.set.as_str(), &place.trajectory, place.beyond), ("training", &None, false));
    assert!(!report.is_clean());
}

#[test]
fn a_horizon_and_test_sets_are_measured_beyond_the_data() {
    // x = t until the end of the data at 1: x <= 2 is broken after t = 2.
    let times = [0.0, 0.5, 1.0];
    let (data, rates) = (data(&times, |t| t), [("x", "1")]);
    let known = Known::new(&rates, &["x <= 2"]);
    assert_eq!(only(&known.report(&[("training", &data)], None)).status, LawStatus::Kept);
    let to_horizon = known.report(&[("training", &data)], Some(5.0));
    let law = only(&to_horizon);
    close(law.violation, 3.0, 1e-9);
    let place = law.place.as_ref().unwrap();
    assert_eq!((place.time, place.beyond), (5.0, true));
    let later = self::data(&[0.0, 4.0], |t| t);
    let with_test = known.report(&[("training", &data), ("later", &later)], None);
    let law = only(&with_test);
    close(law.violation, 2.0, 1e-9);
    assert_eq!(
        law.describe(),
        "is broken by 2.00 (200 % of its size) at t = 4 on `later`, beyond the training data"
    );
    assert_eq!((with_test.trajectories, with_test.of), (2, 2));
}

#[test]
fn small_rises_add_up_along_the_path() {
    // x falls by 1 and rises by 2 sin² …: dx/dt = −1 − 2 cos(2πkt) rises in a part of each period.
    let times: Vec<f64> = (0..=10).map(f64::from).collect();
    let data = data(&times, |t| -t);
    let rates = [("x", "-1 - 2*cos(2*pi*t)")];
    let report = Known::new(&rates, &["next(x) <= x"]).report(&[("training", &data)], None);
    let law = only(&report);
    // In each period it rises where cos < −1/2, a third of it: ∫ (−1 + 2 |cos|) = −1/3 + √3/π.
    let rise = 3.0_f64.sqrt() / PI - 1.0 / 3.0;
    assert_eq!((law.status, law.measured), (LawStatus::Broken, Measured::AddedUp));
    close(law.violation, 10.0 * rise, 0.02);
    assert!(law.rows < 1e-8, "{law:?}");
    let place = law.place.as_ref().unwrap();
    close(place.time - place.from.unwrap(), 1.0 / 3.0, 0.2);
    // The same of a quantity that grows, and of one that stays.
    let growing = Known::new(&rates, &["next(-x) >= -x"]).report(&[("training", &data)], None);
    close(only(&growing).violation, law.violation, 1e-9);
}

#[test]
fn a_conserved_quantity_is_measured_by_its_drift() {
    // A growing oscillation: x² + v² = e^{0.02 t}.
    let times: Vec<f64> = (0..=20).map(f64::from).collect();
    let states = times.iter().flat_map(|t| [t.cos(), -t.sin()]).collect();
    let data = Dataset::single(&["x", "v"], times, states).unwrap();
    let rates = [("x", "v + 0.01*x"), ("v", "0.01*v - x")];
    let laws =
        ["next(x^2 + v^2) == x^2 + v^2", "x^2 + v^2 == initial(x^2 + v^2)", "rate(x^2 + v^2) == 0"];
    let report = Known::new(&rates, &laws).report(&[("training", &data)], None);
    let growth = 0.4_f64.exp() - 1.0;
    for law in &report.laws[..2] {
        close(law.violation, growth, 1e-6);
        close(law.size, 1.0, 1e-9);
        close(law.percent, 100.0 * growth, 1e-6);
        assert_eq!(law.status, LawStatus::Broken);
    }
    // The rate along the field, not a difference of rows: d(x² + v²)/dt = 0.02 e^{0.02 t}.
    close(report.laws[2].violation, 0.02 * 0.4_f64.exp(), 1e-6);
    close(report.laws[2].place.as_ref().unwrap().time, 20.0, 1e-15);
}

#[test]
fn laws_that_depend_on_the_distance_of_rows_are_measured_at_the_rows() {
    let (data, rates) = (data(&[0.0, 1.0, 2.0], |t| t), [("x", "1")]);
    let report = Known::new(&rates, &["next(x) - x <= 0.9"]).report(&[("training", &data)], None);
    let law = only(&report);
    assert_eq!((law.measured, law.points), (Measured::AtRows, 2));
    close(law.violation, 0.1, 1e-9);
}

#[test]
fn a_law_without_a_finite_value_is_named_with_its_place() {
    let (data, rates) = (data(&[0.0, 1.0, 2.0], |t| 1.0 - t), [("x", "-1")]);
    let report = Known::new(&rates, &["sqrt(x) <= 2"]).report(&[("training", &data)], None);
    let law = only(&report);
    assert_eq!(law.status, LawStatus::Undefined);
    let place = law.undefined.as_ref().unwrap();
    assert!(place.time > 1.0 && place.time < 1.05, "{place:?}");
    assert!(law.describe().starts_with("has no finite value at t = 1.0"), "{}", law.describe());
}

#[test]
fn a_path_that_ends_too_early_is_measured_up_to_there_and_named() {
    // x = 1/(1 − t) has no value at t = 1.
    let (data, rates) = (data(&[0.0, 0.5, 2.0], |t| 1.0 + t), [("x", "x^2")]);
    let report = Known::new(&rates, &["x <= 1.5"]).report(&[("training", &data)], None);
    let [unsolved] = &report.unsolved[..] else { panic!("{report:?}") };
    assert_eq!((unsolved.set.as_str(), unsolved.count), ("training", 1));
    assert!(unsolved.reason.contains("t = 0.99"), "{}", unsolved.reason);
    assert_eq!(only(&report).status, LawStatus::Broken);
    let kept = Known::new(&rates, &["x >= 1"]).report(&[("training", &data)], None);
    assert_eq!(only(&kept).status, LawStatus::Kept);
    assert!(!kept.is_clean(), "the law is not known to the end");
}

#[test]
fn steps_that_end_at_output_times_are_measured_as_predictions_at_the_rows_too() {
    // One Euler step a row: x = 1, 0, 0 … with 20 points between, it is about e^{−t}.
    let data = data(&[0.0, 1.0, 2.0], |t| (-t).exp());
    let solver = Solver::new(&tableaus::EULER, Control::Grid { substeps: 1 }).unwrap();
    let rates = [("x", "-x")];
    let report =
        Known { solver, ..Known::new(&rates, &["x >= 0.1"]) }.report(&[("training", &data)], None);
    close(only(&report).violation, 0.1, 1e-12);
    close(only(&report).place.as_ref().unwrap().time, 1.0, 1e-15);
}

#[test]
fn a_guarantee_is_said_where_it_holds_and_an_initial_state_off_the_law_is_not_its_fault() {
    let rates = [("x", "cos(t)"), ("y", "1 - x")];
    let laws = ["x + y == initial(x + y)", "2*x + 2*y == 6", "x - y == initial(x - y)"];
    let times = [0.0, 1.0, 2.0];
    let data =
        |y| Dataset::single(&["x", "y"], times.to_vec(), vec![1.0, y, 0.5, y, 0.2, y]).unwrap();
    let known = || Known { sums: vec![vec![1.0, 1.0]], ..Known::new(&rates, &laws) };
    let on = known().report(&[("training", &data(2.0))], Some(20.0));
    let statuses: Vec<LawStatus> = on.laws.iter().map(|law| law.status).collect();
    assert_eq!(statuses, [LawStatus::Guaranteed, LawStatus::Guaranteed, LawStatus::Broken]);
    assert!(on.laws[0].violation < 1e-11, "{on:?}");
    assert!(on.laws[0].describe().starts_with("is guaranteed by constant sums of the rates"));
    let off = known().report(&[("training", &data(2.5))], None);
    assert_eq!(
        (off.laws[0].status, off.laws[1].status),
        (LawStatus::Guaranteed, LawStatus::Broken)
    );
    close(off.laws[1].violation, 1.0, 1e-9);
    close(off.laws[1].start, 1.0, 1e-9);
    assert_eq!(off.laws[1].by, None);
}

#[test]
fn rounding_of_a_guaranteed_law_violates_no_step() {
    let rates = [("x", "cos(t)/3"), ("y", "cos(2*t)")];
    let laws = ["x + y == initial(x + y)", "x - y == initial(x - y)"];
    let times: Vec<f64> = (0..50).map(f64::from).collect();
    let rows = times.iter().flat_map(|_| [0.1, 0.2]).collect();
    let data = Dataset::single(&["x", "y"], times, rows).unwrap();
    for (sums, guaranteed) in [(vec![vec![1.0, 1.0]], true), (vec![vec![2.0, -1.0]], false)] {
        let model = Known { sums, ..Known::new(&rates, &laws) }.model();
        let score = model.score(&data).unwrap();
        let [sum, difference] = &score.laws[..] else { unreachable!("two laws") };
        assert!(sum.max > 0.0 && (sum.max < 1e-13) == guaranteed, "{sum:?}");
        assert_eq!(sum.share > 0.0, !guaranteed, "{sum:?}");
        assert!(difference.share > 0.9, "{difference:?}");
    }
}

#[test]
fn a_tolerance_of_its_own_decides_what_is_broken() {
    let (data, rates) = wave();
    let status = |tolerance| {
        let known = Known { tolerance, ..Known::new(&rates, &["x <= 0.5"]) };
        only(&known.report(&[("training", &data)], None)).status
    };
    assert_eq!(status(Some(0.6)), LawStatus::Kept);
    assert_eq!(status(Some(0.4)), LawStatus::Broken);
}

#[test]
fn learned_constants_have_their_values() {
    // x = 2 t with k = 2: x <= k holds until t = 1.
    let known = KnownDescription { rates: vec![("x".into(), "k".into())], learn: Vec::new() };
    let mut field = FieldDescription::new(&["x".to_owned()]);
    let k = Constant {
        name: "k".into(),
        start: 1.0,
        learned: true,
        min: None,
        max: None,
        per_trajectory: false,
    };
    (field.constants, field.parts) = (vec![k], vec![FieldPart::Known(known)]);
    let law = LawDescription {
        name: "law".into(),
        holds: "x <= k".into(),
        strategy: "penalty".into(),
        tolerance: None,
    };
    let description = ModelDescription {
        field,
        laws: vec![law],
        interpolation: Interpolation::Linear,
        solver: SolverDescription::of(&adaptive()),
        starts: Vec::new(),
        count_above: 0.0,
        accuracy: None,
        subjects: None,
        iteration: 0,
    };
    let model = Model::new(description, vec![1.0]).unwrap();
    close(model.constants()[0].2, 2.0, 1e-15);
    let report = model.measure(&[("training", &data(&[0.0, 2.0], |t| t))], None);
    close(only(&report).violation, 2.0, 1e-9);
}

#[test]
fn sizes_are_those_of_the_compared_terms_or_of_a_change_of_the_states() {
    // S: mean 500, standard deviation 200; I the rest to 763; u sits still at 5.
    let s = [300.0, 300.0, 700.0, 700.0];
    let states: Vec<f64> = s.iter().flat_map(|&s| [s, 763.0 - s, 5.0]).collect();
    let times = vec![0.0, 1.0, 2.0, 3.0];
    let data = Dataset::single(&["S", "I", "u"], times, states).unwrap();
    for (law, size) in [
        ("S + I == 763", 763.0),
        ("763 - S == I", 763.0),
        ("2*S + 2*I == initial(2*S + 2*I)", 1526.0),
        ("next(S + I) == S + I", 763.0),
        ("S >= 0", 200.0),
        ("S <= 1000", 200.0),
        ("next(S) <= S", 200.0),
        ("next(3*S) >= 3*S", 600.0),
        ("S <= I", 200.0 * 2.0_f64.sqrt()),
        ("S <= initial(S) + 10", 200.0),
        ("next(S) - S <= 10", 200.0 * 2.0_f64.sqrt()),
        ("u <= 7", 5.0),
        ("(S - 300)*(S - 700) == 0", 400.0 * 200.0),
    ] {
        let laws = Laws::parse(&data, [law]).unwrap();
        close(law_sizes(&data, laws.laws(), &[])[0], size, 1e-12);
    }
    let words = Words::new().state(["S", "I", "u"]).constant("w", 2.0).check().unwrap();
    let laws = Laws::new(words).law("rate", "rate(w*S) <= 0").unwrap();
    // Twice the root mean square of the rates 0, 400, 0.
    let rate = 2.0 * (160_000.0_f64 / 3.0).sqrt();
    close(law_sizes(&data, laws.laws(), &[])[0], rate, 1e-12);
}

#[test]
fn a_state_that_is_hardly_measured_has_the_size_of_its_cells_or_of_the_others() {
    let nan = f64::NAN;
    let states = vec![762.0, 1.0, 0.0, nan, 50.0, nan, nan, 300.0, nan, nan, 20.0, nan];
    let data = Dataset::single(&["S", "I", "R"], vec![0.0, 1.0, 2.0, 3.0], states).unwrap();
    let laws = Laws::parse(&data, ["S >= 0", "R >= 0", "S + I + R == 763"]).unwrap();
    assert_eq!(law_sizes(&data, laws.laws(), &[]), [762.0, 762.0, 763.0]);
}

#[test]
fn points_are_bounded_for_long_and_for_many_trajectories() {
    let rates = [("x", "0")];
    let long: Vec<f64> = (0..30_000).map(f64::from).collect();
    let report =
        Known::new(&rates, &["x <= 1"]).report(&[("training", &data(&long, |_| 0.5))], None);
    assert!((1000..4000).contains(&only(&report).points), "{:?}", report.laws);
    let trajectory = |n: usize| Trajectory::new(format!("{n}"), vec![0.0, 1.0], vec![0.5; 2]);
    let many =
        Dataset::new(vec!["x".into()], Vec::new(), (0..5000).map(trajectory).collect()).unwrap();
    let report = Known::new(&rates, &["x <= 1"]).report(&[("training", &many)], None);
    assert_eq!((report.trajectories, report.of), (1667, 5000));
    assert!(only(&report).points < 400_000, "{:?}", report.laws);
}

#[test]
fn without_laws_nothing_is_measured() {
    let (data, rates) = wave();
    let report = Known::new(&rates, &[]).report(&[("training", &data)], None);
    assert_eq!(report, LawReport { of: 1, ..LawReport::default() });
    assert!(report.is_clean());
}
