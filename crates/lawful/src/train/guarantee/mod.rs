//! Which laws the form of a vector field guarantees, and why the others are left to the strategy.
//!
//! Laws with [`Enforcement::Hard`] are guaranteed or an error. Laws that the training may choose for are
//! guaranteed where their form allows, and measured only where the data contradict them. Laws are taken in this order, and
//! each must be compatible with those before it:
//!
//! 1. hard laws before the others;
//! 2. equalities that state their value, other equalities, falling quantities;
//! 3. the order in which they are written.

mod contradiction;
mod coordinates;
mod form;
mod linear;
mod projected;
mod samples;

use lawful_law::{Enforcement, Law, Relation, Vocabulary};
use lawful_ode::Scaling;

use super::{FieldSettings, TrainingError};
use crate::{Dataset, FieldDescription, FieldPart, LearnedConstant, SmoothDescription, SmoothLaw};
use form::{Form, NotGuaranteed};
use samples::{Gradients, Samples};

/// How a training keeps a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The form of the vector field guarantees it; how, as a sentence.
    Guaranteed(String),
    /// Its violations are penalised; why it is not guaranteed, as a sentence, if that was tried.
    Penalised(Option<String>),
    /// Its violations are measured only; why, as a sentence, if the training chose so.
    Monitored(Option<String>),
}

impl Kept {
    /// Returns it in words, for the law with this name; `None` if there is nothing to say.
    pub fn in_words(&self, law: &str) -> Option<String> {
        match self {
            Self::Guaranteed(how) => Some(format!("the law `{law}` is guaranteed: {how}")),
            Self::Penalised(why) => {
                Some(format!("the law `{law}` is penalised, not guaranteed: {}", why.as_ref()?))
            }
            Self::Monitored(why) => {
                Some(format!("the law `{law}` is measured only: {}", why.as_ref()?))
            }
        }
    }
}

/// The part of a vector field that guarantees laws, and how each law is kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Guarantee {
    pub(crate) part: Option<FieldPart>,
    pub(crate) kept: Vec<Kept>,
}

/// What is asked: which of these laws can be guaranteed on these data.
pub(crate) struct Question<'a> {
    /// Read in the vocabulary in which learned constants are variables.
    pub(crate) laws: &'a [Law],
    /// For each law, whether the training may choose to guarantee it.
    pub(crate) open: &'a [bool],
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) constants: &'a [LearnedConstant],
    pub(crate) field: &'a FieldSettings,
    pub(crate) data: &'a Dataset,
    /// Whether the field is that of a trained model: its network stays as it is, and what the data say of laws does
    /// not matter.
    pub(crate) is_trained: bool,
}

impl<'a> Question<'a> {
    /// The question of a training.
    pub(crate) fn new(
        (laws, open): (&'a [Law], &'a [bool]),
        vocabulary: &'a Vocabulary,
        constants: &'a [LearnedConstant],
        field: &'a FieldSettings,
        data: &'a Dataset,
    ) -> Self {
        Self { laws, open, vocabulary, constants, field, data, is_trained: false }
    }

    /// Decides for every law.
    ///
    /// # Errors
    /// If a hard law cannot be guaranteed.
    pub(crate) fn decide(&self) -> Result<Guarantee, TrainingError> {
        let mut kept: Vec<Kept> = self.laws.iter().map(without_guarantee).collect();
        let mut candidates: Vec<(usize, Result<Form, NotGuaranteed>)> = (0..self.laws.len())
            .filter(|&k| self.may_be_guaranteed(k))
            .map(|k| (k, form::of(&self.laws[k], self)))
            .collect();
        if candidates.is_empty() {
            coordinates::check(self, None)?;
            return Ok(Guarantee { part: None, kept });
        }
        candidates
            .sort_by_key(|(k, form)| (!self.is_hard(*k), form.as_ref().map_or(0, Form::rank), *k));
        let contradicted = contradiction::by_data(self);
        candidates.retain(|(k, _)| {
            let (Some(why), false) = (&contradicted[*k], self.is_hard(*k)) else { return true };
            let insist = "`strategy = \"penalty\"` or `\"hard\"` insists";
            kept[*k] = Kept::Monitored(Some(format!("{why}; {insist}")));
            false
        });
        let scaling = crate::scaling(self.data);
        let numbers: Vec<usize> = candidates.iter().map(|(k, _)| *k).collect();
        let logs = coordinates::ranges(self, &numbers)?;
        let linear = linear::choose(self, &numbers, &scaling, &logs);
        let mut chosen = Chosen::new(self, &scaling);
        let smooth: Vec<Result<String, NotGuaranteed>> = candidates
            .into_iter()
            .map(|(k, form)| {
                form.and_then(|form| chosen.add(&self.laws[k], form)).map(str::to_owned)
            })
            .collect();
        // A field has one of the two forms. Hard laws decide first; then equalities, which act everywhere, while
        // most bounds are far from the data; then the number of laws.
        let count = |laws: &[Result<String, NotGuaranteed>]| {
            let of = |counts: &dyn Fn(usize) -> bool| {
                let all = laws.iter().zip(&numbers);
                all.filter(|(law, k)| law.is_ok() && counts(**k)).count()
            };
            let is_equality = |k: usize| self.laws[k].relation() == Relation::Equality;
            (of(&|k| self.is_hard(k)), of(&is_equality), of(&|_| true))
        };
        let applies = linear.applies;
        let by_linear = linear.part.is_some() && count(&linear.laws) >= count(&smooth);
        let part = if linear.laws.iter().chain(&smooth).all(Result::is_err) {
            None
        } else if by_linear {
            linear.part
        } else {
            chosen.part()
        };
        coordinates::check(self, part.as_ref())?;
        for ((k, linear), smooth) in numbers.into_iter().zip(linear.laws).zip(smooth) {
            let (own, other) = if by_linear { (linear, smooth) } else { (smooth, linear) };
            kept[k] = match own {
                Ok(how) => Kept::Guaranteed(how),
                Err(not) => {
                    let NotGuaranteed { why, hint } = match other {
                        Ok(_) => NotGuaranteed::form(form::BESIDE.to_owned()),
                        Err(_) if !applies => not,
                        // The reason of the form that the law is nearer to.
                        Err(other) => form::nearer(&self.laws[k], by_linear, not, other),
                    };
                    if self.is_hard(k) {
                        let law = self.laws[k].name().to_owned();
                        return Err(TrainingError::Law { law, reason: why, hint });
                    }
                    Kept::Penalised(Some(why))
                }
            };
        }
        Ok(Guarantee { part, kept })
    }

    fn is_hard(&self, k: usize) -> bool {
        self.laws[k].enforcement() == Enforcement::Hard
    }

    fn may_be_guaranteed(&self, k: usize) -> bool {
        self.is_hard(k) || self.open[k] && self.laws[k].enforcement() == Enforcement::Penalty
    }

    /// Returns the indices of the state variables with known rates.
    fn known(&self) -> Vec<usize> {
        let state = self.vocabulary.state();
        let find = |(name, _): &(String, String)| state.iter().position(|known| known == name);
        self.field.known.iter().filter_map(find).collect()
    }
}

fn without_guarantee(law: &Law) -> Kept {
    match law.enforcement() {
        Enforcement::Monitor => Kept::Monitored(None),
        Enforcement::Penalty | Enforcement::Hard => Kept::Penalised(None),
    }
}

/// The laws that are guaranteed together.
struct Chosen<'a> {
    question: &'a Question<'a>,
    scaling: &'a Scaling,
    samples: Samples,
    equalities: Vec<SmoothLaw>,
    /// Whether each equality states its value.
    stated: Vec<bool>,
    moves_with_time: bool,
    falling: Option<SmoothLaw>,
    gradients: Gradients,
}

/// Violations up to this, in sizes of a law, come from rounding.
const ROUNDING: f64 = 1e-9;

/// Share of the usual softness of a falling quantity. A true one often falls by 0 somewhere, such as the energy
/// of an oscillator where it turns; there the rate is off by half the softness.
const SOFTNESS: f64 = 1e-2;

impl<'a> Chosen<'a> {
    fn new(question: &'a Question<'a>, scaling: &'a Scaling) -> Self {
        Self {
            question,
            scaling,
            samples: Samples::new(question.data, question.constants, scaling),
            equalities: Vec::new(),
            stated: Vec::new(),
            moves_with_time: false,
            falling: None,
            gradients: Gradients::default(),
        }
    }

    /// Adds a law, and returns how it is guaranteed.
    fn add(&mut self, law: &Law, form: Form) -> Result<&'static str, NotGuaranteed> {
        let rows = self.samples.gradients(form.quantity());
        let size = rows.size();
        let independent = self.gradients.are_independent_of(&rows);
        let smooth = || SmoothLaw {
            name: law.name().to_owned(),
            holds: law.text().to_owned(),
            size: if size > 0.0 && size.is_finite() { size } else { 1.0 },
        };
        match form {
            Form::Equality(conserved) => {
                let independent = independent.map_err(|place| {
                    let at = self.samples.place(place);
                    NotGuaranteed::form(format!(
                        "its gradient vanishes, or depends on those of other guaranteed laws, {at}"
                    ))
                })?;
                if !independent {
                    return self.follows(law, &conserved);
                }
                let (law, stated) = (smooth(), conserved.is_zero);
                self.moves_with_time |= conserved.quantity.depends_on_time();
                self.gradients.add(rows);
                self.equalities.push(law);
                self.stated.push(stated);
                Ok(form::EQUALITY)
            }
            Form::Falling(_) => {
                // Where its gradient vanishes it does not change, which is fine.
                if !self.equalities.is_empty() && matches!(independent, Ok(false)) {
                    return Ok(form::FOLLOWS);
                }
                if self.moves_with_time {
                    return Err(NotGuaranteed::form(
                        "a guaranteed law moves with time, and its quantity would have to rise there"
                            .to_owned(),
                    ));
                }
                if let Some(other) = &self.falling {
                    return Err(NotGuaranteed::form(format!(
                        "one falling quantity can be guaranteed, and that of `{}` is",
                        other.name
                    )));
                }
                self.falling = Some(smooth());
                Ok(form::FALLING)
            }
        }
    }

    /// Checks that an equality whose gradient depends on those of the guaranteed laws follows from them.
    fn follows(
        &self,
        law: &Law,
        conserved: &lawful_law::Conserved,
    ) -> Result<&'static str, NotGuaranteed> {
        if !conserved.is_zero {
            return Ok(form::FOLLOWS);
        }
        let names = || {
            let names = self.equalities.iter().map(|law| format!("`{}`", law.name));
            names.collect::<Vec<_>>().join(", ")
        };
        if self.stated.contains(&false) {
            return Err(NotGuaranteed::new(
                format!("it states the value of what {} keeps at its initial value", names()),
                "leave out the other law, which follows from this one",
            ));
        }
        let Question { vocabulary, constants, .. } = self.question;
        let field = FieldDescription {
            parts: self.part().into_iter().collect(),
            ..FieldDescription::of_names(vocabulary, constants)
        };
        let laws = field.guaranteed().ok().flatten();
        let off =
            laws.map_or(f64::NAN, |mut laws| self.samples.farthest(&conserved.quantity, &mut laws));
        let size = self.samples.gradients(&conserved.quantity).size().max(f64::MIN_POSITIVE);
        if off / size <= ROUNDING {
            return Ok(form::FOLLOWS);
        }
        Err(NotGuaranteed::new(
            format!(
                "it contradicts {}: where that holds, `{}` is off by {}",
                names(),
                law.text(),
                crate::short(off)
            ),
            "correct one of the laws, or leave it out",
        ))
    }

    /// The part of the vector field that guarantees the chosen laws.
    fn part(&self) -> Option<FieldPart> {
        if self.equalities.is_empty() && self.falling.is_none() {
            return None;
        }
        let Scaling { state, rate, .. } = self.scaling;
        // The shortest time in which a state changes by its standard deviation.
        let times = state.iter().zip(rate).map(|(state, rate)| state / rate);
        let time_scale = times.filter(|time| *time > 0.0).fold(f64::INFINITY, f64::min);
        let time_scale = if time_scale.is_finite() { time_scale } else { self.scaling.time };
        Some(FieldPart::Smooth(SmoothDescription {
            scale: state.clone(),
            equalities: self.equalities.clone(),
            falling: self.falling.clone(),
            softness: SOFTNESS * SmoothDescription::softness_of(time_scale),
        }))
    }
}
