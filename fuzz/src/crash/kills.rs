//! `kills`: kill −9 at random moments of `train`, `resume`, `resume --iterations`, `compare` and `paper`,
//! and two processes in one folder. Afterwards every file has the bytes of a run without a pause.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lawful::Random;
use lawful_experiment::Diagnostic;

use super::program::{Program, Said, difference, finish, finish_or_kill, keep, repeatable};
use super::{Options, TRAININGS, experiment};
use crate::{disk, say};

/// What is killed.
struct Scenario {
    name: String,
    /// The folder in which it begins, which is copied for each round.
    base: PathBuf,
    /// The first command.
    start: Vec<String>,
    /// The command after a kill; `RUN` is the run folder.
    again: Vec<String>,
    /// Whether two processes run at once.
    twice: bool,
    /// The files at the end of a run without a pause.
    whole: BTreeMap<PathBuf, Vec<u8>>,
    /// How long it takes.
    time: Duration,
}

/// Most kills of one round.
const MOST: usize = 8;
/// Files with times in them.
const TIMED: [&str; 4] = ["timings.csv", "report.html", "tables.md", "experiment.toml"];

pub(crate) fn run(options: &Options) -> Result<bool, Diagnostic> {
    let failed = |error: io::Error| Diagnostic::new(format!("cannot kill: {error}"));
    let folder = disk::temporary().map_err(failed)?;
    let program = Program::new(options, folder.path())?;
    let begun = Instant::now();
    let scenarios = scenarios(&program).map_err(failed)?;
    let mut random = Random::new(options.seed, "kills");
    let (mut kills, mut rounds, mut found) = (0, 0_u64, 0_u64);
    let mut of = vec![0_u64; scenarios.len()];
    while kills < options.count && begun.elapsed() < Duration::from_secs(options.seconds) {
        let which = usize::try_from(rounds).unwrap_or(0) % scenarios.len();
        let scenario = &scenarios[which];
        let here = folder.path().join("round");
        disk::copy(&scenario.base, &here).map_err(failed)?;
        let (own, wrong) = round(&program.within(&here), scenario, &mut random).map_err(failed)?;
        rounds += 1;
        if (kills + own) / options.every.max(1) > kills / options.every.max(1) {
            say(&format!("{} kills so far: {found} wrong", kills + own));
        }
        kills += own;
        of[which] += own;
        if let Some(wrong) = wrong {
            found += 1;
            keep(options, rounds, &here, &format!("{}, after {own} kills: {wrong}", scenario.name));
        }
    }
    for (scenario, kills) in scenarios.iter().zip(of) {
        say(&format!("{:24} {kills:5} kills", scenario.name));
    }
    let seconds = begun.elapsed().as_secs();
    say(&format!(
        "{kills} kills in {rounds} rounds and {seconds} s, seed {}: {found} wrong",
        options.seed
    ));
    Ok(found == 0)
}

/// The scenarios, each with the files and the time of a run without a pause.
fn scenarios(program: &Program) -> io::Result<Vec<Scenario>> {
    let mut made = Vec::new();
    let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    for (name, training) in TRAININGS {
        let base = program.folder.join(format!("base-{name}"));
        disk::write(&base.join("experiment.toml"), experiment(training).as_bytes())?;
        let (train, resume) = (words("train experiment.toml -q"), words("resume RUN -q"));
        for twice in [false, true] {
            let also = if twice { ", two at once" } else { "" };
            made.push(Scenario::new(
                program,
                format!("train {name}{also}"),
                &base,
                &train,
                &resume,
                twice,
            )?);
        }
        // What is extended is finished first.
        let trained = program.folder.join(format!("base-extend-{name}"));
        disk::copy(&base, &trained)?;
        check(&program.within(&trained).run(&["train", "experiment.toml", "-q"])?)?;
        let extend = words("resume RUN --iterations 12000 -q");
        made.push(Scenario::new(
            program,
            format!("extend {name}"),
            &trained,
            &extend,
            &extend,
            false,
        )?);
    }
    let base = program.folder.join("base-compare");
    let text = experiment("optimiser = \"adam\"\niterations = 2500\n");
    disk::write(&base.join("experiment.toml"), text.as_bytes())?;
    let compare = words("compare experiment.toml --seeds 3 --jobs 2 -q");
    let paper = words(
        "paper --system oscillator --method vanilla --method l1:1 --seeds 1 --iterations 60 --jobs 2 -q",
    );
    for (name, command) in [("compare", compare), ("paper", paper)] {
        for twice in [false, true] {
            let also = if twice { ", two at once" } else { "" };
            let name = format!("{name}{also}");
            made.push(Scenario::new(program, name, &base, &command, &command, twice)?);
        }
    }
    Ok(made)
}

fn check(said: &Said) -> io::Result<()> {
    match said.code {
        Some(0) => Ok(()),
        _ => Err(io::Error::other(said.err.clone())),
    }
}

impl Scenario {
    fn new(
        program: &Program,
        name: String,
        base: &Path,
        start: &[String],
        again: &[String],
        twice: bool,
    ) -> io::Result<Self> {
        let here = program.folder.join("whole");
        disk::copy(base, &here)?;
        let begun = Instant::now();
        let inside = program.within(&here);
        check(&inside.run(&arguments(&inside, start).unwrap_or_default().as_ref_words())?)?;
        let (time, whole) = (begun.elapsed(), files(&here));
        let (start, again) = (start.to_vec(), again.to_vec());
        Ok(Self { name, base: base.to_owned(), start, again, twice, whole, time })
    }
}

/// The files that are compared.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = repeatable(folder);
    // A `train` that was killed in its first milliseconds leaves an incomplete folder, which nothing reads.
    let part = |path: &PathBuf| path.iter().any(|name| name.to_string_lossy().ends_with(".part"));
    files.retain(|path, _| !(path.starts_with("runs") && part(path)));
    files.retain(|path, _| !TIMED.iter().any(|timed| path.ends_with(timed)));
    files
}

/// A command with the name of the run folder in it; `None` if there is no run folder yet.
fn arguments(program: &Program, words: &[String]) -> Option<Vec<String>> {
    let run = || {
        let paths = disk::all(&program.folder.join("runs"));
        let mut inside = paths.iter().filter_map(|path| path.strip_prefix(&program.folder).ok());
        // A hidden folder is an incomplete run.
        let hidden = |path: &Path| path.iter().any(|part| part.to_string_lossy().starts_with('.'));
        let manifest = inside.find(|path| path.ends_with("manifest.json") && !hidden(path))?;
        Some(manifest.parent()?.display().to_string())
    };
    words.iter().map(|word| if word == "RUN" { run() } else { Some(word.clone()) }).collect()
}

/// Words as the arguments of a command.
trait Words {
    fn as_ref_words(&self) -> Vec<&str>;
}

impl Words for Vec<String> {
    fn as_ref_words(&self) -> Vec<&str> {
        self.iter().map(String::as_str).collect()
    }
}

/// Kills and continues until the command ends by itself. Returns the number of kills, and what is wrong.
fn round(
    program: &Program,
    scenario: &Scenario,
    random: &mut Random,
) -> io::Result<(u64, Option<String>)> {
    let (mut kills, mut command) = (0, scenario.start.clone());
    for _ in 0..=random.below(MOST) {
        let moment = scenario.time.mul_f64(1.1 * random.uniform());
        let words = arguments(program, &command).unwrap_or_else(|| scenario.start.clone());
        let second = if scenario.twice {
            let between = scenario.time.mul_f64(0.3 * random.uniform());
            let first = program.start(&words.as_ref_words())?;
            std::thread::sleep(between);
            let words = arguments(program, &scenario.again).unwrap_or_else(|| words.clone());
            Some((first, program.start(&words.as_ref_words())?))
        } else {
            None
        };
        let children = match second {
            Some((first, second)) => vec![first, second],
            None => vec![program.start(&words.as_ref_words())?],
        };
        for child in children {
            let (killed, said) = finish_or_kill(child, moment)?;
            kills += u64::from(killed);
            let used = said.code == Some(2) && said.err.contains("is in use by");
            if let Some(wrong) = said.wrong().filter(|_| !killed && !used) {
                return Ok((kills, Some(wrong)));
            }
            if !killed && said.code != Some(0) && !used {
                return Ok((kills, Some(format!("exit code {:?}: {}", said.code, said.err))));
            }
        }
        command.clone_from(&scenario.again);
    }
    let words = arguments(program, &command).unwrap_or_else(|| scenario.start.clone());
    let said = finish(program.start(&words.as_ref_words())?)?;
    if said.code != Some(0) {
        let wrong = said.wrong().unwrap_or_else(|| said.err.clone());
        return Ok((kills, Some(format!("it cannot be finished: {wrong}"))));
    }
    // Two at once may have begun two runs, each in a folder of its own.
    let found = files(&program.folder);
    let missing = |path: &&PathBuf| !scenario.whole.contains_key(*path);
    if scenario.twice && found.keys().any(|path| missing(&path)) {
        let kept: BTreeMap<_, _> =
            found.into_iter().filter(|(path, _)| scenario.whole.contains_key(path)).collect();
        return Ok((kills, difference(&scenario.whole, &kept)));
    }
    Ok((kills, difference(&scenario.whole, &found)))
}
