//! Strategies side by side in words: the tables, a sentence of recommendation, and everything as JSON.

use std::fmt::Write as _;
use std::sync::Arc;

use lawful::short;
use serde_json::{Value, json};

use super::Comparison;
use super::ranking::{Contender, KEEPS, LEVEL, Mark, Range, Ranking};
use super::strategies::LeftOut;
use crate::audit::FalseLaw;

/// Returns a table for each ranking, with its recommendation.
pub(super) fn markdown(
    rankings: &[Ranking],
    left_out: &[LeftOut],
    false_laws: &[(String, Arc<[FalseLaw]>)],
) -> String {
    let mut text = String::new();
    for ranking in rankings {
        if !text.is_empty() {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "## {}\n", name(&ranking.experiment, &ranking.levels));
        text += "| set | strategy | seeds | MSE, median [min – max] | largest violation, median [min – max] \
                 | evaluations | seconds | p | |\n|---|---|---|---|---|---|---|---|---|\n";
        for set in 0..ranking.contenders[0].sets.len() {
            for contender in &ranking.contenders {
                add_row(&mut text, contender, set);
            }
        }
        let _ = writeln!(text, "\n{}", recommendation(ranking));
        let own = false_laws.iter().filter(|(experiment, _)| *experiment == ranking.experiment);
        for FalseLaw { why, .. } in own.flat_map(|(_, laws)| laws.iter()) {
            let _ = writeln!(text, "\nNot counted as a violation: {why}.");
        }
        let of_this =
            |out: &&LeftOut| out.experiment == ranking.experiment && out.levels == ranking.levels;
        for LeftOut { strategy, reason, .. } in left_out.iter().filter(of_this) {
            let _ = writeln!(text, "\n`{strategy}` is left out: {reason}.");
        }
    }
    let _ = write!(
        text,
        "\nThe largest violation is that of any law that the data do not contradict, as a share of its size, on a \
         dense grid over all sets and up to the horizon. The best strategy has the lowest median error (mean of the MSE on the test \
         sets, or the MSE of the training set without any) of those that keep the laws: largest violation \
         at most {} in the median. p is of the rank test of the MSE against the best, with Holm's \
         correction. Evaluations and seconds are medians.\n",
        short(KEEPS)
    );
    text
}

fn name(experiment: &str, levels: &[String]) -> String {
    [experiment].into_iter().chain(levels.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
}

fn add_row(text: &mut String, contender: &Contender, set: usize) {
    let Contender { strategy, seeds, violation, evaluations, seconds, sets, .. } = contender;
    let on = &sets[set];
    let p = on.p.map_or(String::new(), short);
    let _ = writeln!(
        text,
        "| {} | `{strategy}` | {seeds} | {} | {} | {evaluations} | {} | {p} | {} |",
        on.set,
        range(on.mse),
        range(*violation),
        short(*seconds),
        on.mark.name()
    );
}

fn range(Range { median, low, high }: Range) -> String {
    format!("{} [{} – {}]", short(median), short(low), short(high))
}

/// Returns one sentence: which strategy to use, and why.
pub(super) fn recommendation(ranking: &Ranking) -> String {
    let best = ranking.best();
    let name = name(&ranking.experiment, &ranking.levels);
    let (violation, error) = (short(best.violation.median), short(best.error.median));
    let only = best.keeps() && ranking.contenders.iter().filter(|other| other.keeps()).count() == 1;
    let mut text = if only && ranking.contenders.len() > 1 {
        format!(
            "{name}: `{}` keeps all laws (largest violation {violation}) with an error of {error}",
            best.strategy
        )
    } else if best.keeps() {
        format!(
            "{name}: `{}` keeps all laws (largest violation {violation}) with the lowest error ({error})",
            best.strategy
        )
    } else {
        format!(
            "{name}: no strategy keeps all laws; `{}` violates them least (largest violation {violation}), \
             with an error of {error}",
            best.strategy
        )
    };
    let with = |mark: Mark| -> Vec<String> {
        let marked = ranking.contenders.iter().filter(|contender| contender.mark == mark);
        marked.map(|contender| format!("`{}`", contender.strategy)).collect()
    };
    let (equal, worse, open) = (with(Mark::NotWorse), with(Mark::Worse), with(Mark::Undecided));
    let more = if !open.is_empty() {
        format!(
            "; {} seeds are too few to tell it from {} (p < {LEVEL} needs {})",
            best.seeds,
            and(&open),
            ranking.fewest_seeds
        )
    } else if !equal.is_empty() {
        let are = if equal.len() == 1 { "is" } else { "are" };
        format!("; {} {are} not worse (p ≥ {LEVEL}, Holm)", and(&equal))
    } else if !worse.is_empty() {
        format!("; {} {} a larger error (p < {LEVEL}, Holm)", and(&worse), have(&worse))
    } else if only && ranking.contenders.len() > 1 {
        "; no other strategy keeps them".to_owned()
    } else {
        String::new()
    };
    text += &more;
    text.push('.');
    text
}

fn have(all: &[String]) -> &'static str {
    if all.len() == 1 { "has" } else { "have" }
}

/// Returns "a", "a and b", "a, b and c".
fn and(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns everything that was compared; a number that is not known, or infinite, is `null`.
pub fn json(compared: &Comparison) -> Value {
    let runs = compared.lines.iter().map(|line| {
        let levels =
            compared.axes.iter().cloned().zip(line.levels.iter().map(|level| json!(level)));
        json!({
            "experiment": line.experiment,
            "levels": levels.collect::<serde_json::Map<_, _>>(),
            "seed": line.seed,
            "set": line.set,
            "mse": line.mse,
            "violation": line.violation,
            "largest_violation": line.largest,
            "evaluations": line.evaluations,
            "seconds": line.seconds,
            "run": line.run,
        })
    });
    let broken = compared.broken.iter().map(|law| {
        json!({
            "experiment": law.experiment, "law": law.law, "models": law.models, "of": law.of,
            "percent": law.percent,
        })
    });
    let false_laws = compared.false_laws.iter().flat_map(|(experiment, laws)| {
        laws.iter().map(move |FalseLaw { law, why }| {
            json!({ "experiment": experiment, "law": law, "reason": why })
        })
    });
    let left_out = compared.left_out.iter().map(|out| {
        json!({
            "experiment": out.experiment, "levels": out.levels, "strategy": out.strategy,
            "reason": out.reason,
        })
    });
    json!({
        "runs": runs.collect::<Vec<_>>(),
        "rankings": compared.rankings.iter().map(of_ranking).collect::<Vec<_>>(),
        "false_laws": false_laws.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "broken": broken.collect::<Vec<_>>(),
        "failed": compared.failed,
    })
}

fn of_ranking(ranking: &Ranking) -> Value {
    let range =
        |Range { median, low, high }: Range| json!({ "median": median, "min": low, "max": high });
    let strategies = ranking.contenders.iter().map(|contender| {
        let sets = contender.sets.iter().map(
            |on| json!({ "set": on.set, "mse": range(on.mse), "p": on.p, "mark": on.mark.name() }),
        );
        json!({
            "strategy": contender.strategy,
            "seeds": contender.seeds,
            "error": range(contender.error),
            "largest_violation": range(contender.violation),
            "keeps_laws": contender.keeps(),
            "evaluations": contender.evaluations,
            "seconds": contender.seconds,
            "p": contender.p,
            "mark": contender.mark.name(),
            "sets": sets.collect::<Vec<_>>(),
        })
    });
    json!({
        "experiment": ranking.experiment,
        "levels": ranking.levels,
        "best": ranking.best().strategy,
        "strategies": strategies.collect::<Vec<_>>(),
        "fewest_seeds": ranking.fewest_seeds,
        "recommendation": recommendation(ranking),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contender(strategy: &str, violation: f64, mark: Mark) -> Contender {
        let alike = |x: f64| Range { median: x, low: x, high: x };
        Contender {
            strategy: strategy.to_owned(),
            seeds: 5,
            error: alike(3e-6),
            violation: alike(violation),
            evaluations: 10.0,
            seconds: 1.0,
            sets: Vec::new(),
            p: None,
            mark,
        }
    }

    fn said(contenders: Vec<Contender>) -> String {
        let best = contenders.iter().position(|c| c.mark == Mark::Best).unwrap();
        let (experiment, levels) = ("oscillator".to_owned(), Vec::new());
        recommendation(&Ranking {
            experiment,
            levels,
            contenders,
            best,
            fewest_seeds: 6,
            has_tests: true,
        })
    }

    #[test]
    fn the_recommendation_is_one_sentence_for_every_outcome() {
        let best = || contender("auto", 2e-8, Mark::Best);
        let kept = "oscillator: `auto` keeps all laws (largest violation 2.00e-8) with the lowest error \
                    (3.00e-6)";
        let other = |mark| contender("l1", 1e-5, mark);
        assert_eq!(said(vec![best()]), format!("{kept}."));
        assert_eq!(
            said(vec![best(), other(Mark::NotWorse), contender("nu-pi", 0.0, Mark::NotWorse)]),
            format!("{kept}; `l1` and `nu-pi` are not worse (p ≥ 0.05, Holm).")
        );
        assert_eq!(
            said(vec![other(Mark::Worse), best()]),
            format!("{kept}; `l1` has a larger error (p < 0.05, Holm).")
        );
        assert_eq!(
            said(vec![other(Mark::Undecided), best()]),
            format!("{kept}; 5 seeds are too few to tell it from `l1` (p < 0.05 needs 6).")
        );
        assert_eq!(
            said(vec![contender("vanilla", 0.1, Mark::ViolatesMore), best()]),
            "oscillator: `auto` keeps all laws (largest violation 2.00e-8) with an error of 3.00e-6; no \
             other strategy keeps them."
        );
        assert_eq!(
            said(vec![contender("l2", 0.1, Mark::Best), contender("l1", 0.2, Mark::ViolatesMore)]),
            "oscillator: no strategy keeps all laws; `l2` violates them least (largest violation 0.100), \
             with an error of 3.00e-6."
        );
    }
}
