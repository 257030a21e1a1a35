//! Strategies side by side: an axis whose levels replace `[strategy]`.
//!
//! A level writes `kind = "WORD"` with the defaults of that strategy. Of the experiment's own
//! `[strategy]`, `between` and `margin` are kept where the strategy has them. The `strategy` of a law stays
//! as it is written, and so does that of a phase, unless every phase has one.

use std::path::Path;

use toml::{Table, Value};

use super::Options;
use super::axes::{Axis, Level};
use crate::config::strategy::{word_has_key, words};
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::phrases::meant;
use crate::runner::changes;

/// The name of the axis.
pub(super) const AXIS: &str = "strategy";

/// The word for every strategy.
const ALL: &str = "all";

/// Keys of `[strategy]` that are kept.
const KEPT: [&str; 2] = ["between", "margin"];

/// Most seeds: the rank tests count all ways to part the ranks.
const MOST_SEEDS: u64 = 100;

/// A strategy that an experiment cannot be trained with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The experiment's name.
    pub experiment: String,
    /// The level of each other axis.
    pub levels: Vec<String>,
    /// The word of the strategy.
    pub strategy: String,
    /// Why.
    pub reason: String,
}

/// Adds the axis of strategies as the last.
pub(super) fn add_axis(axes: &mut Vec<Axis>, options: &Options) -> Result<(), Diagnostic> {
    if options.seeds > MOST_SEEDS {
        let message = format!(
            "strategies are compared with {MOST_SEEDS} seeds at most, not {}",
            options.seeds
        );
        return Err(Diagnostic::new(message).with_hint(format!("write `--seeds {MOST_SEEDS}`")));
    }
    if axes.iter().any(|axis| axis.name == AXIS) {
        let message = format!("the axes have one called `{AXIS}` already");
        return Err(Diagnostic::new(message).with_hint("rename it, or leave `--strategies` out"));
    }
    let level = |word| Level {
        name: str::to_owned(word),
        set: Table::new(),
        of_experiments: Table::new(),
        quick: false,
        strategy: Some(word),
    };
    let levels = chosen(&options.strategies)?.into_iter().map(level).collect();
    axes.push(Axis { name: AXIS.to_owned(), levels });
    Ok(())
}

/// Returns the words that were asked for, each once.
fn chosen(asked: &[String]) -> Result<Vec<&'static str>, Diagnostic> {
    let known = words();
    let mut chosen: Vec<&'static str> = Vec::new();
    for word in asked {
        let found: Vec<&'static str> =
            known.iter().copied().filter(|known| word == ALL || known == word).collect();
        if found.is_empty() {
            let all = [ALL].into_iter().chain(known.iter().copied());
            return Err(Diagnostic::new(format!("unknown strategy `{word}`")).with_hint(meant(
                word,
                all,
                "the strategies are",
            )));
        }
        let new: Vec<_> = found.into_iter().filter(|word| !chosen.contains(word)).collect();
        chosen.extend(new);
    }
    Ok(chosen)
}

/// Checks that strategies can be compared with an experiment; `names` are those before it.
pub(super) fn check_file(
    path: &Path,
    experiment: &Experiment,
    names: &[String],
) -> Result<(), Diagnostic> {
    let (path, name) = (path.display(), &experiment.name);
    if experiment.training.laws.is_empty() {
        let message = format!("`{path}` has no law: its strategies would not differ");
        return Err(Diagnostic::new(message).with_hint("add a `[[law]]`, or leave the file out"));
    }
    if names.contains(name) {
        let message = format!("`{path}` is called `{name}`, as an experiment before it");
        return Err(Diagnostic::new(message).with_hint("give one of them another `name`"));
    }
    Ok(())
}

/// Returns the error of an experiment that none of the strategies can be trained with: why not the first.
pub(super) fn nothing_left(path: &str, strategy: &str, error: Diagnostic) -> Diagnostic {
    let message = format!("`{strategy}` cannot be trained with `{path}`: {}", error.message);
    // The place would be in the changed file, which nobody has written.
    let hint = error.hint.unwrap_or_else(|| format!("name other strategies, or `{ALL}`"));
    Diagnostic::new(message).with_hint(hint)
}

/// Replaces the strategy of an experiment.
pub(super) fn replace(table: &mut Table, word: &str) {
    let mut strategy = changes::single("kind", word);
    if let Some(Value::Table(old)) = table.get(AXIS) {
        for key in KEPT.into_iter().filter(|key| word_has_key(word, key)) {
            if let Some(value) = old.get(key) {
                strategy.insert(key.to_owned(), value.clone());
            }
        }
    }
    table.insert(AXIS.to_owned(), strategy.into());
    let training = table.get_mut("training").and_then(Value::as_table_mut);
    let phases = training.and_then(|training| training.get_mut("phase")?.as_array_mut());
    let Some(phases) = phases else { return };
    let has_own = |phase: &Value| phase.as_table().is_some_and(|phase| phase.contains_key(AXIS));
    // Otherwise the strategies would have no effect.
    if phases.iter().all(has_own) {
        for phase in phases.iter_mut().filter_map(Value::as_table_mut) {
            phase.remove(AXIS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, word: &str) -> Table {
        let mut table = changes::parse("a", text).unwrap();
        replace(&mut table, word);
        table
    }

    #[test]
    fn a_strategy_is_replaced_and_keeps_what_all_have() {
        let text =
            "[strategy]\nkind = \"l1\"\nmu = 5\nbetween = 3\nmargin = 0.1\nbest-point = true\n";
        for (word, kept) in [
            ("filter", "between = 3\nmargin = 0.1\n"),
            ("l1", "between = 3\nmargin = 0.1\n"),
            ("vanilla", ""),
            ("auto", ""),
        ] {
            let expected = format!("[strategy]\nkind = \"{word}\"\n{kept}");
            assert_eq!(replaced(text, word), changes::parse("b", &expected).unwrap(), "{word}");
        }
        assert_eq!(replaced("", "l2"), changes::parse("b", "strategy.kind = \"l2\"").unwrap());
    }

    #[test]
    fn phases_lose_their_strategy_only_if_all_have_one() {
        let phases = |first: &str, second: &str| {
            format!("[training]\nphase = [{{ a = 1{first} }}, {{ a = 2{second} }}]\n")
        };
        let own = ", strategy = { kind = \"vanilla\" }";
        let with = |text: &str| format!("strategy.kind = \"l2\"\n{text}");
        for (before, after) in [
            (phases(own, ""), phases(own, "")),
            (phases(own, own), phases("", "")),
            (phases("", ""), phases("", "")),
        ] {
            assert_eq!(replaced(&before, "l2"), changes::parse("b", &with(&after)).unwrap());
        }
    }

    #[test]
    fn all_are_the_words_of_the_file_and_each_counts_once() {
        let chosen =
            |words: &[&str]| chosen(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(chosen(&["all"]).unwrap(), words());
        assert_eq!(chosen(&["l2", "auto", "l2"]).unwrap(), ["l2", "auto"]);
        let hint = chosen(&["filtr"]).unwrap_err().to_string();
        assert!(hint.contains("did you mean `filter`?"), "{hint}");
        let hint = chosen(&["gradient-descent"]).unwrap_err().to_string();
        assert!(hint.contains("`all`, `auto`, `vanilla`, "), "{hint}");
    }
}
