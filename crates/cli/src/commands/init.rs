//! `lawful init`: a commented experiment file and a small CSV to start from.

use lawful_experiment::{Diagnostic, files};

use crate::arguments::{Example, Init};
use crate::output::{data, talk, typed};

/// The files of an example.
struct Template {
    example: Example,
    name: &'static str,
    experiment: &'static str,
    csv: &'static str,
}

const TEMPLATES: [Template; 3] = [
    Template {
        example: Example::Oscillator,
        name: "oscillator",
        experiment: include_str!("../../templates/oscillator.toml"),
        csv: include_str!("../../templates/oscillator.csv"),
    },
    Template {
        example: Example::Population,
        name: "population",
        experiment: include_str!("../../templates/population.toml"),
        csv: include_str!("../../templates/population.csv"),
    },
    Template {
        example: Example::Reaction,
        name: "reaction",
        experiment: include_str!("../../templates/reaction.toml"),
        csv: include_str!("../../templates/reaction.csv"),
    },
];

pub(crate) fn run(options: &Init) -> Result<u8, Diagnostic> {
    let folder = &options.folder;
    let named = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let template = TEMPLATES
        .iter()
        .find(|template| match options.example {
            Some(example) => template.example == example,
            None => named.as_deref() == Some(template.name),
        })
        .unwrap_or(&TEMPLATES[0]);
    let experiment = folder.join("experiment.toml");
    let csv = folder.join(format!("{}.csv", template.name));
    for path in [&experiment, &csv] {
        if path.exists() {
            return Err(Diagnostic::new(format!("`{}` already exists", path.display()))
                .with_hint("give another folder: existing files are not overwritten"));
        }
    }
    files::create_folder(folder)?;
    let shown = typed(&experiment);
    let usual = format!("{}/experiment.toml", template.name);
    files::write(&experiment, template.experiment.replace(&usual, &shown).as_bytes())?;
    files::write(&csv, template.csv.as_bytes())?;
    talk(format!(
        "wrote an experiment and its data, {}\nto check it: lawful check {shown}\nto train it: lawful train {shown}",
        csv.display(),
    ));
    data(&format!("{}\n", experiment.display()))?;
    Ok(0)
}
