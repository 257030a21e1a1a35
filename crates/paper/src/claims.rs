//! The claims of the paper, and how each is tested.

use super::results::{Cell, variant};
use super::statistics::{rank_test, smallest_probability, spread};
use super::system::{System, Task};
use super::tables::number;
use super::variant::{Kind, Variant};
use super::verdict::Word;

/// A claim of the paper.
pub struct Claim {
    /// The claim.
    pub text: &'static str,
    /// Tests it on the cells of one dataset; `None` if a cell that it needs is missing.
    pub find: fn(System, &[&Cell]) -> Option<Finding>,
}

/// The result of testing a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether the claim holds.
    pub word: Word,
    /// The numbers.
    pub evidence: Vec<String>,
}

/// The claims, in the order of the report.
pub const CLAIMS: [Claim; 7] = [
    Claim {
        text: "The self-adaptive method has a lower MSE than vanilla and L1",
        find: |_, cells| beats(cells, Cell::mse),
    },
    Claim {
        text: "The self-adaptive method has a lower violation than vanilla and L1",
        find: |system, cells| {
            let mut finding = beats(cells, Cell::violation)?;
            if system == System::Oscillator {
                let note =
                    "the true system violates the second law itself, so this ranks no models";
                finding.evidence.push(note.to_owned());
            }
            Some(finding)
        },
    },
    Claim {
        text: "The self-adaptive method has the smallest spread of the MSE over runs",
        find: |_, cells| smallest_spread(cells),
    },
    Claim {
        text: "A larger μ of L1 lowers the violation",
        find: |_, cells| trend(cells, Cell::violation, false),
    },
    Claim {
        text: "A larger μ of L1 raises the MSE",
        find: |_, cells| trend(cells, Cell::mse, true),
    },
    Claim {
        text: "Best point makes little difference to the self-adaptive method",
        find: |_, cells| little_difference(cells),
    },
    Claim {
        text: "The constraint is what makes the oscillator learnable",
        find: |system, cells| (system == System::Oscillator).then(|| learnable(cells)).flatten(),
    },
];

const SELF_ADAPTIVE: Variant = variant(Kind::SelfAdaptive, false);
/// Level of significance.
const SIGNIFICANT: f64 = 0.05;

fn find<'a>(cells: &[&'a Cell], task: Task, wanted: Variant) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.task == task && cell.variant == wanted).copied()
}

fn mean(values: &[f64]) -> f64 {
    spread(values).map_or(f64::INFINITY, |spread| spread.mean)
}

/// `p = 0.0021`.
fn chance(a: &[f64], b: &[f64]) -> String {
    rank_test(a, b).map_or_else(|| "no rank test".to_owned(), |p| format!("p = {}", number(p)))
}

/// Tests whether `low` is significantly lower than `high`.
fn lower(low: &[f64], high: &[f64]) -> Word {
    if mean(low) >= mean(high) {
        Word::DoesNotHold
    } else if smallest_probability(low.len(), high.len()) >= SIGNIFICANT {
        Word::TooFewSeeds
    } else if rank_test(low, high).is_some_and(|p| p < SIGNIFICANT) {
        Word::Holds
    } else {
        Word::DoesNotHold
    }
}

/// Combines tests that must all hold.
fn all(words: &[Word]) -> Word {
    if words.contains(&Word::DoesNotHold) {
        Word::DoesNotHold
    } else if words.contains(&Word::TooFewSeeds) {
        Word::TooFewSeeds
    } else {
        Word::Holds
    }
}

/// Compares the self-adaptive variant with the best of the others, in every test.
fn beats(cells: &[&Cell], numbers: fn(&Cell) -> Vec<f64>) -> Option<Finding> {
    let (mut words, mut evidence) = (Vec::new(), Vec::new());
    for task in Task::ALL {
        let own = numbers(find(cells, task, SELF_ADAPTIVE)?);
        let others = cells
            .iter()
            .filter(|cell| cell.task == task && !matches!(cell.variant.kind, Kind::SelfAdaptive));
        let best = others.min_by(|a, b| mean(&numbers(a)).total_cmp(&mean(&numbers(b))))?;
        let theirs = numbers(best);
        words.push(lower(&own, &theirs));
        evidence.push(format!(
            "{} {} against {} of {}, {}",
            task.name(),
            number(mean(&own)),
            number(mean(&theirs)),
            best.variant,
            chance(&own, &theirs)
        ));
    }
    Some(Finding { word: all(&words), evidence })
}

/// Compares standard deviations over runs, in every test.
fn smallest_spread(cells: &[&Cell]) -> Option<Finding> {
    let (mut words, mut evidence) = (Vec::new(), Vec::new());
    let std = |cell: &Cell| spread(&cell.mse()).and_then(|spread| spread.std);
    for task in Task::ALL {
        let own = std(find(cells, task, SELF_ADAPTIVE)?)?;
        let others = cells
            .iter()
            .filter(|cell| cell.task == task && !matches!(cell.variant.kind, Kind::SelfAdaptive));
        let known = others.filter_map(|cell| Some((std(cell)?, cell.variant)));
        let (theirs, variant) = known.min_by(|a, b| a.0.total_cmp(&b.0))?;
        words.push(if own < theirs { Word::Holds } else { Word::DoesNotHold });
        let (task, own, theirs) = (task.name(), number(own), number(theirs));
        evidence.push(format!("{task} {own}, the smallest other {theirs} of {variant}"));
    }
    Some(Finding { word: all(&words), evidence })
}

/// L1 without best point from μ = 1 to 10 to 100, in every test.
fn trend(cells: &[&Cell], numbers: fn(&Cell) -> Vec<f64>, rises: bool) -> Option<Finding> {
    let (mut words, mut evidence) = (Vec::new(), Vec::new());
    for task in Task::ALL {
        let of = |mu| find(cells, task, variant(Kind::L1(mu), false)).map(numbers);
        let mut rows = [of(1)?, of(10)?, of(100)?];
        let means = rows.each_ref().map(|row| number(mean(row))).join(", ");
        evidence.push(format!("{} {means}, {}", task.name(), chance(&rows[0], &rows[2])));
        if !rises {
            rows.reverse();
        }
        let monotone = mean(&rows[0]) <= mean(&rows[1]) && mean(&rows[1]) <= mean(&rows[2]);
        words.push(if monotone { lower(&rows[0], &rows[2]) } else { Word::DoesNotHold });
    }
    Some(Finding { word: all(&words), evidence })
}

/// With and without best point: within a factor of two, in every test.
fn little_difference(cells: &[&Cell]) -> Option<Finding> {
    let (mut words, mut evidence) = (Vec::new(), Vec::new());
    for task in Task::ALL {
        let without = find(cells, task, SELF_ADAPTIVE)?.mse();
        let with = find(cells, task, variant(Kind::SelfAdaptive, true))?.mse();
        let ratio = mean(&with) / mean(&without);
        words.push(if (0.5..=2.0).contains(&ratio) { Word::Holds } else { Word::DoesNotHold });
        evidence.push(format!(
            "{} {} with, {} without, {}",
            task.name(),
            number(mean(&with)),
            number(mean(&without)),
            chance(&with, &without)
        ));
    }
    Some(Finding { word: all(&words), evidence })
}

/// Mean square of the oscillator's training data: the MSE of a model that stays at zero.
const FLAT: f64 = 0.1002;

/// Counts the seeds that leave the flat solution, with and without the laws.
fn learnable(cells: &[&Cell]) -> Option<Finding> {
    let task = Task::Reconstruction;
    let own = find(cells, task, SELF_ADAPTIVE)?.mse();
    let vanilla = find(cells, task, variant(Kind::Vanilla, false))?.mse();
    let learned = |row: &[f64]| row.iter().filter(|&&mse| mse < FLAT / 10.0).count();
    let evidence = format!(
        "{} of {} self-adaptive seeds and {} of {} vanilla seeds reach a tenth of the error of a flat line; \
         mean MSE {} against {}, {}",
        learned(&own),
        own.len(),
        learned(&vanilla),
        vanilla.len(),
        number(mean(&own)),
        number(mean(&vanilla)),
        chance(&own, &vanilla)
    );
    let most = 2 * learned(&own) > own.len() && 2 * learned(&vanilla) < vanilla.len();
    let word = if most { lower(&own, &vanilla) } else { Word::DoesNotHold };
    Some(Finding { word, evidence: vec![evidence] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dataset;
    use crate::measure::Measured;
    use lawful_experiment::runner::changes;

    fn cell(task: Task, variant: Variant, mse: &[f64]) -> Cell {
        let run = |&mse: &f64| {
            Ok(Measured { mse, violation: 1.0 / mse, violation_max: mse, violation_script: None })
        };
        let dataset = Dataset { system: System::Oscillator, variation: None };
        Cell { dataset, variant, task, runs: mse.iter().map(run).collect() }
    }

    /// The same numbers in every test.
    fn cells(rows: &[(Variant, &[f64])]) -> Vec<Cell> {
        let of = |task| rows.iter().map(move |(variant, mse)| cell(task, *variant, mse));
        Task::ALL.into_iter().flat_map(of).collect()
    }

    fn word(claim: usize, rows: &[(Variant, &[f64])]) -> Option<Word> {
        let cells = cells(rows);
        let cells: Vec<&Cell> = cells.iter().collect();
        (CLAIMS[claim].find)(System::Oscillator, &cells).map(|finding| finding.word)
    }

    const LOW: [f64; 4] = [0.001, 0.002, 0.003, 0.004];
    const HIGH: [f64; 4] = [0.1, 0.2, 0.3, 0.4];
    const VANILLA: Variant = variant(Kind::Vanilla, false);

    #[test]
    fn a_lower_error_holds_only_beyond_chance() {
        let with = |own: &'static [f64], other: &'static [f64]| {
            word(0, &[(SELF_ADAPTIVE, own), (VANILLA, other)])
        };
        assert_eq!(with(&LOW, &HIGH), Some(Word::Holds));
        assert_eq!(with(&HIGH, &LOW), Some(Word::DoesNotHold));
        assert_eq!(with(&LOW[..3], &HIGH[..3]), Some(Word::TooFewSeeds));
        assert_eq!(with(&[0.001, 0.2, 0.3, 0.35], &HIGH), Some(Word::DoesNotHold));
        // Violations are the inverse of these errors.
        assert_eq!(word(1, &[(SELF_ADAPTIVE, &LOW), (VANILLA, &HIGH)]), Some(Word::DoesNotHold));
        assert_eq!(word(0, &[(VANILLA, &HIGH)]), None);
    }

    #[test]
    fn the_spread_must_be_the_smallest() {
        assert_eq!(word(2, &[(SELF_ADAPTIVE, &LOW), (VANILLA, &HIGH)]), Some(Word::Holds));
        assert_eq!(word(2, &[(SELF_ADAPTIVE, &HIGH), (VANILLA, &LOW)]), Some(Word::DoesNotHold));
        assert_eq!(word(2, &[(SELF_ADAPTIVE, &LOW[..1]), (VANILLA, &HIGH)]), None);
    }

    #[test]
    fn a_trend_over_mu_must_not_turn() {
        let l1 = |mu| variant(Kind::L1(mu), false);
        let middle = [0.01, 0.02, 0.03, 0.04];
        let rising: [(Variant, &[f64]); 3] = [(l1(1), &LOW), (l1(10), &middle), (l1(100), &HIGH)];
        assert_eq!((word(3, &rising), word(4, &rising)), (Some(Word::Holds), Some(Word::Holds)));
        let turning: [(Variant, &[f64]); 3] = [(l1(1), &LOW), (l1(10), &HIGH), (l1(100), &middle)];
        assert_eq!(word(4, &turning), Some(Word::DoesNotHold));
    }

    #[test]
    fn little_difference_is_less_than_a_factor_of_two() {
        let best = variant(Kind::SelfAdaptive, true);
        let close = [0.0012, 0.0022, 0.0032, 0.0042];
        assert_eq!(word(5, &[(SELF_ADAPTIVE, &LOW), (best, &close)]), Some(Word::Holds));
        assert_eq!(word(5, &[(SELF_ADAPTIVE, &LOW), (best, &HIGH)]), Some(Word::DoesNotHold));
    }

    #[test]
    fn the_constraint_makes_learnable_what_vanilla_leaves_flat() {
        assert_eq!(word(6, &[(SELF_ADAPTIVE, &LOW), (VANILLA, &HIGH)]), Some(Word::Holds));
        assert_eq!(word(6, &[(SELF_ADAPTIVE, &LOW), (VANILLA, &LOW)]), Some(Word::DoesNotHold));
        assert_eq!(word(6, &[(SELF_ADAPTIVE, &HIGH), (VANILLA, &HIGH)]), Some(Word::DoesNotHold));
    }

    #[test]
    fn a_flat_line_scores_the_mean_square_of_the_data() {
        let table = System::Oscillator.table().unwrap();
        let data = changes::experiment("oscillator", &table).unwrap().experiment.training.data;
        let states = &data.trajectories()[0].states;
        let square = states.iter().map(|x| x * x).sum::<f64>() / states.len() as f64;
        assert!((square - FLAT).abs() < 1e-4, "{square}");
    }
}
