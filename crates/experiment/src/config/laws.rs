//! `[[law]]`: a law of the system. Each law has its own header.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `name` | the text of `holds` | a text, different for each law | the name of the law in messages, tables and figures |
//! | `strategy` | chosen by `kind = "auto"` of `[strategy]`, otherwise `"penalty"` | `"penalty"`, `"hard"`, `"monitor"` | `"penalty"`: training penalises violations; `"hard"`: the form of the vector field guarantees the law, and it is an error if it cannot; `"monitor"`: violations are only measured |
//! | `weight` | 1 | > 0 | factor of the law's residuals in training, with every strategy; what is reported does not depend on it |
//! | `tolerance` | a thousandth of the law's size | a number above 0 | the violation above which the law counts as broken in reports, in its own units; see [`lawful::law_sizes`] |
//! | `holds` | required | a relation | `"next(E) <= E"`, `"A + B == 1"`, `"0 <= S <= 1"`; see [`lawful::law`] |

use std::collections::HashSet;

use lawful::{Enforcement, Law, Laws};

use super::complete::{self, Table};
use super::formula;
use super::section::Section;
use super::system::System;
use super::value::{Mark, POSITIVE, Value};
use crate::diagnostic::Diagnostic;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["name", "strategy", "weight", "tolerance", "holds"];

/// The words of `strategy`.
const STRATEGIES: [(&str, Enforcement); 3] = Enforcement::NAMES;

/// A law as written: a chain is several laws.
#[derive(Debug, Clone)]
pub(crate) struct WrittenLaw {
    name: String,
    enforcement: Enforcement,
    tolerance: Option<f64>,
    holds: String,
    /// One for each relation.
    pub(crate) parts: Vec<Law>,
}

impl WrittenLaw {
    /// Returns whether a law with this name is one of its parts.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.name() == name)
    }
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
        .map(|value| value.word("strategy of a law", &STRATEGIES))
        .transpose()?;
    let weight = weight(section.take("weight"), enforcement)?;
    let tolerance = section.take("tolerance").map(|value| value.number(POSITIVE, "0.5"));
    let tolerance = tolerance.transpose()?;
    let before = laws.laws().len();
    let laws = match enforcement {
        Some(enforcement) => laws.enforced(&named.value, &text.value, enforcement),
        None => laws.law(&named.value, &text.value),
    };
    let laws = laws
        .map_err(|error| formula::explain(&text, &format!("the law `{}`", named.value), &error))?
        .weight(weight);
    let laws = match tolerance {
        Some(tolerance) => laws.tolerance(tolerance),
        None => laws,
    };
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
    let enforcement = enforcement.unwrap_or_default();
    Ok((laws, WrittenLaw { name, enforcement, tolerance, holds, parts }, mark))
}

/// Reads the weight of a law.
fn weight(value: Option<Value>, enforcement: Option<Enforcement>) -> Result<f64, Diagnostic> {
    let Some(value) = value else { return Ok(1.0) };
    if let Some(enforcement) = enforcement.filter(|&known| known != Enforcement::Penalty) {
        let error = value.error(format!(
            "`weight` has no effect for a law with `strategy = \"{}\"`",
            enforcement.name()
        ));
        return Err(error.with_hint("leave it out, or write `strategy = \"penalty\"`"));
    }
    value.number(POSITIVE, "2.0")
}

/// Returns the laws with the enforcement that the training has chosen. A chain of which it has chosen
/// several is written as one law for each relation.
pub(crate) fn enforced(written: &[WrittenLaw], all: &[Law]) -> Vec<WrittenLaw> {
    let mut rest = all;
    let mut laws = Vec::with_capacity(written.len());
    for law in written {
        let (parts, others) = rest.split_at(law.parts.len());
        rest = others;
        let first = parts.first().map(Law::enforcement).unwrap_or_default();
        if parts.iter().all(|part| part.enforcement() == first) {
            laws.push(WrittenLaw { enforcement: first, parts: parts.to_vec(), ..law.clone() });
        } else {
            laws.extend(parts.iter().map(|part| WrittenLaw {
                name: part.name().to_owned(),
                enforcement: part.enforcement(),
                tolerance: law.tolerance,
                holds: part.text().to_owned(),
                parts: vec![part.clone()],
            }));
        }
    }
    laws
}

/// The sections with every key.
pub(crate) fn write(laws: &[WrittenLaw]) -> Vec<Table> {
    let tables = laws.iter().map(|law| {
        let mut table = complete::table([
            ("name", law.name.as_str().into()),
            ("strategy", complete::word(&STRATEGIES, law.enforcement)),
        ]);
        let weight = law.parts.first().map_or(1.0, Law::weight);
        // Laws that are not penalised have none.
        if law.enforcement == Enforcement::Penalty && (weight - 1.0).abs() > 0.0 {
            table.insert("weight".to_owned(), weight.into());
        }
        table.extend(law.tolerance.map(|tolerance| ("tolerance".to_owned(), tolerance.into())));
        table.insert("holds".to_owned(), law.holds.as_str().into());
        table
    });
    tables.collect()
}
