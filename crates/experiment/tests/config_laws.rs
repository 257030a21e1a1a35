//! Messages about laws, definitions and names: the caret points into the formula.

mod config_support;

use config_support::{BASE, Folder, LINE, error, error_with, experiment_with};
use insta::assert_snapshot;
use lawful_experiment::ExperimentFile;

fn law(holds: &str) -> String {
    error_with(&format!("[[law]]\nname = \"bound\"\nholds = \"{holds}\"\n"))
}

fn system(more: &str) -> String {
    error(&format!("[system]\nstate = [\"x\", \"v\"]\n{more}\n[data]\nfile = \"data.csv\"\n"))
}

#[test]
fn a_mistake_in_a_law_is_shown_inside_its_text() {
    assert_snapshot!(law("x + y <= 1"), @r#"
    error: the law `bound` uses `y`, which is not known
      experiment.toml:8:14
        holds = "x + y <= 1"
                     ^
    hint: the state variable is `x`
    "#);
    assert_snapshot!(law("(x + 1 <= 1"), @r#"
    error: the law `bound` cannot be read: the relation `<=` is not allowed in an expression
      experiment.toml:8:17
        holds = "(x + 1 <= 1"
                        ^^
    hint: move the relation outside all brackets
    "#);
    assert_snapshot!(law("x + 1) <= 1"), @r#"
    error: the law `bound` cannot be read: the bracket `)` was never opened
      experiment.toml:8:15
        holds = "x + 1) <= 1"
                      ^
    "#);
    assert_snapshot!(law("max(x) <= 1"), @r#"
    error: the law `bound` cannot be read: `max` takes at least 2 arguments, found 1
      experiment.toml:8:10
        holds = "max(x) <= 1"
                 ^^^^^^
    "#);
    assert_snapshot!(law("x + 1"), @r#"
    error: the law `bound` cannot be read: a law needs a relation
      experiment.toml:8:10
        holds = "x + 1"
                 ^^^^^
    hint: write a relation, for example `x <= 1` or `a + b == 1`
    "#);
    assert_snapshot!(law("x = 1"), @r#"
    error: the law `bound` cannot be read: unknown symbol `=`
      experiment.toml:8:12
        holds = "x = 1"
                   ^
    hint: did you mean `==`?
    "#);
    assert_snapshot!(law("x <= * 1"), @r#"
    error: the law `bound` cannot be read: an expression is missing before `*`
      experiment.toml:8:15
        holds = "x <= * 1"
                      ^
    "#);
    assert_snapshot!(law("2x <= 1"), @r#"
    error: the law `bound` cannot be read: an operator is missing before `x`
      experiment.toml:8:11
        holds = "2x <= 1"
                  ^
    hint: to multiply, write `*`: `2*x`
    "#);
    assert_snapshot!(law("1 <= 2"), @r#"
    error: the law `bound` does not depend on any state variable
      experiment.toml:8:10
        holds = "1 <= 2"
                 ^^^^^^
    hint: a law must depend on the state: use a state variable in it
    "#);
    assert_snapshot!(law("x - x == 0"), @r#"
    error: the law `bound` does not depend on any state variable
      experiment.toml:8:10
        holds = "x - x == 0"
                 ^^^^^^^^^^
    hint: a law must depend on the state: use a state variable in it
    "#);
    assert_snapshot!(law(""), @r#"
    error: the law `bound` cannot be read: an expression is missing at the end
      experiment.toml:8:10
        holds = ""
                 ^
    "#);
}

#[test]
fn a_law_without_a_name_is_called_by_its_text() {
    assert_snapshot!(error_with("[[law]]\nholds = 'x <= q'\n"), @"
    error: the law `x <= q` uses `q`, which is not known
      experiment.toml:7:15
        holds = 'x <= q'
                      ^
    hint: the state variable is `x`
    ");
}

#[test]
fn a_text_of_several_lines_is_shown_in_the_right_one() {
    assert_snapshot!(error_with("[[law]]\nname = \"a\"\nholds = '''\nx +\n  q <= 1'''\n"), @"
    error: the law `a` uses `q`, which is not known
      experiment.toml:10:3
          q <= 1'''
          ^
    hint: the state variable is `x`
    ");
}

#[test]
fn a_text_with_escapes_is_shown_from_its_start() {
    assert_snapshot!(error_with("[[law]]\nname = \"a\"\nholds = \"x <=\\u0020q\"\n"), @r#"
    error: the law `a` uses `q`, which is not known
      experiment.toml:8:9
        holds = "x <=\u0020q"
                ^^^^^^^^^^^^^
    hint: the state variable is `x`
    "#);
}

#[test]
fn names_of_laws_differ() {
    assert_snapshot!(error_with("[[law]]\nname = \"a\"\nholds = \"x <= 1\"\n[[law]]\nname = \"a\"\nholds = \"x >= 0\"\n"), @r#"
    error: there are two laws named `a`
      experiment.toml:10:8
        name = "a"
               ^^^
    hint: give each law a name of its own: `name = "…"`
    "#);
}

#[test]
fn a_mistake_in_a_definition_is_shown_inside_it() {
    assert_snapshot!(system("define = { E = \"x^2 + w^2\" }"), @r#"
    error: the definition of `E` uses `w`, which is not known
      experiment.toml:3:23
        define = { E = "x^2 + w^2" }
                              ^
    hint: the state variables are `x`, `v`; the definition is `E`
    "#);
    assert_snapshot!(system("define = { E = \"x +\" }"), @r#"
    error: the definition of `E` cannot be read: an expression is missing at the end
      experiment.toml:3:20
        define = { E = "x +" }
                           ^
    "#);
    assert_snapshot!(system("define = { A = \"B + 1\", B = \"A*x\" }"), @r#"
    error: the definition of `B` cannot be read: the definitions are circular: A → B → A
      experiment.toml:3:30
        define = { A = "B + 1", B = "A*x" }
                                     ^
    "#);
}

#[test]
fn a_name_that_cannot_be_is_shown_where_it_is_given() {
    assert_snapshot!(system("constants = { x = 1 }"), @"
    error: the name `x` is defined twice
      experiment.toml:3:15
        constants = { x = 1 }
                      ^
    ");
    assert_snapshot!(system("constants = { t = 1 }"), @"
    error: the name `t` is reserved
      experiment.toml:3:15
        constants = { t = 1 }
                      ^
    hint: the reserved names are `t`, `pi`, `sin`, `cos`, `tan`, `exp`, `ln`, `log10`, `sqrt`, `abs`, `tanh`, `min`, `max`, `next`, `previous`, `initial`, `final`, `rate`
    ");
    assert_snapshot!(system("constants = { \"a b\" = 1 }"), @r#"
    error: `a b` is not a valid name
      experiment.toml:3:15
        constants = { "a b" = 1 }
                      ^^^^^
    hint: a name is a letter or `_`, followed by letters, digits and `_`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\", \"x\"]\n"), @r#"
    error: the name `x` is defined twice
      experiment.toml:2:15
        state = ["x", "x"]
                      ^^^
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\", \"sin\"]\n"), @r#"
    error: the name `sin` is reserved
      experiment.toml:2:15
        state = ["x", "sin"]
                      ^^^^^
    hint: the reserved names are `t`, `pi`, `sin`, `cos`, `tan`, `exp`, `ln`, `log10`, `sqrt`, `abs`, `tanh`, `min`, `max`, `next`, `previous`, `initial`, `final`, `rate`
    "#);
}

#[test]
fn a_chain_is_a_law_for_each_relation() {
    let experiment = experiment_with("[[law]]\nname = \"range\"\nholds = \"0 <= x <= 9\"\n");
    let names: Vec<&str> = experiment.training.laws.iter().map(lawful::Law::name).collect();
    assert_eq!(names, ["range (0 <= x)", "range (x <= 9)"]);
}

#[test]
fn a_hard_law_without_a_guarantee_is_shown_with_what_can_be_done() {
    let hard = |holds: &str| {
        error_with(&format!(
            "[[law]]\nname = \"bound\"\nstrategy = \"hard\"\nholds = \"{holds}\"\n"
        ))
    };
    assert_snapshot!(hard("abs(x) == initial(abs(x))"), @r#"
    error: the law `bound` cannot be guaranteed: the gradient of `abs`, `min` or `max` jumps
      experiment.toml:9:9
        holds = "abs(x) == initial(abs(x))"
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: write it with powers, for example `x^2` instead of `abs(x)`; or leave `strategy = "hard"` out, so that `[strategy]` enforces the law by a penalty or by multipliers
    "#);
    let off = hard("x == 3");
    assert!(off.contains("is off the law `bound` by 3.00"), "{off}");
    assert!(off.contains("experiment.toml:9:9"), "{off}");
}

#[test]
fn a_weight_makes_residuals_count_more_in_training_and_is_written_out() {
    let of = |keys: &str| {
        let toml = format!(
            "{BASE}[[law]]\nname = \"range\"\nholds = \"0 <= x <= 9\"\n{keys}[strategy]\nkind = \"l2\"\n"
        );
        Folder::new(&[("experiment.toml", &toml), ("data.csv", LINE)]).read().unwrap()
    };
    let (plain, heavy) = (of(""), of("weight = 4\n"));
    let units = |file: &ExperimentFile| file.experiment.training.units.laws.clone();
    assert_eq!(units(&plain).len(), 2);
    for (plain, heavy) in units(&plain).iter().zip(units(&heavy)) {
        assert!((plain / heavy - 4.0).abs() < 1e-12, "{plain} and {heavy}");
    }
    assert!(heavy.complete.contains("weight = 4.0\n") && !plain.complete.contains("weight = "));
    let wrong = |keys: &str| error_with(&format!("[[law]]\nholds = \"x <= 9\"\n{keys}\n"));
    assert_snapshot!(wrong("strategy = \"monitor\"\nweight = 2"), @r#"
    error: `weight` has no effect for a law with `strategy = "monitor"`
      experiment.toml:9:10
        weight = 2
                 ^
    hint: leave it out, or write `strategy = "penalty"`
    "#);
    assert!(wrong("weight = 0").contains("`weight`"));
}

#[test]
fn what_auto_has_chosen_is_written_out_and_read_back() {
    let experiment = r#"
[system]
state = ["a", "b"]
[[law]]
name = "shares"
holds = "a + b == 1"
[[law]]
name = "range"
holds = "0 <= a*b <= 1"
[[law]]
name = "false"
holds = "a <= 0.5"
[[law]]
name = "own"
strategy = "penalty"
holds = "a <= 2"
[data.simulate]
equations = { a = "-0.3*a", b = "0.3*a" }
initial = { a = 0.8, b = 0.2 }
grid = { from = 0, to = 5, points = 30 }
[field]
hidden = [4]
[strategy]
kind = "auto"
"#;
    let chosen = lawful_experiment::read_embedded("experiment.toml", experiment).unwrap();
    let text = &chosen.complete;
    assert!(text.contains("kind = \"augmented-lagrangian\""), "{text}");
    let again = lawful_experiment::read_embedded("experiment.toml", text).unwrap();
    assert_eq!(&again.complete, text);
    let (a, b) = (&chosen.experiment.training, &again.experiment.training);
    let words = |training: &lawful::Prepared| {
        let laws = training.laws.iter();
        laws.map(|law| (law.name().to_owned(), law.enforcement().name())).collect::<Vec<_>>()
    };
    let expected = [
        ("shares", "hard"),
        ("range (0 <= a*b)", "penalty"),
        ("range (a*b <= 1)", "penalty"),
        ("false", "monitor"),
        ("own", "penalty"),
    ];
    assert_eq!(words(a), expected.map(|(name, word)| (name.to_owned(), word)));
    assert_eq!(words(b), words(a));
    assert_eq!(a.description(), b.description());
}

#[test]
fn auto_has_no_keys_and_says_whose_they_are() {
    let toml = format!("{BASE}[strategy]\nkind = \"auto\"\nrho = 5\n");
    let error = error(&toml);
    assert!(error.contains("the strategy `auto` has no key `rho`"), "{error}");
    assert!(error.contains("`kind = \"augmented-lagrangian\"`"), "{error}");
}

#[test]
fn check_says_where_laws_count_and_which_stay_on_rows() {
    let laws = ["x >= 0", "next(x) >= x", "next(x) - x <= 2", "x <= final(x)"];
    let laws = laws.map(|holds| format!("[[law]]\nholds = \"{holds}\"\n")).concat();
    let said = |system: &str, strategy: &str| {
        let toml = format!(
            "[system]\nstate = [\"x\"]\n{system}[data]\nfile = \"data.csv\"\n{laws}[strategy]\nkind = \"l2\"\n{strategy}"
        );
        lawful_experiment::summary(&config_support::experiment(&toml))
    };
    let rows = "counts at rows only: between other neighbours it would say something else";
    let measured = "counts at the rows of the data only, as it uses `final`";
    let both = said("horizon = 20\n", "between = 3\n");
    assert!(
        both.contains("laws count at 3 points inside each interval, too; laws count up to t = 20")
    );
    assert_eq!((both.matches(rows).count(), both.matches(measured).count()), (1, 1), "{both}");
    let to_horizon = said("horizon = 20\n", "");
    assert!(to_horizon.contains("laws count up to t = 20") && !to_horizon.contains(rows));
    assert_eq!(to_horizon.matches(measured).count(), 1, "{to_horizon}");
    assert!(!said("", "").contains("count"));
}
