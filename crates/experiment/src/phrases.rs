//! Lists and suggestions in messages.

use lawful::law::nearest;

/// Returns "`a`, `b`, `c`".
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// Returns "did you mean `tanh`?", or else "`activations` may be `tanh`, `elu`, …".
pub fn meant<'a, I>(word: &str, known: I, otherwise: &str) -> String
where
    I: IntoIterator<Item = &'a str>,
    I::IntoIter: Clone,
{
    let known = known.into_iter();
    match nearest(word, known.clone()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("{otherwise} {}", listed(known)),
    }
}

/// Returns "1 row", "2 rows", "3 trajectories".
pub fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("{count} {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_word_is_suggested_and_otherwise_all_are_listed() {
        let known = ["tanh", "elu"];
        assert_eq!(meant("tanhh", known, "known are"), "did you mean `tanh`?");
        assert_eq!(meant("gauss", known, "known are"), "known are `tanh`, `elu`");
    }
}
