//! Which claims of the paper hold, decided from the numbers.

use super::claims::{self, Finding};
use super::document::Block;
use super::matrix::Dataset;
use super::results::Cell;
use super::system::System;
use super::variation::Purpose;

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// It is seen, and significant.
    Holds,
    /// It is not seen.
    DoesNotHold,
    /// It is not seen at the learning rate of the paper, but at another.
    HoldsAtAnotherRate,
    /// It is seen, but with so few seeds it cannot be significant.
    TooFewSeeds,
}

impl Word {
    /// Returns it as written in the report.
    pub fn text(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::HoldsAtAnotherRate => "holds at another rate",
            Self::TooFewSeeds => "seen, but with too few seeds for significance",
        }
    }
}

/// A claim about one system, with what the numbers say.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The claim, in words.
    pub claim: &'static str,
    /// The system.
    pub system: System,
    /// Whether it holds.
    pub word: Word,
    /// The numbers.
    pub evidence: Vec<String>,
}

/// Judges every claim on every system that has cells.
pub fn judge(cells: &[Cell]) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for claim in claims::CLAIMS {
        for system in System::ALL {
            let of = |dataset: &Dataset| -> Option<Finding> {
                let own: Vec<&Cell> =
                    cells.iter().filter(|cell| cell.dataset == *dataset).collect();
                (claim.find)(system, &own)
            };
            let Some(finding) = of(&Dataset { system, variation: None }) else { continue };
            let mut judgement = Judgement {
                claim: claim.text,
                system,
                word: finding.word,
                evidence: finding.evidence,
            };
            if judgement.word == Word::DoesNotHold {
                for dataset in other_rates(cells, system) {
                    if let Some(finding) = of(&dataset) {
                        let name = dataset.name();
                        let with_name = |line| format!("{name}: {line}");
                        judgement.evidence.extend(finding.evidence.into_iter().map(with_name));
                        if finding.word == Word::Holds {
                            judgement.word = Word::HoldsAtAnotherRate;
                        }
                    }
                }
            }
            judgements.push(judgement);
        }
    }
    judgements
}

/// Returns the variations of a system that were trained at other learning rates.
fn other_rates(cells: &[Cell], system: System) -> Vec<Dataset> {
    let mut found: Vec<Dataset> = Vec::new();
    for cell in cells {
        let wanted = cell.dataset.system == system && cell.dataset.purpose() == Some(Purpose::Rate);
        if wanted && !found.contains(&cell.dataset) {
            found.push(cell.dataset.clone());
        }
    }
    found
}

/// Returns the verdict as a part of the report.
pub fn blocks(judgements: &[Judgement]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for claim in claims::CLAIMS {
        let own: Vec<&Judgement> = judgements.iter().filter(|j| j.claim == claim.text).collect();
        if own.is_empty() {
            continue;
        }
        blocks.push(Block::Heading(3, format!("“{}”", claim.text)));
        let line = |j: &&Judgement| {
            format!("{}: *{}*. {}", j.system.name(), j.word.text(), j.evidence.join("; "))
        };
        blocks.push(Block::List(own.iter().map(line).collect()));
    }
    blocks
}

/// Returns one line for each claim and system, without the numbers.
pub fn summary(judgements: &[Judgement]) -> Vec<String> {
    let line = |j: &Judgement| format!("{}, {}: {}", j.claim, j.system.name(), j.word.text());
    judgements.iter().map(line).collect()
}
