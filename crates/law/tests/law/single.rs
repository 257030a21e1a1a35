//! Bounds and directions of one state variable, however they are written.

use lawful_law::{Bound, Law, Monotone, Vocabulary, Words};

fn vocabulary() -> Vocabulary {
    Words::new()
        .state(["A", "B"])
        .inputs(["u"])
        .constant("k", 2.0)
        .define("twice", "2*B")
        .check()
        .expect("a good vocabulary")
}

fn parsed(text: &str) -> Vec<Law> {
    Law::parse("law", text, &vocabulary()).expect(text)
}

#[test]
fn bounds_are_found_however_they_are_written() {
    for (text, variable, at, is_upper) in [
        ("A >= 0", 0, 0.0, false),
        ("-A <= 0", 0, 0.0, false),
        ("0 > -B", 1, 0.0, false),
        ("A < 12", 0, 12.0, true),
        ("k*B - 3 <= 1", 1, 2.0, true),
        ("twice >= k", 1, 1.0, false),
        ("(B - A)/4 + A/4 <= -k", 1, -8.0, true),
        ("next(previous(A)) <= 1", 0, 1.0, true),
    ] {
        let found = parsed(text)[0].bound();
        assert_eq!(found, Some(Bound { variable, at, is_upper }), "{text}");
        assert!(at != 0.0 || found.is_some_and(|bound| bound.at.is_sign_positive()), "{text}");
    }
    let chain: Vec<_> = parsed("-1 <= A <= 1").iter().map(Law::bound).collect();
    let bound = |at, is_upper| Some(Bound { variable: 0, at, is_upper });
    assert_eq!(chain, [bound(-1.0, false), bound(1.0, true)]);
}

#[test]
fn directions_are_found_however_they_are_written() {
    for (text, variable, falls) in [
        ("next(A) <= A", 0, true),
        ("A >= next(A)", 0, true),
        ("previous(A) > A", 0, true),
        ("next(-A) >= -A", 0, true),
        ("next(B) >= B", 1, false),
        ("next(k*B + 1) >= k*B + 1", 1, false),
        ("rate(A) <= 0", 0, true),
        ("0 < rate(twice)", 1, false),
    ] {
        assert_eq!(parsed(text)[0].monotone(), Some(Monotone { variable, falls }), "{text}");
    }
}

#[test]
fn other_laws_are_neither() {
    for text in [
        "A == 1",
        "A + B <= 1",
        "A <= B",
        "A <= t",
        "A <= u",
        "A^2 <= 1",
        "final(A) <= 1",
        "next(A) <= 1",
        "A <= initial(A)",
        "rate(A) <= 1",
        "A*1e-320 <= 1e300",
    ] {
        assert_eq!(parsed(text)[0].bound(), None, "{text}");
    }
    for text in [
        "A <= 1",
        "next(A) == A",
        "next(A + B) <= A + B",
        "next(A) <= B",
        "A <= initial(A)",
        "rate(A) <= 1",
        "rate(A) == 0",
        "next(A^2) <= A^2",
        "next(t*A) <= t*A",
    ] {
        assert_eq!(parsed(text)[0].monotone(), None, "{text}");
    }
}
