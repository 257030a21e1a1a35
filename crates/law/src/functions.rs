//! The list of functions: name, meaning, derivative, example.
//!
//! The parser, the hints and the tests read this list. To add a function, add an entry.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::derivative::{self, MapSlope, Slopes};

/// A function that laws and expressions can call.
pub struct Function {
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    rule: Rule,
}

/// How a function is computed and differentiated.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// `y = f(x)`; `slope(x, y)` is `dy/dx`, and `derivative(x, y)` its nodes in a graph.
    Map { value: fn(f64) -> f64, slope: fn(f64, f64) -> f64, derivative: MapSlope },
    /// Two or more arguments, combined from the left: `f(f(a, b), c)`. `slopes(a, b)` is
    /// `(∂f/∂a, ∂f/∂b)`, and `derivatives(a, b)` their nodes in a graph.
    Fold { value: fn(f64, f64) -> f64, slopes: fn(f64, f64) -> (f64, f64), derivatives: Slopes },
    /// The argument at another time step.
    At(Step),
    /// The derivative of the argument along the vector field.
    Rate,
}

/// The time step that an argument is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Next,
    Previous,
    Initial,
    Final,
}

const fn map(
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    value: fn(f64) -> f64,
    slope: fn(f64, f64) -> f64,
    derivative: MapSlope,
) -> Function {
    Function { name, summary, example, rule: Rule::Map { value, slope, derivative } }
}

const fn fold(
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    value: fn(f64, f64) -> f64,
    slopes: fn(f64, f64) -> (f64, f64),
    derivatives: Slopes,
) -> Function {
    Function { name, summary, example, rule: Rule::Fold { value, slopes, derivatives } }
}

const fn at(
    name: &'static str,
    summary: &'static str,
    example: &'static str,
    step: Step,
) -> Function {
    Function { name, summary, example, rule: Rule::At(step) }
}

/// All functions.
///
/// `min` and `max` return NaN if an argument is NaN. At a tie their gradient goes to the first
/// argument. The derivative of `abs` at 0 is 0.
pub static FUNCTIONS: &[Function] = &[
    map("sin", "sine", "sin(pi/6) == 0.5", f64::sin, |x, _| x.cos(), derivative::sin),
    map("cos", "cosine", "cos(pi/3) == 0.5", f64::cos, |x, _| -x.sin(), derivative::cos),
    map("tan", "tangent", "tan(pi/4) == 1", f64::tan, |_, y| 1.0 + y * y, derivative::tan),
    map("exp", "exponential", "exp(t)*exp(-t) == 1", f64::exp, |_, y| y, derivative::exp),
    map("ln", "natural logarithm", "ln(exp(t)) == t", f64::ln, |x, _| 1.0 / x, derivative::ln),
    map(
        "log10",
        "decimal logarithm",
        "log10(1e-3) == -3",
        f64::log10,
        |x, _| std::f64::consts::LOG10_E / x,
        derivative::log10,
    ),
    map("sqrt", "square root", "sqrt(t^2) == t", f64::sqrt, |_, y| 0.5 / y, derivative::sqrt),
    map("abs", "absolute value", "abs(-t) == t", f64::abs, |x, _| sign(x), derivative::abs),
    map(
        "tanh",
        "hyperbolic tangent",
        "tanh(ln(3)) == 0.8",
        f64::tanh,
        |_, y| 1.0 - y * y,
        derivative::tanh,
    ),
    fold(
        "min",
        "smallest argument",
        "min(3, 1 + t, 2) == min(1 + t, 2)",
        minimum,
        |a, b| if a <= b { (1.0, 0.0) } else { (0.0, 1.0) },
        derivative::min,
    ),
    fold(
        "max",
        "largest argument",
        "max(t, 1, t^2/2) == max(t, 1)",
        maximum,
        |a, b| if a >= b { (1.0, 0.0) } else { (0.0, 1.0) },
        derivative::max,
    ),
    at("next", "value at the next time step", "next(t) == t + 1", Step::Next),
    at("previous", "value at the previous time step", "previous(t) == t - 1", Step::Previous),
    at("initial", "value at the first time step", "initial(t + 1) == 1", Step::Initial),
    at("final", "value at the last time step", "final(2*t) == 4", Step::Final),
    Function {
        name: "rate",
        summary: "derivative along the vector field",
        example: "rate(t^2) == 2*t",
        rule: Rule::Rate,
    },
];

/// The derivative of `abs`, which no text can call.
pub(crate) static SIGN: Function =
    map("sign", "", "", sign, |_, _| 0.0, |graph, _, _| graph.constant(0.0));

/// The derivative of `min(a, b)` by `a`, which no text can call: 1 where `a <= b`, otherwise 0.
pub(crate) static AT_MOST: Function = fold(
    "at most",
    "",
    "",
    |a, b| f64::from(u8::from(a <= b)),
    |_, _| (0.0, 0.0),
    |graph, _, _| (graph.constant(0.0), graph.constant(0.0)),
);

/// Names with a fixed meaning other than functions.
pub(crate) const RESERVED: &[&str] = &["t", "pi"];

impl Function {
    /// Returns the function with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// Returns the name, as written in a law.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a short description of what the function computes.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// Returns a relation that holds on a trajectory with the times 0, 1 and 2.
    pub fn example(&self) -> &'static str {
        self.example
    }

    /// Returns the number of arguments, in words.
    pub fn arguments(&self) -> &'static str {
        match self.rule {
            Rule::Fold { .. } => "at least 2 arguments",
            Rule::Map { .. } | Rule::At(_) | Rule::Rate => "1 argument",
        }
    }

    pub(crate) fn accepts(&self, arguments: usize) -> bool {
        match self.rule {
            Rule::Fold { .. } => arguments >= 2,
            Rule::Map { .. } | Rule::At(_) | Rule::Rate => arguments == 1,
        }
    }

    pub(crate) fn rule(&self) -> Rule {
        self.rule
    }
}

// Names are unique in the list.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns −1, 0 or 1; NaN for NaN.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// Returns the smaller number, or NaN if either is NaN: `f64::min` would hide a solution that
/// diverged.
fn minimum(a: f64, b: f64) -> f64 {
    if a <= b || a.is_nan() { a } else { b }
}

/// Returns the larger number, or NaN if either is NaN.
fn maximum(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_listed_twice() {
        for (position, function) in FUNCTIONS.iter().enumerate() {
            let found = FUNCTIONS.iter().position(|other| other.name == function.name);
            assert_eq!(found, Some(position), "{}", function.name);
            assert!(!RESERVED.contains(&function.name));
        }
    }

    #[test]
    fn extremes_of_nan_are_nan_on_either_side() {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(minimum(a, b).is_nan());
            assert!(maximum(a, b).is_nan());
        }
    }
}
