//! `[field]`: the vector field: a network, known rates, or both.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `hidden` | `[50, 50]`; `[8]` with `recipe = "evidence"`, and for scarce or noisy data with `recipe = "auto"` | 1 to 1 000 000 each | width of each hidden layer |
//! | `activations` | `"tanh"` | [`Activation::ALL`] | activation function: one name for all hidden layers, or a list with one per layer |
//! | `init` | `"normal"` | [`Initialise::NAMES`], or a table | distribution of the initial weights, for example `{ kind = "normal", std = 0.1 }` |
//! | `time-input` | `false` | `true`, `false` | whether time is an input of the network |
//! | `precision` | `"double"` | `"double"`, `"single"` | floating-point precision inside the network |
//! | `known` | `{}` | expressions | known rates: `{ x = "v", v = "-k*x/m" }`; see [`super::known`] |
//! | `learn` | all that are not in `known` | a list of state variables | variables whose rate has a network output, which is added to the known rate if there is one |
//! | `coordinates` | `"linear"` for each | a table of state variables: `"linear"`, `"log"`, `"logit"` | in what the network sees a state variable, for example `{ x = "log" }`: the logarithm of its distance to a guaranteed bound, or with `"logit"` of those to both; its data must be strictly inside. See [`Coordinates`] |
//! | `effects` | 0; by evidence (0 to 2) for scarce or noisy data of several trajectories with `recipe = "auto"` | 0 to 16 | numbers of each trajectory that are inputs of its network, constant along its path: trained by least squares and evidence, with a normal prior whose width the evidence chooses (partial pooling) |
//!
//! Keys of `init`:
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `kind` | `"normal"` | [`Initialise::NAMES`] | the distribution |
//! | `std` | 0.1 | > 0 | standard deviation; only for `normal` |

use lawful::{Activation, Coordinates, FieldSettings, Initialise, MOST_EFFECTS, Precision};

use super::complete::{self, Table};
use super::known::{self, Rates};
use super::section::Section;
use super::system::System;
use super::value::{POSITIVE, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::counted;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &[
    "hidden",
    "activations",
    "init",
    "time-input",
    "precision",
    "coordinates",
    "known",
    "learn",
    "effects",
];
/// The keys of `init`.
pub(crate) const INIT_KEYS: &[&str] = &["kind", "std"];

/// Widest layer.
const WIDEST: u64 = 1_000_000;
/// Most parameters: 3.2 GB with their gradient and the optimiser's two moments.
const MOST_PARAMETERS: f64 = 1e8;

/// What the section leaves to the recipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    /// The widths of the hidden layers.
    pub(crate) width: bool,
    /// The number of effects.
    pub(crate) effects: bool,
}

/// Reads the section. Returns also what the recipe may choose.
pub(crate) fn read(
    mut section: Section,
    system: &System,
    usual: &[usize],
) -> Result<(FieldSettings, Open), Diagnostic> {
    let width = !section.has("hidden") && !section.has("activations");
    let open = Open { width, effects: !section.has("effects") };
    let Rates { known, learn } = known::read(&mut section, system)?;
    let hidden_value = section.take("hidden");
    let mark = hidden_value.as_ref().map(Value::mark);
    let hidden = match hidden_value {
        None if learn.is_empty() => Vec::new(),
        None => usual.to_vec(),
        Some(value) => {
            let sizes = value.list("a list with the width of each hidden layer", "[50, 50]")?;
            let sizes = sizes.iter().map(|size| size.count(1..=WIDEST, "50"));
            sizes.collect::<Result<_, _>>()?
        }
    };
    let activations = match section.take("activations") {
        None => vec![Activation::Tanh; hidden.len()],
        Some(value) => activations(value, hidden.len())?,
    };
    let init = section.take("init").map_or(Ok(Initialise::default()), init)?;
    let time_input = section.take("time-input").map_or(Ok(false), |value| value.flag())?;
    let precisions = Precision::ALL.map(|precision| (precision.name(), precision));
    let precision = section
        .take("precision")
        .map_or(Ok(Precision::Double), |value| value.word("precision", &precisions))?;
    let coordinates = section
        .take("coordinates")
        .map_or(Ok(Vec::new()), |value| coordinates(value, system, &learn))?;
    let most = MOST_EFFECTS as u64;
    let effects = section.take("effects").map_or(Ok(0), |value| value.count(0..=most, "1"))?;
    let varying = system.varying();
    let field = FieldSettings {
        init,
        hidden,
        activations,
        time_input,
        precision,
        known,
        learn,
        effects,
        varying,
        coordinates,
    };
    let parameters = parameters(&field, system);
    if let Some(mark) = mark.filter(|_| parameters > MOST_PARAMETERS) {
        return Err(mark
            .error(format!("this network would have {parameters:.1e} parameters"))
            .with_hint(format!("use smaller layers; at most {MOST_PARAMETERS:.0e} are possible")));
    }
    Ok((field, open))
}

/// Returns the number of parameters as a float, which cannot overflow.
fn parameters(field: &FieldSettings, system: &System) -> f64 {
    let (state, inputs) = (system.vocabulary.state().len(), system.vocabulary.inputs().len());
    let first = state + inputs + usize::from(field.time_input) + field.effects;
    let last = field.learn.len();
    let widths = [first].into_iter().chain(field.hidden.iter().copied()).chain([last]);
    let widths: Vec<f64> = widths.map(|width| width as f64).collect();
    widths.windows(2).map(|pair| (pair[0] + 1.0) * pair[1]).sum()
}

/// Reads the state variables that the network sees in log coordinates.
fn coordinates(
    value: Value,
    system: &System,
    learn: &[String],
) -> Result<Vec<(String, Coordinates)>, Diagnostic> {
    let words = Coordinates::ALL.map(|kind| (kind.name(), kind));
    let table = value.table("{ x = \"log\" }")?;
    let mut found = Vec::new();
    for (name, value) in table.some_of(system.vocabulary.state(), "state variable")? {
        let kind = value.word("coordinates", &words)?;
        if kind == Coordinates::Linear {
            continue;
        }
        if !learn.contains(&name) {
            let message =
                format!("`{name}` cannot have {} coordinates: its rate is known", kind.name());
            let hint = "known rates are never altered: leave one of the two out";
            return Err(value.error(message).with_hint(hint));
        }
        found.push((name, kind));
    }
    Ok(found)
}

fn activations(value: Value, layers: usize) -> Result<Vec<Activation>, Diagnostic> {
    let words = Activation::ALL.map(|activation| (activation.name(), activation));
    if value.is_text() {
        return Ok(vec![value.word("activation", &words)?; layers]);
    }
    let mark = value.mark();
    let needed = "one word, or a list with one for each hidden layer";
    let values = value.list(needed, "[\"tanh\", \"elu\"]")?;
    let found: Vec<Activation> =
        values.iter().map(|value| value.word("activation", &words)).collect::<Result<_, _>>()?;
    if found.len() != layers {
        let (found, layers) = (counted(found.len(), "word"), counted(layers, "hidden layer"));
        return Err(mark
            .error(format!("`activations` has {found} for {layers}"))
            .with_hint("write one word for all layers, or one for each of `hidden`"));
    }
    Ok(found)
}

fn init(value: Value) -> Result<Initialise, Diagnostic> {
    let kinds = Initialise::NAMES.map(|name| (name, name));
    if value.is_text() {
        return Ok(of_kind(value.word("init", &kinds)?, None));
    }
    let mut section = value.table_or("a name or a table", "\"normal\"")?;
    section.only(INIT_KEYS)?;
    let kind = section.take("kind").map_or(Ok("normal"), |value| value.word("init", &kinds))?;
    let std = section.take("std");
    if let (Some(std), true) = (&std, kind != "normal") {
        return Err(std
            .error(format!("`std` has no effect for `{kind}`, which computes it for each layer"))
            .with_hint("leave it out, or write `kind = \"normal\"`"));
    }
    let std = std.map(|value| value.number(POSITIVE, "0.1")).transpose()?;
    Ok(of_kind(kind, std))
}

fn of_kind(kind: &str, std: Option<f64>) -> Initialise {
    match (kind, std) {
        ("xavier", _) => Initialise::Xavier,
        ("he", _) => Initialise::He,
        (_, Some(std)) => Initialise::Normal { std },
        (_, None) => Initialise::default(),
    }
}

/// Returns the section with every key that has an effect.
pub(crate) fn write(field: &FieldSettings) -> Table {
    let FieldSettings { known, learn, .. } = field;
    let mut table = if learn.is_empty() { Table::new() } else { write_network(field) };
    if !known.is_empty() {
        let text = |text: &String| text.as_str().into();
        table.insert("known".to_owned(), complete::named(known, text));
        table.insert("learn".to_owned(), complete::texts(learn));
    }
    table
}

fn write_network(field: &FieldSettings) -> Table {
    let FieldSettings { hidden, activations, init, time_input, precision, effects, .. } = field;
    let FieldSettings { coordinates, .. } = field;
    let init = match *init {
        Initialise::Normal { std } => {
            complete::table([("kind", "normal".into()), ("std", std.into())]).into()
        }
        Initialise::Xavier => "xavier".into(),
        Initialise::He => "he".into(),
    };
    let mut table = complete::table([
        ("hidden", hidden.iter().map(|&size| complete::whole(size)).collect::<Vec<_>>().into()),
        ("activations", complete::texts(activations.iter().map(|activation| activation.name()))),
        ("init", init),
        ("time-input", (*time_input).into()),
        ("precision", precision.name().into()),
    ]);
    if !coordinates.is_empty() {
        let word = |kind: &Coordinates| kind.name().into();
        table.insert("coordinates".to_owned(), complete::named(coordinates, word));
    }
    if *effects > 0 {
        table.insert("effects".to_owned(), complete::whole(*effects));
    }
    table
}
