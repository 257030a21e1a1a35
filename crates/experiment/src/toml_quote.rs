//! Keys and texts with the quotes that TOML needs.

use std::fmt::Write;

/// A key, with quotes where it needs them.
pub(crate) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_need_quotes_have_them() {
        for (name, written) in [
            ("rate", "rate"),
            ("best-point_2", "best-point_2"),
            ("", "\"\""),
            ("größe", "\"größe\""),
            ("a.b", "\"a.b\""),
            ("a\"b\n", "\"a\\\"b\\n\""),
        ] {
            assert_eq!(key(name), written);
        }
    }
}
