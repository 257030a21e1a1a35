//! Settings: those of the equations of the paper, or of the authors' scripts.

use toml::{Table, Value};

use super::system::System;
use super::variant::{Kind, Variant};
use lawful_experiment::Diagnostic;
use lawful_experiment::runner::changes;

/// Which settings are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// The paper's equations.
    #[default]
    Paper,
    /// The authors' public scripts, where they differ.
    Script,
}

/// How a script reports violations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptMeasure {
    /// Sum over the script's laws of the mean violation.
    Mean,
    /// Sum over the script's laws of the absolute value of the mean residual.
    SignedMean,
}

impl Preset {
    /// Returns its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Script => "script",
        }
    }

    /// Returns the experiment file of a system with the strategy of a variant.
    pub fn table(self, system: System, variant: Variant) -> Result<Table, Diagnostic> {
        let mut table = system.table()?;
        table.insert("strategy".to_owned(), variant.table().into());
        if self == Self::Script {
            let mut script = script(system)?;
            script.remove("report");
            let own = script.remove("self-adaptive");
            changes::set(&mut table, &script);
            if let (Kind::SelfAdaptive, Some(Value::Table(own))) = (variant.kind, own) {
                changes::set(&mut table, &Table::from_iter([("strategy".to_owned(), own.into())]));
            }
        }
        Ok(table)
    }
}

/// Returns the changes that a script makes to the experiment file.
fn script(system: System) -> Result<Table, Diagnostic> {
    let text = match system {
        System::Population => include_str!("../experiments/script/population.toml"),
        System::Reaction => include_str!("../experiments/script/reaction.toml"),
        System::Oscillator => include_str!("../experiments/script/oscillator.toml"),
    };
    changes::parse(&format!("script/{}.toml", system.name()), text)
}

/// Returns the system's experiment file with the laws of its script, and how the script reports their
/// violation; `None` where it reports the same as `lawful`.
pub fn script_measure(system: System) -> Result<Option<(Table, ScriptMeasure)>, Diagnostic> {
    let script = script(system)?;
    let Some(Value::Table(report)) = script.get("report") else { return Ok(None) };
    let measure = match report.get("violation").and_then(Value::as_str) {
        Some("signed-mean") => ScriptMeasure::SignedMean,
        _ => ScriptMeasure::Mean,
    };
    let mut table = system.table()?;
    if let Some(laws) = script.get("law") {
        table.insert("law".to_owned(), laws.clone());
    }
    Ok(Some((table, measure)))
}
