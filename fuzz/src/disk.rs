//! The files of the drivers. Unlike those of the program they are not synced: there are millions.
#![expect(clippy::disallowed_methods, reason = "the drivers write what the program is to read")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads a file; a pipe, on which this would wait for ever, is an error.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    fs::read(path)
}

/// Writes a file, and the folders that it is in.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes).or_else(|_| {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        fs::write(path, bytes)
    })
}

/// Creates a temporary folder, in memory where there is such a place: a disk takes a millisecond per file.
pub(crate) fn temporary() -> io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// Removes a file or a folder with its contents, if it is there.
pub(crate) fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Returns the paths of all files below a folder, sorted. Links are not followed.
pub(crate) fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() && !path.is_symlink() {
            found.extend(all(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Copies a folder with its contents over what is at `to`.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    remove(to);
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else if path.is_file() {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Creates a folder and its parents.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}
