//! `lawful init`.

use crate::support::Place;

#[test]
fn every_example_can_be_checked_and_names_its_own_folder() {
    for example in ["oscillator", "population", "reaction"] {
        let place = Place::new();
        let said = place.lawful(["init", example]);
        assert_eq!((said.code, said.out), (0, format!("{example}/experiment.toml\n")));
        assert!(said.err.contains(&format!("lawful train {example}/experiment.toml")));
        let checked = place.lawful(["check", example]);
        assert_eq!(checked.code, 0, "{}", checked.err);
        assert!(checked.out.starts_with(&format!("experiment  {example}\n")));
    }
}

#[test]
fn an_example_goes_into_any_folder() {
    let place = Place::new();
    let said = place.lawful(["init", "new place/größe", "--example", "population"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let names = place.names("new place/größe");
    assert_eq!(names, ["experiment.toml", "population.csv"]);
    assert!(said.err.contains("lawful train \"new place/größe/experiment.toml\""), "{}", said.err);
    let text = place.text("new place/größe/experiment.toml");
    assert!(text.contains("#   lawful check \"new place/größe/experiment.toml\""), "{text}");
    assert_eq!(place.lawful(["check", "new place/größe"]).code, 0);
}

#[test]
fn nothing_is_overwritten() {
    for file in ["experiment.toml", "oscillator.csv"] {
        let place = Place::new();
        place.write(&format!("oscillator/{file}"), "mine");
        let said = place.lawful(["init", "oscillator"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert_eq!(
            said.err,
            format!(
                "error: `oscillator/{file}` already exists\n\
                 hint: give another folder: existing files are not overwritten\n"
            )
        );
        assert_eq!(place.text(&format!("oscillator/{file}")), "mine");
        assert_eq!(place.names("oscillator"), [file]);
    }
}

#[test]
fn a_file_in_the_way_is_reported() {
    let place = Place::new();
    place.write("oscillator", "a file");
    let said = place.lawful(["init"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("there is a file where a folder should be"), "{}", said.err);
}
