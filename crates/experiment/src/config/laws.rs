//! `[[law]]`: what must hold, each beginning with a header of its own.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `name` | the text of `holds` | texts, all different | what messages, tables and figures call it |
//! | `holds` | needed | a relation | `"next(E) <= E"`, `"A + B == 1"`, `"0 <= S <= 1"`; see [`lawful::law`] |

use std::collections::HashSet;

use lawful::Law;

use super::complete::{self, Table};
use super::formula;
use super::section::Section;
use super::system::System;
use super::value::Value;
use crate::diagnostic::Diagnostic;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["name", "holds"];

/// A law as written: a chain is several laws.
#[derive(Debug, Clone)]
pub(crate) struct WrittenLaw {
    name: String,
    holds: String,
    /// One for each relation.
    pub(crate) parts: Vec<Law>,
}

/// Reads all laws.
pub(crate) fn read(value: Option<Value>, system: &System) -> Result<Vec<WrittenLaw>, Diagnostic> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if !value.is_list() {
        let error = value.error("laws are a list, each with a header in double brackets");
        return Err(error.with_hint("write a line `[[law]]`, and `holds = \"…\"` below it"));
    }
    let mut names = HashSet::new();
    let mut laws = Vec::new();
    for value in value.list("", "")? {
        let mut section = value.table("{ holds = \"x <= 1\" }")?;
        section.only(KEYS)?;
        laws.push(read_one(&mut section, system, &mut names)?);
    }
    Ok(laws)
}

fn read_one(
    section: &mut Section,
    system: &System,
    names: &mut HashSet<String>,
) -> Result<WrittenLaw, Diagnostic> {
    let name = section.take("name").map(|value| value.text("energy never rises")).transpose()?;
    let why = "because it is the law itself";
    let text = section.need("holds", why, "\"x <= 1\"")?.text("x <= 1")?;
    let named = name.as_ref().unwrap_or(&text);
    if named.value.trim().is_empty() && name.is_some() {
        let error = named.error("a law's name cannot be empty");
        return Err(error.with_hint("leave `name` out, and the law is called by its text"));
    }
    let mut parts = Law::parse(&named.value, &text.value, &system.vocabulary)
        .map_err(|error| formula::explain(&text, &format!("the law `{}`", named.value), &error))?;
    let learned = system.learned();
    if !learned.is_empty() {
        // Learned constants are variables to a law; as such they would only confuse messages.
        let with_learned_as_variables =
            lawful::with_learned_as_variables(&system.vocabulary, &learned);
        parts = Law::parse(&named.value, &text.value, &with_learned_as_variables)
            .expect("it was read before");
    }
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
    Ok(WrittenLaw { name: named.value.clone(), holds: text.value, parts })
}

/// The sections with every key.
pub(crate) fn write(laws: &[WrittenLaw]) -> Vec<Table> {
    let tables = laws.iter().map(|law| {
        complete::table([("name", law.name.as_str().into()), ("holds", law.holds.as_str().into())])
    });
    tables.collect()
}
