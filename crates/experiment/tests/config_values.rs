//! Messages about numbers out of range, unknown words and keys that do not go together.

mod config_support;

use config_support::{Folder, complete_with, error_with, experiment_with};
use insta::assert_snapshot;
use lawful::optimiser::LbfgsScaling;
use lawful::optimiser::OptimiserKind;
use lawful::strategy::StrategyKind;
use lawful::{Batch, Control, Initialise, Loss};

const TWO_LAWS: &str = "[[law]]\nholds = \"0 <= x <= 9\"\n[[law]]\nholds = \"x <= 10\"\n";

#[test]
fn a_number_out_of_range_is_refused() {
    assert_snapshot!(error_with("[strategy]\ntolerance = -1e-4\n"), @"
    error: `tolerance` in [strategy] is -1e-4, but must be a number of at least 0
      experiment.toml:7:13
        tolerance = -1e-4
                    ^^^^^
    hint: for example `tolerance = 1e-4`
    ");
    assert_snapshot!(error_with("[training]\noptimiser = { rate = -0.1 }\n"), @"
    error: `rate` in [training.optimiser] is -0.1, but must be a number above 0
      experiment.toml:7:22
        optimiser = { rate = -0.1 }
                             ^^^^
    hint: for example `rate = 1e-3`
    ");
    assert_snapshot!(error_with("[training]\noptimiser = { rate = 0 }\n"), @"
    error: `rate` in [training.optimiser] is 0, but must be a number above 0
      experiment.toml:7:22
        optimiser = { rate = 0 }
                             ^
    hint: for example `rate = 1e-3`
    ");
    assert_snapshot!(error_with("[training]\noptimiser = { beta1 = 1.0 }\n"), @"
    error: `beta1` in [training.optimiser] is 1.0, but must be a number from 0 to below 1
      experiment.toml:7:23
        optimiser = { beta1 = 1.0 }
                              ^^^
    hint: for example `beta1 = 0.9`
    ");
    assert_snapshot!(error_with("[training]\niterations = -5\n"), @"
    error: `iterations` in [training] is -5, but must be a whole number of at least 1
      experiment.toml:7:14
        iterations = -5
                     ^^
    hint: for example `iterations = 10000`
    ");
    assert_snapshot!(error_with("[training]\niterations = 0\n"), @"
    error: `iterations` in [training] is 0, but must be a whole number of at least 1
      experiment.toml:7:14
        iterations = 0
                     ^
    hint: for example `iterations = 10000`
    ");
    assert_snapshot!(error_with("[training]\niterations = 1.5\n"), @"
    error: `iterations` in [training] is 1.5, but must be a whole number of at least 1
      experiment.toml:7:14
        iterations = 1.5
                     ^^^
    hint: for example `iterations = 10000`
    ");
    assert_snapshot!(error_with("[training]\nseed = 18446744073709551616\n"), @"
    error: `seed` in [training] is 18446744073709551616, but must be a whole number from 0 to 9007199254740992
      experiment.toml:7:8
        seed = 18446744073709551616
               ^^^^^^^^^^^^^^^^^^^^
    hint: for example `seed = 1`
    ");
    assert_snapshot!(error_with("[field]\nhidden = [50, 0]\n"), @"
    error: an entry of `hidden` in [field] is 0, but must be a whole number from 1 to 1000000
      experiment.toml:7:15
        hidden = [50, 0]
                      ^
    hint: for example `50`
    ");
    assert_snapshot!(error_with("[field]\nhidden = [4e9]\n"), @"
    error: an entry of `hidden` in [field] is 4e9, but must be a whole number from 1 to 1000000
      experiment.toml:7:11
        hidden = [4e9]
                  ^^^
    hint: for example `50`
    ");
    assert_snapshot!(error_with("[field]\nhidden = [1000000, 1000000]\n"), @"
    error: this network would have 1.0e12 parameters
      experiment.toml:7:10
        hidden = [1000000, 1000000]
                 ^^^^^^^^^^^^^^^^^^
    hint: use smaller layers; at most 1e8 are possible
    ");
    assert_snapshot!(error_with("[solver]\nrtol = nan\n"), @"
    error: `rtol` needs adaptive steps, but the method `rk4-38` has no error estimate
      experiment.toml:7:8
        rtol = nan
               ^^^
    hint: use one of `midpoint`, `heun`, `bosh3`, `dopri5`, `tsit5`, or replace `rtol` by `substeps = 1`
    ");
    assert_snapshot!(error_with("[solver]\nsubsteps = 0\n"), @"
    error: `substeps` in [solver] is 0, but must be a whole number from 1 to 1000000
      experiment.toml:7:12
        substeps = 0
                   ^
    hint: for example `substeps = 1`
    ");
    assert_snapshot!(error_with("[training]\noptimiser = { warm-up = 20000 }\n"), @"
    error: `warm-up` in [training.optimiser] is 20000, but must be a whole number from 0 to 10000
      experiment.toml:7:25
        optimiser = { warm-up = 20000 }
                                ^^^^^
    hint: for example `warm-up = 0`
    ");
}

#[test]
fn an_unknown_word_is_an_error_with_a_suggestion() {
    assert_snapshot!(error_with("[solver]\nmethod = \"rk45\"\n"), @r#"
    error: unknown method `rk45`
      experiment.toml:7:10
        method = "rk45"
                 ^^^^^^
    hint: did you mean `rk4`?
    "#);
    assert_snapshot!(error_with("[solver]\nmethod = \"leapfrog\"\n"), @r#"
    error: unknown method `leapfrog`
      experiment.toml:7:10
        method = "leapfrog"
                 ^^^^^^^^^^
    hint: `method` may be `euler`, `midpoint`, `heun`, `rk4`, `rk4-38`, `bosh3`, `dopri5`, `tsit5`
    "#);
    assert_snapshot!(error_with("[strategy]\nkind = \"adaptive\"\n"), @r#"
    error: unknown strategy `adaptive`
      experiment.toml:7:8
        kind = "adaptive"
               ^^^^^^^^^^
    hint: `kind` may be `auto`, `vanilla`, `l1`, `l2`, `self-adaptive`, `augmented-lagrangian`, `dynamic`, `lemonge`, `two-stage`, `filter`, `nu-pi`, `barrier`, `balanced`
    "#);
    assert_snapshot!(error_with("[field]\nactivations = \"tahn\"\n"), @r#"
    error: unknown activation `tahn`
      experiment.toml:7:15
        activations = "tahn"
                      ^^^^^^
    hint: did you mean `tanh`?
    "#);
    assert_snapshot!(error_with("[field]\nactivations = [\"tanh\", \"gelu\"]\n"), @r#"
    error: unknown activation `gelu`
      experiment.toml:7:24
        activations = ["tanh", "gelu"]
                               ^^^^^^
    hint: did you mean `elu`?
    "#);
    assert_snapshot!(error_with("[field]\ninit = \"uniform\"\n"), @r#"
    error: unknown init `uniform`
      experiment.toml:7:8
        init = "uniform"
               ^^^^^^^^^
    hint: `init` may be `normal`, `xavier`, `he`
    "#);
    assert_snapshot!(error_with("[field]\nprecision = \"half\"\n"), @r#"
    error: unknown precision `half`
      experiment.toml:7:13
        precision = "half"
                    ^^^^^^
    hint: `precision` may be `double`, `single`
    "#);
    assert_snapshot!(error_with("[training]\nloss = \"rmse\"\n"), @r#"
    error: unknown loss `rmse`
      experiment.toml:7:8
        loss = "rmse"
               ^^^^^^
    hint: did you mean `mse`?
    "#);
    assert_snapshot!(error_with("[training]\noptimiser = \"sgd\"\n"), @r#"
    error: unknown optimiser `sgd`
      experiment.toml:7:13
        optimiser = "sgd"
                    ^^^^^
    hint: `optimiser` may be `adam`, `lbfgs`
    "#);
    assert_snapshot!(error_with("[training]\noptimiser = { schedule = \"cosin\" }\n"), @r#"
    error: unknown schedule `cosin`
      experiment.toml:7:26
        optimiser = { schedule = "cosin" }
                                 ^^^^^^^
    hint: did you mean `cosine`?
    "#);
}

#[test]
fn lists_must_have_the_right_length() {
    assert_snapshot!(error_with("[field]\nhidden = [50, 50]\nactivations = [\"tanh\"]\n"), @r#"
    error: `activations` has 1 word for 2 hidden layers
      experiment.toml:8:15
        activations = ["tanh"]
                      ^^^^^^^^
    hint: write one word for all layers, or one for each of `hidden`
    "#);
    assert_snapshot!(error_with(&format!("{TWO_LAWS}[strategy]\nkind = \"l1\"\nmu = [1, 2, 3]\n")), @"
    error: `mu` has 3 weights for 2 laws
      experiment.toml:12:6
        mu = [1, 2, 3]
             ^^^^^^^^^
    hint: write one number for all laws, or a list with one for each `[[law]]`
    ");
}

#[test]
fn steps_are_equal_or_adaptive() {
    assert_snapshot!(error_with("[solver]\nmethod = \"dopri5\"\nsubsteps = 2\nrtol = 1e-6\n"), @"
    error: `substeps` means equal steps, `rtol` means adaptive ones
      experiment.toml:8:12
        substeps = 2
                   ^
    hint: keep one of the two
    ");
    assert_snapshot!(error_with("[solver]\nmethod = \"rk4\"\nrtol = 1e-6\n"), @"
    error: `rtol` needs adaptive steps, but the method `rk4` has no error estimate
      experiment.toml:8:8
        rtol = 1e-6
               ^^^^
    hint: use one of `midpoint`, `heun`, `bosh3`, `dopri5`, `tsit5`, or replace `rtol` by `substeps = 1`
    ");
    assert_snapshot!(error_with("[solver.predict]\nmethod = \"rk4\"\n"), @r#"
    error: predictions use adaptive steps, but the method `rk4` has no error estimate
      experiment.toml:7:10
        method = "rk4"
                 ^^^^^
    hint: use one of `midpoint`, `heun`, `bosh3`, `dopri5`, `tsit5`, or add `substeps = 4`
    "#);
}

#[test]
fn points_between_rows_are_for_laws_and_are_written_out() {
    let between = |kind: &str, points: &str| {
        format!("[strategy]\nkind = \"{kind}\"\nbetween = {points}\n{TWO_LAWS}")
    };
    for kind in StrategyKind::all().iter().filter(|kind| kind.enforces()) {
        let more = between(kind.name(), "3");
        assert_eq!(experiment_with(&more).training.strategy.between, 3);
        assert!(complete_with(&more).contains("between = 3\n"));
        assert!(!complete_with(&between(kind.name(), "0")).contains("between"));
    }
    assert_snapshot!(error_with(&between("vanilla", "3")), @r#"
    error: the strategy `vanilla` has no key `between`
      experiment.toml:8:11
        between = 3
                  ^
    hint: leave it out; the strategies `l1`, `l2`, `self-adaptive`, `augmented-lagrangian`, `dynamic`, `lemonge`, `two-stage`, `filter`, `nu-pi`, `barrier`, `balanced` have it
    "#);
    assert_snapshot!(error_with(&between("l2", "101")), @"
    error: `between` in [strategy] is 101, but must be a whole number from 0 to 100
      experiment.toml:8:11
        between = 101
                  ^^^
    hint: for example `between = 3`
    ");
    assert_snapshot!(error_with("[strategy]\nbetween = 3\n"), @"
    error: `between` has no effect: there is no law
      experiment.toml:7:11
        between = 3
                  ^
    hint: leave it out, or add a [[law]]
    ");
}

#[test]
fn a_key_without_effect_is_an_error() {
    assert_snapshot!(error_with("[strategy]\nmu = 10\n"), @r#"
    error: the strategy `auto` has no key `mu`
      experiment.toml:7:6
        mu = 10
             ^^
    hint: leave it out, or write `kind = "l1"` or `kind = "l2"`
    "#);
    assert_snapshot!(error_with("[strategy]\nkind = \"vanilla\"\ntolerance = 1e-3\n"), @r#"
    error: the strategy `vanilla` has no key `tolerance`
      experiment.toml:8:13
        tolerance = 1e-3
                    ^^^^
    hint: leave it out; the strategies `l1`, `l2`, `self-adaptive`, `augmented-lagrangian`, `dynamic`, `lemonge`, `two-stage`, `filter`, `nu-pi`, `barrier`, `balanced` have it
    "#);
    assert_snapshot!(error_with("[strategy]\nkind = \"l1\"\ntolerance = 1e-3\n"), @"
    error: `tolerance` has no effect for `l1` without `best-point = true`
      experiment.toml:8:13
        tolerance = 1e-3
                    ^^^^
    hint: leave it out, or add `best-point = true`
    ");
    assert_snapshot!(error_with("[strategy]\nbacktrack = true\n"), @"
    error: `backtrack` has no effect without `best-point = true`
      experiment.toml:7:13
        backtrack = true
                    ^^^^
    hint: add `best-point = true`, or leave it out
    ");
    assert_snapshot!(error_with("[strategy]\nbest-point = true\n[training]\nbatch = { windows = 2, rows = 3 }\n"), @"
    error: the best point cannot be found on batches: the objective differs between batches
      experiment.toml:7:14
        best-point = true
                     ^^^^
    hint: leave `best-point` or `batch` out
    ");
    assert_snapshot!(error_with("[strategy]\nbest-point = true\n[training]\nrecipe = \"lbfgs\"\n"), @r#"
    error: L-BFGS never takes a worse point than the best one
      experiment.toml:7:14
        best-point = true
                     ^^^^
    hint: leave `best-point` out, or write `optimiser = "adam"` in a phase
    "#);
    assert_snapshot!(error_with("[[training.phase]]\niterations = 5\n[[training.phase]]\niterations = 5\noptimiser = \"lbfgs\"\nstrategy = { best-point = true }\n"), @r#"
    error: L-BFGS never accepts a worse point, and cannot return to a better one
      experiment.toml:11:27
        strategy = { best-point = true }
                                  ^^^^
    hint: leave `best-point` out, or write `optimiser = "adam"` in the phase
    "#);
    assert_snapshot!(error_with("[training]\noptimiser = \"lbfgs\"\nbatch = { windows = 2, rows = 3 }\n"), @r#"
    error: L-BFGS cannot be trained on batches: the objective differs between batches
      experiment.toml:8:9
        batch = { windows = 2, rows = 3 }
                ^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: leave `batch` out, or write `optimiser = "adam"`
    "#);
    assert_snapshot!(error_with("[field]\ninit = { kind = \"he\", std = 0.1 }\n"), @r#"
    error: `std` has no effect for `he`, which computes it for each layer
      experiment.toml:7:29
        init = { kind = "he", std = 0.1 }
                                    ^^^
    hint: leave it out, or write `kind = "normal"`
    "#);
    assert_snapshot!(error_with("[training]\nloss = { kind = \"mae\", delta = 2 }\n"), @r#"
    error: `delta` has no effect for the loss `mae`
      experiment.toml:7:32
        loss = { kind = "mae", delta = 2 }
                                       ^
    hint: leave it out, or write `kind = "huber"`
    "#);
    assert_snapshot!(error_with("[training]\noptimiser = { last-rate = 0.1 }\n"), @r#"
    error: `last-rate` has no effect with a constant rate
      experiment.toml:7:27
        optimiser = { last-rate = 0.1 }
                                  ^^^
    hint: leave it out, or add `schedule = "cosine"`
    "#);
}

#[test]
fn a_batch_must_fit_the_data() {
    assert_snapshot!(error_with("[training]\nbatch = { trajectories = 4 }\n"), @"
    error: a batch of 4 trajectories, but the data have 1 trajectory
      experiment.toml:7:9
        batch = { trajectories = 4 }
                ^^^^^^^^^^^^^^^^^^^^
    hint: leave `batch` out to train on all data at once
    ");
    assert_snapshot!(error_with("[training]\nbatch = { windows = 4, rows = 11 }\n"), @"
    error: windows of 11 rows, but the longest trajectory has 10 rows
      experiment.toml:7:9
        batch = { windows = 4, rows = 11 }
                ^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: use shorter windows, or leave `batch` out
    ");
    assert_snapshot!(error_with("[training]\nbatch = { windows = 4 }\n"), @"
    error: `batch` needs either `trajectories`, or `windows` with `rows`
      experiment.toml:7:9
        batch = { windows = 4 }
                ^^^^^^^^^^^^^^^
    hint: for example `batch = { trajectories = 4 }` or `batch = { windows = 8, rows = 20 }`
    ");
}

#[test]
fn strategies_that_reject_points_need_an_optimiser_that_returns_and_all_data() {
    let adam = "optimiser = \"adam\"\n";
    for kind in ["filter", "two-stage"] {
        let strategy = format!("[strategy]\nkind = \"{kind}\"\n");
        let experiment = experiment_with(&format!("{strategy}[training]\n{adam}"));
        assert!(experiment.training.strategy.best_point.unwrap().backtrack, "{kind}");
        // The recipe takes Adam by itself.
        experiment_with(&strategy);
    }
    assert_snapshot!(error_with("[strategy]\nkind = \"filter\"\nbest-point = false\n"), @r#"
    error: `filter` always returns to the last accepted point
      experiment.toml:8:14
        best-point = false
                     ^^^^^
    hint: leave `best-point` out
    "#);
    let text = "[strategy]\nkind = \"filter\"\n[training]\nrecipe = \"lbfgs\"\n";
    assert_snapshot!(error_with(text), @r#"
    error: L-BFGS never takes a worse point than the best one
      experiment.toml:7:8
        kind = "filter"
               ^^^^^^^^
    hint: choose another strategy, or write `optimiser = "adam"` in a phase
    "#);
    let text = "[strategy]\nkind = \"nu-pi\"\n[training]\nrecipe = \"lbfgs\"\n";
    assert_snapshot!(error_with(text), @r#"
    error: L-BFGS searches along lines, on which the objective of `nu-pi` changes; it can minimise those of `l1`, `l2`, `self-adaptive`, `augmented-lagrangian`, `dynamic`, `lemonge`, `barrier`
      experiment.toml:7:8
        kind = "nu-pi"
               ^^^^^^^
    hint: choose another strategy, or write `optimiser = "adam"` in a phase
    "#);
    let text = format!(
        "[strategy]\nkind = \"filter\"\n[training]\n{adam}batch = {{ windows = 4, rows = 3 }}\n"
    );
    assert_snapshot!(error_with(&text), @r#"
    error: `filter` compares points, but the objective differs between windows
      experiment.toml:10:9
        batch = { windows = 4, rows = 3 }
                ^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: leave `batch` out, write `batch = { trajectories = 4 }`, or use one of `l1`, `l2`, `self-adaptive`, `dynamic`, `lemonge`, `barrier`, `balanced`
    "#);
}

#[test]
fn multipliers_of_rows_do_not_fit_windows() {
    let batch = "batch = { windows = 4, rows = 3 }\n";
    let text = format!("[strategy]\nkind = \"augmented-lagrangian\"\n[training]\n{batch}");
    assert_snapshot!(error_with(&text), @"
    error: `augmented-lagrangian` has a multiplier for each row, but the residual there depends on where a window begins
      experiment.toml:9:9
        batch = { windows = 4, rows = 3 }
                ^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: leave `batch` out, write `batch = { trajectories = 4 }`, or use one of `l1`, `l2`, `self-adaptive`, `dynamic`, `lemonge`, `barrier`, `balanced`
    ");
    let own = "strategy = { kind = \"augmented-lagrangian\" }\n";
    let text = format!("[[training.phase]]\niterations = 10\n{batch}{own}");
    assert_snapshot!(error_with(&text), @"
    error: `augmented-lagrangian` has a multiplier for each row, but the residual there depends on where a window begins
      experiment.toml:8:9
        batch = { windows = 4, rows = 3 }
                ^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: leave `batch` out, write `batch = { trajectories = 4 }`, or use one of `l1`, `l2`, `self-adaptive`, `dynamic`, `lemonge`, `barrier`, `balanced`
    ");
    let batch = "batch = { trajectories = 1 }\n";
    experiment_with(&format!("[strategy]\nkind = \"augmented-lagrangian\"\n[training]\n{batch}"));
    assert_snapshot!(error_with("[strategy]\nkind = \"augmented-lagrangian\"\nrho-growth = 0.5\n"), @"
    error: `rho-growth` in [strategy] is 0.5, but must be a number of at least 1
      experiment.toml:8:14
        rho-growth = 0.5
                     ^^^
    hint: for example `rho-growth = 4`
    ");
    assert_snapshot!(error_with("[strategy]\nkind = \"augmented-lagrangian\"\nrho-max = 1.0\n"), @"
    error: the strategy `augmented-lagrangian` has `rho-max` 1, which is below `rho` 10
      experiment.toml
    ");
}

#[test]
fn one_weight_of_a_chain_is_that_of_each_part() {
    let mu = |mu: &str| {
        let text = format!("{TWO_LAWS}[strategy]\nkind = \"l2\"\nmu = {mu}\n");
        match experiment_with(&text).training.strategy.kind {
            StrategyKind::L2(l2) => l2.mu,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(mu("[3, 5.5]"), [3.0, 3.0, 5.5]);
    assert_eq!(mu("7"), [7.0]);
}

#[test]
fn short_and_long_forms_mean_the_same() {
    for (short, long) in [
        ("[training]\nloss = \"huber\"\n", "[training]\nloss = { kind = \"huber\", delta = 1 }\n"),
        ("[training]\noptimiser = \"adam\"\n", "[training.optimiser]\nrate = 0.001\n"),
        ("[field]\ninit = \"normal\"\n", "[field.init]\nstd = 0.1\n"),
        ("[field]\nactivations = \"elu\"\n", "[field]\nactivations = [\"elu\", \"elu\"]\n"),
        ("[solver]\nmemory = \"1 GiB\"\n", "[solver]\nmemory = 1073741824\n"),
        ("[training]\niterations = 1e4\n", "[training]\noptimiser = \"adam\"\n"),
        (
            "[training]\noptimiser = \"lbfgs\"\n",
            "[training]\noptimiser = { kind = \"lbfgs\", memory = 400, scaling = \"every\" }\n",
        ),
        ("[training]\nrecipe = \"auto\"\n", ""),
        ("[solver.predict]\nmethod = \"dopri5\"\n", ""),
    ] {
        assert_eq!(complete_with(short), complete_with(long), "{short}");
    }
}

#[test]
fn every_setting_arrives() {
    let experiment = experiment_with(
        "[field]\nhidden = [3]\ninit = \"xavier\"\ntime-input = true\n\
         [solver]\nmethod = \"tsit5\"\nrtol = 1e-3\nfirst-step = 0.5\nmemory = \"2 MB\"\n\
         [training]\nloss = { kind = \"huber\", delta = 0.5 }\nbatch = { windows = 2, rows = 3 }\n\
         optimiser = { rate = 0.5, clip = 2, schedule = \"exponential\", last-rate = 0.1, warm-up = 7 }\n",
    );
    assert_eq!(experiment.training.field.init, Initialise::Xavier);
    assert!(experiment.training.field.time_input);
    let Control::Adaptive(steps) = experiment.training.solver.control() else {
        panic!("not adaptive")
    };
    assert_eq!((steps.rtol, steps.atol, steps.first_step), (1e-3, 1e-9, Some(0.5)));
    assert_eq!(experiment.training.solver.memory(), 2_000_000);
    let training = experiment.training;
    assert_eq!(training.loss, Loss::Huber { delta: 0.5 });
    let [phase] = &training.phases[..] else { panic!("one phase") };
    assert_eq!(phase.batch, Batch::Windows { count: 2, rows: 3 });
    let OptimiserKind::Adam(adam) = &phase.optimiser else { panic!("Adam") };
    assert_eq!((adam.rate, adam.clip), (0.5, Some(2.0)));
    assert_eq!((phase.schedule.last, phase.schedule.warm_up), (0.1, 7));
    assert_eq!(phase.schedule.iterations, 10_000);
}

#[test]
fn settings_of_lbfgs_arrive_and_are_written_out() {
    let text = "[training]\noptimiser = { kind = \"lbfgs\", memory = 7, scaling = \"newest\" }\n";
    let experiment = experiment_with(text);
    let OptimiserKind::Lbfgs(lbfgs) = &experiment.training.phases[0].optimiser else {
        panic!("L-BFGS")
    };
    assert_eq!((lbfgs.memory, lbfgs.scaling), (7, LbfgsScaling::Newest));
    let complete = complete_with(text);
    assert!(complete.contains("memory = 7, scaling = \"newest\""), "{complete}");
}

#[test]
fn a_scaling_that_is_not_possible_is_an_error() {
    assert_snapshot!(error_with("[training]\noptimiser = { kind = \"lbfgs\", scaling = \"evry\" }\n"), @r#"
    error: unknown scaling `evry`
      experiment.toml:7:41
        optimiser = { kind = "lbfgs", scaling = "evry" }
                                                ^^^^^^
    hint: did you mean `every`?
    "#);
    assert_snapshot!(error_with("[training]\noptimiser = { kind = \"adam\", scaling = \"every\" }\n"), @r#"
    error: the optimiser `adam` has no key `scaling`
      experiment.toml:7:40
        optimiser = { kind = "adam", scaling = "every" }
                                               ^^^^^^^
    hint: leave it out, or write `kind = "lbfgs"`
    "#);
}

/// Few rows may hide noise that a close fit would follow; a recipe that is given by name ignores this.
#[test]
fn the_closest_fit_is_for_data_that_would_show_noise() {
    for (points, recipe, expected) in [
        (99, "auto", (100, LbfgsScaling::Newest)),
        (100, "auto", (400, LbfgsScaling::Every)),
        (20, "lbfgs", (400, LbfgsScaling::Every)),
    ] {
        let text = format!(
            "name = \"decay\"\n[system]\nstate = [\"x\"]\n[training]\nrecipe = \"{recipe}\"\n\
             [data.simulate]\nequations = {{ x = \"-x\" }}\ninitial = {{ x = 1 }}\n\
             grid = {{ from = 0, to = 3, points = {points} }}\n"
        );
        let folder = Folder::new(&[("experiment.toml", &text)]);
        let phases = folder.read().expect("a good experiment").experiment.training.phases;
        assert_eq!(phases.len(), 2);
        for phase in phases {
            let OptimiserKind::Lbfgs(lbfgs) = phase.optimiser else { panic!("L-BFGS") };
            assert_eq!((lbfgs.memory, lbfgs.scaling), expected, "{points} rows, {recipe}");
        }
    }
}
