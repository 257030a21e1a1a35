//! `damages`: every file of a run folder is damaged in every way. The program refuses it with a reason, or
//! gives the bytes of a whole run; it never gives others.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use lawful::Random;
use lawful_experiment::Diagnostic;

use super::program::{Program, difference, finish_or_kill, keep, repeatable};
use super::{Options, TRAININGS, experiment};
use crate::{disk, say};

/// The ways of damage.
const WAYS: [&str; 9] =
    ["flip", "flip", "truncate", "delete", "zero", "garbage", "swap", "folder", "pipe"];

/// A run folder, and what is right to get from it.
struct Base {
    /// Its folder; the run is `run` in it.
    folder: PathBuf,
    command: Vec<&'static str>,
    /// What the command prints, if it prints results.
    out: String,
    /// The files afterwards.
    whole: BTreeMap<PathBuf, Vec<u8>>,
}

pub(crate) fn run(options: &Options) -> Result<bool, Diagnostic> {
    let failed = |error: io::Error| Diagnostic::new(format!("cannot damage: {error}"));
    let folder = disk::temporary().map_err(failed)?;
    let program = Program::new(options, folder.path())?;
    let begun = Instant::now();
    let bases = bases(&program).map_err(failed)?;
    let mut random = Random::new(options.seed, "damages");
    let (mut damages, mut refused, mut found) = (0_u64, 0_u64, 0_u64);
    while damages < options.count && begun.elapsed() < Duration::from_secs(options.seconds) {
        let base = &bases[usize::try_from(damages).unwrap_or(0) % bases.len()];
        let here = folder.path().join("damaged");
        disk::copy(&base.folder, &here).map_err(failed)?;
        let (file, way) = damage(&here.join("run"), &mut random).map_err(failed)?;
        damages += 1;
        if damages.is_multiple_of(options.every.max(1)) {
            say(&format!("{damages} damages so far: {refused} refused, {found} wrong"));
        }
        let program = program.within(&here);
        let said = program.run(&base.command).map_err(failed)?;
        refused += u64::from(said.code == Some(2));
        let wrong = said.wrong().or_else(|| {
            if said.code == Some(2) {
                return None;
            }
            let mut files = repeatable(&here.join("run"));
            let mut whole = base.whole.clone();
            // What is not read need not be repaired, and the log has a gap.
            let of_log =
                ["log.csv", "figures/learning.svg", "figures/learning.png"].map(PathBuf::from);
            let log_lost = file == of_log[0];
            for path in of_log.iter().filter(|_| log_lost).chain([&file]) {
                files.remove(path);
                whole.remove(path);
            }
            difference(&whole, &files)
                .or_else(|| (said.out != base.out).then(|| "it prints other results".to_owned()))
        });
        if let Some(wrong) = wrong {
            found += 1;
            let what = format!("{} of `{}`, {:?}: {wrong}", way, file.display(), base.command);
            keep(options, damages, &here, &what);
        }
    }
    let seconds = begun.elapsed().as_secs();
    say(&format!(
        "{damages} damages in {seconds} s, seed {}: {refused} refused, {found} wrong",
        options.seed
    ));
    Ok(found == 0)
}

/// Run folders: finished ones that are evaluated, predicted with, resumed and extended, and one that was
/// killed and is resumed.
fn bases(program: &Program) -> io::Result<Vec<Base>> {
    let mut bases = Vec::new();
    for (name, training) in TRAININGS {
        let train = |folder: &Path, kill: Option<Duration>| -> io::Result<Duration> {
            disk::remove(folder);
            disk::write(&folder.join("experiment.toml"), experiment(training).as_bytes())?;
            let inside = program.within(folder);
            let child = inside.start(&["train", "experiment.toml", "-q"])?;
            let begun = Instant::now();
            let (killed, said) = finish_or_kill(child, kill.unwrap_or(Duration::from_secs(60)))?;
            if !killed && said.code != Some(0) {
                return Err(io::Error::other(said.err));
            }
            let time = begun.elapsed();
            let manifest = disk::all(&folder.join("runs"));
            let manifest = manifest.iter().find(|path| path.ends_with("manifest.json"));
            let run = manifest.and_then(|path| path.parent()).ok_or(io::ErrorKind::NotFound)?;
            disk::copy(run, &folder.join("run"))?;
            disk::remove(&folder.join("runs"));
            Ok(time)
        };
        let finished = program.folder.join(format!("finished-{name}"));
        let time = train(&finished, None)?;
        let killed = program.folder.join(format!("killed-{name}"));
        train(&killed, Some(time.mul_f64(0.6)))?;
        for (folder, command) in [
            (&finished, vec!["evaluate", "run", "--json"]),
            (&killed, vec!["resume", "run", "-q"]),
            (&finished, vec!["evaluate", "run", "--model", "best", "--json"]),
            (&finished, vec!["resume", "run", "-q", "--iterations", "12000"]),
            (&finished, vec!["predict", "run", "--points", "20"]),
            (&finished, vec!["resume", "run", "-q"]),
        ] {
            let here = program.folder.join("whole");
            disk::copy(folder, &here)?;
            let said = program.within(&here).run(&command)?;
            if said.code != Some(0) {
                return Err(io::Error::other(said.err));
            }
            let whole = repeatable(&here.join("run"));
            bases.push(Base { folder: folder.clone(), command, out: said.out, whole });
        }
    }
    Ok(bases)
}

/// Damages one file below a folder. Returns which one, and how.
fn damage(run: &Path, random: &mut Random) -> io::Result<(PathBuf, &'static str)> {
    let files: Vec<PathBuf> = disk::all(run).into_iter().filter(|path| path.is_file()).collect();
    // Half of the damages are of files that are read back: pictures are many.
    let read = |path: &&PathBuf| {
        let name = path.strip_prefix(run).unwrap_or(path).display().to_string();
        !name.starts_with("figures") && !name.starts_with("predictions")
    };
    let important: Vec<&PathBuf> = files.iter().filter(read).collect();
    let path = if random.below(2) == 0 {
        important[random.below(important.len())]
    } else {
        &files[random.below(files.len())]
    };
    let way = WAYS[random.below(WAYS.len())];
    let mut bytes = disk::read(path)?;
    match way {
        "flip" if !bytes.is_empty() => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        "truncate" if !bytes.is_empty() => bytes.truncate(random.below(bytes.len())),
        "zero" if !bytes.is_empty() => {
            let at = random.below(bytes.len());
            let end = (at + 512).min(bytes.len());
            bytes[at..end].fill(0);
        }
        "garbage" => {
            let byte = |random: &mut Random| u8::try_from(random.below(256)).unwrap_or(0);
            bytes = (0..random.below(4000)).map(|_| byte(random)).collect();
        }
        "swap" => bytes = disk::read(&files[random.below(files.len())])?,
        _ => {}
    }
    match way {
        "delete" => disk::remove(path),
        "folder" => {
            disk::remove(path);
            disk::create_folder(path)?;
        }
        "pipe" => {
            disk::remove(path);
            // Where there is no `mkfifo` the file is missing, which is a damage too.
            let _ = Command::new("mkfifo").arg(path).status();
        }
        _ => disk::write(path, &bytes)?,
    }
    Ok((path.strip_prefix(run).unwrap_or(path).to_owned(), way))
}
