//! `full-disk`: trains on small disks that become full, gives them more space, and resumes. Where no disk
//! may be mounted it says so.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use lawful::Random;
use lawful_experiment::Diagnostic;

use super::program::{Program, difference, keep, repeatable};
use super::{Options, TRAININGS, experiment};
use crate::{disk, say};

/// Kilobytes of a disk with space for everything.
const ENOUGH: usize = 65_536;

pub(crate) fn run(options: &Options) -> Result<bool, Diagnostic> {
    let failed = |error: io::Error| Diagnostic::new(format!("cannot fill a disk: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let mounted = folder.path().join("disk");
    disk::create_folder(&mounted).map_err(failed)?;
    if !mount(&mounted, 1000, false) {
        say("full disks are skipped: no disk may be mounted here (try `unshare -rm`)");
        return Ok(true);
    }
    let result = fill(options, folder.path(), &mounted).map_err(failed);
    unmount(&mounted);
    result?
}

/// Mounts a disk of this many kilobytes, or changes its size.
fn mount(folder: &Path, kilobytes: usize, again: bool) -> bool {
    let mut size = format!("size={kilobytes}k");
    if again {
        size = format!("remount,{size}");
    }
    let command =
        Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).output();
    command.is_ok_and(|output| output.status.success())
}

fn unmount(folder: &Path) {
    let _ = Command::new("umount").arg(folder).output();
}

fn fill(options: &Options, folder: &Path, mounted: &Path) -> io::Result<Result<bool, Diagnostic>> {
    let program = match Program::new(options, folder) {
        Ok(program) => program,
        Err(error) => return Ok(Err(error)),
    };
    let begun = Instant::now();
    let mut random = Random::new(options.seed, "disks");
    let (mut disks, mut full, mut found) = (0_u64, 0_u64, 0_u64);
    let mut wholes = Vec::new();
    for (name, training) in TRAININGS {
        disk::write(&folder.join("experiment.toml"), experiment(training).as_bytes())?;
        let out = format!("whole-{name}");
        let said = program.run(&["train", "experiment.toml", "-q", "--out", &out])?;
        let run = said.out.trim().to_owned();
        let whole = repeatable(&folder.join(&run));
        let bytes: usize = whole.values().map(Vec::len).sum();
        let name = run.rsplit('/').next().unwrap_or_default().to_owned();
        wholes.push((name, experiment(training), whole, bytes / 1024));
    }
    while disks < options.count && begun.elapsed() < Duration::from_secs(options.seconds) {
        let (name, text, whole, kilobytes) =
            &wholes[usize::try_from(disks).unwrap_or(0) % wholes.len()];
        disk::write(&folder.join("experiment.toml"), text.as_bytes())?;
        let out = mounted.join("runs");
        disk::remove(&out);
        let size = 16 + random.below(kilobytes + kilobytes / 2);
        if !mount(mounted, size, true) {
            return Err(io::Error::other("the disk cannot be changed"));
        }
        let shown = out.display().to_string();
        let said = program.run(&["train", "experiment.toml", "-q", "--out", &shown])?;
        disks += 1;
        full += u64::from(said.code == Some(2));
        let mut wrong = said.wrong();
        if !mount(mounted, ENOUGH, true) {
            return Err(io::Error::other("the disk cannot be changed"));
        }
        let run = out.join(name);
        if wrong.is_none() && run.is_dir() {
            let said = program.run(&["resume", &run.display().to_string(), "-q"])?;
            wrong = said.wrong();
            if said.code == Some(0) {
                wrong = wrong.or_else(|| difference(whole, &repeatable(&run)));
            } else {
                wrong = wrong.or(Some(said.err));
            }
        } else if wrong.is_none() && !disk::all(&out).is_empty() {
            wrong = Some("it leaves a part of a run folder".to_owned());
        }
        if let Some(wrong) = wrong {
            found += 1;
            keep(options, disks, &out, &format!("a disk of {size} kB: {wrong}"));
        }
    }
    let seconds = begun.elapsed().as_secs();
    say(&format!("{disks} disks in {seconds} s, {full} of them full: {found} wrong"));
    Ok(Ok(found == 0))
}
