//! Run folders that are missing, damaged, or of another time.

use lawful_experiment::files;

use crate::support::{Place, TINY, tiny};

/// Returns the error of each command that reads a run, which is the same for all.
fn refused(place: &Place, run: &str) -> String {
    let said = place.lawful(["evaluate", run]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    for command in [&["predict", run][..], &["resume", run, "--iterations", "50"]] {
        let other = place.lawful(command);
        assert_eq!((other.code, other.out.as_str()), (2, ""), "{command:?}: {}", other.err);
        assert!(other.err.starts_with("error: "), "{command:?}: {}", other.err);
    }
    said.err
}

#[test]
fn a_folder_that_is_no_run_is_refused_and_runs_are_suggested() {
    let (place, run) = Place::trained(TINY);
    assert_eq!(
        refused(&place, "runs/nothing"),
        format!("error: there is no run folder `runs/nothing`\nhint: runs here: `{run}`\n")
    );
    assert_eq!(
        refused(&place, "runs"),
        format!(
            "error: `runs` is not a run folder: it has no `config.toml`\nhint: runs here: `{run}`\n"
        )
    );
    assert_eq!(
        refused(&Place::new(), "runs/a"),
        "error: there is no run folder `runs/a`\n\
         hint: `lawful train experiment.toml` creates one and prints its name\n"
    );
}

#[test]
fn a_missing_or_damaged_file_is_named() {
    for (file, missing, damaged) in [
        ("config.toml", "it has no `config.toml`", "config.toml"),
        ("manifest.json", "it has no `manifest.json`", "manifest.json` is damaged"),
        ("last.safetensors", "has no last model yet", "last.safetensors` is damaged"),
        ("data/reconstruction.csv", "has no `", "data/"),
        ("data/later.csv", "has no `", "data/"),
    ] {
        let (place, run) = Place::trained(TINY);
        let path = format!("{run}/{file}");
        let whole = place.bytes(&path);
        for bytes in [&b"garbage, \xff"[..], &whole[..whole.len() / 2], b""] {
            files::write(&place.path(&path), bytes).unwrap();
            let said = place.lawful(["evaluate", &run]);
            assert_eq!((said.code, said.out.as_str()), (2, ""), "{file}: {}", said.err);
            assert!(said.err.contains(damaged), "{file}: {}", said.err);
        }
        files::remove(&place.path(&path)).unwrap();
        if file == "last.safetensors" {
            let said = place.lawful(["evaluate", &run]);
            assert!(said.code == 2 && said.err.contains(missing), "{}", said.err);
        } else {
            assert!(refused(&place, &run).contains(missing), "{file}");
        }
    }
}

#[test]
fn a_model_of_a_newer_format_is_refused() {
    let (place, run) = Place::trained(TINY);
    let path = place.path(&format!("{run}/last.safetensors"));
    let replace = |from: &[u8], to: &[u8]| {
        let mut bytes = files::read(&path).unwrap();
        let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
        bytes[at..at + from.len()].copy_from_slice(to);
        files::write(&path, &bytes).unwrap();
    };
    replace(br#"\"format\":3"#, br#"\"format\":4"#);
    let expected = format!(
        "error: `{run}/last.safetensors` has format version 4, of a newer `lawful`; this one reads 3\n\
         hint: use the newer `lawful` that wrote it\n"
    );
    assert_eq!(refused(&place, &run), expected);
    replace(br#"\"format\":4"#, br#"\"format\":3"#);
    replace(br#"[\"tanh\"]"#, br#"[\"silu\"]"#);
    assert!(refused(&place, &run).contains("is damaged: it has changed since it was written"));
    place.write("experiment.toml", &tiny("hidden = [6]", "hidden = [5]"));
    let other = place.train(&[]);
    files::write(&path, &place.bytes(&format!("{other}/last.safetensors"))).unwrap();
    assert!(refused(&place, &run).contains("is of another training than `config.toml`"));
}

#[test]
fn a_model_of_another_iteration_is_refused() {
    let (place, longer) = Place::trained(TINY);
    assert_eq!(place.lawful(["resume", &longer, "--iterations", "50", "-q"]).code, 0);
    let later = place.bytes(&format!("{longer}/last.safetensors"));
    for which in ["last", "best"] {
        let run = place.train(&[]);
        let evaluate = || place.lawful(["evaluate", &run, "--model", which]);
        assert_eq!(evaluate().code, 0);
        files::write(&place.path(&format!("{run}/{which}.safetensors")), &later).unwrap();
        let said = evaluate();
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        let expected = format!("is of another iteration than its run's {which} model");
        assert!(said.err.contains(&expected), "{}", said.err);
    }
}

#[test]
fn a_run_with_a_damaged_log_resumes_with_a_gap_in_it() {
    let (place, whole) = Place::trained(TINY);
    assert_eq!(place.lawful(["resume", &whole, "--iterations", "50", "-q"]).code, 0);
    for damage in ["half", "missing", "garbage"] {
        let run = place.train(&[]);
        let path = format!("{run}/log.csv");
        let log = place.text(&path);
        match damage {
            "half" => place.write(&path, &log[..log.len() / 2]),
            "missing" => files::remove(&place.path(&path)).unwrap(),
            _ => place.write(&path, "\0\0\0"),
        }
        let said = place.lawful(["resume", &run, "--iterations", "50"]);
        assert_eq!(said.code, 0, "{damage}: {}", said.err);
        let warning =
            format!("`{path}` is {}", if damage == "missing" { damage } else { "damaged" });
        assert!(said.err.contains(&warning), "{damage}: {}", said.err);
        assert!(said.err.contains("and so does the log, at row 40"), "{damage}: {}", said.err);
        for file in ["last.safetensors", "predictions-later.csv", "figures/phase.svg"] {
            let bytes = |run: &str| place.bytes(&format!("{run}/{file}"));
            assert!(bytes(&run) == bytes(&whole), "{file} differs, {damage}");
        }
        assert!(place.exists(&format!("{run}/figures/learning.svg")));
        let rows = |run: &str| place.text(&format!("{run}/log.csv"));
        let (rows, all) = (rows(&run), rows(&whole));
        let last = |text: &str| text.lines().rev().take(11).collect::<Vec<_>>().join("\n");
        assert_eq!(last(&rows), last(&all), "{damage}");
        let said = place.lawful(["resume", &run, "--iterations", "60"]);
        assert!(said.code == 0 && !said.err.contains("lost"), "{damage}: {}", said.err);
    }
}

#[test]
fn a_run_killed_before_its_pictures_needs_no_log_for_them() {
    let (place, run) = Place::trained(TINY);
    let manifest = place.text(&format!("{run}/manifest.json"));
    place.write_manifest(&run, &manifest.replace("\"finished\"", "\"running\""));
    files::remove(&place.path(&format!("{run}/log.csv"))).unwrap();
    files::remove(&place.path(&format!("{run}/figures/learning.svg"))).unwrap();
    let said = place.lawful(["resume", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("rows 0 to 39 are lost"), "{}", said.err);
    assert!(place.exists(&format!("{run}/figures/learning.svg")));
}

#[test]
fn data_that_were_changed_after_the_run_are_noticed() {
    let (place, run) = Place::trained(TINY);
    let path = format!("{run}/data/reconstruction.csv");
    let rows = place.text(&path);
    let without_the_last = rows.trim_end().rfind('\n').unwrap();
    place.write(&path, &rows[..=without_the_last]);
    assert_eq!(
        refused(&place, &run),
        "error: the files in `data/` of this run have changed since it began\n\
         hint: restore them, or train again\n"
    );
    place.write(&path, &rows);
    assert_eq!(place.lawful(["evaluate", &run]).code, 0);
}

#[test]
fn numbers_that_no_run_can_have_are_refused() {
    let (place, run) = Place::trained(TINY);
    assert_eq!(place.lawful(["resume", &run, "--iterations", "50", "-q"]).code, 0);
    let path = format!("{run}/manifest.json");
    let whole = place.text(&path);
    for (number, with, what) in [
        ("\"substeps\": 1", "\"substeps\": 4294967296", "`substeps` is 4294967296"),
        ("\"substeps\": 1", "\"substeps\": 3", "`substeps` is 3"),
        ("\"substeps\": 1", "\"substeps\": 0", "`substeps` is 0"),
        ("\"extended-by\": 10", "\"extended-by\": 10000010", "`extended-by` is 10000010"),
        ("\"done\": 50", "\"done\": 5000", "`done` is 5000"),
        ("\"seconds\": ", "\"seconds\": -", "`seconds` is -"),
    ] {
        assert!(whole.contains(number), "{number} in {whole}");
        let damaged = whole.replace(number, with);
        for status in ["finished", "running"] {
            place.write_manifest(&run, &damaged.replace("\"finished\"", &format!("\"{status}\"")));
            for command in [&["evaluate", &run][..], &["resume", &run], &["predict", &run]] {
                let said = place.lawful(command);
                assert_eq!((said.code, said.out.as_str()), (2, ""), "{with}: {}", said.err);
                let expected = format!("error: `{path}` is damaged: {what}");
                assert!(said.err.starts_with(&expected), "{with}: {}", said.err);
                assert!(said.err.contains("hint: restore it, or train again"), "{}", said.err);
            }
        }
    }

    let (place, run) = Place::trained(TINY);
    let path = format!("{run}/manifest.json");
    let damaged = place.text(&path).replace("\"extended-by\": 0", "\"extended-by\": 10000000");
    place.write_manifest(&run, &damaged);
    assert_eq!(
        refused(&place, &run),
        format!(
            "error: `{path}` is damaged: `extended-by` is 10000000, but it was not extended\n\
             hint: restore it, or train again\n"
        )
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let (place, run) = Place::trained(TINY);
    place.write("elsewhere/keep.svg", "kept");
    place.write("elsewhere/.a.svg.1.part", "kept");
    place.write("log.csv", "kept");
    let link = |target: &str, name: &str| {
        let made = std::os::unix::fs::symlink(target, place.path(&format!("{run}/{name}")));
        made.unwrap();
    };
    files::remove_folder(&place.path(&format!("{run}/figures"))).unwrap();
    for (target, name) in
        [("../../elsewhere", "figures"), ("../../log.csv", "log.csv"), ("../../nothing", ".lock")]
    {
        let path = place.path(&format!("{run}/{name}"));
        if path.exists() {
            files::remove(&path).unwrap();
        }
        link(target, name);
        let said = place.lawful(["resume", &run, "--iterations", "50"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{name}: {}", said.err);
        let expected = format!("error: `{run}/{name}` is a symbolic link that leads out");
        assert!(said.err.starts_with(&expected), "{name}: {}", said.err);
        assert!(said.err.contains(target), "{name}: {}", said.err);
        assert_eq!(place.names("elsewhere"), [".a.svg.1.part", "keep.svg"]);
        assert_eq!(place.text("log.csv"), "kept");
        assert!(!place.exists("nothing"));
        assert_eq!(place.lawful(["evaluate", &run]).code, 0, "it can be read");
        files::remove(&path).unwrap();
    }
    files::create_folder(&place.path(&format!("{run}/figures"))).unwrap();
    files::create_folder(&place.path(&format!("{run}/pictures"))).unwrap();
    link("pictures", "figures-too");
    let said = place.lawful(["resume", &run, "--iterations", "50", "-q"]);
    assert_eq!(said.code, 0, "a link that stays inside is fine: {}", said.err);
}

#[test]
fn a_changed_config_is_refused() {
    let (place, run) = Place::trained(TINY);
    let path = format!("{run}/config.toml");
    let config = place.text(&path);
    assert!(config.contains("rate = 0.01"), "{config}");
    place.write(&path, &config.replace("rate = 0.01", "rate = 0.02"));
    assert_eq!(
        refused(&place, &run),
        format!(
            "error: `{path}` has changed since its run began\n\
             hint: restore it; to change an experiment, `lawful train` a copy of the file\n"
        )
    );
    place.write(&path, &config);
    assert_eq!(place.lawful(["evaluate", &run]).code, 0);
}

#[test]
fn a_changed_number_of_a_model_is_refused() {
    let (place, run) = Place::trained(TINY);
    let path = place.path(&format!("{run}/last.safetensors"));
    let whole = files::read(&path).unwrap();
    let start = 8 + usize::try_from(u64::from_le_bytes(whole[..8].try_into().unwrap())).unwrap();
    for at in [start, usize::midpoint(start, whole.len()), whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        files::write(&path, &bytes).unwrap();
        let said = refused(&place, &run);
        let expected = format!(
            "error: `{run}/last.safetensors` is damaged: it has changed since it was written\nhint: "
        );
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn a_changed_manifest_is_refused() {
    let (place, run) = Place::trained(TINY);
    let path = format!("{run}/manifest.json");
    let whole = place.text(&path);
    for (part, with) in [
        ("\"seed\": 3", "\"seed\": 2"),
        ("\"done\": 40", "\"done\": 39"),
        ("\"status\": \"finished\"", "\"status\": \"running\""),
    ] {
        assert!(whole.contains(part), "{whole}");
        place.write(&path, &whole.replace(part, with));
        let said = refused(&place, &run);
        let expected = format!("error: `{path}` is damaged: it has changed since it was written\n");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn a_description_of_a_model_that_was_changed_is_refused() {
    let (place, run) = Place::trained(TINY);
    let path = format!("{run}/last.safetensors");
    let whole = place.bytes(&path);
    for (part, with) in [
        (r#"\"iteration\":40"#, r#"\"iteration\":41"#),
        (r#"\"phase\":0"#, r#"\"phase\":1"#),
        (r#"\"max-steps\":1"#, r#"\"max-steps\":9"#),
    ] {
        let at = whole.windows(part.len()).position(|window| window == part.as_bytes()).unwrap();
        let mut bytes = whole.clone();
        bytes[at..at + part.len()].copy_from_slice(with.as_bytes());
        files::write(&place.path(&path), &bytes).unwrap();
        let said = refused(&place, &run);
        assert!(said.contains("is damaged: it has changed since it was written"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_in_a_run_folder_are_not_waited_for() {
    for name in ["log.csv", ".lock", "predictions-later.csv", "best.safetensors"] {
        let (place, run) = Place::trained(TINY);
        let path = place.path(&format!("{run}/{name}"));
        if path.exists() {
            files::remove(&path).unwrap();
        }
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let said = place.lawful(["resume", &run, "--iterations", "50", "-q"]);
        let expected = if name == ".lock" { 2 } else { 0 };
        assert_eq!(said.code, expected, "{name}: {}", said.err);
        assert!(
            expected == 0
                || said.err.contains("`.lock` is not a file")
                || said.err.contains("/.lock` is not a file"),
            "{}",
            said.err
        );
        assert_eq!(place.lawful(["evaluate", &run]).code, 0, "{name}");
    }
}

#[test]
fn a_config_cannot_ask_for_more_memory_than_a_machine_has() {
    let (place, run) = Place::trained(TINY);
    let config = place.text(&format!("{run}/config.toml"));
    let mut manifest = place.manifest(&run);
    manifest["config"] = "".into();
    place.write(&format!("{run}/manifest.json"), &manifest.to_string());
    let wide = config.replace("hidden = [6]", "hidden = [100000, 10000]");
    let wide = wide.replace("activations = [\"tanh\"]", "activations = [\"tanh\", \"tanh\"]");
    let windows = "iterations = 40\nbatch = { windows = 9007199254740992, rows = 2 }";
    let many = config.replace("iterations = 40", windows);
    for (text, reason) in [(wide, "at most 1e8 are possible"), (many, "1000000")] {
        assert_ne!(text, config);
        place.write(&format!("{run}/config.toml"), &text);
        let said = refused(&place, &run);
        assert!(said.contains(reason), "{said}");
    }
}
