//! The report: settings, verdict, tables, figures, truths and speed.

use super::document::Block;
use super::mark;
use super::matrix::Options;
use super::references::Reference;
use super::results::Cell;
use super::statistics::spread;
use super::system::System;
use super::tables::{self, number, text};
use super::timings::{Total, duration};
use super::variation::{Purpose, Variation};
use super::verdict::{self, Judgement};
use lawful_experiment::Manifest;

/// The contents of the report.
pub(super) struct Findings<'a> {
    /// The settings.
    pub(super) options: &'a Options,
    /// The command that was typed.
    pub(super) command: &'a str,
    /// All cells, including those of variations.
    pub(super) cells: &'a [Cell],
    /// Scores of the true systems.
    pub(super) references: &'a [Reference],
    /// Which claims hold.
    pub(super) judgements: &'a [Judgement],
    /// Names of the figures of each system.
    pub(super) figures: &'a [(System, Vec<String>)],
    /// Processor time.
    pub(super) total: Total,
    /// Any run: it names the machine and the program.
    pub(super) manifest: Option<&'a Manifest>,
    /// Trainings that failed, and why.
    pub(super) failures: &'a [String],
    /// Commits that runs were made with.
    pub(super) commits: &'a [String],
}

/// The title of the page.
pub(super) const TITLE: &str = "The paper, reproduced";

/// The report, from top to bottom.
pub(super) fn blocks(findings: &Findings) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, TITLE.to_owned())];
    blocks.extend(settings(findings));
    blocks.push(Block::Heading(2, "Which claims hold".to_owned()));
    blocks.push(Block::Paragraph(
        "*Holds* means: seen in all three tests, with p < 0.05 in the two-sided rank test \
         (Mann–Whitney, exact) over seeds where methods are ranked. The self-adaptive method is the \
         one without best point, and it is compared with the best of the seven others."
            .to_owned(),
    ));
    blocks.extend(verdict::blocks(findings.judgements));
    blocks.push(Block::Heading(2, "Comparison with the published numbers".to_owned()));
    blocks.push(Block::Paragraph(mark::RULE.to_owned()));
    for (system, figures) in findings.figures {
        blocks.push(Block::Heading(3, system.name().to_owned()));
        blocks.extend(tables::of_system(*system, findings.cells));
        for name in figures {
            blocks.push(Block::Figure(name.clone(), caption(name)));
        }
    }
    blocks.extend(truths(findings));
    blocks.extend(variations(findings, Purpose::Rate, "At another rate"));
    blocks.extend(speed(findings));
    blocks
}

fn caption(name: &str) -> String {
    if name.ends_with("-curves") {
        "Extrapolation: real dashed, predicted solid; of each method the best run.".to_owned()
    } else {
        "Loss, total violation and weights μ of the same runs over the iterations.".to_owned()
    }
}

fn settings(findings: &Findings) -> Vec<Block> {
    let Options { preset, seeds, iterations, precision, .. } = findings.options;
    let mut items = vec![
        format!("Command: `{}`", findings.command),
        format!(
            "Settings of the {}: {iterations} iterations, {seeds} seed{}, {} precision inside the \
             network; tests are solved with dopri5 at rtol 1e-9.",
            preset.name(),
            if *seeds == 1 { "" } else { "s" },
            precision.name()
        ),
    ];
    if let Some(manifest) = findings.manifest {
        let machine = &manifest.machine;
        items.push(format!(
            "lawful {} (commit {}), {} kernels, {} {}, {} cores.",
            manifest.version,
            if findings.commits.is_empty() {
                "unknown".to_owned()
            } else {
                findings.commits.join(", ")
            },
            manifest.kernels,
            machine.system,
            machine.architecture,
            machine.cores
        ));
    }
    items.extend(findings.failures.iter().map(|failure| format!("Failed: {failure}")));
    vec![
        Block::Paragraph(
            "Every experiment of Coelho, Costa and Ferrás, *A Self-Adaptive Penalty Method for \
             Integrating Prior Knowledge Constraints into Neural ODEs* (arXiv 2307.14940), with our \
             numbers beside the published ones. Everything on this page except its discussion is \
             written by the program."
                .to_owned(),
        ),
        Block::List(items),
    ]
}

fn truths(findings: &Findings) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !findings.references.is_empty() {
        blocks.push(Block::Heading(2, "Truths beside the published data".to_owned()));
        blocks.push(Block::Paragraph(
            "Scores of the true systems, without any training. No model of the reaction's training \
             data can do better than the first lines, because its three grids sample three slightly \
             different systems; the last lines are the true oscillator's violations of the published \
             second law."
                .to_owned(),
        ));
        let header = ["system", "test", "what is scored", "MSE", "violation", "as the script"];
        let cell = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
        let row = |line: &Reference| {
            vec![
                line.system.name().to_owned(),
                line.task.name().to_owned(),
                line.says.to_owned(),
                cell(line.mse),
                cell(line.violation),
                cell(line.violation_script),
            ]
        };
        let rows = findings.references.iter().map(row).collect();
        blocks.push(Block::Table(header.map(str::to_owned).to_vec(), rows));
    }
    blocks.extend(variations(findings, Purpose::Truth, "Trained on these truths"));
    blocks
}

/// The results of variations.
fn variations(findings: &Findings, purpose: Purpose, title: &str) -> Vec<Block> {
    let of: Vec<&Cell> =
        findings.cells.iter().filter(|cell| cell.dataset.purpose() == Some(purpose)).collect();
    let mut blocks = Vec::new();
    let mut known: Vec<&Variation> = Vec::new();
    for variation in of.iter().filter_map(|cell| cell.dataset.variation.as_ref()) {
        if !known.contains(&variation) {
            known.push(variation);
        }
    }
    for (n, variation) in known.into_iter().enumerate() {
        if n == 0 {
            blocks.push(Block::Heading(2, title.to_owned()));
        }
        blocks.push(Block::Heading(3, variation.name.clone()));
        blocks.push(Block::Paragraph(format!("Here: {}.", variation.says)));
        let own = of.iter().filter(|cell| cell.dataset.variation.as_ref() == Some(variation));
        let rows = own.map(|cell| {
            let failed = match cell.failed() {
                0 => String::new(),
                failed => format!(" ({failed} of {} seeds could not be solved)", cell.runs.len()),
            };
            vec![
                cell.variant.to_string(),
                format!("{}{failed}", cell.task.name()),
                text(spread(&cell.mse())),
                text(spread(&cell.violation())),
            ]
        });
        let header = ["method", "test", "MSE", "violation"].map(str::to_owned).to_vec();
        blocks.push(Block::Table(header, rows.collect()));
    }
    blocks
}

fn speed(findings: &Findings) -> Vec<Block> {
    let Total { trainings, iterations, seconds, torchdiffeq } = findings.total;
    vec![
        Block::Heading(2, "Speed".to_owned()),
        Block::Paragraph(format!(
            "{trainings} trainings with {iterations} iterations in all took {} of processor time. At \
             the speed measured for torchdiffeq, which the paper used (306, 203 and 699 ms per \
             iteration of population, reaction and oscillator, on one quiet core), they would take {}: \
             {:.0} times as long.",
            duration(seconds),
            duration(torchdiffeq),
            torchdiffeq / seconds.max(1e-9)
        )),
    ]
}
