//! Gradients: against differences, by hand, and at the points where they are a choice.
#![expect(clippy::float_cmp, reason = "the expected numbers are exact")]

use crate::common::{Trajectory, at_point, gradient, law, residuals};
use lawful_law::{FUNCTIONS, Law, Workspace};
use proptest::prelude::*;

/// Central differences of `Σ w c` with step `h`, extrapolated: the error is of fourth order in `h`.
fn differences(law: &Law, trajectory: &Trajectory, w: &[f64], h: f64) -> Vec<f64> {
    let sum = |state: usize, shift: f64| {
        let mut shifted = trajectory.clone();
        shifted.states[state] += shift;
        residuals(law, &shifted).iter().zip(w).map(|(c, w)| c * w).sum::<f64>()
    };
    let slope = |state, h: f64| (sum(state, h) - sum(state, -h)) / (2.0 * h);
    let states = 0..trajectory.states.len();
    states.map(|state| (4.0 * slope(state, h / 2.0) - slope(state, h)) / 3.0).collect()
}

/// The largest distance of two gradients, relative to the second one, to `size` and to 1.
fn distance(found: &[f64], expected: &[f64], size: f64) -> f64 {
    let scale = expected.iter().fold(size.max(1.0), |scale, slope| scale.max(slope.abs()));
    let apart =
        found.iter().zip(expected).map(|(found, expected)| (found - expected).abs() / scale);
    apart
        .fold(0.0, |worst: f64, apart| if worst.is_nan() || apart <= worst { worst } else { apart })
}

#[test]
fn gradient_matches_central_differences_for_every_function() {
    let trajectory = Trajectory::new(&[0.3, 0.7, 1.9, 0.4, 0.2, 0.8]);
    let w = [0.7, -1.3, 0.4];
    for function in FUNCTIONS {
        let name = function.name();
        let several = format!("{name}(x*v, 0.3 + v, x) + v <= 1");
        let law = law(&format!("{name}(x*v + 0.1) + v <= 1")).or_else(|_| law(&several)).unwrap();
        let expected = differences(&law, &trajectory, &w, 1e-3);
        let found = gradient(&law, &trajectory, &w);
        assert!(distance(&found, &expected, 1.0) <= 1e-6, "{name}: {found:?} {expected:?}");
    }
}

/// Text of a random smooth formula of the state, time steps and inputs.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["x", "v", "u/10", "t", "k", "E", "1.5", "0.25", "-v"])
        .prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 2, |inner| {
        let of_one = prop::sample::select(vec![
            "sin(#)",
            "cos(#)",
            "tanh(#)",
            "exp(tanh(#))",
            "ln(2 + tanh(#))",
            "sqrt(1 + (#)^2)",
            "log10(3 + sin(#))",
            "tan(tanh(#))",
            "(#)^3",
            "(2 + sin(#))^-2",
            "(2 + cos(#))^1.5",
            "-(#)",
            "abs(3 + sin(#))",
            "next(#)",
            "previous(#)",
            "initial(#)",
            "final(#)",
        ]);
        let of_two = prop::sample::select(vec![
            "#1 + #2",
            "(#1) - (#2)",
            "(#1)*(#2)",
            "(#1)/(3 + sin(#2))",
            "(2 + tanh(#1))^(tanh(#2))",
            "max(sin(#1), 2 + cos(#2))",
            "min(sin(#1), 2 + cos(#2))",
        ]);
        prop_oneof![
            (of_one, inner.clone()).prop_map(|(form, a)| form.replace('#', &a)),
            (of_two, inner.clone(), inner)
                .prop_map(|(form, a, b)| form.replace("#1", &a).replace("#2", &b)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn gradient_matches_central_differences_for_random_laws(
        text in formula(),
        states in prop::collection::vec(-1.2..1.2_f64, 8),
        w in prop::collection::vec(-1.0..1.0_f64, 4),
    ) {
        // Some formulas never exist, such as initial(previous(x)).
        let law = law(&format!("{text} <= x^3 + v"));
        prop_assume!(law.is_ok());
        let law = law.unwrap();
        let trajectory = Trajectory::new(&states);
        let size = residuals(&law, &trajectory).iter().fold(1.0_f64, |size, c| size.max(c.abs()));
        let expected = differences(&law, &trajectory, &w, 1e-3);
        // Skip laws that vary too fast for differences: half the step would give other ones.
        let again = differences(&law, &trajectory, &w, 5e-4);
        prop_assume!(distance(&again, &expected, size) < 1e-7);
        let found = gradient(&law, &trajectory, &w);
        let error = distance(&found, &expected, size);
        prop_assert!(error <= 1e-6, "{}: {:?} {:?}", text, found, expected);
    }

    /// ⟨w, J ẏ⟩ = ⟨Jᵀ w, ẏ⟩, exactly, for laws that are linear in the state.
    #[test]
    fn the_pull_back_is_the_transpose_of_the_push_forward(
        direction in prop::collection::vec(-50..50_i32, 10),
        w in prop::collection::vec(-50..50_i32, 5),
    ) {
        let direction: Vec<f64> = direction.into_iter().map(f64::from).collect();
        let w: Vec<f64> = w.into_iter().map(f64::from).collect();
        for text in [
            "next(x) - 3*previous(v) == 2*x",
            "x + v == initial(x + 2*v) - final(v)",
            "next(next(x + v)) == final(previous(x)) - initial(next(v))",
            "previous(previous(x) - next(v)) == v",
        ] {
            let law = law(text).unwrap();
            let trajectory = Trajectory::new(&direction);
            // Linear without a constant: the residual is J ẏ.
            let forward = residuals(&law, &trajectory);
            let left: f64 = forward.iter().zip(&w).map(|(c, w)| c * w).sum();
            let back = gradient(&law, &trajectory, &w);
            let right: f64 = back.iter().zip(&direction).map(|(bar, y)| bar * y).sum();
            prop_assert_eq!(left, right, "{}", text);
        }
    }
}

#[test]
fn gradients_reach_the_time_steps_they_came_from() {
    // Rows (x, v): (1, 0), (2, 0), (3, 0); the weights are 1, 10, 100.
    let trajectory = Trajectory::new(&[1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
    let table = [
        ("next(x) == 0", [0.0, 1.0, 10.0]),
        ("next(x)^2 == 0", [0.0, 4.0, 60.0]),
        ("previous(x) == 0", [10.0, 100.0, 0.0]),
        ("next(next(x)) == 0", [0.0, 0.0, 1.0]),
        ("initial(x) == 0", [111.0, 0.0, 0.0]),
        ("final(x) == 0", [0.0, 0.0, 111.0]),
        ("initial(x*next(x)) == 0", [222.0, 111.0, 0.0]),
        ("x == initial(x)", [-110.0, 10.0, 100.0]),
        ("next(x) == previous(x)", [-10.0, 0.0, 10.0]),
    ];
    for (text, [first, second, third]) in table {
        let found = gradient(&law(text).unwrap(), &trajectory, &[1.0, 10.0, 100.0]);
        assert_eq!(found, [first, 0.0, second, 0.0, third, 0.0], "{text}");
    }
}

#[test]
fn the_gradient_of_the_first_energy_is_summed_in_the_first_row() {
    // E = x² + v²/4 with k = 2 and m = 1/2: ∂E₀/∂x₀ = 2x₀, ∂E₀/∂v₀ = v₀/2.
    let trajectory = Trajectory::new(&[1.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
    let found = gradient(&law("E <= initial(E)").unwrap(), &trajectory, &[0.0, 1.0, 2.0]);
    assert_eq!(found, [-6.0, -6.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn derivatives_at_kinks_and_ends_are_the_documented_ones() {
    assert_eq!(at_point("abs(x)", 0.0, 0.0).1, [0.0, 0.0]);
    assert_eq!(at_point("max(x, v)", 1.0, 1.0).1, [1.0, 0.0]);
    assert_eq!(at_point("min(v, x)", 1.0, 1.0).1, [0.0, 1.0]);
    assert_eq!(at_point("x^3", 0.0, 0.0).1, [0.0, 0.0]);
    assert_eq!(at_point("x^3", -2.0, 0.0), (-8.0, [12.0, 0.0]));
    assert_eq!(at_point("x^-1", -2.0, 0.0), (-0.5, [-0.25, 0.0]));
    assert_eq!(at_point("x^1", 0.0, 0.0).1, [1.0, 0.0]);
    assert_eq!(at_point("x^-2147483648", 1.0, 0.0), (1.0, [-2_147_483_648.0, 0.0]));
    assert_eq!(at_point("x^0.5", 4.0, 0.0), (2.0, [0.25, 0.0]));
    assert_eq!(at_point("x^v", 0.0, 2.0), (0.0, [0.0, 0.0]));
    assert_eq!(at_point("x^v", 0.0, 0.0).1[0], 0.0);
    // The exponent is an input and needs no derivative, so a negative base is allowed.
    assert_eq!(at_point("x^(u + 3)", -2.0, 0.0).1, [12.0, 0.0]);
}

#[test]
fn a_zero_adjoint_adds_nothing_where_the_derivative_is_infinite() {
    let trajectory = Trajectory::new(&[0.0, 0.0, 4.0, 0.0]);
    for text in ["sqrt(x) == v", "1/x == v", "ln(x) == v", "x^0.5 == v", "sqrt(x)*(1/x) == v"] {
        let found = gradient(&law(text).unwrap(), &trajectory, &[0.0, 1.0]);
        assert_eq!(found[..2], [0.0, 0.0], "{text}");
        assert!(found.iter().all(|bar| bar.is_finite()), "{text}: {found:?}");
    }
}

#[test]
fn pull_back_adds_to_what_is_there_and_ignores_rows_outside_the_range() {
    let trajectory = Trajectory::new(&[1.0, 0.0, 2.0, 0.0]);
    let law = law("next(x) == 0").unwrap();
    let (mut workspace, mut residuals) = (Workspace::new(), [0.0; 2]);
    law.residuals(&trajectory.steps(), &mut workspace, &mut residuals);
    let mut state_bar = [5.0; 4];
    law.pull_back(&trajectory.steps(), &mut workspace, &[1.0, f64::NAN], &mut state_bar);
    assert_eq!(state_bar, [5.0, 5.0, 6.0, 5.0]);
}

#[test]
fn a_workspace_never_shrinks_and_serves_all_laws() {
    let long = Trajectory::new(&[0.5; 200]);
    let short = Trajectory::new(&[0.5; 6]);
    let laws = ["next(E) <= E", "x <= 1", "sin(x)*exp(v) == max(x, v, 0)"].map(|t| law(t).unwrap());
    let mut workspace = Workspace::new();
    let mut sweep = |trajectory: &Trajectory| {
        for law in &laws {
            let n = trajectory.times.len();
            let (mut residuals, mut state_bar) = (vec![0.0; n], vec![0.0; 2 * n]);
            law.residuals(&trajectory.steps(), &mut workspace, &mut residuals);
            law.pull_back(&trajectory.steps(), &mut workspace, &residuals, &mut state_bar);
            assert_eq!(state_bar, gradient(law, trajectory, &residuals));
        }
        workspace.bytes()
    };
    let grown = sweep(&long);
    assert!(grown > 0);
    assert_eq!(sweep(&short), grown);
    assert_eq!(sweep(&long), grown);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "must come just before")]
fn pull_back_after_another_law_panics() {
    let trajectory = Trajectory::new(&[1.0, 0.0]);
    let (first, second) = (law("x <= 1").unwrap(), law("v <= 1").unwrap());
    let mut workspace = Workspace::new();
    first.residuals(&trajectory.steps(), &mut workspace, &mut [0.0]);
    second.pull_back(&trajectory.steps(), &mut workspace, &[1.0], &mut [0.0, 0.0]);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "the steps of the forward sweep")]
fn pull_back_on_other_states_panics() {
    let (here, there) = (Trajectory::new(&[1.0, 0.0]), Trajectory::new(&[2.0, 0.0]));
    let law = law("x <= 1").unwrap();
    let mut workspace = Workspace::new();
    law.residuals(&here.steps(), &mut workspace, &mut [0.0]);
    law.pull_back(&there.steps(), &mut workspace, &[1.0], &mut [0.0, 0.0]);
}
