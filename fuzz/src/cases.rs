//! `cases`: mutates inputs of every target in processes of their own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use lawful_experiment::Diagnostic;

use crate::targets::{TARGETS, Target};
use crate::worker::{self, HANG};
use crate::{disk, say, seeds};

/// Options of `cases`.
#[derive(Debug, Args)]
pub(crate) struct Cases {
    /// Targets; all of them if none is given
    targets: Vec<String>,
    /// Seconds, for all targets together
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Most cases of each target
    #[arg(long = "cases", default_value_t = u64::MAX)]
    most: u64,
    /// Seed of the mutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where found inputs are written
    #[arg(long, default_value = "target/fuzz-found")]
    found: PathBuf,
}

/// What was done and found for one target.
struct Count {
    cases: u64,
    accepted: u64,
    found: u64,
}

/// Fuzzes the targets one after the other. Returns whether nothing was found.
pub(crate) fn run(options: &Cases) -> Result<bool, Diagnostic> {
    let mut targets: Vec<&Target> = Vec::new();
    for name in &options.targets {
        let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        let unknown = || Diagnostic::new(format!("there is no target `{name}`"));
        let found = Target::named(name);
        targets.push(found.ok_or_else(|| unknown().with_hint(format!("there are {}", names())))?);
    }
    if targets.is_empty() {
        targets = TARGETS.iter().collect();
    }
    let failed = |error: std::io::Error| Diagnostic::new(format!("cannot fuzz: {error}"));
    let folder = disk::temporary().map_err(failed)?;
    seeds::gather(folder.path())?;
    let begun = Instant::now();
    let (mut all, mut found) = (0, 0);
    for (n, target) in targets.iter().enumerate() {
        let left = Duration::from_secs(options.seconds).saturating_sub(begun.elapsed());
        let share = left / u32::try_from(targets.len() - n).unwrap_or(1);
        let count = fuzz(target, options, folder.path(), share).map_err(failed)?;
        let Count { cases, accepted, found: own } = count;
        say(&format!("{:10} {cases:9} cases, {accepted:8} accepted, {own} found", target.name));
        all += cases;
        found += own;
    }
    let seconds = begun.elapsed().as_secs();
    say(&format!("{all} cases in {seconds} s, seed {}: {found} found", options.seed));
    Ok(found == 0)
}

/// Fuzzes one target for some time, in a new process after each that ended early.
fn fuzz(
    target: &Target,
    options: &Cases,
    folder: &std::path::Path,
    time: Duration,
) -> std::io::Result<Count> {
    let (begun, mut count) = (Instant::now(), Count { cases: 0, accepted: 0, found: 0 });
    let progress = folder.join("progress");
    while count.cases < options.most && begun.elapsed() < time {
        let seconds = time.saturating_sub(begun.elapsed()).as_secs().max(1);
        let first = count.cases;
        disk::write(&progress, &first.to_le_bytes())?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["worker", target.name]);
        command.arg("--seeds").arg(folder).arg("--progress").arg(&progress);
        command.arg("--found").arg(&options.found);
        for (name, value) in [
            ("--seed", options.seed),
            ("--first", first),
            ("--cases", options.most - count.cases),
            ("--seconds", seconds),
        ] {
            command.arg(name).arg(value.to_string());
        }
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            if let Some(done) = line.strip_prefix("done ") {
                let mut numbers = done.split(' ').filter_map(|number| number.parse::<u64>().ok());
                count.cases += numbers.next().unwrap_or(0);
                count.accepted += numbers.next().unwrap_or(0);
            } else if line.starts_with("found ") {
                count.found += 1;
                say(line);
            }
        }
        if !output.status.success() {
            // The case that ended it: too slow, too large, or too deep for the stack.
            let n = worker::progress(&progress);
            let input = target.case(&seeds::read(folder, target.name), options.seed, n);
            let path = options.found.join(format!("{}-{}-{n}", target.name, options.seed));
            disk::write(&path, &input)?;
            let what = if output.status.code() == Some(HANG) { "hang" } else { "crash" };
            say(&format!("found {} {}: {what} ({})", target.name, path.display(), output.status));
            count.found += 1;
            count.cases = n + 1;
        }
    }
    Ok(count)
}
