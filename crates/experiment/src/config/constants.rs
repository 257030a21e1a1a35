//! `[system] constants`: numbers with a name, fixed or learned.
//!
//! A constant is a number, or a table with the keys
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `start` | required | strictly between the bounds | the initial value, or the fixed value with `learn = false` |
//! | `learn` | `true` | `true`, `false` | whether the constant is learned |
//! | `min` | none | a finite number | lower bound of a learned constant |
//! | `max` | none | a finite number | upper bound of a learned constant |
//! | `per` | `"all"` | `"all"`, `"trajectory"` | one value for all trajectories, or one for each: with a normal prior around the shared one, on the scale on which the constant is learned, whose width the evidence chooses |
//!
//! At least one known rate ([`super::known`]) must depend on each learned constant. Laws can use
//! learned constants, too; the equations of simulated data cannot. [`LearnedConstant`] describes how a
//! constant is kept between its bounds.

use lawful::LearnedConstant;

use super::complete::{self, Table};
use super::section::{Name, Section};
use super::value::{FINITE, Value};
use crate::diagnostic::Diagnostic;
use crate::toml_quote::key;
use lawful::exact;

/// The keys of a constant that is a table.
pub(crate) const KEYS: &[&str] = &["start", "learn", "min", "max", "per"];

/// The words of `per`, and whether the constant has one value for each trajectory.
const PER: [(&str, bool); 2] = [("all", false), ("trajectory", true)];

/// A checked constant.
#[derive(Debug)]
pub(crate) struct Constant<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) value: f64,
    /// How it is learned, if it is.
    pub(crate) learned: Option<LearnedConstant>,
    /// Whether it has one value for each trajectory.
    pub(crate) varies: bool,
}

/// Reads all constants, in the order of the file.
pub(super) fn read(value: Option<Value>) -> Result<Vec<Constant>, Diagnostic> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let entries = value.table("{ k = 1.0 }")?.rest();
    entries.into_iter().map(|(name, value)| read_one(name, value)).collect()
}

fn read_one<'s>(name: Name<'s>, value: Value<'s>) -> Result<Constant<'s>, Diagnostic> {
    if !value.is_table() {
        let value = value.number(FINITE, "1.0")?;
        return Ok(Constant { name, value, learned: None, varies: false });
    }
    let mut section = value.table("{ start = 1.0 }")?;
    section.only(KEYS)?;
    let start_value =
        section.need("start", "because it is the initial value of the constant", "1.0")?;
    let start = start_value.number(FINITE, "1.0")?;
    if !section.take("learn").map_or(Ok(true), |value| value.flag())? {
        return fixed(name, start, &section);
    }
    let mut bound = |key: &str, example: &str| {
        let value = section.take(key);
        value.map(|value| value.number(FINITE, example)).transpose()
    };
    let (min, max) = (bound("min", "0.0")?, bound("max", "10.0")?);
    let per = section.take("per");
    let varies = per.map_or(Ok(false), |value| value.word("per", &PER))?;
    let text = &name.text;
    let crossed = match (min, max) {
        (Some(min), _) if start <= min => Some(("above", "min", min)),
        (_, Some(max)) if start >= max => Some(("below", "max", max)),
        _ => None,
    };
    if let Some((side, key, bound)) = crossed {
        let (start, bound) = (exact(start), exact(bound));
        return Err(start_value
            .error(format!("`{text}` starts at {start}, which is not {side} its `{key}`, {bound}"))
            .with_hint("choose a `start` strictly between `min` and `max`"));
    }
    let learned = LearnedConstant { name: text.clone(), start, min, max };
    if !learned.starts_inside() {
        return Err(start_value
            .error(format!("the bounds of `{text}` are too far from its start to compute with"))
            .with_hint("leave out a bound that does not matter"));
    }
    Ok(Constant { name, value: start, learned: Some(learned), varies })
}

/// A constant with `learn = false`.
fn fixed<'s>(
    name: Name<'s>,
    value: f64,
    section: &Section<'s>,
) -> Result<Constant<'s>, Diagnostic> {
    for bound in ["min", "max", "per"] {
        if let Some(mark) = section.peek(bound) {
            return Err(mark
                .error(format!("`{bound}` has no effect: `{}` is not learned", name.text))
                .with_hint("leave it out, or write `learn = true`"));
        }
    }
    Ok(Constant { name, value, learned: None, varies: false })
}

impl Constant<'_> {
    /// "`k = 1.0`", which fixes it.
    pub(super) fn as_number(&self) -> String {
        format!("`{} = {:?}`", key(&self.name.text), self.value)
    }

    /// Returns the value as an experiment file has it.
    pub(super) fn write(&self) -> complete::Value {
        let Some(LearnedConstant { start, min, max, .. }) = self.learned else {
            return self.value.into();
        };
        let mut table = complete::table([("start", start.into()), ("learn", true.into())]);
        let bounds = [("min", min), ("max", max)];
        let given = bounds.into_iter().filter_map(|(key, bound)| Some((key, bound?)));
        table.extend(given.map(|(key, bound)| (key.to_owned(), bound.into())));
        if self.varies {
            table.insert("per".to_owned(), complete::word(&PER, self.varies));
        }
        Table::into(table)
    }
}
