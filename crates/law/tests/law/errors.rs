//! Every error: its message, its place, and its hint.

use std::collections::BTreeSet;

use crate::common::vocabulary;
use lawful_law::{ErrorKind, Expression, Law, LawError, MAX_TEXT_BYTES, Origin, Words};

/// The text of a law, the message, the text of the span, and a part of the hint.
const LAWS: &[(&str, &str, &str, &str)] = &[
    (
        "x + y <= 1",
        "`y` is not known",
        "y",
        "the state variables are `x`, `v`; the input is `u`; the constants are `k`, `m`",
    ),
    ("X <= 1", "`X` is not known", "X", "did you mean `x`?"),
    ("rize <= 0", "`rize` is not known", "rize", "did you mean `rise`?"),
    ("x <= π", "`π` is not known", "π", "write `pi`"),
    ("x = 1", "unknown symbol `=`", "=", "did you mean `==`?"),
    ("x =< 1", "unknown symbol `=<`", "=<", "did you mean `<=`?"),
    ("x != 1", "unknown symbol `!=`", "!=", "the relations are"),
    ("x <= 1 && v <= 1", "unknown symbol `&&`", "&&", "write two laws"),
    ("x <= 1 and v <= 1", "unknown symbol `and`", "and", "write two laws"),
    ("x <= 1 or v <= 1", "unknown symbol `or`", "or", "cannot state alternatives"),
    ("x**2 <= 1", "unknown symbol `**`", "**", "write `^`"),
    ("x² <= 1", "unknown symbol `²`", "²", "write `^2`"),
    ("|x| <= 1", "unknown symbol `|`", "|", "write `abs(x)`"),
    ("x <= 3 − v", "unknown symbol `−`", "−", "write `-`"),
    ("[x] <= 1", "unknown symbol `[`", "[", "round brackets"),
    ("x # v", "unknown symbol `#`", "#", ""),
    (
        "x <= 1,5",
        "`,` is only allowed between function arguments",
        ",",
        "write a decimal point: `1.5`",
    ),
    ("x, v <= 1", "`,` is only allowed between function arguments", ",", ""),
    ("x <= 1.2.3", "`1.2.3` is not a number", "1.2.3", ""),
    ("x <= 1e999", "the number `1e999` is too large: the limit is about 1.8e308", "1e999", ""),
    ("x v <= 1", "an operator is missing before `v`", "v", "write `*`: `x*v`"),
    ("2x <= 1", "an operator is missing before `x`", "x", "write `*`: `2*x`"),
    ("(x)(v) <= 1", "an operator is missing before `(`", "(", "write `*`"),
    ("", "an expression is missing at the end", "", ""),
    ("x <=", "an expression is missing at the end", "", ""),
    ("x + * v <= 1", "an expression is missing before `*`", "*", ""),
    ("<= 1", "an expression is missing before `<=`", "<=", ""),
    ("max(x, ) <= 1", "an expression is missing before `)`", ")", ""),
    (
        "(x + v <= 1",
        "the relation `<=` is not allowed in an expression",
        "<=",
        "move the relation outside all brackets",
    ),
    ("x <= ((v + 1)", "the bracket `(` is never closed", "(", ""),
    ("x <= v) + 1", "the bracket `)` was never opened", ")", ""),
    (") <= 1", "the bracket `)` was never opened", ")", ""),
    ("sin <= x", "the function `sin` needs arguments", "sin", "write `sin(…)`"),
    ("x <= rate", "the function `rate` needs arguments", "rate", "write `rate(…)`"),
    ("sinn(x) <= 1", "`sinn` is not a function", "sinn", "did you mean `sin`?"),
    ("log(x) <= 1", "`log` is not a function", "log", "`ln(x)`"),
    ("v(x) <= 1", "`v` is not a function", "v", "to multiply, write `v*(…)`"),
    ("x + min(v) <= 1", "`min` takes at least 2 arguments, found 1", "min(v)", ""),
    ("sin(x, v) <= 1", "`sin` takes 1 argument, found 2", "sin(x, v)", ""),
    ("sin() <= 1", "`sin` takes 1 argument, found 0", "sin()", ""),
    ("x + v", "a law needs a relation", "x + v", "for example `x <= 1`"),
    ("rate(x, v) <= 1", "`rate` takes 1 argument, found 2", "rate(x, v)", ""),
    (
        "x + rate(v*u) <= 1",
        "the rate of the input `u` is not known",
        "rate(v*u)",
        "keep inputs outside, as in `u*rate(x)`",
    ),
    (
        "rate(x*rate(v)) <= 1",
        "the rate of a rate is not known",
        "rate(x*rate(v))",
        "(next(rate(x)) - rate(x))/(next(t) - t)",
    ),
    ("rate(t) <= 1", "the law `law` does not depend on any state variable", "rate(t) <= 1", ""),
    (
        "rate(initial(x)) == 0",
        "the law `law` does not depend on any state variable",
        "rate(initial(x)) == 0",
        "",
    ),
    ("x <= 1/0", "this constant is not a finite number", "1/0", ""),
    ("x <= 1 + ln(-1)", "this constant is not a finite number", "ln(-1)", ""),
    (
        "initial(previous(x)) <= 1",
        "`initial(previous(…))` refers to a time step outside the trajectory",
        "initial(previous(x))",
        "",
    ),
    (
        "x <= final(rise)",
        "`final(next(…))` refers to a time step outside the trajectory",
        "final(rise)",
        "",
    ),
    ("t <= 5", "the law `law` does not depend on any state variable", "t <= 5", ""),
    (" x - x == 0", "the law `law` does not depend on any state variable", "x - x == 0", ""),
    ("0*x == 0*v", "the law `law` does not depend on any state variable", "0*x == 0*v", ""),
    ("x*v == v*x", "the law `law` does not depend on any state variable", "x*v == v*x", ""),
    ("x^2 == x*x", "the law `law` does not depend on any state variable", "x^2 == x*x", ""),
    ("0 <= u <= x", "the law `law (0 <= u)` does not depend on any state variable", "0 <= u", ""),
];

#[test]
fn errors_of_laws_say_what_where_and_what_to_do() {
    for &(text, message, place, hint) in LAWS {
        let error = Law::parse("law", text, &vocabulary()).unwrap_err();
        check(&error, text, (message, place, hint));
        assert_eq!(*error.origin(), Origin::Text, "{text}");
    }
}

fn check(error: &LawError, text: &str, (message, place, hint): (&str, &str, &str)) {
    assert_eq!(error.to_string(), message, "{text}");
    assert_eq!(&text[error.span()], place, "{text}");
    match error.hint() {
        None => assert_eq!(hint, "", "{text}: no hint"),
        Some(given) => assert!(!hint.is_empty() && given.contains(hint), "{text}: {given}"),
    }
}

#[test]
fn the_bracket_pointed_at_is_the_one_that_is_open() {
    let span = |text: &str| Law::parse("law", text, &vocabulary()).unwrap_err().span();
    assert_eq!(span("x <= ((v + 1)"), 5..6);
    assert_eq!(span("x <= (v + (1)"), 5..6);
    assert_eq!(span("x <= (v) + (1"), 11..12);
    assert_eq!(span("x <= (v)) + (1)"), 8..9);
    assert_eq!(span("x <= max(v, 1"), 8..9);
}

/// The text of an expression, whether it may use time only, message, place, hint.
const EXPRESSIONS: &[(&str, bool, &str, &str, &str)] = &[
    (
        "x <= 1",
        false,
        "the relation `<=` is not allowed in an expression",
        "<=",
        "only laws have a relation",
    ),
    (
        "2*next(x)",
        false,
        "`next` refers to another time step, which is only allowed in a law",
        "next(x)",
        "",
    ),
    (
        "initial(x)",
        false,
        "`initial` refers to another time step, which is only allowed in a law",
        "initial(x)",
        "",
    ),
    (
        "x + rise",
        false,
        "`rise` refers to another time step, which is only allowed in a law",
        "rise",
        "",
    ),
    (
        "x + rate(v)",
        false,
        "`rate` is a rate along the vector field, which is only allowed in a law",
        "rate(v)",
        "",
    ),
    ("sin(t) + x", true, "`x` is not allowed here: only `t` and constants are", "x", ""),
    ("k*u", true, "`u` is not allowed here: only `t` and constants are", "u", ""),
    ("E", true, "`E` is not allowed here: only `t` and constants are", "E", ""),
];

#[test]
fn errors_of_expressions_say_what_where_and_what_to_do() {
    for &(text, of_time, message, place, hint) in EXPRESSIONS {
        check(&expression_error(text, of_time), text, (message, place, hint));
    }
}

fn expression_error(text: &str, of_time: bool) -> LawError {
    let parse = if of_time { Expression::parse_of_time } else { Expression::parse };
    parse(text, &vocabulary()).expect_err(text)
}

/// Wrong vocabularies: the words, the message, the origin, and the span.
fn vocabularies() -> Vec<(Words, &'static str, Origin, std::ops::Range<usize>)> {
    let words = || Words::new().state(["x"]);
    let name = |name: &str| Origin::Name(name.to_owned());
    let definition = |name: &str| Origin::Definition(name.to_owned());
    vec![
        (words().state(["2x"]), "`2x` is not a valid name", name("2x"), 0..2),
        (words().inputs([""]), "`` is not a valid name", name(""), 0..0),
        (words().inputs(["a b"]), "`a b` is not a valid name", name("a b"), 0..3),
        (words().inputs(["x"]), "the name `x` is defined twice", name("x"), 0..1),
        (words().define("x", "1"), "the name `x` is defined twice", name("x"), 0..1),
        (words().constant("pi", 3.0), "the name `pi` is reserved", name("pi"), 0..2),
        (words().state(["t"]), "the name `t` is reserved", name("t"), 0..1),
        (words().define("next", "x"), "the name `next` is reserved", name("next"), 0..4),
        (words().define("rate", "x"), "the name `rate` is reserved", name("rate"), 0..4),
        (words().constant("k", f64::NAN), "this constant is not a finite number", name("k"), 0..1),
        (words().define("a", "x + y"), "`y` is not known", definition("a"), 4..5),
        (words().define("a", "x +"), "an expression is missing at the end", definition("a"), 3..3),
        (
            words().define("a", "x <= 1"),
            "the relation `<=` is not allowed in an expression",
            definition("a"),
            2..4,
        ),
        (
            words().define("a", "1 + a"),
            "the definitions are circular: a → a",
            definition("a"),
            4..5,
        ),
        (
            words().define("z", "a").define("a", "x + b").define("b", "2*a"),
            "the definitions are circular: a → b → a",
            definition("b"),
            2..3,
        ),
        (
            words().define("a", "final(b)").define("b", "next(x)"),
            "`final(next(…))` refers to a time step outside the trajectory",
            definition("a"),
            0..8,
        ),
    ]
}

#[test]
fn errors_of_vocabularies_say_what_and_where() {
    for (words, message, origin, span) in vocabularies() {
        let error = words.check().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!((error.origin(), error.span()), (&origin, span), "{message}");
    }
}

/// A number for each kind. A new kind does not compile until it is added here and to a table.
fn number(kind: &ErrorKind) -> usize {
    match kind {
        ErrorKind::TooLong { .. } => 0,
        ErrorKind::TooDeep => 1,
        ErrorKind::UnknownSymbol(_) => 2,
        ErrorKind::MalformedNumber(_) => 3,
        ErrorKind::NumberTooLarge(_) => 4,
        ErrorKind::MissingExpression(_) => 5,
        ErrorKind::MissingOperator(_) => 6,
        ErrorKind::UnclosedBracket => 7,
        ErrorKind::UnopenedBracket => 8,
        ErrorKind::UnexpectedComma => 9,
        ErrorKind::MissingArguments(_) => 10,
        ErrorKind::NotAFunction(_) => 11,
        ErrorKind::WrongArgumentCount { .. } => 12,
        ErrorKind::MissingRelation => 13,
        ErrorKind::UnexpectedRelation(_) => 14,
        ErrorKind::UnknownName(_) => 15,
        ErrorKind::ReservedName(_) => 16,
        ErrorKind::InvalidName(_) => 17,
        ErrorKind::DuplicateName(_) => 18,
        ErrorKind::NotFinite => 19,
        ErrorKind::Cycle(_) => 20,
        ErrorKind::NeverExists(_) => 21,
        ErrorKind::NotPointwise(_) => 22,
        ErrorKind::NotOfTime(_) => 23,
        ErrorKind::IndependentOfState { .. } => 24,
        ErrorKind::NeedsField(_) => 25,
        ErrorKind::RateOfInput(_) => 26,
        ErrorKind::RateOfRate => 27,
    }
}

#[test]
fn every_kind_of_error_is_in_a_table() {
    let law = |text: &str| number(Law::parse("law", text, &vocabulary()).unwrap_err().kind());
    let mut seen: BTreeSet<usize> = LAWS.iter().map(|(text, ..)| law(text)).collect();
    seen.extend(
        EXPRESSIONS
            .iter()
            .map(|(text, of_time, ..)| number(expression_error(text, *of_time).kind())),
    );
    seen.extend(
        vocabularies().into_iter().map(|(words, ..)| number(words.check().unwrap_err().kind())),
    );
    // Too large for a table.
    let long = " ".repeat(MAX_TEXT_BYTES + 1);
    let error = Law::parse("law", &long, &vocabulary()).unwrap_err();
    assert_eq!(error.to_string(), "the text has 65537 bytes; the limit is 65536");
    assert_eq!(error.span(), 0..65537);
    seen.insert(number(error.kind()));
    let deep = "(".repeat(300);
    let error = Law::parse("law", &deep, &vocabulary()).unwrap_err();
    assert_eq!(error.to_string(), "the nesting is deeper than 200 levels");
    assert_eq!(error.span(), 200..201);
    seen.insert(number(error.kind()));
    assert_eq!(seen, (0..28).collect());
}
