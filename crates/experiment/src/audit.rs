//! The audit of an experiment's laws on its data, as a text and as JSON.

use std::fmt::Write as _;

use lawful::{Audit, Contradiction, Evidence, Finding, Kept, short};
use serde_json::{Value, json};

use crate::experiment::{Experiment, in_a_line};

/// Audits the laws of an experiment on its training data, without a model.
pub fn audit(experiment: &Experiment) -> Audit {
    let training = &experiment.training;
    Audit::new(&training.data, &training.laws, &training.constants)
}

/// Returns the contradictions, each once, with what to do about it.
pub fn contradictions(audit: &Audit) -> Vec<(String, String)> {
    let first = |k: &usize| {
        let contradiction = audit.contradicts(*k);
        contradiction.is_some_and(|found| found.with.iter().all(|other| other > k))
    };
    let words = |k: usize| Some((in_a_line(&audit.describe(k)?), audit.hint(k)?));
    (0..audit.laws.len()).filter(first).filter_map(words).collect()
}

/// A law that the data contradict by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FalseLaw {
    /// The law's name.
    pub law: String,
    /// The evidence, as a sentence.
    pub why: String,
}

/// Returns the laws that the data contradict, each by itself: by the audit, or as the training found before it
/// left them out.
pub(crate) fn false_laws(experiment: &Experiment) -> Vec<FalseLaw> {
    let audit = audit(experiment);
    let why = |k: usize| match &experiment.training.kept[k] {
        Kept::Monitored(Some(why)) => Some(why.clone()),
        _ => audit
            .contradicts(k)
            .filter(|found| found.with.is_empty())
            .and_then(|_| audit.describe(k)),
    };
    let names = experiment.law_names().into_iter().enumerate();
    names.filter_map(|(k, law)| Some(FalseLaw { law, why: in_a_line(&why(k)?) })).collect()
}

/// Returns a line for each law, in the form of a summary.
pub(crate) fn lines(audit: &Audit) -> String {
    let mut text = String::new();
    for law in &audit.laws {
        let found = match &law.finding {
            Finding::Agrees { misfit, .. } if *misfit <= 0.0 => "agrees with the data".to_owned(),
            Finding::Agrees { misfit, noise } => {
                format!("agrees with the data ({})", sizes(*misfit, *noise))
            }
            Finding::Contradicted(contradiction) => contradicted(audit, contradiction),
            Finding::NotAudited { reason } => format!("not audited: {reason}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "audit       {}: {found}", in_a_line(&law.name));
    }
    text
}

fn contradicted(audit: &Audit, Contradiction { with, evidence }: &Contradiction) -> String {
    let what = match with[..] {
        [] => "contradicts the data".to_owned(),
        ref with => {
            let names = with.iter().map(|&k| format!("`{}`", in_a_line(&audit.laws[k].name)));
            format!("contradicts {} on these data", names.collect::<Vec<_>>().join(", "))
        }
    };
    let size = match evidence {
        Evidence::Misfit { misfit, noise, .. } => sizes(*misfit, *noise),
        Evidence::Impossible => "no states obey".to_owned(),
        Evidence::Mean { residual, error } => {
            format!("mean residual {}, standard error {}", short(*residual), short(*error))
        }
        Evidence::Trend { change, error } => {
            format!("trend of the residual {}, standard error {}", short(*change), short(*error))
        }
    };
    format!("{what} ({size})")
}

fn sizes(misfit: f64, noise: f64) -> String {
    format!("misfit {}, noise up to {} standard deviations", short(misfit), short(noise))
}

/// Returns the audit of a law as data.
pub(crate) fn law_json(audit: &Audit, k: usize) -> Value {
    let finding = &audit.laws[k].finding;
    let mut value = json!({ "finding": finding.word() });
    match finding {
        Finding::Agrees { misfit, noise } => {
            (value["misfit"], value["noise"]) = (json!(misfit), json!(noise));
        }
        Finding::NotAudited { reason } => value["reason"] = json!(reason),
        Finding::Contradicted(Contradiction { with, evidence }) => {
            let names = with.iter().map(|&k| in_a_line(&audit.laws[k].name));
            value["with"] = json!(names.collect::<Vec<_>>());
            value["evidence"] = evidence_json(audit, evidence);
            value["message"] = json!(audit.describe(k).map(|text| in_a_line(&text)));
            value["hint"] = json!(audit.hint(k));
        }
    }
    value
}

fn evidence_json(audit: &Audit, evidence: &Evidence) -> Value {
    match evidence {
        Evidence::Impossible => json!({ "kind": "impossible" }),
        Evidence::Mean { residual, error } => {
            json!({ "kind": "mean", "residual": residual, "error": error })
        }
        Evidence::Trend { change, error } => {
            json!({ "kind": "trend", "change": change, "error": error })
        }
        Evidence::Misfit { misfit, noise, place } => json!({
            "kind": "misfit",
            "misfit": misfit,
            "noise": noise,
            "place": place.as_ref().map(|place| json!({
                "trajectory": place.trajectory,
                "time": place.time,
                "variable": audit.state[place.variable],
                "measured": place.measured,
                "nearest": place.nearest,
            })),
        }),
    }
}
