//! Ranks strategies: which is best, and which are not worse.
//!
//! The **largest violation** of a training is that of any law that the data do not contradict, as a share of the
//! law's size, on a dense grid over all sets and up to the horizon. A strategy **keeps the laws** if the median over the seeds is
//! at most [`KEEPS`]. The **error** of a training is the mean of its mean squared errors on the test
//! sets; without test sets it is that on the training set. What cannot be solved counts as infinite.
//!
//! The **best** strategy is the one with the lowest median error among those that keep the laws. If none
//! does, it is the one with the lowest median of the largest violation. Of equal ones the first is taken
//! that violates less, then the first that was asked for.
//!
//! Every other strategy is compared with the best on each set by the exact two-sided rank test of their
//! mean squared errors, corrected by Holm's method for all comparisons on that set. It is **worse** if its
//! median is higher and p < [`LEVEL`], and **not worse** otherwise; **undecided** if the seeds are too few
//! for p < [`LEVEL`] whatever the errors are; and it **violates more** if it does not keep the laws.

use super::Line;
use super::strategies::AXIS;
use crate::experiment::RECONSTRUCTION;
use crate::statistics::{fewest_for, holm, median, rank_test};

/// The largest violation up to which laws are kept, as a share of a law's size.
pub const KEEPS: f64 = 1e-3;

/// The probability below which a strategy is worse.
pub const LEVEL: f64 = 0.05;

/// Median, smallest and largest of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// What a strategy is beside the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is the best.
    Best,
    /// It keeps the laws, and its error is not larger, or not so that chance could not do it.
    NotWorse,
    /// It keeps the laws, and its error is larger.
    Worse,
    /// It keeps the laws, and there are too few seeds to tell.
    Undecided,
    /// It does not keep the laws, or violates them more than the best if none keeps them.
    ViolatesMore,
}

/// A strategy on one set.
#[derive(Debug, Clone, PartialEq)]
pub struct OnSet {
    /// The set.
    pub set: String,
    /// Mean squared error over the seeds.
    pub mse: Range,
    /// The probability of such a difference from the best by chance, after Holm's correction; `None` for
    /// the best.
    pub p: Option<f64>,
    /// What it is beside the best.
    pub mark: Mark,
}

/// A strategy over all seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// Its word.
    pub strategy: String,
    /// Number of seeds.
    pub seeds: usize,
    /// The error by which strategies are ranked.
    pub error: Range,
    /// Largest violation of any law, as a share of its size.
    pub violation: Range,
    /// Median of the evaluations.
    pub evaluations: f64,
    /// Median of the seconds of training.
    pub seconds: f64,
    /// On each set.
    pub sets: Vec<OnSet>,
    /// As [`OnSet::p`], of the error.
    pub p: Option<f64>,
    /// What it is beside the best, by the error.
    pub mark: Mark,
}

/// The strategies of one experiment, with one level of each other axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The experiment's name.
    pub experiment: String,
    /// The level of each other axis.
    pub levels: Vec<String>,
    /// The strategies, in the order in which they were asked for.
    pub contenders: Vec<Contender>,
    /// Which of them is the best.
    pub best: usize,
    /// The fewest seeds with which one could be worse.
    pub fewest_seeds: usize,
    /// Whether errors are of test sets.
    pub has_tests: bool,
}

impl Range {
    /// The range of these numbers.
    pub fn of(values: &[f64]) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { median: median(values), low, high }
    }
}

impl Mark {
    /// Its words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::NotWorse => "not worse",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
            Self::ViolatesMore => "violates more",
        }
    }
}

impl Contender {
    /// Returns whether it keeps the laws.
    pub fn keeps(&self) -> bool {
        self.violation.median <= KEEPS
    }
}

impl Ranking {
    /// The best strategy.
    pub fn best(&self) -> &Contender {
        &self.contenders[self.best]
    }
}

/// The numbers of a strategy, one for each seed.
struct Numbers {
    strategy: String,
    sets: Vec<(String, Vec<f64>)>,
    errors: Vec<f64>,
    violations: Vec<f64>,
    evaluations: Vec<f64>,
    seconds: Vec<f64>,
}

/// An experiment, and the level of each other axis.
type Case = (String, Vec<String>);

/// Ranks the strategies of each experiment and combination of the other levels.
pub(super) fn rank(lines: &[Line], axes: &[String]) -> Vec<Ranking> {
    let Some(axis) = axes.iter().position(|name| name == AXIS) else { return Vec::new() };
    let others = |line: &Line| -> Vec<String> {
        let other = line.levels.iter().enumerate().filter(|(n, _)| *n != axis);
        other.map(|(_, level)| level.clone()).collect()
    };
    let mut cases: Vec<(Case, Vec<&Line>)> = Vec::new();
    for line in lines {
        let key = (line.experiment.clone(), others(line));
        match cases.iter_mut().find(|(known, _)| *known == key) {
            Some((_, lines)) => lines.push(line),
            None => cases.push((key, vec![line])),
        }
    }
    let ranked = cases.into_iter().map(|((experiment, levels), lines)| {
        let ranking = rank_case(&lines, axis);
        Ranking { experiment, levels, ..ranking }
    });
    ranked.collect()
}

fn rank_case(lines: &[&Line], axis: usize) -> Ranking {
    let mut strategies: Vec<(&str, Vec<&Line>)> = Vec::new();
    for &line in lines {
        let strategy = line.levels[axis].as_str();
        match strategies.iter_mut().find(|(known, _)| *known == strategy) {
            Some((_, lines)) => lines.push(line),
            None => strategies.push((strategy, vec![line])),
        }
    }
    let numbers: Vec<Numbers> =
        strategies.into_iter().map(|(strategy, lines)| Numbers::of(strategy, &lines)).collect();
    let fewest_seeds = fewest_for(LEVEL, numbers.len() - 1);
    let (eligible, best) = best(&numbers);
    let seeds = numbers.iter().map(|numbers| numbers.errors.len()).min().unwrap_or(0);
    let judge = Judge { eligible, best, too_few: seeds < fewest_seeds };

    let set_count = numbers[0].sets.len();
    let of_set = |set: usize| -> Vec<&[f64]> {
        numbers.iter().map(|numbers| numbers.sets[set].1.as_slice()).collect()
    };
    let sets: Vec<_> = (0..set_count).map(|set| judge.marks(&of_set(set))).collect();
    let errors: Vec<&[f64]> = numbers.iter().map(|numbers| numbers.errors.as_slice()).collect();
    let overall = judge.marks(&errors);
    let contender = |(n, numbers): (usize, &Numbers)| {
        let on_set = |(set, (name, mses)): (usize, &(String, Vec<f64>))| {
            let (p, mark) = sets[set][n];
            OnSet { set: name.clone(), mse: Range::of(mses), p, mark }
        };
        let (p, mark) = overall[n];
        Contender {
            strategy: numbers.strategy.clone(),
            seeds: numbers.errors.len(),
            error: Range::of(&numbers.errors),
            violation: Range::of(&numbers.violations),
            evaluations: median(&numbers.evaluations),
            seconds: median(&numbers.seconds),
            sets: numbers.sets.iter().enumerate().map(on_set).collect(),
            p,
            mark,
        }
    };
    Ranking {
        experiment: String::new(),
        levels: Vec::new(),
        contenders: numbers.iter().enumerate().map(contender).collect(),
        best,
        fewest_seeds,
        has_tests: set_count > 1,
    }
}

impl Numbers {
    /// Gathers the lines of one strategy, which are in the same order of seeds for every set.
    fn of(strategy: &str, lines: &[&Line]) -> Self {
        let mut sets: Vec<(String, Vec<f64>)> = Vec::new();
        for line in lines {
            let mse = line.mse.unwrap_or(f64::INFINITY);
            match sets.iter_mut().find(|(known, _)| *known == line.set) {
                Some((_, mses)) => mses.push(mse),
                None => sets.push((line.set.clone(), vec![mse])),
            }
        }
        // One line of each training has what all of its lines have.
        let of_training: Vec<&Line> =
            lines.iter().copied().filter(|line| line.set == lines[0].set).collect();
        let tests: Vec<&(String, Vec<f64>)> =
            sets.iter().filter(|(name, _)| sets.len() == 1 || name != RECONSTRUCTION).collect();
        let error =
            |n: usize| tests.iter().map(|(_, mses)| mses[n]).sum::<f64>() / tests.len() as f64;
        Self {
            strategy: strategy.to_owned(),
            errors: (0..of_training.len()).map(error).collect(),
            violations: of_training.iter().map(|l| l.largest.unwrap_or(f64::INFINITY)).collect(),
            evaluations: of_training.iter().map(|line| line.evaluations as f64).collect(),
            seconds: of_training.iter().map(|line| line.seconds).collect(),
            sets,
        }
    }
}

/// Returns which strategies can be the best, and which is.
fn best(numbers: &[Numbers]) -> (Vec<bool>, usize) {
    let violations: Vec<f64> = numbers.iter().map(|n| median(&n.violations)).collect();
    let least = violations.iter().copied().fold(f64::INFINITY, f64::min);
    let eligible: Vec<bool> =
        violations.iter().map(|violation| *violation <= least.max(KEEPS)).collect();
    let key = |n: &usize| (median(&numbers[*n].errors), violations[*n]);
    let all = (0..numbers.len()).filter(|n| eligible[*n]);
    let best = all.min_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    (eligible, best.unwrap_or(0))
}

struct Judge {
    eligible: Vec<bool>,
    best: usize,
    too_few: bool,
}

impl Judge {
    /// Compares every row of errors with that of the best.
    fn marks(&self, rows: &[&[f64]]) -> Vec<(Option<f64>, Mark)> {
        let best = rows[self.best];
        let others = rows.iter().enumerate().filter(|(n, _)| *n != self.best);
        let tests: Vec<f64> = others.map(|(_, row)| rank_test(row, best).unwrap_or(1.0)).collect();
        let mut corrected = holm(&tests).into_iter();
        let mark = |(n, row): (usize, &&[f64])| {
            if n == self.best {
                return (None, Mark::Best);
            }
            let p = corrected.next().unwrap_or(1.0);
            let mark = if !self.eligible[n] {
                Mark::ViolatesMore
            } else if self.too_few {
                Mark::Undecided
            } else if p < LEVEL && median(row) > median(best) {
                Mark::Worse
            } else {
                Mark::NotWorse
            };
            (Some(p), mark)
        };
        rows.iter().enumerate().map(mark).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(strategy: &str, mses: &[f64], largest: f64) -> Vec<Line> {
        let line = |set: &str, seed: usize, mse: f64| Line {
            experiment: "e".to_owned(),
            levels: vec!["5 %".to_owned(), strategy.to_owned()],
            seed: seed as u64,
            set: set.to_owned(),
            mse: mse.is_finite().then_some(mse),
            violation: Some(0.0),
            evaluations: 10 * seed,
            largest: largest.is_finite().then_some(largest),
            seconds: 1.0,
            run: String::new(),
        };
        let of_seed = |(n, mse): (usize, &f64)| {
            [line(RECONSTRUCTION, n + 1, 7.0), line("a", n + 1, *mse), line("b", n + 1, 3.0 * mse)]
        };
        mses.iter().enumerate().flat_map(of_seed).collect()
    }

    fn ranked(strategies: &[(&str, &[f64], f64)]) -> Ranking {
        let all: Vec<Line> = strategies.iter().flat_map(|(s, e, v)| lines(s, e, *v)).collect();
        let axes = ["noise", "strategy"].map(str::to_owned);
        let mut found = rank(&all, &axes);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn the_best_keeps_the_laws_and_has_the_lowest_error() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        let like_high = [8.25, 6.5, 8.5, 5.5, 11.0];
        let found = ranked(&[
            ("vanilla", &low, 0.5),
            ("worse", &high.map(|x| 3.0 * x), 0.0),
            ("best", &high, KEEPS),
            ("similar", &like_high, 1e-9),
        ]);
        assert_eq!((&*found.best().strategy, &*found.levels[0]), ("best", "5 %"));
        let marks: Vec<Mark> = found.contenders.iter().map(|c| c.mark).collect();
        assert_eq!(marks, [Mark::ViolatesMore, Mark::Worse, Mark::Best, Mark::NotWorse]);
        // Parted rows of five and five: 2/252, of three tests the smallest two times 3; the rows of `best`
        // and `similar` have 10 and 11 at one end, 5.5 and 6 at the other.
        let p: Vec<Option<f64>> = found.contenders.iter().map(|c| c.p).collect();
        assert!((p[0].unwrap() - 6.0 / 252.0).abs() < 1e-12, "{p:?}");
        assert!((p[1].unwrap() - 6.0 / 252.0).abs() < 1e-12, "{p:?}");
        assert!(p[2].is_none() && p[3].unwrap() > 0.5, "{p:?}");
        // The error is the mean of the test sets: (x + 3 x)/2.
        assert_eq!(found.best().error, Range { median: 16.0, low: 12.0, high: 20.0 });
        assert_eq!(found.best().sets[1].mse, Range { median: 8.0, low: 6.0, high: 10.0 });
        assert_eq!((found.best().evaluations, found.fewest_seeds), (30.0, 5));
        // All have the same error on the training set.
        let first = &found.contenders[1].sets[0];
        assert_eq!((first.p, first.mark), (Some(1.0), Mark::NotWorse));
    }

    #[test]
    fn if_none_keeps_the_laws_the_best_violates_them_least() {
        let found = ranked(&[
            ("unsolved", &[0.1; 5], f64::INFINITY),
            ("good fit", &[1.0; 5], 0.5),
            ("near", &[2.0; 5], 0.25),
        ]);
        assert_eq!(found.best().strategy, "near");
        let marks: Vec<Mark> = found.contenders.iter().map(|c| c.mark).collect();
        assert_eq!(marks, [Mark::ViolatesMore, Mark::ViolatesMore, Mark::Best]);
        assert!(!found.best().keeps());
    }

    #[test]
    fn too_few_seeds_decide_nothing() {
        let found = ranked(&[("a", &[1.0, 2.0, 3.0], 0.0), ("b", &[7.0, 8.0, 9.0], 0.0)]);
        assert_eq!((found.fewest_seeds, found.contenders[1].mark), (4, Mark::Undecided));
        assert!((found.contenders[1].p.unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_solved_is_worse_than_any_number() {
        let (fine, lost) = ([1.0, 2.0, 3.0, 4.0], [f64::INFINITY; 4]);
        let found = ranked(&[("lost", &lost, 0.0), ("fine", &fine, 1e-4)]);
        assert_eq!(
            (found.best().strategy.as_str(), found.contenders[0].mark),
            ("fine", Mark::Worse)
        );
        assert!(found.contenders[0].error.median.is_infinite());
    }
}
