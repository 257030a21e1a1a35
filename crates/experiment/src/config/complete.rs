//! Tables of an experiment file with every key written out.

pub(crate) use toml::{Table, Value};

/// Returns a table with its keys in this order.
pub(crate) fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A list of texts.
pub(crate) fn texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Value {
    texts.into_iter().map(|text| Value::from(text.as_ref())).collect::<Vec<_>>().into()
}

/// Returns a table whose keys are names of the user.
pub(crate) fn named<'a, T: 'a>(
    entries: impl IntoIterator<Item = &'a (String, T)>,
    value: impl Fn(&T) -> Value,
) -> Value {
    let entries = entries.into_iter().map(|(name, entry)| (name.clone(), value(entry)));
    entries.collect::<Table>().into()
}

/// A list of numbers.
pub(crate) fn numbers(numbers: &[f64]) -> Value {
    numbers.to_vec().into()
}

/// A whole number.
pub(crate) fn whole(number: impl TryInto<i64>) -> Value {
    Value::Integer(number.try_into().unwrap_or(i64::MAX))
}

/// Returns the word that has this meaning.
pub(crate) fn word<T: PartialEq + Copy>(words: &[(&'static str, T)], meaning: T) -> Value {
    let word = words.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| word);
    word.into()
}
