//! Sums, bounds and directions that the form of a field guarantees.

use lawful_law::Law;
use lawful_ode::Scaling;

use super::Question;
use super::form::NotGuaranteed;
use crate::{Coverage, FieldPart, Guaranteed, LinearDescription, LinearForm, LinearTask, LogRange};

/// The part, and how it guarantees each of some laws.
pub(super) struct Linear {
    pub(super) part: Option<FieldPart>,
    /// Whether the field could have the form for other laws.
    pub(super) applies: bool,
    pub(super) laws: Vec<Result<String, NotGuaranteed>>,
}

/// Finds the form for the laws with these numbers.
pub(super) fn choose(
    question: &Question,
    numbers: &[usize],
    scaling: &Scaling,
    logs: &[Option<LogRange>],
) -> Linear {
    let (state, known) = (question.vocabulary.state(), question.known());
    // A network beside a known rate of the same state is added to it, and would break the laws.
    let learned: Vec<&String> = state
        .iter()
        .enumerate()
        .filter(|(i, _)| !known.contains(i))
        .map(|(_, name)| name)
        .collect();
    let is_network = !learned.is_empty() && question.field.learn.iter().eq(learned);
    if !question.is_trained && !is_network {
        let why = "the network is added to known rates, which are never altered";
        let laws = numbers.iter().map(|_| Err(NotGuaranteed::form(why.to_owned())));
        return Linear { part: None, applies: false, laws: laws.collect() };
    }
    let laws: Vec<Law> = numbers.iter().map(|&k| question.laws[k].clone()).collect();
    let task = LinearTask { state, known: &known, laws: &laws, scaling, logs };
    let form = LinearForm::choose(&task);
    if form.description.outputs().is_empty() {
        let why = "with the other laws it would leave nothing that may change";
        let hint = "correct one of the laws, or leave it out";
        let laws = numbers.iter().map(|_| Err(NotGuaranteed::new(why.to_owned(), hint)));
        return Linear { part: None, applies: true, laws: laws.collect() };
    }
    let said = form.laws.iter().map(|coverage| match coverage {
        Coverage::Covered(Guaranteed::Flows | Guaranteed::Inwards | Guaranteed::Sign)
            if question.is_trained =>
        {
            Ok("by the nearest rate that obeys it, and steps that stay within it".to_owned())
        }
        Coverage::Covered(how) => Ok(format!("by {how}")),
        Coverage::NotCovered(why) => Err(NotGuaranteed::form(why.to_string())),
        Coverage::Contradicts(others) => {
            let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
            let why = format!("no state obeys it together with {}", others.join(", "));
            Err(NotGuaranteed::new(why, "correct one of the laws, or leave it out"))
        }
    });
    let laws = said.collect();
    let part = if question.is_trained {
        FieldPart::Nearest(LinearDescription { flows: Vec::new(), ..form.description })
    } else {
        FieldPart::Linear(form.description)
    };
    Linear { part: Some(part), applies: true, laws }
}
