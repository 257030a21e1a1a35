//! Every input of the corpus is read without a panic, and mutations of it reach every target.

use std::process::Command;

use lawful_experiment::files;

#[test]
fn no_input_of_the_corpus_panics() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut inputs = 0;
    for target in files::list(&corpus) {
        for name in files::list(&corpus.join(&target)) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lawful-fuzz"));
            let command = command.args(["once", &target]).arg(corpus.join(&target).join(&name));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{target}/{name}: {said}");
            inputs += 1;
        }
    }
    assert!(inputs > 20, "{inputs}");
}

#[test]
fn mutated_inputs_of_every_target_reach_what_is_behind_the_first_checks() {
    let found = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lawful-fuzz"));
    let command = command.args(["cases", "--seconds", "120", "--cases", "40", "--found"]);
    let output = command.arg(found.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let targets = said.lines().filter(|line| line.ends_with(" 0 found")).count();
    assert_eq!(targets, 9 + 1, "nine targets, and all together: {said}");
    assert!(!said.contains(" 0 accepted"), "a target refuses everything: {said}");
}
