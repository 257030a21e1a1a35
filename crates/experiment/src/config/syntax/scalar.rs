//! A value without quotes or brackets: a number, `true` or `false`, a date, or a mistake.

use crate::toml_quote::quoted;

/// Checks a value without quotes or brackets. Returns a message and a hint if it is not valid.
pub(super) fn check(word: &str) -> Result<(), (String, String)> {
    let lower = word.to_lowercase();
    match lower.as_str() {
        "true" | "false" if word == lower => return Ok(()),
        "true" | "false" => {
            return Err((format!("`{word}` is not a value"), format!("write `{lower}`")));
        }
        "yes" | "no" | "on" | "off" => {
            return Err((format!("`{word}` is not a value"), "write `true` or `false`".to_owned()));
        }
        "none" | "null" | "nil" => {
            let hint = "leave the key out for its default".to_owned();
            return Err((format!("TOML has no `{word}`"), hint));
        }
        _ => {}
    }
    let digits = word.trim_start_matches(['+', '-']);
    if ["inf", "nan"].contains(&digits) || is_date(digits) {
        return Ok(());
    }
    if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return number(word, digits);
    }
    Err(("a text needs quotes".to_owned(), format!("write `{}`", quoted(word))))
}

/// Checks a word that begins like a number; `digits` is it without its sign.
fn number(word: &str, digits: &str) -> Result<(), (String, String)> {
    let with_radix = ["0x", "0o", "0b"].iter().any(|radix| digits.starts_with(radix));
    let sign = &word[..word.len() - digits.len()];
    let plain = digits.replace('_', "");
    if !with_radix && plain.parse::<f64>().is_err() {
        let message = format!("`{word}` is not a number");
        return Err((message, format!("a text needs quotes: `{}`", quoted(word))));
    }
    let (whole, rest) = plain.split_at(plain.find(['.', 'e', 'E']).unwrap_or(plain.len()));
    let fraction = rest.strip_prefix('.');
    if whole.is_empty() || fraction.is_some_and(|f| !f.starts_with(|c: char| c.is_ascii_digit())) {
        let whole = if whole.is_empty() { "0" } else { whole };
        let fraction = fraction.unwrap_or_default();
        let zero = if fraction.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
        return Err((
            "a number needs digits on both sides of the decimal point".to_owned(),
            format!("write `{sign}{whole}.{zero}{fraction}`"),
        ));
    }
    let short = whole.trim_start_matches('0');
    if !with_radix && whole.len() > 1 && short.len() < whole.len() {
        let short = if short.is_empty() { "0" } else { short };
        let message = "a number cannot have a leading 0".to_owned();
        return Err((message, format!("write `{sign}{short}{rest}`")));
    }
    Ok(())
}

/// `1979-05-27`, `07:32:00`, `1979-05-27T07:32:00Z`.
pub(super) fn is_date(word: &str) -> bool {
    let separator = |at: usize| word.as_bytes().get(at).copied();
    word.bytes().take(2).all(|byte| byte.is_ascii_digit())
        && (separator(4) == Some(b'-') || separator(2) == Some(b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_toml_are_no_mistakes() {
        for word in [
            "true",
            "false",
            "inf",
            "-nan",
            "0",
            "-1",
            "+1_000",
            "0x1f",
            "0o7",
            "0b1",
            "0.5",
            "-1e-3",
            "6.02E+23",
            "1979-05-27",
            "07:32:00",
            "1979-05-27T07:32:00Z",
        ] {
            assert_eq!(check(word), Ok(()), "{word}");
        }
    }

    #[test]
    fn each_mistake_says_what_to_write() {
        for (word, hint) in [
            ("True", "write `true`"),
            ("yes", "write `true` or `false`"),
            ("None", "leave the key out for its default"),
            (".5", "write `0.5`"),
            ("-.5e3", "write `-0.5e3`"),
            ("5.", "write `5.0`"),
            ("5.e3", "write `5.0e3`"),
            ("007", "write `7`"),
            ("00.5", "write `0.5`"),
            ("64MiB", "a text needs quotes: `\"64MiB\"`"),
            ("tanh", "write `\"tanh\"`"),
        ] {
            assert_eq!(check(word).unwrap_err().1, hint, "{word}");
        }
    }
}
