//! `[[law]]`: a law of the system. Each law has its own header.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `name` | the text of `holds` | a text, different for each law | the name of the law in messages, tables and figures |
//! | `strategy` | `"penalty"` | `"penalty"`, `"monitor"` | `"penalty"`: training penalises violations; `"monitor"`: they are only measured |
//! | `holds` | required | a relation | `"next(E) <= E"`, `"A + B == 1"`, `"0 <= S <= 1"`; see [`lawful::law`] |

use std::collections::HashSet;

use lawful::{Enforcement, Law, Laws};

use super::complete::{self, Table};
use super::formula;
use super::section::Section;
use super::system::System;
use super::value::{Mark, Value};
use crate::diagnostic::Diagnostic;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["name", "strategy", "holds"];

/// The words of `strategy`.
const STRATEGIES: [(&str, Enforcement); 2] =
    [("penalty", Enforcement::Penalty), ("monitor", Enforcement::Monitor)];

/// A law as written: a chain is several laws.
#[derive(Debug, Clone)]
pub(crate) struct WrittenLaw {
    name: String,
    enforcement: Enforcement,
    holds: String,
    /// One for each relation.
    pub(crate) parts: Vec<Law>,
}

/// Reads all laws: checked, as written, and where each stands.
pub(crate) fn read<'s>(
    value: Option<Value<'s>>,
    system: &System,
) -> Result<(Laws, Vec<WrittenLaw>, Vec<Mark<'s>>), Diagnostic> {
    let mut laws = Laws::with_learned(system.vocabulary.clone(), system.learned())
        .expect("`[system]` has checked its constants");
    let Some(value) = value else { return Ok((laws, Vec::new(), Vec::new())) };
    if !value.is_list() {
        let error = value.error("laws are a list, each with a header in double brackets");
        return Err(error.with_hint("write a line `[[law]]`, and `holds = \"…\"` below it"));
    }
    let mut names = HashSet::new();
    let (mut all_written, mut marks) = (Vec::new(), Vec::new());
    for value in value.list("", "")? {
        let mut section = value.table("{ holds = \"x <= 1\" }")?;
        section.only(KEYS)?;
        let (written, mark);
        (laws, written, mark) = read_one(&mut section, laws, &mut names)?;
        all_written.push(written);
        marks.push(mark);
    }
    Ok((laws, all_written, marks))
}

fn read_one<'s>(
    section: &mut Section<'s>,
    laws: Laws,
    names: &mut HashSet<String>,
) -> Result<(Laws, WrittenLaw, Mark<'s>), Diagnostic> {
    let name = section.take("name").map(|value| value.text("energy never rises")).transpose()?;
    let why = "because it is the law itself";
    let holds = section.need("holds", why, "\"x <= 1\"")?;
    let (mark, text) = (holds.mark(), holds.text("x <= 1")?);
    let named = name.as_ref().unwrap_or(&text);
    if named.value.trim().is_empty() && name.is_some() {
        let error = named.error("a law's name cannot be empty");
        return Err(error.with_hint("leave `name` out to use the text of the law"));
    }
    let enforcement = section
        .take("strategy")
        .map_or(Ok(Enforcement::Penalty), |value| value.word("strategy of a law", &STRATEGIES))?;
    let before = laws.laws().len();
    let laws = laws
        .enforced(&named.value, &text.value, enforcement)
        .map_err(|error| formula::explain(&text, &format!("the law `{}`", named.value), &error))?;
    let parts = laws.laws()[before..].to_vec();
    let whole = [named.value.as_str()];
    let mut all: Vec<&str> = parts.iter().map(Law::name).collect();
    if parts.len() > 1 {
        all.extend(whole);
    }
    for part in all {
        if !names.insert(part.to_owned()) {
            let error = named.error(format!("there are two laws named `{part}`"));
            return Err(error.with_hint("give each law a name of its own: `name = \"…\"`"));
        }
    }
    let (name, holds) = (named.value.clone(), text.value);
    Ok((laws, WrittenLaw { name, enforcement, holds, parts }, mark))
}

/// The sections with every key.
pub(crate) fn write(laws: &[WrittenLaw]) -> Vec<Table> {
    let tables = laws.iter().map(|law| {
        complete::table([
            ("name", law.name.as_str().into()),
            ("strategy", complete::word(&STRATEGIES, law.enforcement)),
            ("holds", law.holds.as_str().into()),
        ])
    });
    tables.collect()
}
