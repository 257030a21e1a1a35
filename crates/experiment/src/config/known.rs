//! `known` and `learn` of `[field]`: which rates are known, and which the network learns.
//!
//! ```toml
//! [system]
//! state = ["x", "v"]
//! constants = { m = 1.0, k = { start = 1.0, min = 0.0 } }
//!
//! [field]
//! known = { x = "v", v = "-k*x/m" }
//! learn = ["v"]
//! ```
//!
//! | a variable in | its rate |
//! |---|---|
//! | `known` | the expression: the network has no output for it |
//! | `learn` | an output of the network |
//! | both | the expression and, added to it, an output of the network |
//!
//! An expression can use `t`, the state, the inputs, constants and definitions. If `learn` is empty
//! there is no network, and only constants are learned.

use lawful::law::Expression;
use lawful::{KnownRates, LearnedConstant};

use super::formula;
use super::section::Section;
use super::system::System;
use super::value::{Mark, Text, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::meant;
use crate::toml_quote::key;

/// Keys of the network.
const NETWORK_KEYS: [&str; 6] =
    ["hidden", "activations", "init", "time-input", "precision", "coordinates"];

/// Which rates are known, and which are learned.
pub(super) struct Rates {
    /// Name and expression of each known rate, in the order of the state.
    pub(super) known: Vec<(String, String)>,
    /// The variables for which the network has an output, in the order of the state.
    pub(super) learn: Vec<String>,
}

/// Reads both keys, and checks that there is something to learn.
pub(super) fn read(section: &mut Section, system: &System) -> Result<Rates, Diagnostic> {
    let state = system.vocabulary.state();
    let known = section.take("known");
    let known_mark = known.as_ref().map(Value::mark);
    let texts = known.map_or(Ok(Vec::new()), |value| known_rates(value, system))?;
    let is_known = |name: &str| texts.iter().any(|(known, _)| known == name);
    let learn = section.take("learn");
    let mark = learn.as_ref().map(Value::mark).or(known_mark);
    let learn: Vec<String> = match learn {
        None => state.iter().filter(|name| !is_known(name)).cloned().collect(),
        Some(value) => learned_rates(value, state)?,
    };
    let forgotten = state.iter().find(|name| !is_known(name) && !learn.contains(name));
    if let (Some(name), Some(mark)) = (forgotten, &mark) {
        return Err(mark
            .error(format!("`{name}` is neither known nor learned: its rate would be 0"))
            .with_hint(format!(
                "add \"{name}\" to `learn`, or write its rate in `known`: `{} = \"0\"` if it does \
                 not change",
                key(name)
            )));
    }
    check_constants(&texts, system)?;
    if learn.is_empty() {
        check_without_network(section, system, mark.as_ref())?;
    }
    let known = texts.into_iter().map(|(name, text)| (name, text.value)).collect();
    Ok(Rates { known, learn })
}

/// The text of each known rate, in the order of the state.
fn known_rates<'s>(
    value: Value<'s>,
    system: &System,
) -> Result<Vec<(String, Text<'s>)>, Diagnostic> {
    let vocabulary = &system.vocabulary;
    let rates = value.table("{ x = \"v\" }")?.some_of(vocabulary.state(), "state variable")?;
    let mut texts = Vec::with_capacity(rates.len());
    for (name, value) in rates {
        let text = value.text("v")?;
        Expression::parse(&text.value, vocabulary).map_err(|error| {
            formula::explain(&text, &format!("the known rate of `{name}`"), &error)
        })?;
        texts.push((name, text));
    }
    Ok(texts)
}

/// The variables of `learn`, in the order of the state.
fn learned_rates(value: Value, state: &[String]) -> Result<Vec<String>, Diagnostic> {
    let values = value.list("a list of state variables", "[\"v\"]")?;
    let texts: Vec<Text> = values.iter().map(|value| value.text("v")).collect::<Result<_, _>>()?;
    for (n, text) in texts.iter().enumerate() {
        let name = &text.value;
        if !state.contains(name) {
            let known = state.iter().map(String::as_str);
            let hint = meant(name, known, "the state variables are");
            let error = text.error(format!("`{name}` in `learn` is not a state variable"));
            return Err(error.with_hint(hint));
        }
        if texts[..n].iter().any(|before| before.value == *name) {
            let error = text.error(format!("`{name}` is listed twice in `learn`"));
            return Err(error.with_hint("remove one of the two"));
        }
    }
    let is_named = |name: &&String| texts.iter().any(|text| text.value == **name);
    Ok(state.iter().filter(is_named).cloned().collect())
}

/// Returns an error for a learned constant on which no rate depends.
fn check_constants(texts: &[(String, Text)], system: &System) -> Result<(), Diagnostic> {
    let learned: Vec<LearnedConstant> = system.learned();
    // Whose rates they are does not matter here.
    let rates: Vec<(usize, &str)> =
        texts.iter().map(|(_, text)| (0, text.value.as_str())).collect();
    let known = KnownRates::new(&rates, learned, &system.vocabulary)
        .expect("the rates were read before, with numbers for the learned constants");
    let constants = system.constants.iter().filter(|constant| constant.learned.is_some());
    for (n, constant) in constants.enumerate() {
        if !known.depends_on(n) {
            let (name, number) = (&constant.name.text, constant.as_number());
            return Err(constant
                .name
                .error(format!(
                    "the constant `{name}` is learned, but no known rate depends on it: it would \
                     never change"
                ))
                .with_hint(format!("use it in `known` of `[field]`, or fix it: {number}")));
        }
    }
    Ok(())
}

/// Without a network there must be a constant to learn, and no key of the network.
fn check_without_network(
    section: &Section,
    system: &System,
    mark: Option<&Mark>,
) -> Result<(), Diagnostic> {
    let correct = "in `learn` the variables whose known rates need a correction";
    if system.learned().is_empty() {
        let message = "there is nothing to learn: all rates and all constants are known";
        let error = match mark {
            Some(mark) => mark.error(message),
            None => section.error(message),
        };
        return Err(error.with_hint(format!(
            "list {correct}, or learn a constant: `constants = {{ k = {{ start = 1.0 }} }}`"
        )));
    }
    for network_key in NETWORK_KEYS {
        if let Some(mark) = section.peek(network_key) {
            return Err(mark
                .error(format!(
                    "`{network_key}` has no effect: every rate is known, so there is no network"
                ))
                .with_hint(format!("leave it out, or list {correct}")));
        }
    }
    Ok(())
}
