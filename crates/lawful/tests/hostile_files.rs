//! Model files and checkpoints that no training has written.

#![expect(clippy::unwrap_used, reason = "a training that cannot be made has failed")]
#![expect(clippy::disallowed_methods, reason = "files are changed here")]

use lawful::optimiser::AdamSettings;
use lawful::{Dataset, Extension, FieldSettings, Model, Phase, Plan, PlanState, Remedy, Training};

fn model() -> Model {
    let data = Dataset::single(&["x"], vec![0.0, 1.0, 2.0], vec![1.0, 0.5, 0.2]).unwrap();
    let field = FieldSettings::layers(&[3], data.state());
    let phases = vec![Phase::new(AdamSettings::default(), 2)];
    Training::new(data).field(field).phases(phases).run().unwrap().model
}

/// The bytes of a file with its metadata changed, and with the fingerprint of what it has then.
fn with_metadata(bytes: &[u8], part: &str, with: &str) -> Vec<u8> {
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let text = lawful::Archive::unsealed(header["__metadata__"]["lawful"].as_str().unwrap());
    assert!(text.contains(part), "{text}");
    let text = lawful::Archive::sealed(&text.replace(part, with), &bytes[8 + length..]);
    header["__metadata__"]["lawful"] = text.into();
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat()
}

#[test]
fn every_changed_bit_of_a_saved_model_is_refused_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let model = model();
    model.save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().theta(), model.theta());
    let mut refused = 0;
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &bytes).unwrap();
        match Model::load(&path) {
            Err(_) => refused += 1,
            // Of a name that is not read back, or of the fingerprint's own.
            Ok(read) => {
                assert_eq!(read.theta(), model.theta());
                assert_eq!(read.description(), model.description());
            }
        }
    }
    assert!(refused > 8 * whole.len() - 1000, "{refused} of {}", 8 * whole.len());
}

#[test]
fn a_model_file_cannot_ask_for_more_memory_or_time_than_it_justifies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model().save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for (part, with, what) in [
        ("\"hidden\":[3]", "\"hidden\":[999999999]", "parameters"),
        ("\"hidden\":[3]", "\"hidden\":[18446744073709551615]", "parameters"),
        ("\"hidden\":[3]", "\"hidden\":[1000000]", "`layers.0.weight` has 3 numbers"),
        ("\"max-steps\":100000", "\"max-steps\":1000000000", "at most"),
    ] {
        std::fs::write(&path, with_metadata(&whole, part, with)).unwrap();
        let error = Model::load(&path).unwrap_err().to_string();
        assert!(error.contains(what), "{with}: {error}");
    }
    std::fs::write(&path, with_metadata(&whole, "\"hidden\":[3]", "\"hidden\":[3]")).unwrap();
    assert!(Model::load(&path).is_ok());
}

fn phases() -> Vec<Phase> {
    vec![Phase::new(AdamSettings::default(), 10), Phase::new(AdamSettings::default(), 20)]
}

fn shooting(after: usize, steps: usize) -> Remedy {
    Remedy::MultipleShooting { after, steps, without_laws: false, free: false, afresh: false }
}

#[test]
fn a_plan_is_restored_with_its_extensions_and_remedies_in_their_order() {
    let mut plan = Plan::new(&phases());
    assert!(plan.next(10, None));
    plan.apply(Remedy::Finer { after: 1, factor: 2, repeat: true });
    plan.extend_to(100);
    assert_eq!(plan.total(), 100);
    plan.apply(shooting(2, 4));
    plan.extend_to(400);
    plan.extend_to(300);
    assert_eq!((plan.total(), plan.extended_to()), (300, Some(300)));
    let text = serde_json::to_string(&plan.state()).unwrap();
    let state: PlanState = serde_json::from_str(&text).unwrap();
    let restored = Plan::restore(&phases(), &state).unwrap();
    // The last extensions, which no remedy follows, are the business of who asked for them.
    assert_eq!(state.extensions.len(), 1);
    let mut restored = restored;
    restored.extend_last(300, plan.last_phase().iterations);
    assert_eq!(restored.phases(), plan.phases());
    assert_eq!(restored.total(), 300);
}

#[test]
fn a_training_without_extensions_has_none_in_its_checkpoints() {
    let text = serde_json::to_string(&Plan::new(&phases()).state()).unwrap();
    assert_eq!(text, r#"{"phase":0,"start":0,"why":null,"remedies":[]}"#);
}

#[test]
fn plans_that_no_training_can_have_are_not_restored() {
    let fine = PlanState { phase: 1, start: 11, ..PlanState::default() };
    assert!(Plan::restore(&phases(), &fine).is_some());
    let finer = |factor| Remedy::Finer { after: 0, factor, repeat: false };
    let extension = |remedies, last| Extension { remedies, to: 50, last };
    let with = |remedies| PlanState { remedies, ..fine.clone() };
    for state in [
        PlanState { phase: 2, ..fine.clone() },
        PlanState { phase: usize::MAX, ..fine.clone() },
        PlanState { start: 12, ..fine.clone() },
        PlanState { start: usize::MAX, ..fine.clone() },
        with(vec![shooting(2, 4)]),
        with(vec![shooting(0, 0)]),
        with(vec![shooting(0, 4); 6]),
        with(vec![finer(0)]),
        with(vec![finer(65)]),
        with(vec![finer(2); 7]),
        with(vec![finer(1); 2000]),
        PlanState { extensions: vec![extension(1, 5)], ..fine.clone() },
        PlanState { extensions: vec![extension(0, usize::MAX)], ..fine.clone() },
    ] {
        assert!(Plan::restore(&phases(), &state).is_none(), "{state:?}");
    }
}
