//! Keys of strategies and optimisers, read and written by the descriptions of their settings.

use lawful::exact;
use lawful::settings::{KeyInfo, LARGEST as LARGEST_COUNT, Range, Setting, Values};

use super::complete;
use super::laws::WrittenLaw;
use super::value::{AT_LEAST_ONE, BELOW_ONE, Bounds, LARGEST, NOT_NEGATIVE, POSITIVE, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::counted;

/// Reads the value of a key; the default is the example in messages.
pub(super) fn read(
    value: Value,
    key: &KeyInfo,
    default: Option<&Setting>,
    laws: &[WrittenLaw],
) -> Result<Setting, Diagnostic> {
    let example = match default {
        Some(Setting::Number(number)) => exact(*number),
        _ => "1".to_owned(),
    };
    Ok(match &key.values {
        Values::Number(range) => Setting::Number(value.number(bounds(*range), &example)?),
        Values::Optional(range) => Setting::Optional(Some(value.number(bounds(*range), &example)?)),
        Values::Count(most) => {
            let most = if *most >= LARGEST_COUNT { LARGEST } else { *most as u64 };
            Setting::Count(value.count(1..=most, "100")?)
        }
        Values::Word(words) => {
            let words: Vec<(&str, &str)> = words.iter().map(|&word| (word, word)).collect();
            Setting::Word(value.word(key.name, &words)?.to_owned())
        }
        Values::PerLaw(range) => Setting::PerLaw(per_law(value, *range, laws)?),
    })
}

/// Returns the value of a key as an experiment file has it, or `None` for an optional key without one.
pub(super) fn write(setting: &Setting, laws: &[WrittenLaw]) -> Option<complete::Value> {
    Some(match setting {
        Setting::Number(number) => (*number).into(),
        Setting::Optional(number) => (*number)?.into(),
        Setting::Count(count) => complete::whole(*count),
        Setting::Word(word) => word.as_str().into(),
        Setting::PerLaw(each) => match each[..] {
            [all] => all.into(),
            _ => complete::numbers(&of_whole_laws(each, laws)),
        },
    })
}

fn bounds(range: Range) -> Bounds {
    match range {
        Range::Positive => POSITIVE,
        Range::NotNegative => NOT_NEGATIVE,
        Range::BelowOne => BELOW_ONE,
        Range::AtLeastOne => AT_LEAST_ONE,
    }
}

/// One number for all laws, or one for each `[[law]]`, of which each part of a chain gets that of its
/// law.
fn per_law(value: Value, range: Range, laws: &[WrittenLaw]) -> Result<Vec<f64>, Diagnostic> {
    if !value.is_list() {
        return Ok(vec![value.number(bounds(range), "1.0")?]);
    }
    let (mark, key) = (value.mark(), value.key().to_owned());
    let values = value.list("", "")?;
    let numbers: Vec<f64> = values
        .iter()
        .map(|number| number.number(bounds(range), "1.0"))
        .collect::<Result<_, _>>()?;
    if numbers.len() != laws.len() {
        let (found, laws) = (counted(numbers.len(), "weight"), counted(laws.len(), "law"));
        return Err(mark
            .error(format!("`{key}` has {found} for {laws}"))
            .with_hint("write one number for all laws, or a list with one for each `[[law]]`"));
    }
    let each = numbers.iter().zip(laws);
    Ok(each.flat_map(|(&number, law)| law.parts.iter().map(move |_| number)).collect())
}

/// The number of the first part of each law.
fn of_whole_laws(each: &[f64], laws: &[WrittenLaw]) -> Vec<f64> {
    let mut first = 0;
    let numbers = laws.iter().map(|law| {
        let number = each[first];
        first += law.parts.len();
        number
    });
    numbers.collect()
}
