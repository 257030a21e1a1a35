//! The list of strategies, and the trait that describes each.

use super::{
    AugmentedLagrangian, Balanced, Barrier, Dynamic, Filter, L1, L2, Lemonge, NuPi, SelfAdaptive,
    Strategy, StrategyError, TwoStage, Vanilla,
};
use crate::Relation;
use crate::settings::{Setting, listed};
use crate::train::Restore;

listed! {
    /// A strategy with its settings. Adding a strategy to this list makes it available in experiment
    /// files, messages, recipes and tests.
    pub enum StrategyKind: dyn ListedStrategy {
        Vanilla(Vanilla),
        L1(L1),
        L2(L2),
        SelfAdaptive(SelfAdaptive),
        AugmentedLagrangian(AugmentedLagrangian),
        Dynamic(Dynamic),
        Lemonge(Lemonge),
        TwoStage(TwoStage),
        Filter(Filter),
        NuPi(NuPi),
        Barrier(Barrier),
        Balanced(Balanced),
    }
}

/// The properties of a listed strategy, beside its [keys](crate::settings::Settings::KEYS).
pub trait ListedStrategy {
    /// Creates the strategy with these settings.
    fn build(&self) -> Box<dyn Strategy>;

    /// Returns whether the objective has neither kinks nor jumps, so that L-BFGS can minimise it.
    fn is_smooth(&self) -> bool;

    /// Returns whether laws enter the objective.
    fn enforces(&self) -> bool {
        true
    }

    /// Returns whether violations enter squared, so that inequalities are enforced with a margin.
    fn squares_violations(&self) -> bool {
        false
    }

    /// Returns whether it can be used with batches of windows, in which the residual at a row depends on
    /// where the window begins.
    fn takes_windows(&self) -> bool {
        true
    }

    /// Returns whether its objective is the same function along a line search (L-BFGS).
    fn takes_line_searches(&self) -> bool {
        true
    }

    /// Returns how training returns to the last accepted point, for strategies that reject points.
    fn best_point(&self) -> Option<Restore> {
        None
    }

    /// Returns the total violation up to which a point is feasible, if the strategy defines one.
    fn tolerance(&self) -> Option<f64> {
        None
    }

    /// Returns the violation above which a step counts as violated in a report.
    fn count_above(&self) -> f64 {
        0.0
    }

    /// Returns why a key has no effect beside the other settings, as the end of the sentence "`key` has
    /// no effect …", and a hint; `None` if it has an effect.
    fn without_effect(&self, key: &str, laws: &[Relation]) -> Option<(&'static str, &'static str)> {
        let _ = (key, laws);
        None
    }

    /// Returns the form for recipes that work best with a smooth objective, if it differs from the
    /// default; `written` are the keys that the user has set.
    fn smooth_form(&self, written: &[&str]) -> Option<StrategyKind> {
        let _ = written;
        None
    }

    /// Returns the settings for the penalised laws only; `None` if they are the same.
    fn for_laws(&self, penalised: &[bool]) -> Option<StrategyKind> {
        let _ = penalised;
        None
    }

    /// Returns the settings in a few words, to follow the strategy's name: `, mu 1`.
    fn details(&self) -> String {
        String::new()
    }
}

impl StrategyKind {
    /// Checks that settings with one number per law have as many numbers as there are laws.
    ///
    /// # Errors
    /// If the number is neither 1 nor the number of laws.
    pub fn check_laws(&self, laws: usize) -> Result<(), StrategyError> {
        for key in self.keys() {
            let Some(Setting::PerLaw(each)) = self.get(key.name) else { continue };
            if each.len() != 1 && each.len() != laws {
                return Err(StrategyError::per_law(self.name(), key.name, each.len(), laws));
            }
        }
        Ok(())
    }

    /// Creates the strategy for these laws, of which some may not be penalised.
    pub fn build(&self, penalised: &[bool]) -> Box<dyn Strategy> {
        match self.listed().for_laws(penalised) {
            Some(fewer) => fewer.listed().build(),
            None => self.listed().build(),
        }
    }

    /// See [`ListedStrategy::is_smooth`].
    pub fn is_smooth(&self) -> bool {
        self.listed().is_smooth()
    }

    /// See [`ListedStrategy::enforces`].
    pub fn enforces(&self) -> bool {
        self.listed().enforces()
    }

    /// See [`ListedStrategy::squares_violations`].
    pub fn squares_violations(&self) -> bool {
        self.listed().squares_violations()
    }

    /// See [`ListedStrategy::takes_windows`].
    pub fn takes_windows(&self) -> bool {
        self.listed().takes_windows()
    }

    /// Returns why it does not [take windows](Self::takes_windows), and the words of those that do.
    pub fn refuses_windows(&self) -> (String, String) {
        let others = Self::all().into_iter().filter(|kind| kind.takes_windows() && kind.enforces());
        let words: Vec<String> = others.map(|kind| format!("`{}`", kind.name())).collect();
        let why = if self.best_point().is_some() {
            "compares points, but the objective differs between windows"
        } else {
            "has a multiplier for each row, but the residual there depends on where a window begins"
        };
        let why = format!("`{}` {why}", self.name());
        (why, words.join(", "))
    }

    /// See [`ListedStrategy::takes_line_searches`].
    pub fn takes_line_searches(&self) -> bool {
        self.listed().takes_line_searches()
    }

    /// Returns the words of the strategies that take line searches and enforce laws.
    pub fn for_line_searches() -> String {
        let all = Self::all().into_iter();
        let words = all.filter(|kind| kind.takes_line_searches() && kind.best_point().is_none());
        let words = words.filter(Self::enforces).map(|kind| format!("`{}`", kind.name()));
        words.collect::<Vec<_>>().join(", ")
    }

    /// See [`ListedStrategy::best_point`].
    pub fn best_point(&self) -> Option<Restore> {
        self.listed().best_point()
    }

    /// See [`ListedStrategy::tolerance`].
    pub fn tolerance(&self) -> Option<f64> {
        self.listed().tolerance()
    }

    /// See [`ListedStrategy::count_above`].
    pub fn count_above(&self) -> f64 {
        self.listed().count_above()
    }

    /// See [`ListedStrategy::without_effect`].
    pub fn without_effect(
        &self,
        key: &str,
        laws: &[Relation],
    ) -> Option<(&'static str, &'static str)> {
        self.listed().without_effect(key, laws)
    }

    /// See [`ListedStrategy::smooth_form`].
    #[must_use]
    pub fn smooth_form(&self, written: &[&str]) -> Option<Self> {
        self.listed().smooth_form(written)
    }

    /// See [`ListedStrategy::details`].
    pub fn details(&self) -> String {
        self.listed().details()
    }
}

/// The default: the paper's.
impl Default for StrategyKind {
    fn default() -> Self {
        Self::SelfAdaptive(SelfAdaptive::default())
    }
}

/// A strategy as it is used in a training.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategySettings {
    /// The strategy with its settings.
    pub kind: StrategyKind,
    /// Violation P up to which a point is feasible, for the best point.
    pub tolerance: f64,
    /// How training returns to the best point; `None` if it does not.
    pub best_point: Option<Restore>,
    /// Margin by which inequalities are enforced in training, in units of the law.
    pub margin: f64,
    /// Number of equally spaced points inside each interval between rows at which laws count, beside the
    /// rows; see [`LawPoints`](crate::LawPoints).
    pub between: usize,
}

impl StrategySettings {
    /// The default margin where violations are squared.
    pub const MARGIN: f64 = 1e-6;
    /// Points inside an interval where the strategy is chosen automatically: at ¼, ½ and ¾ of it.
    pub const BETWEEN: usize = 3;
    /// Most points inside an interval.
    pub const MOST_BETWEEN: usize = 100;

    /// A strategy with the defaults of everything else.
    pub fn new(kind: impl Into<StrategyKind>) -> Self {
        let kind = kind.into();
        let tolerance = kind.tolerance().unwrap_or(SelfAdaptive::default().tolerance);
        let margin = if kind.squares_violations() { Self::MARGIN } else { 0.0 };
        let best_point = kind.best_point();
        Self { kind, tolerance, best_point, margin, between: 0 }
    }

    /// The strategy without laws in the objective.
    pub fn vanilla() -> Self {
        Self { tolerance: 0.0, ..Self::new(Vanilla) }
    }

    /// Returns whether the objective has neither kinks nor jumps.
    pub fn is_smooth(&self) -> bool {
        self.kind.is_smooth() && self.best_point.is_none()
    }

    /// Returns its word, with `-best` if it returns to the best point: `self-adaptive`, `l1-best`.
    pub fn label(&self) -> String {
        let own = self.kind.best_point().is_some();
        let best = if self.best_point.is_some() && !own { "-best" } else { "" };
        format!("{}{best}", self.kind.name())
    }
}

/// Returns the numbers of the penalised laws; `None` if nothing changes.
pub(super) fn of_penalised(mu: &[f64], penalised: &[bool]) -> Option<Vec<f64>> {
    let each = mu.len() == penalised.len() && mu.len() > 1 && penalised.contains(&false);
    let kept = mu.iter().zip(penalised).filter(|(_, penalised)| **penalised);
    each.then(|| kept.map(|(mu, _)| *mu).collect())
}
