//! Symbols and words of other languages, and what to write instead.

const AND: &str = "write two laws, or one chained law such as `0 <= x <= 1`";
const ROUND: &str = "write round brackets `( )`";
const DIFFERENT: &str = "the relations are `==`, `<=` and `>=`";

/// Symbols and words of other languages, each with its hint. A symbol stands before its prefixes.
const HABITS: &[(&str, &str)] = &[
    ("=<", "did you mean `<=`?"),
    ("=>", "did you mean `>=`?"),
    ("=", "did you mean `==`?"),
    ("!=", DIFFERENT),
    ("≠", DIFFERENT),
    ("&&", AND),
    ("&", AND),
    ("∧", AND),
    ("and", AND),
    ("||", "a law cannot state alternatives; `max` or `min` often can"),
    ("or", "a law cannot state alternatives; `max` or `min` often can"),
    ("|", "write `abs(x)` for |x|"),
    ("**", "write `^` for a power"),
    ("²", "write `^2`"),
    ("³", "write `^3`"),
    ("√", "write `sqrt(x)`"),
    ("−", "write `-` for minus"),
    ("–", "write `-` for minus"),
    ("×", "write `*` for a product"),
    ("·", "write `*` for a product"),
    ("÷", "write `/` for a quotient"),
    ("[", ROUND),
    ("]", ROUND),
    ("{", ROUND),
    ("}", ROUND),
    (";", "write each law as a separate text"),
    ("log", "write `ln(x)` for the natural logarithm, `log10(x)` for the decimal one"),
    ("pow", "write `a^b` for a power"),
    ("π", "write `pi`"),
    ("e", "write `exp(1)` for Euler's number"),
];

/// Returns the hint for a word or symbol of another language.
pub(crate) fn habit(written: &str) -> Option<String> {
    HABITS.iter().find(|(habit, _)| *habit == written).map(|(_, hint)| (*hint).to_owned())
}

/// Returns the symbol of another language that `text` starts with.
pub(crate) fn foreign_symbol(text: &str) -> Option<&'static str> {
    HABITS
        .iter()
        .map(|(habit, _)| *habit)
        .find(|habit| !habit.starts_with(char::is_alphabetic) && text.starts_with(habit))
}

/// The most names that a hint lists.
const LISTED: usize = 20;

/// Returns "`a`, `b`, `c`". Of many names, returns the first ones and the number of the others.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.len().checked_sub(LISTED) {
        None | Some(0) => quoted.join(", "),
        Some(rest) => format!("{} and {rest} more", quoted[..LISTED].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_symbol_hides_a_longer_one() {
        for (position, (symbol, _)) in HABITS.iter().enumerate() {
            if !symbol.starts_with(char::is_alphabetic) {
                let hidden =
                    HABITS[position + 1..].iter().find(|(late, _)| late.starts_with(symbol));
                assert_eq!(hidden, None, "`{symbol}` comes too early");
            }
        }
    }

    #[test]
    fn a_long_list_ends_with_the_number_of_names_left_out() {
        let names: Vec<String> = (0..23).map(|i| format!("x{i}")).collect();
        let text = list(names.iter().map(String::as_str));
        assert!(text.ends_with("`x19` and 3 more"), "{text}");
        assert_eq!(list(["a", "b"]), "`a`, `b`");
    }
}
