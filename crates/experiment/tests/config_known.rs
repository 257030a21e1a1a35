//! Known rates and learned constants: what they mean, and messages about them.

mod config_support;

use config_support::Folder;
use config_support::samples::{ALL_KNOWN, KNOWN, experiment, file};
use insta::assert_snapshot;
use lawful::LearnedConstant;
use lawful_experiment::summary;

const K: &str = "{ k = { start = 1.0, min = 0 } }";
const BOTH: &str = "known = { x = \"v\", v = \"-k*x\" }";

/// Returns the error of an experiment with these constants, these lines after them and this field.
fn refused(constants: &str, more: &str, field: &str) -> String {
    let toml = format!(
        "name = \"spring\"\n[system]\nstate = [\"x\", \"v\"]\nconstants = {constants}\n{more}\
         [data]\nfile = \"data.csv\"\n[field]\n{field}\n"
    );
    let table = "t,x,v\n0,1,0\n1,0,1\n2,-1,0\n3,0,-1\n";
    Folder::new(&[("experiment.toml", &toml), ("data.csv", table)]).error()
}

fn field(field: &str) -> String {
    refused("{}", "", field)
}

fn network(keys: &str) -> String {
    refused(K, "", &format!("{BOTH}\n{keys}"))
}

fn constants(constants: &str) -> String {
    refused(&format!("{{ {constants} }}"), "", BOTH)
}

fn unused(field: &str) -> String {
    refused(K, "", field)
}

fn law(holds: &str) -> String {
    let define = "define = { E = \"k*x^2 + v^2\", W = \"E/2\" }";
    refused(K, &format!("{define}\n[[law]]\nname = \"energy\"\nholds = \"{holds}\"\n"), BOTH)
}

fn simulation(equations: &str, input: &str) -> String {
    let toml = format!(
        "name = \"spring\"\n[system]\nstate = [\"x\", \"v\"]\ninputs = [\"u\"]\nconstants = {K}\n\
         define = {{ E = \"k*x\" }}\n[data.simulate]\nequations = {equations}\n\
         inputs = {{ u = {input} }}\ninitial = {{ x = 1, v = 0 }}\n\
         grid = {{ from = 0, to = 5, points = 20 }}\n[field]\n{BOTH}\n"
    );
    Folder::new(&[("experiment.toml", &toml)]).error()
}

#[test]
fn known_rates_and_constants_are_read_as_written() {
    let experiment = experiment(KNOWN);
    let of = |name: &str, start, min, max| LearnedConstant { name: name.into(), start, min, max };
    let expected = [
        of("k", 2.0, Some(0.0), None),
        of("c", -0.1, None, Some(0.0)),
        of("g", 0.5, Some(-1.0), Some(1000.0)),
        of("f", 0.0, None, None),
    ];
    assert_eq!(experiment.training.constants, expected);
    assert_eq!(experiment.training.field.learn, ["v", "w"]);
    let known: Vec<&str> =
        experiment.training.field.known.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(known, ["x", "v"]);
    let shape = experiment.training.shape();
    assert_eq!((shape.input_len(), shape.outputs), (4, 2));
    assert_eq!(experiment.training.parameter_len(), 5 * 3 + 4 * 2 + 4);
    assert_eq!(
        experiment.training.description().build().unwrap().parameter_len(),
        experiment.training.parameter_len()
    );
    let theta = vec![0.0; experiment.training.parameter_len()];
    let values = experiment.training.model(theta, 0).constants().into_iter();
    let values: Vec<f64> = values.map(|(_, _, value)| value).collect();
    assert_eq!(values, [2.0, -0.1, 0.5, 0.0]);
}

#[test]
fn without_anything_to_learn_by_a_network_there_is_none() {
    let experiment = experiment(ALL_KNOWN);
    assert!(experiment.training.field.learn.is_empty());
    assert_eq!(
        (experiment.training.shape().parameter_len(), experiment.training.parameter_len()),
        (0, 1)
    );
    let mut field = experiment.training.description().build().unwrap();
    field.set_parameters(&[3.0_f64.ln()]);
    field.reserve(1, 1);
    let mut dy = [0.0_f64];
    field.eval(0, &[0.0], &[2.0], &[], &mut dy);
    assert!((dy[0] + 6.0).abs() < 1e-14);
}

#[test]
fn a_known_variable_is_learned_only_if_it_is_named() {
    let only_known = KNOWN.replace("learn = [\"w\", \"v\"]\n", "");
    assert_eq!(experiment(&only_known).training.field.learn, ["w"]);
    let everything = KNOWN.replace("learn = [\"w\", \"v\"]", "learn = [\"w\", \"v\", \"x\"]");
    assert_eq!(experiment(&everything).training.field.learn, ["x", "v", "w"]);
}

#[test]
fn known_rates_are_written_out_as_one_would_write_them() {
    let text = file(KNOWN).complete;
    let part = |from: &str, to: &str| {
        let start = text.find(from).unwrap();
        text[start..start + text[start..].find(to).unwrap()].to_owned()
    };
    assert_snapshot!(part("[system]", "[data"), @r#"
    [system]
    state = ["x", "v", "w"]
    inputs = ["u"]
    define = { spring = "-k*x/m" }

    [system.constants]
    m = 1.0
    k = { start = 2.0, learn = true, min = 0.0 }
    c = { start = -0.1, learn = true, max = 0.0 }
    g = { start = 0.5, learn = true, min = -1.0, max = 1000.0 }
    f = { start = 0.0, learn = true }
    h = 4.0
    "#);
    assert_snapshot!(part("[field]", "[solver"), @r#"
    [field]
    hidden = [3]
    activations = ["tanh"]
    init = { kind = "normal", std = 0.1 }
    time-input = false
    precision = "double"
    known = { x = "v", v = "spring + c*v + g*u + f*sin(t)" }
    learn = ["v", "w"]
    "#);
}

#[test]
fn a_summary_has_what_is_known_and_what_is_learned() {
    let said = summary(&experiment(KNOWN));
    let about = ["constant", "known", "learned", "network"];
    let lines = said.lines().filter(|line| about.iter().any(|word| line.starts_with(word)));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    constant    m = 1
    constant    k = 2 initially, learned, above 0
    constant    c = -0.1 initially, learned, below 0
    constant    g = 0.5 initially, learned, above -1, below 1000
    constant    f = 0 initially, learned
    constant    h = 4
    known       dx/dt = v
    known       dv/dt = spring + c*v + g*u + f*sin(t) + network
    learned     dw/dt = network
    network     4 – 3 tanh – 2, 23 parameters, double precision
    ");
}

#[test]
fn a_rate_that_cannot_be_known_is_refused() {
    assert_snapshot!(field("known = \"v\""), @r#"
    error: `known` in [field] is the text "v", but must be a table
      experiment.toml:8:9
        known = "v"
                ^^^
    hint: for example `known = { x = "v" }`
    "#);
    assert_snapshot!(field("known = { z = \"v\" }"), @r#"
    error: unknown state variable `z` in [field.known]
      experiment.toml:8:11
        known = { z = "v" }
                  ^
    hint: the state variables are `x`, `v`
    "#);
    assert_snapshot!(field("known = { x = 1 }"), @r#"
    error: `x` in [field.known] is 1, but must be a text
      experiment.toml:8:15
        known = { x = 1 }
                      ^
    hint: for example `x = "v"`
    "#);
    assert_snapshot!(field("known = { x = \"w\" }"), @r#"
    error: the known rate of `x` uses `w`, which is not known
      experiment.toml:8:16
        known = { x = "w" }
                       ^
    hint: the state variables are `x`, `v`
    "#);
    assert_snapshot!(field("known = { x = \"next(v)\" }"), @r#"
    error: the known rate of `x` cannot be read: `next` refers to another time step, which is only allowed in a law
      experiment.toml:8:16
        known = { x = "next(v)" }
                       ^^^^^^^
    "#);
    assert_snapshot!(field("known = { x = \"v +\" }"), @r#"
    error: the known rate of `x` cannot be read: an expression is missing at the end
      experiment.toml:8:19
        known = { x = "v +" }
                          ^
    "#);
}

#[test]
fn a_variable_that_cannot_be_learned_is_refused() {
    assert_snapshot!(field("learn = \"v\""), @r#"
    error: `learn` in [field] is the text "v", but must be a list of state variables
      experiment.toml:8:9
        learn = "v"
                ^^^
    hint: for example `learn = ["v"]`
    "#);
    assert_snapshot!(field("learn = [\"x\", \"w\"]"), @r#"
    error: `w` in `learn` is not a state variable
      experiment.toml:8:15
        learn = ["x", "w"]
                      ^^^
    hint: the state variables are `x`, `v`
    "#);
    assert_snapshot!(field("learn = [\"x\", \"v\", \"x\"]"), @r#"
    error: `x` is listed twice in `learn`
      experiment.toml:8:20
        learn = ["x", "v", "x"]
                           ^^^
    hint: remove one of the two
    "#);
}

#[test]
fn a_variable_that_is_neither_known_nor_learned_is_refused() {
    assert_snapshot!(field("known = { x = \"v\" }\nlearn = []"), @r#"
    error: `v` is neither known nor learned: its rate would be 0
      experiment.toml:9:9
        learn = []
                ^^
    hint: add "v" to `learn`, or write its rate in `known`: `v = "0"` if it does not change
    "#);
    assert_snapshot!(field("learn = [\"x\"]"), @r#"
    error: `v` is neither known nor learned: its rate would be 0
      experiment.toml:8:9
        learn = ["x"]
                ^^^^^
    hint: add "v" to `learn`, or write its rate in `known`: `v = "0"` if it does not change
    "#);
}

#[test]
fn nothing_to_learn_is_refused() {
    assert_snapshot!(field("known = { x = \"v\", v = \"-x\" }"), @r#"
    error: there is nothing to learn: all rates and all constants are known
      experiment.toml:8:9
        known = { x = "v", v = "-x" }
                ^^^^^^^^^^^^^^^^^^^^^
    hint: list in `learn` the variables whose known rates need a correction, or learn a constant: `constants = { k = { start = 1.0 } }`
    "#);
    assert_snapshot!(field("known = { x = \"v\", v = \"-x\" }\nlearn = []"), @"
    error: there is nothing to learn: all rates and all constants are known
      experiment.toml:9:9
        learn = []
                ^^
    hint: list in `learn` the variables whose known rates need a correction, or learn a constant: `constants = { k = { start = 1.0 } }`
    ");
}

#[test]
fn keys_of_a_network_are_refused_where_there_is_none() {
    assert_snapshot!(network("hidden = [5]"), @"
    error: `hidden` has no effect: every rate is known, so there is no network
      experiment.toml:9:10
        hidden = [5]
                 ^^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    ");
    assert_snapshot!(network("activations = \"tanh\""), @r#"
    error: `activations` has no effect: every rate is known, so there is no network
      experiment.toml:9:15
        activations = "tanh"
                      ^^^^^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    "#);
    assert_snapshot!(network("init = \"he\""), @r#"
    error: `init` has no effect: every rate is known, so there is no network
      experiment.toml:9:8
        init = "he"
               ^^^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    "#);
    assert_snapshot!(network("time-input = false"), @"
    error: `time-input` has no effect: every rate is known, so there is no network
      experiment.toml:9:14
        time-input = false
                     ^^^^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    ");
    assert_snapshot!(network("precision = \"single\""), @r#"
    error: `precision` has no effect: every rate is known, so there is no network
      experiment.toml:9:13
        precision = "single"
                    ^^^^^^^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    "#);
    assert_snapshot!(network("learn = []\nhidden = []"), @"
    error: `hidden` has no effect: every rate is known, so there is no network
      experiment.toml:10:10
        hidden = []
                 ^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    ");
}

#[test]
fn a_learned_constant_with_wrong_keys_is_refused() {
    assert_snapshot!(constants("k = {}"), @"
    error: `[system.constants.k] start` is needed because it is the initial value of the constant
      experiment.toml:4:19
        constants = { k = {} }
                          ^^
    hint: write `start = 1.0`
    ");
    assert_snapshot!(constants("k = { start = \"1\" }"), @r#"
    error: `start` in [system.constants.k] is the text "1", but must be a finite number
      experiment.toml:4:29
        constants = { k = { start = "1" } }
                                    ^^^
    hint: for example `start = 1.0`
    "#);
    assert_snapshot!(constants("k = { strat = 1 }"), @"
    error: unknown key `strat` in [system.constants.k]
      experiment.toml:4:21
        constants = { k = { strat = 1 } }
                            ^^^^^
    hint: did you mean `start`?
    ");
    assert_snapshot!(constants("k = { start = 1, learn = 1 }"), @"
    error: `learn` in [system.constants.k] is 1, but must be `true` or `false`
      experiment.toml:4:40
        constants = { k = { start = 1, learn = 1 } }
                                               ^
    hint: for example `learn = true`
    ");
    assert_snapshot!(constants("k = { start = 1, min = \"a\" }"), @r#"
    error: `min` in [system.constants.k] is the text "a", but must be a finite number
      experiment.toml:4:38
        constants = { k = { start = 1, min = "a" } }
                                             ^^^
    hint: for example `min = 0.0`
    "#);
    assert_snapshot!(constants("k = { start = 1, learn = false, min = 0 }"), @"
    error: `min` has no effect: `k` is not learned
      experiment.toml:4:53
        constants = { k = { start = 1, learn = false, min = 0 } }
                                                            ^
    hint: leave it out, or write `learn = true`
    ");
}

#[test]
fn a_learned_constant_starts_inside_its_bounds() {
    assert_snapshot!(constants("k = { start = 0, min = 0 }"), @"
    error: `k` starts at 0, which is not above its `min`, 0
      experiment.toml:4:29
        constants = { k = { start = 0, min = 0 } }
                                    ^
    hint: choose a `start` strictly between `min` and `max`
    ");
    assert_snapshot!(constants("k = { start = 2, max = 1.5 }"), @"
    error: `k` starts at 2, which is not below its `max`, 1.5
      experiment.toml:4:29
        constants = { k = { start = 2, max = 1.5 } }
                                    ^
    hint: choose a `start` strictly between `min` and `max`
    ");
    assert_snapshot!(constants("k = { start = 1, min = 3, max = 0 }"), @"
    error: `k` starts at 1, which is not above its `min`, 3
      experiment.toml:4:29
        constants = { k = { start = 1, min = 3, max = 0 } }
                                    ^
    hint: choose a `start` strictly between `min` and `max`
    ");
    assert_snapshot!(constants("k = { start = 1, min = -1.7e308, max = 1.7e308 }"), @"
    error: the bounds of `k` are too far from its start to compute with
      experiment.toml:4:29
        constants = { k = { start = 1, min = -1.7e308, max = 1.7e308 } }
                                    ^
    hint: leave out a bound that does not matter
    ");
}

#[test]
fn a_constant_that_would_never_move_is_refused() {
    assert_snapshot!(unused("known = { x = \"v\" }"), @"
    error: the constant `k` is learned, but no known rate depends on it: it would never change
      experiment.toml:4:15
        constants = { k = { start = 1.0, min = 0 } }
                      ^
    hint: use it in `known` of `[field]`, or fix it: `k = 1.0`
    ");
    assert_snapshot!(unused("learn = [\"x\", \"v\"]"), @"
    error: the constant `k` is learned, but no known rate depends on it: it would never change
      experiment.toml:4:15
        constants = { k = { start = 1.0, min = 0 } }
                      ^
    hint: use it in `known` of `[field]`, or fix it: `k = 1.0`
    ");
    assert_snapshot!(unused("known = { x = \"v + (k - k)\" }"), @"
    error: the constant `k` is learned, but no known rate depends on it: it would never change
      experiment.toml:4:15
        constants = { k = { start = 1.0, min = 0 } }
                      ^
    hint: use it in `known` of `[field]`, or fix it: `k = 1.0`
    ");
}

#[test]
fn messages_about_laws_do_not_take_a_learned_constant_for_a_state() {
    assert_snapshot!(law("k*y <= 1"), @r#"
    error: the law `energy` uses `y`, which is not known
      experiment.toml:8:12
        holds = "k*y <= 1"
                   ^
    hint: the state variables are `x`, `v`; the constant is `k`; the definitions are `E`, `W`
    "#);
    assert_snapshot!(law("k <= 1"), @r#"
    error: the law `energy` does not depend on any state variable
      experiment.toml:8:10
        holds = "k <= 1"
                 ^^^^^^
    hint: a law must depend on the state: use a state variable in it
    "#);
}

#[test]
fn a_simulation_cannot_use_a_learned_constant() {
    assert_snapshot!(simulation("{ x = \"v\", v = \"-k*x\" }", "\"sin(t)\""), @r#"
    error: the equation of `v` uses the constant `k`, which is learned
      experiment.toml:8:30
        equations = { x = "v", v = "-k*x" }
                                     ^
    hint: simulated data need fixed values: write the number
    "#);
    assert_snapshot!(simulation("{ x = \"v\", v = \"-E\" }", "\"sin(t)\""), @r#"
    error: the equation of `v` uses `E`, and so the constant `k`, which is learned
      experiment.toml:8:30
        equations = { x = "v", v = "-E" }
                                     ^
    hint: simulated data need fixed values: write the number
    "#);
    assert_snapshot!(simulation("{ x = \"v\", v = \"-x\" }", "\"k*t\""), @r#"
    error: the input `u` uses the constant `k`, which is learned
      experiment.toml:9:17
        inputs = { u = "k*t" }
                        ^
    hint: simulated data need fixed values: write the number
    "#);
}
