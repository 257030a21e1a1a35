//! `[system]`: the names that laws, equations and columns can use.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `state` | required | a list of names | the state variables |
//! | `inputs` | `[]` | a list of names | exogenous inputs u(t); the network has the state and the inputs as its inputs |
//! | `constants` | `{}` | finite numbers, or tables | named numbers: `{ m = 1.0, k = { start = 2.0, min = 0 } }`; some can be learned, see [`super::constants`] |
//! | `define` | `{}` | expressions | named expressions: `{ E = "m*v^2/2" }`; they can use each other |
//! | `horizon` | none | the time of the last row of a trajectory, or later | laws count up to it: each path is solved on to it in training |
//!
//! A name is a letter of any script, then letters, digits and `_`. `t`, `pi` and the names of
//! functions are reserved.

use std::collections::HashSet;

use lawful::law::{ErrorKind, LawError, Origin, Words};
use lawful::{LearnedConstant, TrainingError, Vocabulary};

use super::complete::{self, Table};
use super::constants::{self, Constant};
use super::formula;
use super::moment::Moment;
use super::section::{Name, Section};
use super::source::Source;
use super::value::{Mark, Text, Value};
use crate::diagnostic::Diagnostic;
use crate::table::TimeOrigin;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["state", "inputs", "constants", "define", "horizon"];

/// The checked section.
#[derive(Debug)]
pub(crate) struct System<'s> {
    /// All names; learned constants have their initial values.
    pub(crate) vocabulary: Vocabulary,
    /// The names whose meaning is fixed: no learned constant, and no definition that uses one.
    pub(crate) fixed: Vocabulary,
    /// Definitions that use a learned constant, directly or not, and one of those constants.
    moving: Vec<(String, String)>,
    pub(crate) constants: Vec<Constant<'s>>,
    /// The time up to which laws count, and its place.
    pub(crate) horizon: Option<Moment<'s>>,
}

impl System<'_> {
    /// The learned constants, in the order of the file.
    pub(crate) fn learned(&self) -> Vec<LearnedConstant> {
        self.constants.iter().filter_map(|constant| constant.learned.clone()).collect()
    }

    /// The learned constants with one value for each trajectory.
    pub(crate) fn varying(&self) -> Vec<String> {
        let varying = self.constants.iter().filter(|constant| constant.varies);
        varying.map(|constant| constant.name.text.clone()).collect()
    }

    /// Returns an error at the key `effects`, or at the first constant with one value for each trajectory.
    pub(crate) fn own_numbers_error(
        &self,
        source: &Source,
        effects: Option<&Mark>,
        error: &TrainingError,
    ) -> Diagnostic {
        let varying = self.constants.iter().find(|constant| constant.varies);
        match (effects, varying) {
            (Some(mark), _) => mark.error(error.to_string()),
            (None, Some(constant)) => constant.name.error(error.to_string()),
            (None, None) => source.lacks(error.to_string()),
        }
    }

    /// Returns the error of a formula that was read with the fixed names; `hint` is for a learned
    /// constant, which cannot be used there.
    pub(crate) fn explain(
        &self,
        text: &Text,
        subject: &str,
        error: &LawError,
        hint: &str,
    ) -> Diagnostic {
        let ErrorKind::UnknownName(name) = error.kind() else {
            return formula::explain(text, subject, error);
        };
        let is_learned = |c: &&Constant| c.learned.is_some() && c.name.text == *name;
        let message = if self.constants.iter().any(|constant| is_learned(&constant)) {
            format!("{subject} uses the constant `{name}`, which is learned")
        } else if let Some((_, constant)) = self.moving.iter().find(|(moving, _)| moving == name) {
            format!("{subject} uses `{name}`, and so the constant `{constant}`, which is learned")
        } else {
            return formula::explain(text, subject, error);
        };
        let located = text.error_at(error.span(), message);
        located.in_formula(&text.value, error.span()).with_hint(hint)
    }
}

/// Reads the section.
pub(crate) fn read(mut section: Section<'_>) -> Result<System<'_>, Diagnostic> {
    let why = "because it names the state variables";
    let Some(state) = section.take("state") else {
        return Err(section
            .lacks("state", why)
            .with_hint("write `state = [\"x\", \"v\"]` below a line `[system]`, with your names"));
    };
    let mark = state.mark();
    let state = names(state)?;
    if state.is_empty() {
        return Err(mark
            .error("`state` is empty: there must be at least one state variable")
            .with_hint("for example `state = [\"x\", \"v\"]`"));
    }
    let inputs = section.take("inputs").map_or(Ok(Vec::new()), names)?;
    let constants = constants::read(section.take("constants"))?;
    let horizon = match section.take("horizon") {
        Some(value) => Some(value.moment("20.0")?),
        None => None,
    };
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
        constants: constants.iter().map(|c| (c.name.text.clone(), c.value)).collect(),
        definitions: definitions
            .iter()
            .map(|(name, text)| (name.text.clone(), text.value.clone()))
            .collect(),
    };
    let explained = |error: LawError| {
        let names = (state.iter().chain(&inputs).map(Place::Text))
            .chain(constants.iter().map(|constant| Place::Name(&constant.name)))
            .chain(definitions.iter().map(|(name, _)| Place::Name(name)));
        explain(&error, &names.collect::<Vec<_>>(), &definitions)
    };
    let vocabulary = words.clone().check().map_err(explained)?;
    let learned = constants.iter().filter(|constant| constant.learned.is_some());
    let learned: Vec<&str> = learned.map(|constant| constant.name.text.as_str()).collect();
    let moving = vocabulary.users_of(&learned);
    let mut fixed = words;
    fixed.constants.retain(|(name, _)| !learned.contains(&name.as_str()));
    let moves: HashSet<&str> = moving.iter().map(|(name, _)| name.as_str()).collect();
    fixed.definitions.retain(|(name, _)| !moves.contains(name.as_str()));
    let fixed = fixed.check().map_err(explained)?;
    Ok(System { vocabulary, fixed, moving, constants, horizon })
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
pub(crate) fn write(system: &System, origin: &TimeOrigin) -> Table {
    let System { vocabulary, constants, horizon, .. } = system;
    let constants = constants.iter().map(|constant| (constant.name.text.clone(), constant.write()));
    let mut table = complete::table([
        ("state", complete::texts(vocabulary.state())),
        ("inputs", complete::texts(vocabulary.inputs())),
        ("constants", constants.collect::<Table>().into()),
        ("define", complete::named(vocabulary.definitions(), |text| text.as_str().into())),
    ]);
    if let Some(horizon) = horizon {
        table.insert("horizon".to_owned(), horizon.write(origin));
    }
    table
}
