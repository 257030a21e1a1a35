//! `[strategy]`: how violations of the laws enter the objective.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `kind` | `"self-adaptive"` | [`STRATEGIES`] | which strategy |
//! | `mu` | 1 | ≥ 0 | `l1`, `l2`: weight of violations, one number or a list with one per `[[law]]` |
//! | `tolerance` | 1e-4 | ≥ 0 | total violation up to which a point is feasible |
//! | `count-above` | 0 | ≥ 0 | `self-adaptive`: violation above which a step counts for μ |
//! | `normalise` | `"mean"` | `"mean"`, `"elementwise"` | `self-adaptive`: ψ of the mean of squares, or the mean of ψ |
//! | `weigh-by` | `"share"` | `"share"`, `"mean"` | `self-adaptive`: μ is the share of violated steps, or their mean violation |
//! | `weight-every` | 1 | ≥ 1 | `self-adaptive`: iterations for which μ is kept before it is computed anew |
//! | `residual` | `"absolute"` | `"absolute"`, `"signed"` | `self-adaptive`: ψ of abs(c), or of c itself, for equalities |
//! | `penalty` | `"squared"` with a recipe, else `"absolute"` | `"absolute"`, `"squared"` | `self-adaptive`: ψ of the violation, or of its square |
//! | `penalise` | `"always"` with a recipe, else `"tolerance"` | `"tolerance"`, `"always"` | `self-adaptive`: laws rest at a feasible point, or count always, with weight 1 |
//! | `margin` | 1e-6 with `"squared"`, else 0 | ≥ 0 | by how much inequalities are asked to hold in training, in units of the law's size on the data |
//! | `best-point` | `false` | | go back to the best point after every worse one |
//! | `gradient-at` | `"trial"` | `"trial"`, `"best"` | whose gradient the step after a rejection uses |
//! | `backtrack` | `false` | | halve the step after 20 rejections in a row |
//!
//! The defaults of `self-adaptive` are the paper's equations; the other words of `normalise`, `weigh-by`,
//! `weight-every` and `residual` are what the authors' public scripts do. `count-above` decides nothing with
//! `weigh-by = "mean"`, and `residual` nothing without an equality.
//!
//! `penalty = "squared"` with `penalise = "always"` is the smooth form, which L-BFGS needs; it is the
//! default where a recipe other than `"paper"` chooses the phases, unless a key of the paper's form
//! (`tolerance`, `count-above`, `weigh-by`, `weight-every`, `residual`) is written. With `penalise = "always"`
//! those keys decide nothing, nor does `residual` with squares.
//!
//! `tolerance` decides for `self-adaptive`, and for `l1` and `l2` with `best-point = true`;
//! `gradient-at` and `backtrack` need `best-point = true`. A key that decides nothing is an error.

use lawful::strategy::{Normalise, Penalise, Penalty, Residual, STRATEGIES, SelfAdaptive, WeighBy};
use lawful::{GradientAt, Relation, Restore};

use super::complete::{self, Table};
use super::laws::WrittenLaw;
use super::section::Section;
use super::value::{LARGEST, Mark, NOT_NEGATIVE, Value};
use crate::diagnostic::Diagnostic;
use crate::experiment::{Strategy, StrategyKind};
use crate::phrases::counted;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &[
    "kind",
    "mu",
    "tolerance",
    "count-above",
    "normalise",
    "weigh-by",
    "weight-every",
    "residual",
    "penalty",
    "penalise",
    "margin",
    "best-point",
    "gradient-at",
    "backtrack",
];

/// Keys of single kinds.
const OWN_KEYS: [(&str, &[&str]); 10] = [
    ("mu", &["l1", "l2"]),
    ("tolerance", &["self-adaptive", "l1", "l2"]),
    ("count-above", &["self-adaptive"]),
    ("normalise", &["self-adaptive"]),
    ("weigh-by", &["self-adaptive"]),
    ("weight-every", &["self-adaptive"]),
    ("residual", &["self-adaptive"]),
    ("penalty", &["self-adaptive"]),
    ("penalise", &["self-adaptive"]),
    ("margin", &["self-adaptive", "l1", "l2"]),
];

/// Keys of the paper's form: who writes one wants that form.
const OF_THE_PAPER: [&str; 5] =
    ["tolerance", "count-above", "weigh-by", "weight-every", "residual"];

/// The strategy, and where `best-point` is asked for.
pub(crate) struct Written<'s> {
    pub(crate) strategy: Strategy,
    /// As written: a number, or one per `[[law]]`.
    mu: Mu,
    /// Whether any law is an equality.
    equalities: bool,
    pub(crate) best_point: Option<Mark<'s>>,
}

enum Mu {
    All(f64),
    Each(Vec<f64>),
}

/// Reads the section.
///
/// `smooth` is whether the smooth form is the default.
pub(crate) fn read<'s>(
    mut section: Section<'s>,
    laws: &[WrittenLaw],
    smooth: bool,
) -> Result<Written<'s>, Diagnostic> {
    let words: Vec<_> = STRATEGIES.iter().map(|&(word, _)| (word, word)).collect();
    let kind =
        section.take("kind").map_or(Ok("self-adaptive"), |value| value.word("strategy", &words))?;
    refuse_foreign_keys(&mut section, kind)?;
    let (best_point, mark) = best_point(&mut section)?;
    let smooth = smooth && best_point.is_none() && !OF_THE_PAPER.iter().any(|key| section.has(key));
    let defaults = if smooth { SelfAdaptive::smooth() } else { SelfAdaptive::default() };
    let penalty = section
        .take("penalty")
        .map_or(Ok(defaults.penalty), |value| value.word("penalty", &Penalty::NAMES))?;
    let penalise = section
        .take("penalise")
        .map_or(Ok(defaults.penalise), |value| value.word("penalise", &Penalise::NAMES))?;
    let defaults = SelfAdaptive { penalty, penalise, ..defaults };
    if kind == "self-adaptive" {
        refuse_idle_keys(&section, &defaults, best_point.is_some())?;
    }
    let squared = kind == "l2" || (kind == "self-adaptive" && penalty == Penalty::Squared);
    let margin =
        section.take("margin").map_or(Ok(if squared { MARGIN } else { 0.0 }), |value| {
            value.number(NOT_NEGATIVE, "1e-6")
        })?;
    let tolerance = match section.take("tolerance") {
        None => defaults.tolerance,
        Some(value) if kind != "self-adaptive" && best_point.is_none() => {
            return Err(value
                .error(format!("`tolerance` decides nothing for `{kind}` without the best point"))
                .with_hint("leave it out, or add `best-point = true`"));
        }
        Some(value) => value.number(NOT_NEGATIVE, "1e-4")?,
    };
    let mu = section.take("mu").map_or(Ok(Mu::All(1.0)), |value| mu(value, laws))?;
    let kind = match kind {
        "vanilla" => StrategyKind::Vanilla,
        "l1" => StrategyKind::L1(mu.of_parts(laws)),
        "l2" => StrategyKind::L2(mu.of_parts(laws)),
        _ => {
            let defaults = SelfAdaptive { tolerance, ..defaults };
            StrategyKind::SelfAdaptive(self_adaptive(&mut section, defaults, laws)?)
        }
    };
    let strategy = Strategy { kind, tolerance, best_point, margin };
    Ok(Written { strategy, mu, equalities: any_equality(laws), best_point: mark })
}

fn any_equality(laws: &[WrittenLaw]) -> bool {
    let mut parts = laws.iter().flat_map(|law| &law.parts);
    parts.any(|part| part.relation() == Relation::Equality)
}

/// The default margin where violations are squared.
const MARGIN: f64 = 1e-6;

/// Keys that decide nothing when laws count always, or their violations are squared.
fn refuse_idle_keys(
    section: &Section,
    settings: &SelfAdaptive,
    best_point: bool,
) -> Result<(), Diagnostic> {
    let always = settings.penalise == Penalise::Always;
    for (key, idle, because) in [
        ("tolerance", always && !best_point, "`penalise = \"always\"`"),
        ("count-above", always, "`penalise = \"always\"`"),
        ("weigh-by", always, "`penalise = \"always\"`"),
        ("weight-every", always, "`penalise = \"always\"`"),
        ("residual", settings.penalty == Penalty::Squared, "`penalty = \"squared\"`"),
    ] {
        if let (true, Some(mark)) = (idle, section.peek(key)) {
            let error = mark.error(format!("`{key}` decides nothing with {because}"));
            return Err(error.with_hint("leave one of the two out"));
        }
    }
    Ok(())
}

fn self_adaptive(
    section: &mut Section,
    defaults: SelfAdaptive,
    laws: &[WrittenLaw],
) -> Result<SelfAdaptive, Diagnostic> {
    let normalise = section
        .take("normalise")
        .map_or(Ok(defaults.normalise), |value| value.word("normalise", &Normalise::NAMES))?;
    let weigh_by = section
        .take("weigh-by")
        .map_or(Ok(defaults.weigh_by), |value| value.word("weight", &WeighBy::NAMES))?;
    let count_above = match section.take("count-above") {
        None => defaults.count_above,
        Some(value) if weigh_by == WeighBy::Mean => {
            return Err(value
                .error("`count-above` decides nothing with `weigh-by = \"mean\"`")
                .with_hint("leave it out: every violation is part of the mean"));
        }
        Some(value) => value.number(NOT_NEGATIVE, "0.0")?,
    };
    let weight_every = section
        .take("weight-every")
        .map_or(Ok(defaults.weight_every), |value| value.count(1..=LARGEST, "100"))?;
    let residual = match section.take("residual") {
        None => defaults.residual,
        Some(value) if !any_equality(laws) => {
            return Err(value
                .error("`residual` is about equalities, and no law is one")
                .with_hint("leave it out"));
        }
        Some(value) => value.word("residual", &Residual::NAMES)?,
    };
    Ok(SelfAdaptive { count_above, normalise, weigh_by, weight_every, residual, ..defaults })
}

/// A key that this kind does not use is a mistake that would go unnoticed.
fn refuse_foreign_keys(section: &mut Section, kind: &str) -> Result<(), Diagnostic> {
    for (key, kinds) in OWN_KEYS {
        if kinds.contains(&kind) {
            continue;
        }
        if let Some(value) = section.take(key) {
            let kinds: Vec<String> =
                kinds.iter().map(|kind| format!("`kind = \"{kind}\"`")).collect();
            return Err(value
                .error(format!("`{key}` has no meaning for the strategy `{kind}`"))
                .with_hint(format!("leave it out, or write {}", kinds.join(" or "))));
        }
    }
    Ok(())
}

fn best_point<'s>(
    section: &mut Section<'s>,
) -> Result<(Option<Restore>, Option<Mark<'s>>), Diagnostic> {
    let value = section.take("best-point");
    let on = value.as_ref().map_or(Ok(false), Value::flag)?;
    let (gradient_at, backtrack) = (section.take("gradient-at"), section.take("backtrack"));
    if !on {
        for (key, value) in [("gradient-at", &gradient_at), ("backtrack", &backtrack)] {
            if let Some(value) = value {
                return Err(value
                    .error(format!("`{key}` decides nothing without the best point"))
                    .with_hint("add `best-point = true`, or leave it out"));
            }
        }
        return Ok((None, None));
    }
    let gradient_at = gradient_at
        .map_or(Ok(GradientAt::default()), |value| value.word("gradient", &GradientAt::NAMES))?;
    let backtrack = backtrack.map_or(Ok(false), |value| value.flag())?;
    Ok((Some(Restore { gradient_at, backtrack }), value.map(|value| value.mark())))
}

fn mu(value: Value, laws: &[WrittenLaw]) -> Result<Mu, Diagnostic> {
    if !value.is_list() {
        return Ok(Mu::All(value.number(NOT_NEGATIVE, "1.0")?));
    }
    let mark = value.mark();
    let values = value.list("", "")?;
    let numbers: Vec<f64> =
        values.iter().map(|mu| mu.number(NOT_NEGATIVE, "1.0")).collect::<Result<_, _>>()?;
    if numbers.len() != laws.len() {
        let (found, laws) = (counted(numbers.len(), "weight"), counted(laws.len(), "law"));
        return Err(mark
            .error(format!("`mu` has {found} for {laws}"))
            .with_hint("write one number for all laws, or a list with one for each `[[law]]`"));
    }
    Ok(Mu::Each(numbers))
}

impl Mu {
    /// One weight for all, or one for each part of each law.
    fn of_parts(&self, laws: &[WrittenLaw]) -> Vec<f64> {
        match self {
            Self::All(mu) => vec![*mu],
            Self::Each(each) => {
                let parts = each.iter().zip(laws);
                parts.flat_map(|(&mu, law)| law.parts.iter().map(move |_| mu)).collect()
            }
        }
    }
}

/// The section with every key that decides something.
pub(crate) fn write(written: &Written) -> Table {
    let Strategy { kind, tolerance, best_point, margin } = &written.strategy;
    let mu = || match &written.mu {
        Mu::All(mu) => (*mu).into(),
        Mu::Each(each) => complete::numbers(each),
    };
    let mut table = match kind {
        StrategyKind::Vanilla => complete::table([("kind", "vanilla".into())]),
        StrategyKind::L1(_) => complete::table([("kind", "l1".into()), ("mu", mu())]),
        StrategyKind::L2(_) => complete::table([("kind", "l2".into()), ("mu", mu())]),
        StrategyKind::SelfAdaptive(settings) => write_self_adaptive(settings, written.equalities),
    };
    if *kind != StrategyKind::Vanilla {
        table.insert("margin".to_owned(), (*margin).into());
    }
    if best_point.is_some() && *kind != StrategyKind::Vanilla {
        table.insert("tolerance".to_owned(), (*tolerance).into());
    }
    table.insert("best-point".to_owned(), best_point.is_some().into());
    if let Some(Restore { gradient_at, backtrack }) = *best_point {
        let gradient_at = complete::word(&GradientAt::NAMES, gradient_at);
        table.insert("gradient-at".to_owned(), gradient_at);
        table.insert("backtrack".to_owned(), backtrack.into());
    }
    table
}

/// Its keys; those that decide nothing with these settings are left out.
fn write_self_adaptive(settings: &SelfAdaptive, equalities: bool) -> Table {
    let mut table = complete::table([
        ("kind", "self-adaptive".into()),
        ("tolerance", settings.tolerance.into()),
        ("count-above", settings.count_above.into()),
        ("normalise", complete::word(&Normalise::NAMES, settings.normalise)),
        ("weigh-by", complete::word(&WeighBy::NAMES, settings.weigh_by)),
        ("weight-every", complete::whole(settings.weight_every)),
        ("residual", complete::word(&Residual::NAMES, settings.residual)),
        ("penalty", complete::word(&Penalty::NAMES, settings.penalty)),
        ("penalise", complete::word(&Penalise::NAMES, settings.penalise)),
    ]);
    if settings.penalise == Penalise::Always {
        for key in ["tolerance", "count-above", "weigh-by", "weight-every"] {
            table.remove(key);
        }
    }
    if settings.weigh_by == WeighBy::Mean {
        table.remove("count-above");
    }
    if !equalities || settings.penalty == Penalty::Squared {
        table.remove("residual");
    }
    table
}
