//! `lawful demo`: trains on an epidemic whose infected are not counted, with and without the laws.

use lawful_experiment::{
    Diagnostic, Experiment, LoadedRun, RECONSTRUCTION, Status, Trained, figures, read_embedded,
    short, train,
};
use lawful_plot::{CurvesFigure, Line, Prediction, curves, side_by_side};

use crate::INTERRUPTED;
use crate::arguments::Demo;
use crate::commands::evaluate::warn_of_laws;
use crate::output::{data, talk, typed};
use crate::progress::Progress;
use crate::text_table::render;

const EXPERIMENT: &str = include_str!("../../templates/demo.toml");

pub(crate) fn run(options: &Demo) -> Result<u8, Diagnostic> {
    let say = |text: &str| {
        if !options.quiet {
            talk(text);
        }
    };
    say(
        "An epidemic runs for 60 days. Every day the susceptible S and the recovered R are counted,\n\
         with an error of 3 %; the infected I are known on the first day only. A small network\n\
         learns dS/dt, dI/dt and dR/dt twice: from the counts alone, and under the laws\n\
         `S + I + R == 1` and `I >= 0`. The phases of training are selected from the data.\n",
    );
    let (mut runs, mut code) = (Vec::new(), 0);
    for (strategy, label) in [("vanilla", "without the laws"), ("auto", "with the laws")] {
        let text = EXPERIMENT.replace("kind = \"auto\"", &format!("kind = \"{strategy}\""));
        let file = read_embedded("demo.toml", &text)?;
        let mut progress = Progress::new(options.quiet, label);
        let trained = train(&file, &options.out, &mut progress)?;
        if trained.manifest.status == Status::Interrupted {
            say(&format!("to resume: lawful resume {}", typed(trained.folder.path())));
            return Ok(INTERRUPTED);
        }
        if let Some(scores) = &trained.scores {
            let model = format!("the model {label}");
            code = code.max(warn_of_laws(&file.experiment, &scores.report, &model, false));
        }
        runs.push((label, file.experiment, trained));
    }
    draw(&runs)?;
    let (_, _, last) = &runs[runs.len() - 1];
    data(&table(&runs))?;
    let figures = last.folder.path().join("figures");
    say(&format!(
        "\nFigures in {}:\n  demo.png             both models and the true solution, which was not trained on\n  \
         residuals-*.png      where the laws are violated\n  \
         learning.png         loss, violations and weights of the laws during training\n\
         Then `lawful init oscillator` writes an experiment of your own to start from.",
        figures.display()
    ));
    Ok(code)
}

fn table(runs: &[(&str, Experiment, Trained)]) -> String {
    let mut rows = Vec::new();
    for (label, _, trained) in runs {
        for set in trained.scores.iter().flat_map(|scores| &scores.sets) {
            let numbers = match &set.score {
                Ok(score) => [short(score.mse), short(score.violation)],
                Err(_) => ["failed".to_owned(), "–".to_owned()],
            };
            let [mse, violation] = numbers;
            rows.push(vec![format!("{label}, {}", set.name), mse, violation]);
        }
    }
    render(&["model", "mse", "violation"], 1, &rows)
}

/// Both models side by side on the last test set, into the folder of the run with the law.
fn draw(runs: &[(&str, Experiment, Trained)]) -> Result<(), Diagnostic> {
    let mut figures: Vec<CurvesFigure> = Vec::new();
    let mut line = Line::Dashed;
    for (label, experiment, trained) in runs {
        let run = LoadedRun::open(trained.folder.path(), None)?;
        let (name, dataset) = experiment.tests.last().expect("the demo has test sets");
        let mut figure = figures::curves_of(experiment, &run.model, name, dataset);
        figure.title = String::from(*label);
        figure.predictions[0].name = String::from(*label);
        figure.predictions[0].line = line;
        line = Line::Solid;
        // What is measured is the training set; the test set is the truth.
        let truth = std::mem::replace(
            &mut figure.measured,
            figures::curves_of(experiment, &run.model, RECONSTRUCTION, &experiment.training.data)
                .measured,
        );
        let truth = Prediction { name: name.clone(), line: Line::Truth, trajectories: truth };
        figure.predictions.push(truth);
        figure.ranges.clear();
        figures.push(figure);
    }
    let (_, _, last) = &runs[runs.len() - 1];
    figures::save(
        &last.folder,
        "demo",
        &side_by_side("an epidemic whose infected were not counted", &figures),
    )?;
    let mut both = figures.remove(1);
    both.title =
        String::from("an epidemic whose infected were not counted, with and without the laws");
    both.predictions.extend(figures.remove(0).predictions.into_iter().take(1));
    figures::save(&last.folder, "demo-curves", &curves(&both))
}
