//! A trained model whose field is wrapped by a guarantee of its laws.

use lawful_law::{Enforcement, Law};

use super::{FieldSettings, Guarantee, Kept, Question};
use crate::{Dataset, FieldError, FieldPart, LawDescription, Model};

/// Why a law is not added to those of a field.
const HAS_OTHERS: &str =
    "the field of the model guarantees other laws already, and no more are added";

impl Model {
    /// Returns the model with a field whose rate and steps obey its laws, where their form allows, and how
    /// each law is kept: sums, bounds and directions by the nearest rate within them, energies and other nonlinear laws by a
    /// projection, and of both kinds one, as in a training. A model whose field guarantees laws already is returned as it is.
    ///
    /// Sizes of states and laws are those on `data`. Laws that are only monitored stay so.
    ///
    /// # Errors
    /// If the data have other variables than the model.
    pub fn projected(self, data: &Dataset) -> Result<(Self, Vec<Kept>), FieldError> {
        let description = self.description().clone();
        let guards = |part: &FieldPart| {
            matches!(part, FieldPart::Smooth(_) | FieldPart::Linear(_) | FieldPart::Nearest(_))
        };
        if description.field.parts.iter().any(guards) {
            let kept = self.laws().iter().map(|law| match law.enforcement() {
                Enforcement::Hard => Kept::Guaranteed("by the field of the model".to_owned()),
                Enforcement::Penalty => Kept::Penalised(Some(HAS_OTHERS.to_owned())),
                Enforcement::Monitor => Kept::Monitored(None),
            });
            let kept = kept.collect();
            return Ok((self, kept));
        }
        if data.state() != self.state() {
            let (found, expected) = (data.state().len(), self.state().len());
            return Err(FieldError::Length {
                what: "state variables of the data",
                found,
                expected,
            });
        }
        let penalised = |law: &Law| match law.enforcement() {
            Enforcement::Monitor => law.clone(),
            Enforcement::Hard | Enforcement::Penalty => law.clone().enforced(Enforcement::Penalty),
        };
        let laws: Vec<Law> = self.laws().iter().map(penalised).collect();
        let vocabulary = description.field.vocabulary().map_err(FieldError::Names)?;
        let constants = description.field.learned();
        let known = description.field.parts.iter().find_map(|part| match part {
            FieldPart::Known(known) => Some(known.rates.clone()),
            _ => None,
        });
        // The network stays as it is, so that nothing is to be learned.
        let field = FieldSettings { known: known.unwrap_or_default(), ..FieldSettings::new(&[]) };
        let open = vec![true; laws.len()];
        let question = Question {
            is_trained: true,
            ..Question::new((&laws, &open), &vocabulary, &constants, &field, data)
        };
        // No law is hard, so that none is an error.
        let Ok(Guarantee { part, kept }) = question.decide() else { return Ok((self, Vec::new())) };
        if part.is_none() {
            return Ok((self, kept));
        }
        let mut description = description;
        description.field.parts.retain(|part| !matches!(part, FieldPart::Conserving(_)));
        description.field.parts.extend(part);
        description.laws = laws
            .iter()
            .zip(&kept)
            .map(|(law, kept)| {
                let enforcement = match kept {
                    Kept::Guaranteed(_) => Enforcement::Hard,
                    Kept::Penalised(_) | Kept::Monitored(_) => law.enforcement(),
                };
                LawDescription::of(&law.clone().enforced(enforcement))
            })
            .collect();
        Ok((self.described(description)?, kept))
    }
}
