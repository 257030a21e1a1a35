//! Phases on a part of the data, and the plan for many rows.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::ops::ControlFlow;

use common::bits;
use lawful::optimiser::{AdamSettings, LbfgsSettings, OptimiserKind};
use lawful::strategy::{L1, StrategyKind, StrategySettings};
use lawful::{
    Batch, Dataset, FieldSettings, Laws, Objective, Observer, Phase, PhaseStart, Plan, Prepared,
    Progress, Random, Row, Segment, Shooting, Training, Trajectory,
};

const ENERGY: &str = "next(x^2 + v^2) <= x^2 + v^2";

/// Oscillations with these numbers of rows, in steps of 0.1, with this much noise.
fn oscillations(rows: &[usize], noise: f64) -> Dataset {
    let mut random = Random::new(1, "oscillations");
    let trajectory = |(n, &rows): (usize, &usize)| {
        let times: Vec<f64> = (0..rows).map(|row| 0.1 * row as f64).collect();
        let of = |t: f64| [(t + n as f64).cos(), -(t + n as f64).sin()];
        let states = times.iter().flat_map(|&t| of(t)).map(|y| y + noise * random.normal());
        Trajectory::new(n.to_string(), times.clone(), states.collect())
    };
    let all = rows.iter().enumerate().map(trajectory).collect();
    Dataset::new(vec!["x".into(), "v".into()], Vec::new(), all).unwrap()
}

fn training(data: &Dataset) -> Training {
    let field = FieldSettings::layers(&[6], data.state());
    let laws = Laws::parse(data, [ENERGY]).unwrap();
    Training::new(data.clone()).field(field).laws(laws)
}

/// A phase on a part, with segments of these steps; full trajectories for 0.
fn phase(steps: usize, free: bool, part: Option<usize>) -> Phase {
    let shooting = match steps {
        0 => Shooting::Single,
        steps => Shooting::Multiple { steps, free },
    };
    let optimiser = LbfgsSettings::default();
    Phase { shooting, part, ..Phase::new(optimiser, 12) }
}

fn rows(segments: &[Segment]) -> usize {
    segments.iter().map(|segment| segment.rows).sum()
}

/// Keeps the first value of the objective, and stops.
struct First(f64);

impl Observer for First {
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        if row.iteration == 0 {
            self.0 = row.evaluation.unwrap().value.value;
        }
        ControlFlow::Break(())
    }
}

#[test]
fn a_phase_on_a_part_has_the_objective_of_its_segments_alone() {
    let data = oscillations(&[200, 40, 90], 0.0);
    for (steps, part) in [(5, 100), (5, 7), (0, 60), (0, 3)] {
        let phase = phase(steps, false, Some(part));
        let segments = phase.segments(&data);
        assert!(rows(&segments) <= part && !segments.is_empty(), "{steps}, {part}");
        let strategy = StrategySettings::vanilla();
        let prepared =
            training(&data).strategy(strategy).phases(vec![phase.clone()]).prepare().unwrap();
        let theta = prepared.initial_theta();
        let mut on_part = prepared.objective(&phase, data.clone()).unwrap();
        let found = on_part.evaluate(&theta, 0).unwrap().clone();
        let all = Phase { part: None, ..phase.clone() };
        let mut of_all: Objective = prepared.objective(&all, data.clone()).unwrap();
        of_all.select(&segments);
        let expected = of_all.evaluate(&theta, 0).unwrap();
        assert_eq!(found.value, expected.value);
        assert_eq!(bits(&found.gradient), bits(&expected.gradient));
        // What the trainer minimises, too.
        let mut first = First(0.0);
        prepared.trainer(&phase, &theta).run(&mut first);
        assert!(found.value.value > 0.0 && first.0.to_bits() == found.value.value.to_bits());
        let phase = prepared.phases[0].describe();
        assert!(phase.contains(&format!("a part of {part} rows")), "{phase}");
    }
}

#[test]
fn initial_states_outside_of_the_part_are_kept_for_the_phases_after_it() {
    let data = oscillations(&[30; 12], 0.05);
    let phases = vec![phase(5, true, Some(60)), phase(0, false, Some(60)), phase(0, false, None)];
    let prepared = training(&data).initial_state(true).phases(phases).prepare().unwrap();
    let theta = prepared.initial_theta();
    for phase in &prepared.phases {
        let trainer = prepared.trainer(phase, &theta);
        let layout = trainer.objective().layout();
        assert_eq!(layout, prepared.layout(phase), "the layout without the objective");
        let mut moved = layout.extend(&theta);
        for (n, number) in moved.iter_mut().enumerate() {
            *number = n as f64;
        }
        let kept = layout.keep(&moved);
        assert_eq!(kept.len(), prepared.theta_len());
        assert_eq!(layout.keep(&layout.extend(&kept)), kept);
    }
    let trained = prepared.trained(&prepared.run(&mut ()));
    assert!(trained.score.is_ok(), "{:?}", trained.score);
}

/// Keeps checkpoints with the plan that they belong to.
#[derive(Default)]
struct Checkpoints(Option<Plan>, Vec<(Plan, Progress)>);

impl Observer for Checkpoints {
    fn phase(&mut self, phase: &PhaseStart) {
        self.0 = Some(phase.plan.clone());
    }

    fn wants_checkpoint(&mut self, iteration: usize) -> bool {
        iteration.is_multiple_of(5)
    }

    fn checkpoint(&mut self, progress: &Progress) {
        self.1.push((self.0.clone().unwrap(), progress.clone()));
    }
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_with_phases_on_a_part() {
    let data = oscillations(&[150, 60], 0.02);
    let adam = OptimiserKind::Adam(AdamSettings { rate: 1e-2, ..AdamSettings::default() });
    let phases = vec![
        phase(5, true, Some(80)),
        Phase { optimiser: adam, ..phase(10, false, Some(50)) },
        phase(10, false, None),
    ];
    let make = |initial| -> Prepared {
        training(&data).initial_state(initial).phases(phases.clone()).prepare().unwrap()
    };
    for initial in [false, true] {
        let mut seen = Checkpoints::default();
        let whole = make(initial).run(&mut seen);
        assert!(seen.1.len() > 6, "{}", seen.1.len());
        for (plan, progress) in seen.1 {
            let state = plan.state();
            let prepared = make(initial);
            let plan = Plan::restore(&prepared.phases, &state).unwrap();
            let resumed = prepared.resume(plan, Some(progress), &mut ());
            assert_eq!(bits(&resumed.outcome.last.theta), bits(&whole.outcome.last.theta));
            assert_eq!(resumed.plan.state(), whole.plan.state());
        }
    }
}

#[test]
fn a_part_of_one_row_or_of_batches_is_refused() {
    let data = oscillations(&[40], 0.0);
    let refused =
        |phase: Phase| training(&data).phases(vec![phase]).prepare().unwrap_err().to_string();
    let tiny = refused(phase(0, false, Some(1)));
    assert_eq!(tiny, "phase 1: a part of 1 rows, but at least 2 are needed");
    let batch = Batch::Windows { count: 2, rows: 5 };
    let adam = Phase { batch, part: Some(9), ..Phase::new(AdamSettings::default(), 5) };
    assert_eq!(refused(adam), "phase 1: a phase on a part of the data has no batches");
}

#[test]
fn many_rows_begin_on_a_part_and_end_on_all() {
    let plan = |data: Dataset, kind: Option<StrategyKind>| {
        let training = match kind {
            Some(kind) => training(&data).strategy(StrategySettings::new(kind)),
            None => training(&data),
        };
        training.prepare().unwrap()
    };
    let shape = |prepared: &Prepared| -> Vec<(Shooting, Option<usize>)> {
        prepared.phases.iter().map(|phase| (phase.shooting, phase.part)).collect()
    };
    let few = plan(oscillations(&[100_000], 0.0), None);
    assert!(few.phases.iter().all(|phase| phase.part.is_none()));
    assert!(few.expected_time().is_none(), "a small plan is not measured");

    let (part, multiple) = (Some(20_000), |steps, free| Shooting::Multiple { steps, free });
    let one = plan(oscillations(&[100_001], 0.0), None);
    assert_eq!(
        shape(&one),
        [(multiple(10, false), part), (multiple(100, false), part), (multiple(100, false), None)]
    );
    assert_eq!(one.phases[2].iterations, 300);
    let said = one.remarks.iter().any(|remark| remark.starts_with("100001 rows: training begins"));
    assert!(said, "{:?}", one.remarks);
    assert!(one.expected_time().is_some_and(|time| time.as_secs_f64() > 0.1));

    // Short trajectories are not cut in the end, and noise makes starts free.
    let short = plan(oscillations(&[60; 2000], 0.1), None);
    assert_eq!(
        shape(&short),
        [(multiple(10, true), part), (Shooting::Single, part), (Shooting::Single, None)]
    );
    assert!(short.initial_state && short.validation == 0.0 && short.decay == 0.0);

    // A strategy with kinks has Adam in every phase.
    let l1 = StrategyKind::L1(L1 { mu: vec![1.0] });
    let kinks = plan(oscillations(&[120_000], 0.0), Some(l1));
    assert_eq!(shape(&kinks), shape(&one));
    assert!(kinks.phases.iter().all(|phase| phase.optimiser.name() == "adam"));
}
