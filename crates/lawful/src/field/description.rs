//! The description of a vector field as a value, from which it is built and which files store.

use lawful_law::{LawError, Vocabulary, Words};
use lawful_ode::{
    Activation, Mlp, MlpShape, Precision, Scaled, Scaling, ScalingError, ShapeError, VectorField,
    WithEffects,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::linear::{LinearDescription, WrongLinear};
use super::smooth::{SmoothDescription, SmoothLaws};
use super::{GuaranteedLaws, HybridField, KnownRates, LearnedConstant, with_learned_as_variables};

/// The description of a right-hand side: its names, and its parts from the inside out.
///
/// ```
/// use lawful::{FieldDescription, FieldPart, NetworkDescription};
/// let names = ["x".to_owned(), "v".to_owned()];
/// let description = FieldDescription {
///     parts: vec![FieldPart::Network(NetworkDescription::new(&[8], &names))],
///     ..FieldDescription::new(&names)
/// };
/// assert_eq!(description.build()?.parameter_len(), 2 * 8 + 8 + 8 * 2 + 2);
/// # Ok::<(), lawful::FieldError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FieldDescription {
    /// Names of the state variables.
    pub state: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// The constants that rates and laws may use; the learned ones are the last parameters, in this
    /// order.
    pub constants: Vec<Constant>,
    /// Names and texts of the definitions that rates and laws may use.
    pub definitions: Vec<(String, String)>,
    /// Its parts: each one wraps those before it.
    pub parts: Vec<FieldPart>,
}

/// A constant, fixed or learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its value, or its initial value if it is learned.
    pub start: f64,
    /// Whether it is learned.
    pub learned: bool,
    /// Lower bound, if it is learned.
    pub min: Option<f64>,
    /// Upper bound, if it is learned.
    pub max: Option<f64>,
    /// Whether it has one value for each trajectory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_trajectory: bool,
}

/// A part of a vector field. A new wrapper is one more variant here, with its arm in
/// [`FieldDescription::build`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "part")]
pub enum FieldPart {
    /// A network; the innermost part.
    Network(NetworkDescription),
    /// Units of order one for the inner field.
    Scaling(#[serde(with = "ScalingValue")] Scaling),
    /// Known rates, to which the inner field is added.
    Known(KnownDescription),
    /// Projects the rate on the directions in which weighted sums of the states do not change; the
    /// outermost part.
    Conserving(ConservingDescription),
    /// Linear sums, bounds and directions that the rate and the steps keep: the network's outputs are flows,
    /// in units of their own. It follows the network; only known rates may follow it.
    Linear(LinearDescription),
    /// Linear sums, bounds and directions, as `linear`, of a field that computes rates: moved to the nearest ones within
    /// the laws. The outermost part.
    Nearest(LinearDescription),
    /// Equalities that the rate and the steps keep, and a quantity that they never raise; the outermost
    /// part.
    Smooth(SmoothDescription),
}

/// A multi-layer perceptron.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NetworkDescription {
    /// Width of each hidden layer.
    pub hidden: Vec<usize>,
    /// The word of each hidden layer's activation.
    pub activations: Vec<String>,
    /// Whether time is an input of the network.
    pub time_input: bool,
    /// The word of the precision of its arithmetic.
    pub precision: String,
    /// The state variable of each output, in the order of the state; or the flows of linear laws,
    /// [`LinearDescription::outputs`].
    pub outputs: Vec<String>,
    /// Number of effects: inputs that every trajectory has of its own, constant along its path.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub effects: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Most effects of a network.
pub const MOST_EFFECTS: usize = 16;

/// Known rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct KnownDescription {
    /// State variable and expression of each rate.
    pub rates: Vec<(String, String)>,
    /// The state variable of each output of the inner field.
    pub learn: Vec<String>,
}

/// Weighted sums of the states whose rate is 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConservingDescription {
    /// One weight for each state variable, of each sum.
    pub sums: Vec<Vec<f64>>,
}

/// [`Scaling`] as a value in a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", remote = "Scaling")]
pub(super) struct ScalingValue {
    state_centre: Vec<f64>,
    state: Vec<f64>,
    rate: Vec<f64>,
    input_centre: Vec<f64>,
    input: Vec<f64>,
    time_centre: f64,
    time: f64,
}

/// Why a vector field cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FieldError {
    /// There is neither a network nor a known rate.
    #[error("a vector field needs a network or known rates")]
    Empty,
    /// A part is in the wrong place.
    #[error("the part `{part}` of a vector field {reason}")]
    Order {
        /// The part's word.
        part: &'static str,
        /// The end of the sentence.
        reason: &'static str,
    },
    /// An unknown state variable.
    #[error("`{0}` is not a state variable")]
    NotAState(String),
    /// A learned constant that is not in the vocabulary, or starts outside its bounds.
    #[error("the learned constant `{name}` {reason}")]
    Constant {
        /// Its name.
        name: String,
        /// The end of the sentence.
        reason: &'static str,
    },
    /// An unknown word.
    #[error("there is no {what} `{word}`")]
    Word {
        /// The kind of word, for example `activation`.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// The network's shape is not valid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The scaling does not fit the field.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
    /// A solver with more steps than a model may ask for.
    #[error("the solver takes {steps} steps; a model may ask for {most} at most")]
    Steps {
        /// Its steps.
        steps: usize,
        /// The most.
        most: usize,
    },
    /// Lengths that do not fit.
    #[error("{what}: {found} instead of {expected}")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that it must have.
        expected: usize,
    },
    /// Names or definitions that cannot be read.
    #[error(transparent)]
    Names(LawError),
    /// Linear laws that the description does not guarantee.
    #[error("the linear laws of a vector field: {0}")]
    Linear(#[from] WrongLinear),
    /// A law that cannot be guaranteed.
    #[error("the law `{law}` cannot be guaranteed: {why}")]
    Law {
        /// Its name.
        law: String,
        /// Why, as a sentence.
        why: String,
    },
    /// A known rate that cannot be read.
    #[error("the known rate of `{variable}`: {error}")]
    Rate {
        /// The state variable.
        variable: String,
        /// Index of the rate in the list.
        rate: usize,
        /// What is wrong with it.
        error: Box<LawError>,
    },
}

impl FieldDescription {
    /// Creates a description with these state variables, without inputs and parts.
    pub fn new(state: &[String]) -> Self {
        Self {
            state: state.to_vec(),
            inputs: Vec::new(),
            constants: Vec::new(),
            definitions: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Creates a description with the names of a vocabulary, of which some constants are learned, without
    /// parts.
    pub fn of_names(vocabulary: &Vocabulary, learned: &[LearnedConstant]) -> Self {
        let constants = vocabulary.constants().iter().map(|(name, start)| {
            let learned = learned.iter().find(|constant| constant.name == *name);
            Constant {
                name: name.clone(),
                start: *start,
                learned: learned.is_some(),
                min: learned.and_then(|constant| constant.min),
                max: learned.and_then(|constant| constant.max),
                per_trajectory: false,
            }
        });
        Self {
            state: vocabulary.state().to_vec(),
            inputs: vocabulary.inputs().to_vec(),
            constants: constants.collect(),
            definitions: vocabulary.definitions().to_vec(),
            parts: Vec::new(),
        }
    }

    /// Returns the network, if there is one.
    pub fn network(&self) -> Option<&NetworkDescription> {
        self.parts.iter().find_map(|part| match part {
            FieldPart::Network(network) => Some(network),
            _ => None,
        })
    }

    /// Returns the units of the network, if they are not the data's.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.parts.iter().find_map(|part| match part {
            FieldPart::Scaling(scaling) => Some(scaling),
            FieldPart::Linear(linear) => Some(&linear.scaling),
            _ => None,
        })
    }

    /// Returns the linear laws that the field guarantees, if there are any.
    pub fn linear(&self) -> Option<&LinearDescription> {
        self.parts.iter().find_map(|part| match part {
            FieldPart::Linear(linear) => Some(linear),
            _ => None,
        })
    }

    /// Returns the shape of the network; without outputs if every rate is known.
    ///
    /// # Errors
    /// If an activation is unknown.
    pub fn shape(&self) -> Result<MlpShape, FieldError> {
        let none = NetworkDescription::new(&[], &[]);
        let network = self.network().unwrap_or(&none);
        let activations = network.activations.iter().map(|word| {
            Activation::from_name(word)
                .ok_or_else(|| FieldError::Word { what: "activation", word: word.clone() })
        });
        Ok(MlpShape {
            state: self.state.len() + network.effects.min(MOST_EFFECTS),
            outputs: network.outputs.len(),
            inputs: self.inputs.len(),
            time: network.time_input,
            hidden: network.hidden.clone(),
            activations: activations.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the number of effects of a trajectory: those that are inputs of the network, then the
    /// deviations of the constants that have one value for each trajectory.
    pub fn effect_len(&self) -> usize {
        let of_network = self.network().map_or(0, |network| network.effects);
        of_network + self.varying().count()
    }

    /// Returns the names of the constants that have one value for each trajectory, in the order of θ.
    pub fn varying(&self) -> impl Iterator<Item = &str> {
        let varying = self.constants.iter().filter(|constant| constant.per_trajectory);
        varying.map(|constant| &*constant.name)
    }

    /// Returns the learned constants, in the order of θ.
    pub fn learned(&self) -> Vec<LearnedConstant> {
        let learned = self.constants.iter().filter(|constant| constant.learned);
        let learned = learned.map(|Constant { name, start, min, max, .. }| LearnedConstant {
            name: name.clone(),
            start: *start,
            min: *min,
            max: *max,
        });
        learned.collect()
    }

    /// Returns the names that rates and laws may use; learned constants have their initial values.
    ///
    /// # Errors
    /// If a name or a definition cannot be read.
    pub fn vocabulary(&self) -> Result<Vocabulary, LawError> {
        let constants = self.constants.iter().map(|c| (c.name.clone(), c.start));
        let words = Words {
            state: self.state.clone(),
            inputs: self.inputs.clone(),
            constants: constants.collect(),
            definitions: self.definitions.clone(),
        };
        words.check()
    }

    /// Builds the vector field, at θ = 0.
    ///
    /// # Errors
    /// If a part, or the order of the parts, is not valid.
    pub fn build(&self) -> Result<Box<dyn VectorField>, FieldError> {
        let is_known = |part: &FieldPart| matches!(part, FieldPart::Known(_));
        let known = self.parts.iter().position(is_known);
        // Learned constants are parameters of the known rates.
        if let (Some(constant), None) = (self.constants.iter().find(|c| c.learned), known) {
            let reason = "needs known rates, of which it is a parameter";
            return Err(FieldError::Constant { name: constant.name.clone(), reason });
        }
        let mut field: Option<Box<dyn VectorField>> = None;
        for (n, part) in self.parts.iter().enumerate() {
            let inside = field.take();
            let word = part.word();
            // A wrapper around it would change the sums.
            if part.is_outermost() && n + 1 < self.parts.len() {
                return Err(FieldError::Order { part: word, reason: "must be the last" });
            }
            // It is given the network's outputs, and guards the states in the data's units.
            let is_linear = |part: &FieldPart| matches!(part, FieldPart::Linear(_));
            if is_linear(part) && n != 1 {
                return Err(FieldError::Order { part: word, reason: "must follow the network" });
            }
            let inner = &self.parts[..n];
            if !is_known(part) && !is_linear(part) && inner.iter().any(is_linear) {
                return Err(FieldError::Order { part: word, reason: "cannot follow `linear`" });
            }
            if is_known(part) && known != Some(n) {
                return Err(FieldError::Order { part: word, reason: "can only be there once" });
            }
            field = Some(match (part, inside) {
                (FieldPart::Network(_), Some(_)) => {
                    return Err(FieldError::Order { part: word, reason: "must be the first" });
                }
                (FieldPart::Network(network), None) => {
                    if self.linear().is_none()
                        && !self.numbers(&network.outputs)?.is_sorted_by(|a, b| a < b)
                    {
                        let reason =
                            "must have outputs for different state variables, in their order";
                        return Err(FieldError::Order { part: word, reason });
                    }
                    if network.effects > MOST_EFFECTS {
                        let (what, found) = ("effects of a network", network.effects);
                        return Err(FieldError::Length { what, found, expected: MOST_EFFECTS });
                    }
                    let mlp = Box::new(Mlp::new(self.shape()?, network.precision()?)?);
                    match network.effects {
                        0 => mlp,
                        effects => Box::new(WithEffects::new(mlp, effects)),
                    }
                }
                (FieldPart::Known(known), inside) => Box::new(self.hybrid(known, inside)?),
                (_, None) => {
                    return Err(FieldError::Order { part: word, reason: "cannot be the first" });
                }
                (FieldPart::Scaling(scaling), Some(inside)) => {
                    let scaling = self.scaling_of(scaling, inside.output_len())?;
                    Box::new(Scaled::new(inside, scaling)?)
                }
                (FieldPart::Conserving(conserving), Some(inside)) => {
                    Box::new(super::ConservingField::new(inside, &conserving.sums)?)
                }
                (FieldPart::Linear(linear), Some(inside)) => {
                    let outputs = self.network().map(|network| &*network.outputs);
                    if outputs != Some(&*linear.outputs()) {
                        let reason = "needs a network with one output for each of its flows";
                        return Err(FieldError::Order { part: word, reason });
                    }
                    Box::new(linear.around(inside, &self.state, &self.known()?)?)
                }
                (FieldPart::Nearest(linear), Some(inside)) => {
                    Box::new(linear.nearest(inside, &self.state, &self.known()?)?)
                }
                (FieldPart::Smooth(smooth), Some(inside)) => {
                    let (vocabulary, variables) = self.vocabularies()?;
                    Box::new(smooth.wrap(inside, &vocabulary, &variables, &self.known()?)?)
                }
            });
        }
        let field = field.ok_or(FieldError::Empty)?;
        let (found, expected) = (field.output_len(), self.state.len());
        if found != expected {
            return Err(FieldError::Length { what: "rates of the vector field", found, expected });
        }
        Ok(field)
    }

    /// Returns the laws that the field guarantees and that states can be moved to; none if there are no
    /// such laws.
    ///
    /// # Errors
    /// If the description of the laws is not valid.
    pub fn guaranteed(&self) -> Result<Option<GuaranteedLaws>, FieldError> {
        let nearest = self.parts.iter().find_map(|part| match part {
            FieldPart::Nearest(linear) => Some(linear),
            _ => None,
        });
        if let Some(linear) = self.linear().or(nearest) {
            return Ok(Some(GuaranteedLaws::linear(linear.on_states(&self.state)?)));
        }
        Ok(self.smooth_laws()?.map(GuaranteedLaws::smooth))
    }

    /// Returns the smooth laws that the field guarantees, to check and move states; none if there are no
    /// such laws.
    ///
    /// # Errors
    /// If the description of the laws is not valid.
    pub fn smooth_laws(&self) -> Result<Option<SmoothLaws>, FieldError> {
        let smooth = self.parts.iter().find_map(|part| match part {
            FieldPart::Smooth(smooth) => Some(smooth),
            _ => None,
        });
        let (vocabulary, variables) = self.vocabularies()?;
        smooth.map(|smooth| smooth.on_states(&vocabulary, &variables)).transpose()
    }

    /// Returns the vocabulary, and the one in which learned constants are variables behind the state.
    fn vocabularies(&self) -> Result<(Vocabulary, Vocabulary), FieldError> {
        let vocabulary = self.vocabulary().map_err(FieldError::Names)?;
        let variables = with_learned_as_variables(&vocabulary, &self.learned())?;
        Ok((vocabulary, variables))
    }

    /// Returns the indices of the state variables with known rates.
    fn known(&self) -> Result<Vec<usize>, FieldError> {
        let known = self.parts.iter().find_map(|part| match part {
            FieldPart::Known(known) => Some(&known.rates),
            _ => None,
        });
        known.into_iter().flatten().map(|(name, _)| self.number(name)).collect()
    }

    /// Returns the scaling of the inner field: all rates, or the `outputs` of a network for some of them.
    fn scaling_of(&self, scaling: &Scaling, outputs: usize) -> Result<Scaling, FieldError> {
        let (d, m) = (self.state.len(), self.inputs.len());
        for (values, expected) in [
            (&scaling.state_centre, d),
            (&scaling.state, d),
            (&scaling.rate, d),
            (&scaling.input_centre, m),
            (&scaling.input, m),
        ] {
            if values.len() != expected {
                let found = values.len();
                return Err(FieldError::Length { what: "numbers of a scaling", found, expected });
            }
        }
        let network = self.network().filter(|_| outputs < d);
        let rates = self.numbers(network.map_or(&self.state, |network| &network.outputs))?;
        let rate = rates.into_iter().map(|variable| scaling.rate[variable]).collect();
        Ok(Scaling { rate, ..scaling.clone() })
    }

    fn hybrid(
        &self,
        known: &KnownDescription,
        inside: Option<Box<dyn VectorField>>,
    ) -> Result<HybridField, FieldError> {
        let vocabulary = self.vocabulary().map_err(FieldError::Names)?;
        let mut rates = Vec::with_capacity(known.rates.len());
        for (name, text) in &known.rates {
            rates.push((self.number(name)?, text.as_str()));
        }
        let rates = KnownRates::new(&rates, self.learned(), &vocabulary)?;
        let varying: Vec<&str> = self.varying().collect();
        let field = HybridField::new(rates.varying(&varying)?);
        match inside {
            Some(network) => field.with_network(network, &self.numbers(&known.learn)?),
            None => Ok(field),
        }
    }

    /// Returns the index of a state variable.
    fn number(&self, name: &str) -> Result<usize, FieldError> {
        let found = self.state.iter().position(|known| known == name);
        found.ok_or_else(|| FieldError::NotAState(name.to_owned()))
    }

    fn numbers(&self, names: &[String]) -> Result<Vec<usize>, FieldError> {
        names.iter().map(|name| self.number(name)).collect()
    }
}

impl FieldPart {
    /// Returns whether nothing may wrap it.
    fn is_outermost(&self) -> bool {
        matches!(self, Self::Conserving(_) | Self::Nearest(_) | Self::Smooth(_))
    }

    /// Returns its word in a file.
    fn word(&self) -> &'static str {
        match self {
            Self::Network(_) => "network",
            Self::Scaling(_) => "scaling",
            Self::Known(_) => "known",
            Self::Conserving(_) => "conserving",
            Self::Linear(_) => "linear",
            Self::Nearest(_) => "nearest",
            Self::Smooth(_) => "smooth",
        }
    }
}

impl NetworkDescription {
    /// Creates a network of tanh layers with outputs for these state variables, in double precision.
    pub fn new(hidden: &[usize], outputs: &[String]) -> Self {
        Self {
            hidden: hidden.to_vec(),
            activations: vec![Activation::Tanh.name().to_owned(); hidden.len()],
            time_input: false,
            precision: Precision::Double.name().to_owned(),
            outputs: outputs.to_vec(),
            effects: 0,
        }
    }

    fn precision(&self) -> Result<Precision, FieldError> {
        let word = self.precision.clone();
        Precision::from_name(&word).ok_or(FieldError::Word { what: "precision", word })
    }
}
