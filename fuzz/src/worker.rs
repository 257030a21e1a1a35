//! A process that runs cases: it survives panics, and reports what it found.
//!
//! The number of each case is in the progress file before it runs, so that the parent process knows which
//! one ended this process.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::clock::Limit;
use crate::targets::Target;
use crate::{disk, memory, say, seeds};

/// The exit code of a worker whose case takes too long.
pub(crate) const HANG: i32 = 3;
/// The most attempts to make a found input smaller.
const ATTEMPTS: usize = 3000;

/// What a worker does.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// The seeds.
    pub(crate) seeds: PathBuf,
    /// Where found inputs are written.
    pub(crate) found: PathBuf,
    /// The seed of the mutations.
    pub(crate) seed: u64,
    /// The first case.
    pub(crate) first: u64,
    /// Number of cases.
    pub(crate) cases: u64,
    /// Seconds after which it ends.
    pub(crate) seconds: u64,
    /// The progress file.
    pub(crate) progress: PathBuf,
}

/// The place and the message of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());
/// The number of the current case.
static CASE: AtomicU64 = AtomicU64::new(0);

/// Runs cases until they are done or the time is over. Returns how many, and how many were accepted.
pub(crate) fn run(target: &'static Target, work: &Work) -> (u64, u64) {
    listen();
    let inputs = seeds::read(&work.seeds, target.name);
    // What is made once is not memory of a case.
    for input in &inputs {
        let _ = panics(target, input);
    }
    let start = Instant::now();
    CASE.store(work.first, Relaxed);
    std::thread::spawn(move || watch(Duration::from_secs(target.seconds)));
    let (mut done, mut good) = (0, 0);
    let mut known: Vec<String> = Vec::new();
    while done < work.cases && start.elapsed() < Duration::from_secs(work.seconds) {
        let n = work.first + done;
        let input = target.case(&inputs, work.seed, n);
        let _ = disk::write(&work.progress, &n.to_le_bytes());
        CASE.store(n, Relaxed);
        let begun = memory::begin();
        let result = panics(target, &input);
        let peak = memory::peak_since(begun);
        done += 1;
        good += u64::from(result == Ok(true));
        let what = match result {
            Err(place) => format!("panic at {place}"),
            Ok(_) if peak > (target.megabytes << 20) + 1000 * input.len() => {
                format!("memory: {} MB for {} bytes", peak >> 20, input.len())
            }
            Ok(_) => continue,
        };
        let kind = what.split([':', '\n']).take(3).collect::<Vec<_>>().join(":");
        if known.contains(&kind) {
            say(&format!("found {} again, case {n}: {what}", target.name));
            continue;
        }
        let small = if what.starts_with("panic") { smaller(target, &input) } else { input };
        let path = work.found.join(format!("{}-{}-{n}", target.name, work.seed));
        let _ = disk::write(&path, &small);
        say(&format!("found {} {}: {what}", target.name, path.display()));
        known.push(kind);
    }
    (done, good)
}

/// Ends this process if a case takes too long.
fn watch(limit: Duration) {
    let begin = || (CASE.load(Relaxed), Limit::new("self", limit));
    let mut current = begin();
    loop {
        std::thread::sleep(Duration::from_millis(200));
        if CASE.load(Relaxed) != current.0 {
            current = begin();
        } else if current.1.is_over("self") {
            std::process::exit(HANG);
        }
    }
}

/// Keeps the place of panics instead of printing them.
pub(crate) fn listen() {
    std::panic::set_hook(Box::new(|panic| {
        let mut text = String::new();
        if let Some(place) = panic.location() {
            let _ = write!(text, "{}:{}: ", place.file(), place.line());
        }
        let payload = panic.payload();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        text += message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
        if let Ok(mut last) = PANIC.lock() {
            *last = text;
        }
    }));
}

/// Runs a case. Returns whether the input was accepted, or where it panicked.
pub(crate) fn panics(target: &Target, input: &[u8]) -> Result<bool, String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|_| {
        let text = PANIC.lock().map(|text| text.clone()).unwrap_or_default();
        text.chars().take(400).collect()
    })
}

/// Returns a part of an input that panics in the same place.
fn smaller(target: &Target, input: &[u8]) -> Vec<u8> {
    let place = |input: &[u8]| {
        let text = panics(target, input).err()?;
        Some(text.split(": ").next().unwrap_or_default().to_owned())
    };
    let (mut best, wanted, mut attempts) = (input.to_vec(), place(input), 0);
    let mut part = best.len() / 2;
    while part > 0 {
        let mut at = 0;
        while at < best.len() && attempts < ATTEMPTS {
            let mut candidate = best.clone();
            candidate.drain(at..(at + part).min(best.len()));
            attempts += 1;
            if place(&candidate) == wanted {
                best = candidate;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    best
}

/// Returns the number of the case in a progress file.
pub(crate) fn progress(path: &Path) -> u64 {
    let bytes = disk::read(path).unwrap_or_default();
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
