//! Recipes and phases, through the program.

use crate::support::{Place, TINY, assert_same, tiny};

/// Phases of all kinds, with noise, gaps in the first row's place and held-out data.
const PHASES: &str = r#"[training]
seed = 3
initial-state = "train"
validation = 0.2
weight-decay = 1e-6
phase = [
    { optimiser = { kind = "lbfgs", memory = 5 }, iterations = 60, segments = 4, starts = "free" },
    { optimiser = "lbfgs", iterations = 60, strategy = { kind = "vanilla" } },
    { optimiser = { rate = 1e-3 }, iterations = 60, substeps = 2 },
]
"#;

/// The tiny experiment without its `[training]`, and this instead.
fn with_training(training: &str) -> String {
    let (before, _) = TINY.split_once("[training]").unwrap();
    format!("{before}{training}")
}

#[test]
fn auto_prints_its_phases_and_the_reasons() {
    let place = Place::with(&with_training("[training]\nseed = 3\n"));
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for part in ["recipe auto:", "no noise found", "phase 1 of 2: L-BFGS, multiple shooting"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let run = said.out.trim();
    let manifest = place.manifest(run);
    assert_eq!(manifest["recipe"], "auto");
    let evaluated = place.lawful(["evaluate", run, "--json"]);
    let scores: serde_json::Value = serde_json::from_str(&evaluated.out).unwrap();
    let mse = scores["sets"]["reconstruction"]["mse"].as_f64().unwrap();
    assert!(mse < 1e-5, "{mse}");
}

#[test]
fn phases_killed_at_any_moment_end_with_the_same_bytes() {
    let place = Place::with(&with_training(PHASES));
    let whole = place.train(&["--out", "whole"]);
    let mut child = place.start(&["train", "experiment.toml", "--quiet"]);
    let mut kills = 0;
    let run = loop {
        if let Some(name) = place.names("runs").into_iter().find(|name| !name.starts_with('.')) {
            break format!("runs/{name}");
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    loop {
        std::thread::sleep(std::time::Duration::from_millis(7));
        let running = child.try_wait().unwrap().is_none();
        if !running {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if kills > 8 {
            break;
        }
        child = place.start(&["resume", &run, "--quiet"]);
    }
    assert_eq!(place.lawful(["resume", &run, "-q"]).code, 0);
    assert_same(&place.repeatable(&run), &place.repeatable(&whole));
}

#[test]
fn killed_after_training_and_before_the_predictions_it_only_predicts() {
    // With held-out data the model is not the last evaluated point: evaluating again would be wrong.
    let place = Place::with(&with_training(PHASES));
    let run = place.train(&[]);
    let whole = place.repeatable(&run);
    let manifest = place.text(&format!("{run}/manifest.json"));
    assert!(manifest.contains("\"status\": \"finished\""), "{manifest}");
    let killed = manifest.replace("\"status\": \"finished\"", "\"status\": \"running\"");
    place.write_manifest(&run, &killed);
    place.write(&format!("{run}/predictions-reconstruction.csv"), "");
    let said = place.lawful(["resume", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_same(&place.repeatable(&run), &whole);
    assert_eq!(place.manifest(&run)["status"], "finished");
    assert_eq!(place.manifest(&run)["reason"], "all iterations are done");
}

#[test]
fn a_flat_fit_is_fixed_by_multiple_shooting_and_printed() {
    // Adam at a rate at which nothing moves, from weights of nearly 0: a flat line.
    let text = with_training(
        "[training]\nseed = 3\nremedies = true\n\
         optimiser = { rate = 1e-9 }\niterations = 5\n",
    );
    let text = text.replace("hidden = [6]", "hidden = [6]\ninit = { std = 1e-4 }");
    let place = Place::with(&text.replace("to = 5, points = 20", "to = 12, points = 60"));
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("a remedy: the fit is flat"), "{}", said.err);
    let log = place.text(&format!("{}/log.csv", said.out.trim()));
    assert!(log.contains("a remedy: the fit is flat"), "it is in the log");
    let without = place.path("experiment.toml");
    place.write(
        without.file_name().unwrap().to_str().unwrap(),
        &place.text("experiment.toml").replace("remedies = true\n", ""),
    );
    let said = place.lawful(["train", "experiment.toml"]);
    assert!(said.err.contains("warning: the fit is flat"), "{}", said.err);
    assert!(said.err.contains("`remedies = true` under `[training]` would try: "), "{}", said.err);
}

#[test]
fn a_law_without_a_value_at_first_is_left_out_at_first() {
    // A straight rise, whose logarithm the drawn weights, which fall below zero, do not have.
    let text = "[system]\nstate = [\"x\"]\n\
        [[law]]\nname = \"growth\"\nholds = \"next(ln(x)) >= ln(x)\"\n\
        [data.simulate]\nequations = { x = \"1\" }\ninitial = { x = 0.1 }\n\
        grid = { from = 0, to = 10, points = 30 }\n\
        [field]\nhidden = [6]\ninit = { std = 3.0 }\n[training]\nseed = 2\n\
        [strategy]\nkind = \"self-adaptive\"\n";
    let place = Place::with(text);
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("law `growth` is NaN at t = "), "{}", said.err);
    assert!(said.err.contains("multiple shooting without laws, then with them"), "{}", said.err);
    let last = said.err.lines().rfind(|line| line.contains("phase ")).unwrap();
    assert!(!last.contains("strategy vanilla"), "laws count in the end: {last}");
}

#[test]
fn an_empty_first_cell_is_allowed_where_initial_states_are_trained() {
    let data = "[data]\nfile = \"data.csv\"\n";
    let (before, rest) = TINY.split_once("[data.simulate]").unwrap();
    let (_, after) = rest.split_once("[field]").unwrap();
    let text = format!("{before}{data}[field]{after}")
        .replace("seed = 3", "seed = 3\ninitial-state = \"train\"");
    let place = Place::with(&text);
    let rows = (0..20).map(|n| {
        let t = 0.2 * f64::from(n);
        let v = if n == 0 { String::new() } else { format!("{}", -t.sin()) };
        format!("{t},{},{v}", t.cos())
    });
    let rows: Vec<String> = rows.collect();
    place.write("data.csv", &format!("t,x,v\n{}\n", rows.join("\n")));
    let said = place.lawful(["train", "experiment.toml", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = place.lawful(["predict", said.out.trim(), "--points", "3"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains("NaN"), "{}", said.out);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let training = "[training]\noptimiser = { kind = \"adam\", rate = 1e-2, schedule = \"cosine\" }\niterations = 40\nseed = 3\n";
    for (with, message) in [
        (
            "[training]\nrecipe = \"auto\"\niterations = 5\n",
            "`recipe` and `iterations` cannot both be given",
        ),
        ("[training]\nrecipe = \"best\"\n", "unknown recipe `best`"),
        ("[training]\nphase = []\n", "`phase` is empty"),
        (
            "[training]\nphase = [{ optimiser = \"adam\" }]\n",
            "`[training.phase] iterations` is needed",
        ),
        (
            "[training]\nphase = [{ iterations = 5, starts = \"free\" }]\n",
            "`starts` has no effect without `segments`",
        ),
        (
            "[training]\nphase = [{ iterations = 5, part = 1 }]\n",
            "`part` in [training.phase] is 1, but must be a whole number of at least 2",
        ),
        (
            "[training]\nphase = [{ iterations = 5, part = 9, batch = { windows = 2, rows = 3 } }]\n",
            "a phase on a part of the data has no batches",
        ),
        (
            "[training]\nphase = [{ iterations = 5, segments = 50 }]\n",
            "segments of 50 steps, but the longest trajectory has 19 steps",
        ),
        (
            "[training]\niterations = 5\nphase = [{ iterations = 5 }]\n",
            "with phases, each phase has its own `iterations`",
        ),
        (
            "[training]\noptimiser = { kind = \"lbfgs\", rate = 1 }\n",
            "the optimiser `lbfgs` has no key `rate`",
        ),
        ("[training]\noptimiser = { memory = 5 }\n", "the optimiser `adam` has no key `memory`"),
        ("[training]\nscale = \"log\"\n", "unknown scale `log`"),
    ] {
        let place = Place::with(&tiny(training, with));
        let said = place.lawful(["train", "experiment.toml"]);
        assert_eq!(said.code, 2, "{with}: {}", said.err);
        assert!(said.err.contains(message), "{with}: {}", said.err);
        assert!(said.err.contains("hint: "), "{with}: {}", said.err);
        assert!(!place.exists("runs"), "{with}");
    }
    let place = Place::with(&TINY.replace(
        "kind = \"self-adaptive\"",
        "kind = \"self-adaptive\"\npenalise = \"always\"\ntolerance = 1e-3",
    ));
    let said = place.lawful(["check", "experiment.toml"]);
    assert!(said.err.contains("`tolerance` has no effect with `penalise = \"always\"`"));
}

#[test]
fn a_comparison_resumes_and_gives_the_same_table() {
    let place = Place::with(TINY);
    place.write(
        "axes.toml",
        "[[axis]]\nname = \"laws\"\nlevel = [{ name = \"off\", quick = true, \
         set.strategy.kind = \"vanilla\" }, { name = \"on\" }]\n",
    );
    let run = || {
        let said = place.lawful([
            "compare",
            "experiment.toml",
            "--vary",
            "axes.toml",
            "--seeds",
            "2",
            "--out",
            "c",
            "-q",
        ]);
        assert_eq!(said.code, 0, "{}", said.err);
        said.out
    };
    let first = run();
    assert_eq!(first.lines().count(), 2 + 2 * 2, "{first}");
    assert_eq!(first, run());
    assert_eq!(place.text("c/table.md"), first);
    assert_eq!(place.text("c/runs.csv").lines().count(), 1 + 2 * 2 * 2);
    let quick = place.lawful([
        "compare",
        "experiment.toml",
        "--vary",
        "axes.toml",
        "--quick",
        "--seeds",
        "1",
        "--out",
        "q",
        "-q",
    ]);
    assert_eq!(quick.out.lines().count(), 2 + 2, "{}", quick.out);
    place.write("axes.toml", "[[axes]]\nname = \"laws\"\n");
    let said = place.lawful(["compare", "experiment.toml", "--vary", "axes.toml", "--out", "x"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("unknown key `axes`"), "{}", said.err);
    for (text, message) in [
        ("seed-keys = [1]\n", "`seed-keys` must be a list of texts"),
        ("[[axis]]\nname = \"a\"\nlevels = []\n", "unknown key `levels` of the axis `a`"),
        (
            "[[axis]]\nname = \"a\"\nlevel = [{ name = \"b\", quick = 1 }]\n",
            "`quick` must be `true` or `false`",
        ),
    ] {
        place.write("axes.toml", text);
        let said = place.lawful(["compare", "experiment.toml", "--vary", "axes.toml"]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(message), "{}", said.err);
    }
}

#[test]
fn a_run_that_ends_with_an_earlier_model_resumes_to_the_same_bytes() {
    // One noisy decay, of which every fit is poor: remedies start again, and the best model is kept.
    let text = "[system]\nstate = [\"x\"]\n[data]\nfile = \"data.csv\"\n[field]\nhidden = [6]\n\
        [training]\nremedies = true\nphase = [{ optimiser = \"lbfgs\", iterations = 25 }]\n";
    let wiggle = |n: u32| 0.4 * f64::from(n * n * 7 % 11).sin();
    let rows =
        (0..30).map(|n| format!("{},{}", 0.2 * f64::from(n), wiggle(n) - 0.03 * f64::from(n)));
    let rows: Vec<String> = rows.collect();
    let place = Place::with(text);
    place.write("data.csv", &format!("t,x\n{}\n", rows.join("\n")));
    let mut kept = 0;
    for seed in 1..=3 {
        place.write("experiment.toml", &format!("{text}seed = {seed}\n"));
        let said = place.lawful(["train", "experiment.toml"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.err.contains("a remedy: the fit is "), "{}", said.err);
        let earlier = said.err.contains("ends with the model of phase ");
        kept += usize::from(earlier);
        let manifest = place.manifest(said.out.trim());
        let best = manifest["best-iteration"].as_u64().unwrap();
        let evaluated = place.lawful(["evaluate", said.out.trim()]);
        if earlier {
            // The models of an earlier phase have its iteration, wherever they are named.
            let named = format!(" model, iteration {best}\n");
            assert!(evaluated.err.contains(&named), "{best}: {}", evaluated.err);
            assert!(best < manifest["done"].as_u64().unwrap() - 25, "{manifest}");
        }
        let (whole, parent) = (said.out.trim(), format!("again-{seed}"));
        let mut child = place.start(&["train", "experiment.toml", "--quiet", "--out", &parent]);
        let run = loop {
            let made = |name: &String| !name.starts_with('.');
            let names = if place.exists(&parent) { place.names(&parent) } else { Vec::new() };
            if let Some(name) = names.into_iter().find(made) {
                break format!("{parent}/{name}");
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(40));
            child.kill().unwrap();
            child.wait().unwrap();
            child = place.start(&["resume", &run, "--quiet"]);
        }
        child.wait().unwrap();
        assert_eq!(place.lawful(["resume", &run, "-q"]).code, 0);
        assert_same(&place.repeatable(&run), &place.repeatable(whole));
    }
    assert!(kept > 0, "some seed ends with a phase before the last");
}
