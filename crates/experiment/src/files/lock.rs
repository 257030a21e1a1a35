//! A lock file: one process at a time writes into a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::failed;
use crate::diagnostic::Diagnostic;

/// The name of a lock file.
const NAME: &str = ".lock";
/// How often a lock file is opened again that its last holder has just removed.
const ATTEMPTS: usize = 100;
/// Most characters of a lock file that are shown.
const MOST_SHOWN: u64 = 200;

/// A lock of a folder, released when it is dropped.
///
/// The operating system holds it on the open file, and releases it when the process ends in any way.
/// The text in the file, which names the holder, is for messages only: a file that a killed program
/// left locks nothing.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub struct Lock {
    path: PathBuf,
    /// Open, and thereby locked, while this lives.
    _file: File,
}

impl Lock {
    /// Locks a folder. An error names the process that holds it. Returns `None`, after a warning, where
    /// the file system has no locks.
    pub fn take(folder: &Path, warn: &mut dyn FnMut(&str)) -> Result<Option<Self>, Diagnostic> {
        let path = folder.join(NAME);
        // What a link leads to would be overwritten, and a pipe would be waited for.
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            let message = format!("`{}` is not a file: nothing is written", path.display());
            return Err(Diagnostic::new(message).with_hint("remove it"));
        }
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).map_err(|error| failed("write", &path, &error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(in_use(folder, &file)),
                Err(TryLockError::Error(error)) => {
                    let folder = folder.display();
                    warn(&format!(
                        "`{folder}` cannot be locked ({error}): let no second `lawful` write there \
                         at the same time"
                    ));
                    return Ok(None);
                }
            }
            if is_at(&file, &path) {
                // Without its text the lock is as good.
                let _ = file.set_len(0).and_then(|()| file.write_all(holder().as_bytes()));
                return Ok(Some(Self { path, _file: file }));
            }
        }
        let message = format!("cannot lock `{}`: others lock it all the time", folder.display());
        Err(Diagnostic::new(message).with_hint("wait until they end, then type the same again"))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still locked; a file that stays locks nothing.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns whether a file is still the one at `path`: its last holder may have removed it after it was
/// opened here.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => id(open) == id(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// "process 1234 on `host`, since 2026-11-18 22:08:58 UTC".
fn holder() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::env::var("HOSTNAME"))
        .or_else(|_| std::env::var("COMPUTERNAME"));
    let on = host.map_or(String::new(), |host| format!(" on `{}`", host.trim()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    format!("process {}{on}, since {}\n", std::process::id(), utc(now))
}

/// Returns the date and time of seconds after 1970 began.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the leap day is the last one of its year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The error of a folder that another process has locked.
fn in_use(folder: &Path, file: &File) -> Diagnostic {
    let mut text = String::new();
    // Some systems let nobody else read a locked file.
    let _ = file.take(MOST_SHOWN).read_to_string(&mut text);
    let named: String =
        text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    let holder = if named.is_empty() { "another process" } else { &named };
    Diagnostic::new(format!("`{}` is in use by {holder}", folder.display()))
        .with_hint("wait until it ends, or stop it; then type the same again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    fn take(folder: &Path) -> Result<Option<Lock>, Diagnostic> {
        Lock::take(folder, &mut |warning| panic!("{warning}"))
    }

    #[test]
    fn a_second_lock_is_refused_with_the_holder_until_the_first_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path()).unwrap();
        let error = take(folder.path()).unwrap_err();
        let expected = format!("is in use by process {}", std::process::id());
        assert!(error.message.contains(&expected), "{}", error.message);
        assert!(error.message.ends_with(" UTC"), "{}", error.message);
        drop(first);
        assert_eq!(files::list(folder.path()), [""; 0], "nothing is left");
        assert!(take(folder.path()).unwrap().is_some());
    }

    #[test]
    fn what_a_killed_program_left_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        files::write(&path, b"process 1 on `here`, since long ago, and a long text behind\n")
            .unwrap();
        let lock = take(folder.path()).unwrap();
        let text = files::read_text(&path).unwrap();
        assert!(text.starts_with(&format!("process {}", std::process::id())), "{text}");
        assert!(!text.contains("behind"), "{text}");
        drop(lock);
    }

    #[test]
    fn one_of_many_that_lock_and_release_holds_it_at_a_time() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Ok(Some(lock)) = take(folder.path()) {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            taken.fetch_add(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
    }

    #[test]
    fn times_are_dates() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds), date);
        }
    }
}
