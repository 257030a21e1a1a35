//! `[strategy]`: how violations of the laws enter the objective.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `kind` | `"auto"` with a recipe other than `"paper"`, unless another key is given; otherwise `"self-adaptive"` | `"auto"`, [`StrategyKind::NAMES`] | the strategy; `"auto"` chooses for each law |
//! | `margin` | 1e-6 if violations are squared, otherwise 0 | ≥ 0 | margin that training adds to inequalities, in units of the law's size on the data; not for `vanilla` |
//! | `between` | 0 | 0 to 100 | laws count at this many equally spaced points inside each interval between rows, too (3: at ¼, ½ and ¾), as far as this does not change their meaning, see [`LawPoints`](lawful::LawPoints); then, or with a `horizon`, also at the times of test sets after the rows; not for `vanilla` |
//! | `tolerance` | 1e-4 | ≥ 0 | total violation up to which a point is feasible; for other strategies than `self-adaptive` only with `best-point` |
//! | `best-point` | `false` | `true`, `false` | whether training returns to the best point after every worse one |
//! | `gradient-at` | `"trial"` | `"trial"`, `"best"` | with `best-point`: the step after a rejection uses the gradient at the rejected point, or at the best one |
//! | `backtrack` | `false` | `true`, `false` | with `best-point`: whether the step is halved after 20 rejections in a row |
//!
//! `kind = "auto"` guarantees each law without a `strategy` of its own by the form of the vector field, where
//! that is possible; a law that the data contradict is measured only; the others are enforced by
//! `augmented-lagrangian`, or by `self-adaptive` where batches of windows leave no multipliers. It says which
//! and why, and has no other keys; the completed file names what was chosen.
//!
//! Each strategy has keys of its own ([`StrategyKind::keys`]). `l1` and `l2` have `mu`, the weight of
//! violations: one number, or a list with one per `[[law]]`. `self-adaptive` has the fields of
//! [`SelfAdaptive`](lawful::strategy::SelfAdaptive): `tolerance`, `count-above`, `normalise`,
//! `weigh-by`, `weight-every`, `residual`, `penalty` and `penalise`. `augmented-lagrangian` has `rho`,
//! `rho-growth`, `rho-max` and `round`, see
//! [`AugmentedLagrangian`](lawful::strategy::AugmentedLagrangian); and [`Dynamic`], [`Lemonge`],
//! [`TwoStage`], [`Filter`], [`NuPi`], [`Barrier`] and [`Balanced`] name theirs.
//!
//! [`Dynamic`]: lawful::strategy::Dynamic
//! [`Lemonge`]: lawful::strategy::Lemonge
//! [`TwoStage`]: lawful::strategy::TwoStage
//! [`Filter`]: lawful::strategy::Filter
//! [`NuPi`]: lawful::strategy::NuPi
//! [`Barrier`]: lawful::strategy::Barrier
//! [`Balanced`]: lawful::strategy::Balanced
//!
//! The defaults of `self-adaptive` are the paper's equations. If a recipe other than `"paper"` selects
//! the phases, the default is the smooth form that L-BFGS needs, `penalty = "squared"` with
//! `penalise = "always"`, unless `best-point = true` or a key of the paper's form (`tolerance`,
//! `count-above`, `weigh-by`, `weight-every`, `residual`) is given. A key without effect is an error.

use lawful::strategy::{StrategyKind, StrategySettings};
use lawful::{GradientAt, Relation, Restore};

use super::complete::{self, Table};
use super::laws::WrittenLaw;
use super::section::Section;
use super::settings;
use super::value::{Mark, NOT_NEGATIVE, Value};
use crate::diagnostic::Diagnostic;

/// The keys that do not belong to one strategy.
pub(crate) const KEYS: &[&str] =
    &["kind", "margin", "between", "tolerance", "best-point", "gradient-at", "backtrack"];

/// More strategies than this are listed by their words alone.
const MANY: usize = 3;

/// All keys of this section.
pub(crate) fn keys() -> Vec<&'static str> {
    let mut keys = KEYS.to_vec();
    for kind in StrategyKind::all() {
        keys.extend(kind.keys().iter().map(|key| key.name));
    }
    let all = keys.clone();
    let mut n = 0;
    keys.retain(|key| {
        n += 1;
        !all[..n - 1].contains(key)
    });
    keys
}

/// All words of `kind` in `[strategy]`.
pub(crate) fn words() -> Vec<&'static str> {
    [AUTO].into_iter().chain(StrategyKind::NAMES.iter().map(|&(word, _)| word)).collect()
}

/// Returns whether the strategy of a word takes a key.
pub(crate) fn word_has_key(word: &str, key: &str) -> bool {
    StrategyKind::from_name(word).is_some_and(|kind| has_key(&kind, key))
}

/// The strategy, and the places of `kind`, and of `best-point` if it is on.
pub(crate) struct Written<'s> {
    /// `None` if the training chooses it: `kind = "auto"`.
    pub(crate) strategy: Option<StrategySettings>,
    pub(crate) kind: Option<Mark<'s>>,
    pub(crate) best_point: Option<Mark<'s>>,
}

/// Where a strategy is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In `[strategy]`, beside a recipe that works best with a smooth objective.
    SmoothRecipe,
    /// In `[strategy]`, beside phases that are written out.
    Listed,
    /// In `[strategy]`, beside the recipe `paper`.
    Paper,
    /// In a phase, where each law is enforced as in the whole training.
    Phase,
}

/// The word by which the training chooses for each law how it is enforced.
const AUTO: &str = "auto";

/// Reads the section.
pub(crate) fn read<'s>(
    mut section: Section<'s>,
    laws: &[WrittenLaw],
    place: Place,
) -> Result<Written<'s>, Diagnostic> {
    let mut words: Vec<_> = words().into_iter().map(|word| (word, word)).collect();
    words.retain(|(word, _)| place != Place::Phase || *word != AUTO);
    let default = StrategyKind::default();
    let kind_mark = section.peek("kind");
    let word = match section.take("kind") {
        Some(value) => value.word("strategy", &words)?,
        None if place == Place::SmoothRecipe && !has_keys(&section, &default) => AUTO,
        None => default.name(),
    };
    if word == AUTO {
        refuse_keys_of_auto(&mut section)?;
        return Ok(Written { strategy: None, kind: kind_mark, best_point: None });
    }
    let smooth = place == Place::SmoothRecipe;
    let mut kind = StrategyKind::from_name(word).unwrap_or(default);
    refuse_foreign_keys(&mut section, &kind)?;
    let (best_point, mark) = best_point(&mut section, &kind)?;
    let keys = kind.keys();
    let written: Vec<(&str, Mark)> =
        keys.iter().filter_map(|key| Some((key.name, section.peek(key.name)?))).collect();
    if smooth && best_point.is_none() {
        let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
        kind = kind.smooth_form(&names).unwrap_or(kind);
    }
    for key in &keys {
        if let Some(value) = section.take(key.name) {
            let setting = settings::read(value, key, kind.get(key.name).as_ref(), laws)?;
            assert!(kind.set(key.name, setting), "`{}` is read as what it may be", key.name);
        }
    }
    let relations = relations(laws);
    for (key, mark) in &written {
        if let Some((because, hint)) = without_effect(&kind, key, &relations, best_point.is_some())
        {
            let error = mark.error(format!("`{key}` has no effect {because}"));
            return Err(error.with_hint(hint));
        }
    }
    let mut strategy = StrategySettings { best_point, ..StrategySettings::new(kind) };
    if let Some(value) = section.take("margin") {
        strategy.margin = value.number(NOT_NEGATIVE, "1e-6")?;
    }
    if let Some(value) = section.take("between") {
        let points = value.whole(0..=StrategySettings::MOST_BETWEEN as u64, "3")?;
        strategy.between = usize::try_from(points).unwrap_or(usize::MAX);
        if points > 0 && laws.is_empty() {
            let error = value.error("`between` has no effect: there is no law");
            return Err(error.with_hint("leave it out, or add a [[law]]"));
        }
    }
    if let Some(value) = section.take("tolerance") {
        if best_point.is_none() {
            let name = strategy.kind.name();
            return Err(value
                .error(format!(
                    "`tolerance` has no effect for `{name}` without `best-point = true`"
                ))
                .with_hint("leave it out, or add `best-point = true`"));
        }
        strategy.tolerance = value.number(NOT_NEGATIVE, "1e-4")?;
    }
    Ok(Written { strategy: Some(strategy), kind: kind_mark, best_point: mark })
}

/// Returns whether a key of this strategy is given, or one for the best point.
fn has_keys(section: &Section, kind: &StrategyKind) -> bool {
    let own = kind.keys().into_iter().map(|key| key.name);
    own.chain(KEYS.iter().copied().filter(|key| *key != "kind")).any(|key| section.has(key))
}

/// Returns an error for a key beside `kind = "auto"`, which would have no effect.
fn refuse_keys_of_auto(section: &mut Section) -> Result<(), Diagnostic> {
    for key in keys() {
        let Some(value) = section.take(key) else { continue };
        let kinds: Vec<String> = (StrategyKind::all().iter())
            .filter(|kind| has_key(kind, key))
            .map(|kind| format!("`kind = \"{}\"`", kind.name()))
            .collect();
        let hint = match kinds[..] {
            [] => "leave it out, or name a strategy: `kind = \"self-adaptive\"`".to_owned(),
            _ => format!("leave it out, or write {}", kinds.join(" or ")),
        };
        return Err(value
            .error(format!("the strategy `{AUTO}` has no key `{key}`"))
            .with_hint(hint));
    }
    Ok(())
}

/// Returns whether a strategy has a key, its own or one of all that enforce laws.
fn has_key(kind: &StrategyKind, key: &str) -> bool {
    kind.keys().iter().any(|known| known.name == key)
        || (["margin", "between", "tolerance"].contains(&key) && kind.enforces())
}

/// Returns the relation of each part of each law.
fn relations(laws: &[WrittenLaw]) -> Vec<Relation> {
    laws.iter().flat_map(|law| &law.parts).map(lawful::Law::relation).collect()
}

/// Returns why a key has no effect, or `None`; with the best point the tolerance always has one.
fn without_effect(
    kind: &StrategyKind,
    key: &str,
    laws: &[Relation],
    best_point: bool,
) -> Option<(&'static str, &'static str)> {
    kind.without_effect(key, laws).filter(|_| key != "tolerance" || !best_point)
}

/// Returns an error for a key of another strategy, which would have no effect.
fn refuse_foreign_keys(section: &mut Section, kind: &StrategyKind) -> Result<(), Diagnostic> {
    for key in keys() {
        let kinds: Vec<StrategyKind> =
            StrategyKind::all().into_iter().filter(|other| has_key(other, key)).collect();
        if kinds.is_empty() || has_key(kind, key) {
            continue;
        }
        if let Some(value) = section.take(key) {
            let error = value.error(format!("the strategy `{}` has no key `{key}`", kind.name()));
            let names = |form: fn(&str) -> String| -> Vec<String> {
                kinds.iter().map(|kind| form(kind.name())).collect()
            };
            return Err(error.with_hint(if kinds.len() > MANY {
                let names = names(|name| format!("`{name}`")).join(", ");
                format!("leave it out; the strategies {names} have it")
            } else {
                let names = names(|name| format!("`kind = \"{name}\"`")).join(" or ");
                format!("leave it out, or write {names}")
            }));
        }
    }
    Ok(())
}

fn best_point<'s>(
    section: &mut Section<'s>,
    kind: &StrategyKind,
) -> Result<(Option<Restore>, Option<Mark<'s>>), Diagnostic> {
    let value = section.take("best-point");
    let always = kind.best_point();
    let on = value.as_ref().map_or(Ok(always.is_some()), Value::flag)?;
    if let (Some(_), false, Some(value)) = (always, on, &value) {
        let name = kind.name();
        let error = value.error(format!("`{name}` always returns to the last accepted point"));
        return Err(error.with_hint("leave `best-point` out"));
    }
    let (gradient_at, backtrack) = (section.take("gradient-at"), section.take("backtrack"));
    if !on {
        for (key, value) in [("gradient-at", &gradient_at), ("backtrack", &backtrack)] {
            if let Some(value) = value {
                return Err(value
                    .error(format!("`{key}` has no effect without `best-point = true`"))
                    .with_hint("add `best-point = true`, or leave it out"));
            }
        }
        return Ok((None, None));
    }
    let default = always.unwrap_or_default();
    let gradient_at = gradient_at
        .map_or(Ok(default.gradient_at), |value| value.word("gradient", &GradientAt::NAMES))?;
    let backtrack = backtrack.map_or(Ok(default.backtrack), |value| value.flag())?;
    Ok((Some(Restore { gradient_at, backtrack }), value.map(|value| value.mark())))
}

/// The section with every key that has an effect.
pub(crate) fn write(strategy: &StrategySettings, laws: &[WrittenLaw]) -> Table {
    let StrategySettings { kind, tolerance, best_point, margin, between } = strategy;
    let mut table = complete::table([("kind", kind.name().into())]);
    let relations = relations(laws);
    for key in kind.keys() {
        let idle = without_effect(kind, key.name, &relations, best_point.is_some()).is_some();
        let setting = kind.get(key.name).filter(|_| !idle);
        if let Some(value) = setting.and_then(|setting| settings::write(&setting, laws)) {
            table.insert(key.name.to_owned(), value);
        }
    }
    if kind.enforces() {
        table.insert("margin".to_owned(), (*margin).into());
        if *between > 0 {
            table.insert("between".to_owned(), complete::whole(*between));
        }
        if best_point.is_some() {
            table.insert("tolerance".to_owned(), (*tolerance).into());
        }
    }
    table.insert("best-point".to_owned(), best_point.is_some().into());
    if let Some(Restore { gradient_at, backtrack }) = *best_point {
        let gradient_at = complete::word(&GradientAt::NAMES, gradient_at);
        table.insert("gradient-at".to_owned(), gradient_at);
        table.insert("backtrack".to_owned(), backtrack.into());
    }
    table
}
