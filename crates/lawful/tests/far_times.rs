//! Times far from zero: epoch seconds, milliseconds and microseconds.

#![expect(clippy::unwrap_used, reason = "a training that cannot be made has failed")]

use lawful::{
    Dataset, FieldSettings, Interpolation, Laws, Table, Training, Trajectory,
    optimiser::AdamSettings,
};
use lawful::{Phase, Shooting};

/// Start and distance of rows, in the units of the clock.
const CLOCKS: [(f64, f64); 4] = [(1.7e12, 1000.0), (1.7e15, 1e6), (1.7e9, 1.0), (1.7e9, 1e-4)];

/// A damped oscillation over 40 rows `step` apart, from `start`.
fn oscillation(start: f64, step: f64) -> Dataset {
    let times: Vec<f64> = (0..40).map(|n| start + f64::from(n) * step).collect();
    let at = |t: &f64| {
        let turn = 0.25 * (t - start) / step;
        [(-0.1 * turn).exp() * turn.cos(), -(-0.1 * turn).exp() * turn.sin()]
    };
    let states = times.iter().flat_map(at).collect();
    Dataset::single(&["x", "v"], times, states).unwrap()
}

fn training(data: &Dataset) -> Training {
    let field = FieldSettings::layers(&[8], data.state());
    let lbfgs = lawful::optimiser::LbfgsSettings::default();
    let segments =
        Phase { shooting: Shooting::Multiple { steps: 10, free: false }, ..Phase::new(lbfgs, 60) };
    Training::new(data.clone()).field(field).phases(vec![segments, Phase::new(lbfgs, 200)])
}

#[test]
fn a_model_of_data_far_from_zero_is_as_good_as_one_of_data_from_zero() {
    let near = training(&oscillation(0.0, 1.0)).run().unwrap().score.unwrap().mse;
    assert!(near < 1e-4, "{near}");
    for (start, step) in CLOCKS {
        let data = oscillation(start, step);
        let trained = training(&data).run().unwrap();
        let score = trained.score.unwrap_or_else(|failure| panic!("{start}: {failure}"));
        // The times are rounded: 1.7e9 + 1e-4 n to 2.4e-7, a thousandth of a step.
        assert!(score.mse < 1e2 * near.max(1e-7), "{start} + {step} n: {} and {near}", score.mse);
        let times = &data.trajectories()[0].times;
        let path = trained.model.predict(&data.trajectories()[0].states[..2], times).unwrap();
        let scored = &score.predicted[0];
        assert!(path.iter().zip(scored).all(|(a, b)| a.to_bits() == b.to_bits()), "{start}");
    }
}

#[test]
fn laws_known_rates_and_failures_have_the_users_times() {
    let start = 1.7e12;
    let data = oscillation(start, 1000.0);
    let laws = Laws::parse(&data, ["x <= t/1e12", "x >= t/1e12"]).unwrap();
    let known = [("x", "v/1000 + 0*t"), ("v", "exp((t - 1.7e12)/10)")];
    let known = known.map(|(name, rate)| (name.to_owned(), rate.to_owned())).to_vec();
    let field = FieldSettings { known, ..FieldSettings::layers(&[4], &data.state()[..1]) };
    let adam = AdamSettings::default();
    let trained = training(&data).laws(laws).field(field).phases(vec![Phase::new(adam, 1)]);
    let trained = trained.remedies(false).run().unwrap();
    // The rate of v overflows some seconds after the start, which the message says in the user's
    // time, and not at 1.7e12 milliseconds after it.
    let message = format!("{}", trained.stop);
    assert!(message.contains("1.7000000"), "{message}");

    let laws = Laws::parse(&data, ["x <= t/1e12", "x >= t/1e12"]).unwrap();
    let score = training(&data).laws(laws).phases(vec![Phase::new(adam, 1)]).run().unwrap().score;
    let laws = score.unwrap().laws;
    assert!(laws[0].max < f64::MIN_POSITIVE && laws[1].mean > 0.5, "{laws:?}");
}

#[test]
fn inputs_that_jump_do_so_at_the_users_times() {
    let model = |start: f64| {
        let times: Vec<f64> = (0..20).map(|n| start + 0.7 * f64::from(n)).collect();
        let states = times.iter().map(|t| 0.1 * (t - start)).collect();
        let inputs = (0..20).map(|n| f64::from(n % 3)).collect();
        let trajectory = Trajectory { inputs, ..Trajectory::new("1", times, states) };
        let names = (vec!["x".to_owned()], vec!["u".to_owned()]);
        let data = Dataset::new(names.0, names.1, vec![trajectory]).unwrap();
        let field = FieldSettings::layers(&[6], data.state());
        let adam = AdamSettings { rate: 0.01, ..AdamSettings::default() };
        let trained = Training::new(data.clone()).field(field).phases(vec![Phase::new(adam, 50)]);
        let trained = trained.interpolation(Interpolation::Previous).run().unwrap();
        (trained.model, data)
    };
    let ((near, data), (far, later)) = (model(0.0), model(1024.0 * 1024.0));
    let end = |model: &lawful::Model, data: &Dataset| {
        let trajectory = &data.trajectories()[0];
        let table = Table { times: &trajectory.times, values: &trajectory.inputs };
        model.predict_with(&[0.0], &trajectory.times, table).unwrap()
    };
    for (a, b) in end(&near, &data).iter().zip(end(&far, &later)) {
        assert!((a - b).abs() < 1e-6, "{a} and {b}");
    }
}
