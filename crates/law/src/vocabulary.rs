//! The names that laws and expressions may use.

use std::collections::{HashMap, HashSet};

use crate::compile::{Scope, compile};
use crate::definitions::dependency_order;
use crate::error::{ErrorKind, LawError, Origin};
use crate::functions::{FUNCTIONS, Function, RESERVED};
use crate::graph::{Graph, Id, Op};
use crate::hints::{habit, list};
use crate::lexer::is_name;
use crate::nearest::nearest;
use crate::parser::parse_expression;
use crate::syntax::Syntax;
use crate::tape::Tape;

/// Names as written, not yet checked.
///
/// ```
/// use lawful_law::Words;
///
/// let vocabulary = Words::new()
///     .state(["x", "v"])
///     .constant("k", 2.0)
///     .define("E", "k*x^2/2 + v^2/2")
///     .check()?;
/// assert_eq!(vocabulary.state(), ["x", "v"]);
/// # Ok::<(), lawful_law::LawError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words {
    /// The state variables, in the order of a row of states.
    pub state: Vec<String>,
    /// The exogenous inputs, in the order of a row of inputs.
    pub inputs: Vec<String>,
    /// Constants and their values.
    pub constants: Vec<(String, f64)>,
    /// Names for expressions. They may use each other, in any order.
    pub definitions: Vec<(String, String)>,
}

impl Words {
    /// Returns an empty list of names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds state variables.
    #[must_use]
    pub fn state<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.state.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds exogenous inputs.
    #[must_use]
    pub fn inputs<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.inputs.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds a constant.
    #[must_use]
    pub fn constant(mut self, name: impl Into<String>, value: f64) -> Self {
        self.constants.push((name.into(), value));
        self
    }

    /// Adds a name for an expression.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.definitions.push((name.into(), text.into()));
        self
    }

    /// Checks every name and every definition.
    pub fn check(self) -> Result<Vocabulary, LawError> {
        Vocabulary::new(self)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let constants = self.constants.iter().map(|(name, _)| name);
        let definitions = self.definitions.iter().map(|(name, _)| name);
        let names = self.state.iter().chain(&self.inputs).chain(constants).chain(definitions);
        names.map(String::as_str)
    }

    /// Returns for example "the state variables are `A`, `B`; the constant is `k`".
    fn listing(&self) -> Option<String> {
        let constants: Vec<&String> = self.constants.iter().map(|(name, _)| name).collect();
        let definitions: Vec<&String> = self.definitions.iter().map(|(name, _)| name).collect();
        let groups = [
            ("state variable", self.state.iter().collect()),
            ("input", self.inputs.iter().collect()),
            ("constant", constants),
            ("definition", definitions),
        ];
        let known = groups.into_iter().filter(|(_, names)| !names.is_empty());
        let known: Vec<String> = known
            .map(|(group, names)| {
                let are = if names.len() == 1 { " is" } else { "s are" };
                format!("the {group}{are} {}", list(names.into_iter().map(String::as_str)))
            })
            .collect();
        (!known.is_empty()).then(|| known.join("; "))
    }
}

/// Checked names, for parsing [`Law`](crate::Law)s and [`Expression`](crate::Expression)s.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    words: Words,
    /// The node of every name, including `t` and `pi`.
    names: HashMap<String, Id>,
    /// All names and all definitions, compiled once.
    graph: Graph,
}

impl Vocabulary {
    /// Checks every name and every definition, including definitions that nothing uses.
    pub fn new(words: Words) -> Result<Self, LawError> {
        check_names(&words)?;
        let mut graph = Graph::default();
        let mut names = HashMap::new();
        names.insert("t".to_owned(), graph.leaf(Op::Time));
        names.insert("pi".to_owned(), graph.constant(std::f64::consts::PI));
        for (variable, name) in words.state.iter().enumerate() {
            names.insert(name.clone(), graph.leaf(Op::State(variable)));
        }
        for (input, name) in words.inputs.iter().enumerate() {
            names.insert(name.clone(), graph.leaf(Op::Input(input)));
        }
        for (name, value) in &words.constants {
            names.insert(name.clone(), graph.constant(*value));
        }
        let mut vocabulary = Self { words, names, graph };
        vocabulary.define()?;
        Ok(vocabulary)
    }

    /// Returns the state variables, in the order of a row of states.
    pub fn state(&self) -> &[String] {
        &self.words.state
    }

    /// Returns the exogenous inputs, in the order of a row of inputs.
    pub fn inputs(&self) -> &[String] {
        &self.words.inputs
    }

    /// Returns the constants and their values.
    pub fn constants(&self) -> &[(String, f64)] {
        &self.words.constants
    }

    /// Returns the names and texts of the definitions.
    pub fn definitions(&self) -> &[(String, String)] {
        &self.words.definitions
    }

    /// Returns the definitions that use one of these names, directly or through other definitions,
    /// each with one such name. A definition follows those it uses.
    pub fn users_of(&self, names: &[&str]) -> Vec<(String, String)> {
        let syntax = |text: &str| parse_expression(text).expect("parsed before");
        let definitions = self.words.definitions.iter();
        let parsed: Vec<(&str, Syntax)> =
            definitions.map(|(name, text)| (name.as_str(), syntax(text))).collect();
        let mut used: HashMap<&str, &str> = names.iter().map(|&name| (name, name)).collect();
        let mut users = Vec::new();
        for position in dependency_order(&parsed).expect("parsed before") {
            let (name, syntax) = &parsed[position];
            if let Some(&through) = syntax.names().find_map(|(name, _)| used.get(name)) {
                used.insert(name, through);
                users.push(((*name).to_owned(), through.to_owned()));
            }
        }
        users
    }

    /// Compiles every definition.
    fn define(&mut self) -> Result<(), LawError> {
        let definitions = self.words.definitions.clone();
        let mut parsed = Vec::with_capacity(definitions.len());
        for (name, text) in &definitions {
            let syntax = parse_expression(text).map_err(|e| e.within(of_definition(name)))?;
            parsed.push((name.as_str(), syntax));
        }
        for position in dependency_order(&parsed)? {
            let (name, syntax) = &parsed[position];
            let mut graph = std::mem::take(&mut self.graph);
            let id = self
                .compile(syntax, Scope::Trajectory, &mut graph)
                .map_err(|e| e.within(of_definition(name)))?;
            self.graph = graph;
            self.names.insert((*name).to_owned(), id);
        }
        Ok(())
    }

    /// Returns a graph that contains all names, to compile into.
    pub(crate) fn graph(&self) -> Graph {
        self.graph.clone()
    }

    pub(crate) fn compile(
        &self,
        syntax: &Syntax,
        scope: Scope,
        graph: &mut Graph,
    ) -> Result<Id, LawError> {
        compile(syntax, scope, graph, &self.words.inputs, |name| {
            self.names.get(name).copied().ok_or_else(|| self.unknown(name))
        })
    }

    /// Returns the tape that computes `root`.
    pub(crate) fn tape(&self, graph: &Graph, root: Id) -> Tape {
        graph.tape(root, self.words.state.len(), self.words.inputs.len())
    }

    fn unknown(&self, name: &str) -> (ErrorKind, Option<String>) {
        if RESERVED.contains(&name) {
            return (ErrorKind::ReservedName(name.to_owned()), habit(name));
        }
        let hint = match nearest(name, self.words.names()) {
            Some(close) => Some(format!("did you mean `{close}`?")),
            None => habit(name).or_else(|| self.words.listing()),
        };
        (ErrorKind::UnknownName(name.to_owned()), hint)
    }
}

fn of_definition(name: &str) -> Origin {
    Origin::Definition(name.to_owned())
}

fn check_names(words: &Words) -> Result<(), LawError> {
    let mut seen = HashSet::new();
    let error = |kind: ErrorKind, name: &str| {
        LawError::new(kind, 0..name.len()).within(Origin::Name(name.to_owned()))
    };
    for name in words.names() {
        if !is_name(name) {
            let hint = "a name is a letter or `_`, followed by letters, digits and `_`".to_owned();
            return Err(error(ErrorKind::InvalidName(name.to_owned()), name).with_hint(hint));
        }
        if RESERVED.contains(&name) || Function::named(name).is_some() {
            let functions = FUNCTIONS.iter().map(Function::name);
            let hint = format!(
                "the reserved names are {}",
                list(RESERVED.iter().copied().chain(functions))
            );
            return Err(error(ErrorKind::ReservedName(name.to_owned()), name).with_hint(hint));
        }
        if !seen.insert(name) {
            return Err(error(ErrorKind::DuplicateName(name.to_owned()), name));
        }
    }
    match words.constants.iter().find(|(_, value)| !value.is_finite()) {
        Some((name, _)) => Err(error(ErrorKind::NotFinite, name)),
        None => Ok(()),
    }
}
