//! The figures of strategies side by side: fit against violation.

use std::path::{Path, PathBuf};

use lawful_plot::{Contestant, FrontFigure, FrontPanel, Interval, front};

use super::ranking::{Contender, KEEPS, Range, Ranking};
use crate::diagnostic::Diagnostic;
use crate::files;

/// Writes `front.svg` and `front.png`, or `front-NAME.svg` and `front-NAME.png` for each of several experiments.
pub(super) fn write(rankings: &[Ranking], out: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut experiments: Vec<(&str, Vec<&Ranking>)> = Vec::new();
    for ranking in rankings {
        match experiments.iter_mut().find(|(name, _)| *name == ranking.experiment) {
            Some((_, known)) => known.push(ranking),
            None => experiments.push((&ranking.experiment, vec![ranking])),
        }
    }
    let mut written = Vec::new();
    for (name, of_experiment) in &experiments {
        let file =
            if experiments.len() == 1 { "front".to_owned() } else { format!("front-{name}") };
        let has_tests = of_experiment.iter().all(|ranking| ranking.has_tests);
        let figure = front(&FrontFigure {
            title: (*name).to_owned(),
            error: if has_tests { "MSE on the test sets" } else { "MSE on the training set" }
                .to_owned(),
            violation: "largest violation, as a share of the law's size".to_owned(),
            limit: KEEPS,
            panels: of_experiment.iter().map(|ranking| panel(ranking)).collect(),
        });
        for (ending, bytes) in [("svg", figure.svg.as_bytes()), ("png", figure.png.as_slice())] {
            let path = out.join(format!("{file}.{ending}"));
            files::write(&path, bytes)?;
            written.push(path);
        }
    }
    Ok(written)
}

fn panel(ranking: &Ranking) -> FrontPanel {
    FrontPanel {
        title: ranking.levels.join(", "),
        contestants: ranking.contenders.iter().map(contestant).collect(),
    }
}

fn contestant(contender: &Contender) -> Contestant {
    let interval = |Range { median, low, high }: Range| Interval { middle: median, low, high };
    Contestant {
        name: contender.strategy.clone(),
        error: interval(contender.error),
        violation: interval(contender.violation),
    }
}
