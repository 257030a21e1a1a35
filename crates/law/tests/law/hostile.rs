//! Hostile text is parsed or rejected, on a small stack.
#![expect(clippy::float_cmp, reason = "the expected numbers are exact")]

use crate::common::{Trajectory, gradient, residuals, vocabulary};
use lawful_law::{ErrorKind, Expression, Law, MAX_DEPTH, MAX_TEXT_BYTES, Words};

/// Runs on a stack of 256 KiB: recursion over the text would overflow it.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(run);
    thread.expect("a thread").join().expect("no panic");
}

fn kind(text: &str) -> Result<(), ErrorKind> {
    Expression::parse(text, &vocabulary()).map(drop).map_err(|error| error.kind().clone())
}

#[test]
fn text_beyond_the_limit_is_rejected() {
    for text in ["(", "-", "2^", "x+", "x <", "sin(", "min(x,"] {
        let text = text.repeat(1_000_000);
        assert_eq!(kind(&text), Err(ErrorKind::TooLong { bytes: text.len() }));
    }
    let spaces = " ".repeat(MAX_TEXT_BYTES - 1) + "x";
    assert_eq!(kind(&spaces), Ok(()));
    assert!(kind(&(spaces + " ")).is_err());
}

#[test]
fn nesting_is_parsed_up_to_the_limit_and_rejected_beyond() {
    on_a_small_stack(|| {
        let forms =
            [("(", ")"), ("-", ""), ("2^", ""), ("sin(", ")"), ("1+2*x^(", ")"), ("-(", ")")];
        for (open, close) in forms {
            let levels = open.matches(['(', '^', '-']).count();
            let nested = |times: usize| format!("{}x{}", open.repeat(times), close.repeat(times));
            assert_eq!(kind(&nested(MAX_DEPTH / levels)), Ok(()), "{open}");
            assert_eq!(kind(&nested(MAX_DEPTH / levels + 1)), Err(ErrorKind::TooDeep), "{open}");
            assert_eq!(kind(&nested(5_000)), Err(ErrorKind::TooDeep), "{open}");
            assert_eq!(kind(&open.repeat(5_000)), Err(ErrorKind::TooDeep), "{open}");
        }
    });
}

#[test]
fn long_sums_and_chains_are_parsed_printed_and_differentiated() {
    on_a_small_stack(|| {
        let trajectory = Trajectory::new(&[2.0, 0.0]);
        let sum = format!("{}x == 0", "x+".repeat(29_999));
        let law = &Law::parse("sum", &sum, &vocabulary()).unwrap()[0];
        assert_eq!(residuals(law, &trajectory), [60_000.0]);
        assert_eq!(gradient(law, &trajectory, &[1.0]), [30_000.0, 0.0]);
        let linear = law.linear().unwrap();
        assert_eq!((linear.terms.len(), linear.terms[0].coefficient), (1, 30_000.0));
        assert_eq!(law.to_string().len(), "x + ".len() * 29_999 + "x == 0".len());

        let chain = format!("{}x", "x <= v <= ".repeat(200));
        assert_eq!(Law::parse("chain", &chain, &vocabulary()).unwrap().len(), 400);

        let arguments = format!("max({}1)", "x,".repeat(29_999));
        assert_eq!(kind(&arguments), Ok(()));
    });
}

#[test]
fn doubling_definitions_stay_small() {
    on_a_small_stack(|| {
        let mut words = Words::new().state(["x", "v"]).inputs(["u"]).define("d0", "x + v");
        for level in 1..=1000 {
            let below = level - 1;
            words = words.define(format!("d{level}"), format!("(d{below} + next(d{below}))/2"));
        }
        let vocabulary = words.check().unwrap();
        let law = &Law::parse("doubled", "d50 <= 1", &vocabulary).unwrap()[0];
        assert_eq!(law.reach().ahead, 50);
        assert_eq!(law.to_string(), "d50 <= 1");
        let trajectory = Trajectory::new(&[1.0; 104]);
        assert_eq!(residuals(law, &trajectory)[..3], [1.0, 1.0, 0.0]);
        assert_eq!(gradient(law, &trajectory, &[1.0; 52]).iter().sum::<f64>(), 4.0);

        let law = &Law::parse("doubled", "d1000 <= 1", &vocabulary).unwrap()[0];
        let linear = law.linear().unwrap();
        assert_eq!(linear.terms.len(), 2002);
        let sum = linear.terms.iter().map(|term| term.coefficient).sum::<f64>();
        assert!((sum - 2.0).abs() < 1e-12, "{sum}");
    });
}

#[test]
fn rates_of_long_and_doubling_expressions_stay_small() {
    on_a_small_stack(|| {
        // Every product of 2^200 terms is one node, and so is its rate.
        let mut words = Words::new().state(["x", "v"]).inputs(["u"]).define("d0", "x");
        for level in 1..=200 {
            words = words.define(format!("d{level}"), format!("d{0}*d{0}/2", level - 1));
        }
        let vocabulary = words.check().unwrap();
        let law = &Law::parse("doubled", "rate(d200) <= v", &vocabulary).unwrap()[0];
        // d_n = 2 (x/2)^(2^n), which is 2 at x = 2, and rises as 2^n.
        let steps = lawful_law::Steps { times: &[0.0], states: &[2.0, 0.0], inputs: &[0.0] };
        let mut residual = [f64::NAN];
        let mut workspace = lawful_law::Workspace::new();
        law.residuals_with_rates(&steps, &[1.0, 0.0], &mut workspace, &mut residual);
        assert_eq!(residual, [200.0_f64.exp2()]);

        let calls: Vec<String> = (0..4000).map(|n| format!("rate(x^{n})")).collect();
        let many = Law::parse("many", &format!("{} <= 0", calls.join("+")), &vocabulary);
        assert_eq!(many.unwrap().len(), 1);
        let deep = format!("{}x{} <= 0", "rate(".repeat(150), ")".repeat(150));
        let error = Law::parse("deep", &deep, &vocabulary).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::RateOfRate);
    });
}

#[test]
fn long_chains_and_long_cycles_of_definitions_do_not_recurse() {
    on_a_small_stack(|| {
        let chain = |last: &str| {
            let mut words = Words::new().state(["x"]);
            for level in 0..20_000 {
                words = words.define(format!("d{level}"), format!("d{} + 1", level + 1));
            }
            words.define("d20000", last).check()
        };
        assert!(chain("x").is_ok());
        let cycle = chain("d0").unwrap_err();
        assert!(matches!(cycle.kind(), ErrorKind::Cycle(names) if names.len() == 20_002));
    });
}

#[test]
fn any_text_is_parsed_or_rejected_with_a_span_inside_it() {
    use proptest::prelude::*;
    let parts = prop::sample::select(vec![
        "x", "v", "E", "t", "(", ")", ",", "+", "-", "*", "/", "^", "==", "<=", "<", "=", "1",
        "2.5", ".", "1e", "e", "next", "initial(", "max(", "rate(", "sin", " ", "≤", "θ", "²", "|",
        "&&", "and", "\0",
    ]);
    let text = prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat());
    proptest!(ProptestConfig::with_cases(5_000), |(text in text)| {
        match Law::parse("any", &text, &vocabulary()) {
            Ok(laws) => prop_assert!(!laws.is_empty()),
            Err(error) => prop_assert!(text.get(error.span()).is_some(), "{:?}: {:?}", text, error),
        }
    });
}
