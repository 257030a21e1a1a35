//! Runs the program with a time limit, and checks what every run of it must keep.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lawful_experiment::Diagnostic;

use super::Options;
use crate::clock::Limit;
use crate::{disk, say};

/// A run that works longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// What the program said.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

/// The program, and the folder in which it runs.
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    pub(super) folder: PathBuf,
}

impl Program {
    /// The program of the options, in a folder of its own.
    pub(super) fn new(options: &Options, folder: &Path) -> Result<Self, Diagnostic> {
        let beside = || Some(std::env::current_exe().ok()?.with_file_name("lawful"));
        let path = options.program.clone().or_else(beside).unwrap_or_default();
        if !path.is_file() {
            return Err(Diagnostic::new(format!("there is no program `{}`", path.display()))
                .with_hint("build it: `cargo build -p lawful-cli`, or give `--program`"));
        }
        let path = std::path::absolute(&path).unwrap_or(path);
        Ok(Self { path, folder: folder.to_owned() })
    }

    /// The same program in another folder.
    pub(super) fn within(&self, folder: &Path) -> Self {
        Self { path: self.path.clone(), folder: folder.to_owned() }
    }

    /// Starts it.
    pub(super) fn start(&self, arguments: &[&str]) -> io::Result<Child> {
        let mut command = Command::new(&self.path);
        // The kernel's own signals do not depend on the number of threads; the machine's load does.
        command.current_dir(&self.folder).args(arguments).env("RAYON_NUM_THREADS", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }

    /// Runs it to its end.
    pub(super) fn run(&self, arguments: &[&str]) -> io::Result<Said> {
        finish(self.start(arguments)?)
    }
}

/// Waits for the end, at most [`LIMIT`].
pub(super) fn finish(mut child: Child) -> io::Result<Said> {
    let process = child.id().to_string();
    let limit = Limit::new(&process, LIMIT);
    // What is printed fits into a pipe: a few lines, or predictions of a few rows.
    while child.try_wait()?.is_none() {
        if limit.is_over(&process) {
            child.kill()?;
            child.wait()?;
            return Ok(Said { code: None, out: String::new(), err: "hang".to_owned() });
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    said(child)
}

/// Waits at most this long, then kills it. Returns whether it was killed, and what it said.
pub(super) fn finish_or_kill(mut child: Child, after: Duration) -> io::Result<(bool, Said)> {
    let begun = Instant::now();
    let mut killed = false;
    while child.try_wait()?.is_none() {
        if begun.elapsed() >= after {
            child.kill()?;
            killed = true;
            child.wait()?;
            break;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok((killed, said(child)?))
}

fn said(mut child: Child) -> io::Result<Said> {
    let code = child.wait()?.code();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    if let Some(stream) = &mut child.stdout {
        stream.read_to_end(&mut out)?;
    }
    if let Some(stream) = &mut child.stderr {
        stream.read_to_end(&mut err)?;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Said { code, out: text(&out), err: text(&err) })
}

impl Said {
    /// Returns what is wrong with it: a panic, a hang, or a refusal without a reason.
    pub(super) fn wrong(&self) -> Option<String> {
        let Self { code, err, .. } = self;
        let shown: String = err.chars().take(600).collect();
        match code {
            None if err == "hang" => Some("it hangs".to_owned()),
            None => Some(format!("it was ended by a signal: {shown}")),
            _ if err.contains("panicked") => Some(format!("it panics: {shown}")),
            Some(0..=2) if *code == Some(0) || err.contains("error: ") => None,
            Some(code) => Some(format!("exit code {code} without an error: {shown}")),
        }
    }
}

/// Files that the same experiment repeats, with their bytes, below a folder: all but manifests, which have
/// times, locks and copies of damaged logs.
pub(super) fn repeatable(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let differs = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ["manifest.json", ".lock", "log.csv.damaged"].contains(&name.as_str())
    };
    let paths = disk::all(folder).into_iter().filter(|path| !differs(path));
    let read = paths.filter_map(|path| {
        let bytes = disk::read(&path).ok()?;
        Some((path.strip_prefix(folder).ok()?.to_owned(), bytes))
    });
    read.collect()
}

/// Returns the first file that differs.
pub(super) fn difference(
    one: &BTreeMap<PathBuf, Vec<u8>>,
    other: &BTreeMap<PathBuf, Vec<u8>>,
) -> Option<String> {
    let names = one.keys().chain(other.keys());
    let mut differing = names.filter(|name| one.get(*name) != other.get(*name));
    differing.next().map(|name| {
        let length = |files: &BTreeMap<PathBuf, Vec<u8>>| match files.get(name) {
            Some(bytes) => format!("{} bytes", bytes.len()),
            None => "missing".to_owned(),
        };
        format!("`{}` differs: {}, {}", name.display(), length(one), length(other))
    })
}

/// Keeps what was found, for a look at it.
pub(super) fn keep(options: &Options, number: u64, folder: &Path, what: &str) {
    let to = options.found.join(format!("{}-{number}", options.seed));
    let _ = disk::copy(folder, &to);
    say(&format!("found {}: {what}", to.display()));
}
