//! One cell: a number, a missing value, or an error with a hint.

/// Why a cell is not a number, with a hint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CellError {
    /// The end of a sentence that begins with the column's name.
    pub(super) message: String,
    /// The hint.
    pub(super) hint: String,
}

/// Returns the number in a cell, or `None` if it is one of the words that count as missing.
pub(super) fn number(cell: &str, missing: &[String]) -> Result<Option<f64>, CellError> {
    let text = cell.trim();
    if missing.iter().any(|word| word == text) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(number)),
        Ok(number) => Err(not_finite(text, number, missing)),
        Err(_) => Err(not_a_number(text, missing)),
    }
}

fn not_finite(text: &str, number: f64, missing: &[String]) -> CellError {
    if number.is_nan() {
        CellError {
            message: format!("is `{text}`, which is not a number"),
            hint: add(text, missing),
        }
    } else if text.contains(|c: char| c.is_ascii_digit()) {
        let hint = "change the units so that numbers stay below 1.8e308".to_owned();
        CellError { message: format!("is `{text}`, too large for a number"), hint }
    } else {
        let hint = format!("correct or delete it; {}", add(text, missing));
        CellError { message: format!("is infinite (`{text}`)"), hint }
    }
}

fn not_a_number(text: &str, missing: &[String]) -> CellError {
    let shown: String = text.chars().take(40).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    let digits = text.contains(|c: char| c.is_ascii_digit());
    let hint = if text.contains('\n') {
        "a quote `\"` is opened here and closed some lines later".to_owned()
    } else if text.is_empty() {
        "fill it in, or count empty cells as missing: `missing = [\"\"]` in [data]".to_owned()
    } else if parses(&text.replace(',', ".")) {
        format!("numbers have a decimal point: write `{}`", text.replace(',', "."))
    } else if parses(&text.replace([',', ' ', '\u{a0}', '\u{202f}', '\'', '_'], "")) {
        "write numbers without separators between thousands".to_owned()
    } else if parses(&text.replace(['d', 'D'], "e")) {
        format!("write `{}`", text.replace(['d', 'D'], "e"))
    } else if parses(&text.replace(['−', '–'], "-")) {
        "write `-` for minus".to_owned()
    } else if is_date(text) {
        "write times as numbers, for example seconds since the start".to_owned()
    } else if digits {
        "a cell must contain only a number: put units into the header".to_owned()
    } else {
        add(text, missing)
    };
    let message = if text.is_empty() {
        "is empty, but empty cells do not count as missing".to_owned()
    } else {
        format!("is `{}{more}`, which is not a number", shown.escape_debug())
    };
    CellError { message, hint }
}

fn parses(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `2024-05-01`, `1.5.2024`, `12:30`.
fn is_date(text: &str) -> bool {
    let clock = text.contains(':');
    let parts = text.split(['-', '.', '/']).filter(|part| !part.is_empty()).count();
    let plain = |c: char| c.is_ascii_digit() || "-./: TZ+".contains(c);
    (clock || parts == 3) && text.chars().all(plain)
}

/// Returns the hint that makes this word count as missing.
fn add(word: &str, missing: &[String]) -> String {
    let words: Vec<String> =
        missing.iter().map(String::as_str).chain([word]).map(|word| format!("{word:?}")).collect();
    format!("to count it as missing, write `missing = [{}]` in [data]", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> Vec<String> {
        super::super::Format::default().missing
    }

    #[test]
    fn numbers_and_gaps_are_read_with_spaces_around_them() {
        for (cell, expected) in [
            ("1", Some(1.0)),
            (" -2.5e-3 ", Some(-2.5e-3)),
            ("+.5", Some(0.5)),
            ("", None),
            ("  ", None),
            ("NA", None),
            ("NaN", None),
        ] {
            assert_eq!(number(cell, &missing()), Ok(expected), "{cell:?}");
        }
    }

    #[test]
    fn each_way_of_not_being_a_number_has_its_own_hint() {
        for (cell, part) in [
            ("1,5", "write `1.5`"),
            ("1.234,5", "thousands"),
            ("−3", "minus"),
            ("1.5D-3", "write `1.5e-3`"),
            ("12:30", "seconds since"),
            ("2024-05-01", "seconds since"),
            ("5 kg", "units"),
            ("broken", "\"broken\"]"),
            ("inf", "correct or delete"),
            ("1e999", "units"),
            ("nan", "\"nan\"]"),
            ("2\n1,2", "quote"),
        ] {
            let error = number(cell, &missing()).unwrap_err();
            assert!(error.hint.contains(part), "{cell:?}: {}", error.hint);
        }
        let error = number("", &["NA".to_owned()]).unwrap_err();
        assert!(error.hint.contains("missing = [\"\"]"), "{}", error.hint);
    }
}
