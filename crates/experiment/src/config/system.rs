//! `[system]`: the names that laws, equations and columns are written with.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `state` | needed | list of names | the state variables, in the order of the network's outputs |
//! | `inputs` | `[]` | list of names | exogenous inputs u(t), given to the network beside the state |
//! | `constants` | `{}` | finite numbers | names for numbers: `{ m = 1.0, k = 2 }` |
//! | `define` | `{}` | expressions | names for expressions: `{ E = "m*v^2/2" }`; they may use each other |
//!
//! A name is a letter of any script, then letters, digits and `_`. `t`, `pi` and the names of
//! functions are taken.

use lawful::Vocabulary;
use lawful::law::{ErrorKind, LawError, Origin, Words};

use super::complete::{self, Table};
use super::formula;
use super::section::{Name, Section};
use super::value::{FINITE, Text, Value};
use crate::diagnostic::Diagnostic;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["state", "inputs", "constants", "define"];

/// Reads the section.
pub(crate) fn read(mut section: Section) -> Result<Vocabulary, Diagnostic> {
    let why = "because it names the variables that are learned";
    let Some(state) = section.take("state") else {
        return Err(section
            .lacks("state", why)
            .with_hint("write `state = [\"x\", \"v\"]` below a line `[system]`, with your names"));
    };
    let mark = state.mark();
    let state = names(state)?;
    if state.is_empty() {
        return Err(mark
            .error("`state` is empty, but it names the variables that are learned")
            .with_hint("for example `state = [\"x\", \"v\"]`"));
    }
    let inputs = section.take("inputs").map_or(Ok(Vec::new()), names)?;
    let mut constants = Vec::new();
    if let Some(value) = section.take("constants") {
        for (name, value) in value.table("{ k = 1.0 }")?.rest() {
            constants.push((name, value.number(FINITE, "1.0")?));
        }
    }
    let mut definitions = Vec::new();
    if let Some(value) = section.take("define") {
        for (name, value) in value.table("{ E = \"x^2/2\" }")?.rest() {
            definitions.push((name, value.text("x^2/2")?));
        }
    }
    let owned = |texts: &[Text]| texts.iter().map(|text| text.value.clone()).collect();
    let words = Words {
        state: owned(&state),
        inputs: owned(&inputs),
        constants: constants.iter().map(|(name, value)| (name.text.clone(), *value)).collect(),
        definitions: definitions
            .iter()
            .map(|(name, text)| (name.text.clone(), text.value.clone()))
            .collect(),
    };
    words.check().map_err(|error| {
        let names = (state.iter().chain(&inputs).map(Place::Text))
            .chain(constants.iter().map(|(name, _)| Place::Name(name)))
            .chain(definitions.iter().map(|(name, _)| Place::Name(name)));
        explain(&error, &names.collect::<Vec<_>>(), &definitions)
    })
}

/// Where a name is written.
enum Place<'a, 's> {
    /// In a list.
    Text(&'a Text<'s>),
    /// As a key.
    Name(&'a Name<'s>),
}

impl Place<'_, '_> {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) => &text.value,
            Self::Name(name) => &name.text,
        }
    }

    fn error(&self, message: String) -> Diagnostic {
        match self {
            Self::Text(text) => text.error(message),
            Self::Name(name) => name.error(message),
        }
    }
}

/// A mistake in a name or a definition, at its place.
fn explain(error: &LawError, names: &[Place], definitions: &[(Name, Text)]) -> Diagnostic {
    match error.origin() {
        Origin::Definition(name) => {
            let definition = definitions.iter().find(|(known, _)| known.text == *name);
            let subject = format!("the definition of `{name}`");
            match definition {
                Some((_, text)) => formula::explain(text, &subject, error),
                None => Diagnostic::new(error.to_string()),
            }
        }
        Origin::Name(name) => {
            // Of a name that is given twice, the second is the mistake.
            let second = usize::from(matches!(error.kind(), ErrorKind::DuplicateName(_)));
            let place = names.iter().filter(|place| place.text() == name).nth(second);
            let diagnostic = match place {
                Some(place) => place.error(error.to_string()),
                None => Diagnostic::new(error.to_string()),
            };
            formula::with_hint(diagnostic, error)
        }
        Origin::Text => Diagnostic::new(error.to_string()),
    }
}

/// A list of names.
fn names(value: Value<'_>) -> Result<Vec<Text<'_>>, Diagnostic> {
    let values = value.list("a list of names", "[\"x\", \"v\"]")?;
    values.iter().map(|value| value.text("x")).collect()
}

/// The section with every key.
pub(crate) fn write(vocabulary: &Vocabulary) -> Table {
    complete::table([
        ("state", complete::texts(vocabulary.state())),
        ("inputs", complete::texts(vocabulary.inputs())),
        ("constants", complete::named(vocabulary.constants(), |&value| value.into())),
        ("define", complete::named(vocabulary.definitions(), |text| text.as_str().into())),
    ])
}
