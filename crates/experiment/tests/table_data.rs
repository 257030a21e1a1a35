//! Good tables: irregular, ragged, with gaps, in one file or several.

mod config_support;

use std::path::PathBuf;

use config_support::Folder;
use lawful::{Dataset, Interpolation, Trajectory};
use lawful_experiment::table::{Format, Variables, read};
use lawful_experiment::{TimeOrigin, read_dataset, write_dataset};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn table(files: &[(&str, &str)], format: &Format, inputs: &[&str]) -> Vec<Trajectory> {
    let folder = Folder::new(files);
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path(name)).collect();
    let (state, inputs) = (names(&["x", "v"]), names(inputs));
    let variables = Variables { state: &state, inputs: &inputs, open: false };
    read(&paths, format, variables, Interpolation::Linear)
        .unwrap_or_else(|error| panic!("{}", error.error))
}

fn by(column: &str) -> Format {
    Format { trajectory: Some(column.to_owned()), ..Format::default() }
}

#[test]
fn columns_are_found_in_any_order_and_others_are_ignored() {
    let text = "v,comment,t,x\n2,\"a, \"\"b\"\"\nc\",0,1\n4, ,0.5, 3e0 \n";
    let [trajectory] = &table(&[("a.csv", text)], &Format::default(), &[])[..] else { panic!() };
    assert_eq!(*trajectory, Trajectory::new("a", vec![0.0, 0.5], vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn line_ends_marks_and_separators_do_not_matter() {
    let expected = table(&[("a.csv", "t,x,v\n0,1,2\n1,3,4\n")], &Format::default(), &[]);
    for (text, separator) in [
        ("t,x,v\r\n0,1,2\r\n1,3,4", b','),
        ("t,x,v\r0,1,2\r1,3,4\r", b','),
        ("\u{feff}t,x,v\n\n0,1,2\n\n1,3,4\n\n", b','),
        ("\"t\",\"x\",\"v\"\n\"0\",\"1\",\"2\"\n1,3,4\n", b','),
        ("t;x;v\n0;1;2\n1;3;4\n", b';'),
        ("t\tx\tv\n0\t1\t2\n1\t3\t4\n", b'\t'),
    ] {
        let format = Format { separator, ..Format::default() };
        assert_eq!(table(&[("a.csv", text)], &format, &[]), expected, "{text:?}");
    }
}

#[test]
fn missing_cells_are_gaps_in_states_and_are_filled_in_inputs() {
    let text = "t,x,v,u\n0,1,2,\n1,,4,10\n2,NA,NaN,\n4,5,-,40\n";
    let format = Format { missing: names(&["", "NA", "NaN", "-"]), ..Format::default() };
    let [trajectory] = &table(&[("a.csv", text)], &format, &["u"])[..] else { panic!() };
    let gaps: Vec<bool> = trajectory.states.iter().map(|value| value.is_nan()).collect();
    assert_eq!(gaps, [false, false, true, false, true, true, false, true]);
    assert_eq!(trajectory.inputs, [10.0, 10.0, 20.0, 40.0]);
}

#[test]
fn mixed_rows_of_trajectories_are_sorted_out() {
    let mixed = "id,t,x,v\na,0,1,1\nb,5,2,2\na,1,3,3\nb,5.5,4,4\nb,9,5,5\n";
    let apart = "id,t,x,v\na,0,1,1\na,1,3,3\nb,5,2,2\nb,5.5,4,4\nb,9,5,5\n";
    let read = |text| table(&[("a.csv", text)], &by("id"), &[]);
    assert_eq!(read(mixed), read(apart));
    let lengths: Vec<usize> = read(mixed).iter().map(Trajectory::len).collect();
    assert_eq!(lengths, [2, 3]);
}

#[test]
fn one_trajectory_split_into_files_equals_one_file() {
    let one = table(&[("a.csv", "id,t,x,v\nq,0,1,2\nq,1,3,4\nq,2,5,6\n")], &by("id"), &[]);
    let two = table(
        &[("a.csv", "id,t,x,v\nq,0,1,2\n"), ("b.csv", "t,v,x,id\n1,4,3,q\n2,6,5,q\n")],
        &by("id"),
        &[],
    );
    assert_eq!(one, two);
}

#[test]
fn files_without_a_trajectory_column_are_trajectories_named_after_them() {
    let text = "t,x,v\n0,1,2\n1,3,4\n";
    let files = [("one.csv", text), ("two.csv", text)];
    let found = table(&files, &Format::default(), &[]);
    assert_eq!((found[0].name.as_str(), found[1].name.as_str()), ("one", "two"));
    let same = table(&[("p/run.csv", text), ("q/run.csv", text)], &Format::default(), &[]);
    assert!(same[0].name.ends_with("p/run") && same[1].name.ends_with("q/run"), "{same:?}");
}

#[test]
fn columns_of_other_names_are_mapped() {
    let mut format = by("Proband Nr.");
    format.time = "Zeit [s]".to_owned();
    format.columns = vec![("x".to_owned(), "Größe 1".to_owned())];
    let text = "Zeit [s],Größe 1,v,Proband Nr.\n0,1,2,7\n1,3,4,7\n";
    let [trajectory] = &table(&[("a.csv", text)], &format, &[])[..] else { panic!() };
    assert_eq!((trajectory.name.as_str(), trajectory.states.len()), ("7", 4));
}

#[test]
fn stored_data_are_the_same_bit_for_bit() {
    let odd = [
        0.1 + 0.2,
        1.0 / 3.0,
        f64::MIN_POSITIVE / 4.0,
        f64::MAX,
        -0.0,
        1e-7,
        123_456_789_012_345_680.0,
        f64::NAN,
    ];
    let trajectory = |name: &str, scored_from| Trajectory {
        name: name.to_owned(),
        times: vec![-1e-300, 0.0, 1e10 / 3.0, 1e300].into(),
        states: odd.to_vec().into(),
        inputs: vec![-1.5e-5, 2.0, 3.0, f64::MIN].into(),
        scored_from,
    };
    let trajectories = vec![trajectory("a, \"b\"", 0), trajectory(" c ", 3), trajectory("", 4)];
    let (state, inputs) = (names(&["scored", "trajectory"]), names(&["u"]));
    let data = Dataset::new(state.clone(), inputs.clone(), trajectories).unwrap();
    let folder = Folder::new(&[]);
    let path = folder.path("data.csv");
    write_dataset(&data, &TimeOrigin::default(), &path).unwrap();
    let back = read_dataset(
        &path,
        Variables { state: &state, inputs: &inputs, open: false },
        &TimeOrigin::default(),
    )
    .unwrap();
    for (a, b) in data.trajectories().iter().zip(back.trajectories()) {
        assert_eq!((&a.name, a.scored_from), (&b.name, b.scored_from));
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&a.times), bits(&b.times));
        assert_eq!(bits(&a.states), bits(&b.states));
        assert_eq!(bits(&a.inputs), bits(&b.inputs));
    }
    assert_eq!(back.trajectories().len(), 3);
}

#[test]
fn two_trajectories_of_one_name_are_not_stored_as_one() {
    let one = || Trajectory::new("a", vec![0.0, 1.0], vec![0.0, 1.0]);
    let data = Dataset::new(names(&["x"]), Vec::new(), vec![one(), one()]).unwrap();
    let error = write_dataset(&data, &TimeOrigin::default(), &Folder::new(&[]).path("data.csv"))
        .unwrap_err();
    assert_eq!(error.message, "two trajectories are called `a`");
}
