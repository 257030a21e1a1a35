//! The only access to the file system: reads and writes whole files, with errors for the user.
#![expect(clippy::disallowed_methods, reason = "the lint points to this module")]

mod encoding;
mod lock;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use lawful::law::nearest;

use crate::diagnostic::{Diagnostic, Place};

pub use lock::Lock;

/// Reads the bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => not_found(path),
        _ if path.is_dir() => {
            Diagnostic::new(format!("cannot read `{}`: it is a folder, not a file", path.display()))
        }
        _ => failed("read", path, &error),
    })
}

/// Reads the text of a file in UTF-8, without a byte-order mark. Another encoding is an error, with a
/// guess at what it is.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    encoding::decode(read(path)?).map_err(|error| {
        Diagnostic::new(format!("`{}` {}", path.display(), error.message))
            .with_hint(error.hint)
            .at(Place { file: path.to_owned(), spot: error.spot })
    })
}

/// Writes a file atomically: a reader finds the old file or the new one, even after a loss of power.
/// What is written later is never on the disk before it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    stream(path, |file| file.write_all(bytes))
}

/// The same for bytes that need not be in memory all at once.
pub fn stream(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    let part = part_of(path);
    let written = write_part(&part, fill).and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        // The first error is reported, whether or not this one succeeds.
        let _ = fs::remove_file(&part);
        failed("write", path, &error)
    })?;
    sync_names(path);
    Ok(())
}

/// Writes a file that is on the disk afterwards: without this a new name may survive a loss of power
/// that its bytes do not.
fn write_part(
    part: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    // One that a killed program left, or a link that somebody put there.
    let _ = fs::remove_file(part);
    let mut file = BufWriter::new(File::create_new(part)?);
    fill(&mut file)?;
    sync(&file.into_inner().map_err(io::IntoInnerError::into_error)?)
}

/// Waits until the bytes of a file are on the disk.
pub fn sync(file: &File) -> io::Result<()> {
    match file.sync_data() {
        // A file system that cannot is as safe as it can be.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Waits until the names of the folder that `path` is in are on the disk, where folders can be opened.
/// A failure is no error: the file is complete under its old name or its new one.
fn sync_names(path: &Path) {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    }
}

/// A name beside `path` that no other process uses.
fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}{PART}", std::process::id()))
}

/// The end of the names of incomplete files and folders.
pub(crate) const PART: &str = ".part";

/// Removes the incomplete files in a folder that a killed program left. The folder must be locked: others
/// may write theirs.
pub fn remove_parts(folder: &Path) -> Result<(), Diagnostic> {
    for name in list(folder) {
        let path = folder.join(&name);
        if name.starts_with('.') && name.ends_with(PART) && !path.is_dir() {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Opens a file to append to it; creates it if it does not exist.
pub fn append(path: &Path) -> Result<File, Diagnostic> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.map_err(|error| failed("write", path, &error))
}

/// Creates a folder and its parents. It may exist already.
pub fn create_folder(path: &Path) -> Result<(), Diagnostic> {
    fs::create_dir_all(path).map_err(|error| failed("create the folder", path, &error))
}

/// Removes a folder with its contents.
pub fn remove_folder(path: &Path) -> Result<(), Diagnostic> {
    fs::remove_dir_all(path).map_err(|error| failed("remove", path, &error))
}

/// Removes an empty folder.
pub fn remove_empty_folder(path: &Path) -> Result<(), Diagnostic> {
    fs::remove_dir(path).map_err(|error| failed("remove", path, &error))
}

/// Renames a folder. No folder that is not empty may have the new name.
pub fn rename_folder(from: &Path, to: &Path) -> Result<(), Diagnostic> {
    fs::rename(from, to).map_err(|error| failed("create the folder", to, &error))?;
    sync_names(to);
    Ok(())
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<(), Diagnostic> {
    fs::remove_file(path).map_err(|error| failed("remove", path, &error))
}

/// Refuses symbolic links in a folder that lead out of it: what is written into the folder must not
/// change files elsewhere.
pub fn refuse_links_out(folder: &Path) -> Result<(), Diagnostic> {
    for name in list(folder) {
        let path = folder.join(name);
        if !path.is_symlink() {
            continue;
        }
        // A link to nothing leads nowhere: it is refused too.
        let inside = match (fs::canonicalize(&path), fs::canonicalize(folder)) {
            (Ok(target), Ok(folder)) => target.starts_with(folder),
            _ => false,
        };
        if !inside {
            let target = fs::read_link(&path).unwrap_or_default();
            return Err(Diagnostic::new(format!(
                "`{}` is a symbolic link that leads out of its folder, to `{}`: nothing is written",
                path.display(),
                target.display()
            ))
            .with_hint("put a copy of what it leads to in its place"));
        }
    }
    Ok(())
}

/// Returns the names of the files and folders in a folder, sorted; none if it cannot be read.
pub fn list(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// "cannot read `x.csv`: permission denied".
fn failed(verb: &str, path: &Path, error: &io::Error) -> Diagnostic {
    let reason = match error.kind() {
        ErrorKind::NotFound => "its folder does not exist".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "there is a file where a folder should be".to_owned()
        }
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        _ => error.to_string(),
    };
    Diagnostic::new(format!("cannot {verb} `{}`: {reason}", path.display()))
}

/// Returns the error of a missing file, with a similar name as hint.
fn not_found(path: &Path) -> Diagnostic {
    let folder = path.parent().unwrap_or(Path::new(""));
    let error = Diagnostic::new(format!("there is no file `{}`", path.display()));
    if !folder.as_os_str().is_empty() && !folder.is_dir() {
        return error.with_hint(format!("there is no folder `{}` either", folder.display()));
    }
    let names = list(folder);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(close) = nearest(&name, names.iter().map(String::as_str)) {
        return error.with_hint(format!("did you mean `{close}`?"));
    }
    let Some(extension) = path.extension() else { return error };
    let alike = names.iter().filter(|name| Path::new(name).extension() == Some(extension));
    let alike: Vec<String> = alike.map(|name| format!("`{name}`")).collect();
    match alike.len() {
        1..=8 => error.with_hint(format!("the folder has {}", alike.join(", "))),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_replaces_the_old_one_and_leaves_no_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(read(&path).unwrap(), b"new");
        assert_eq!(list(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_missing_file_suggests_one_with_almost_its_name() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("oscillator.csv"), b"").unwrap();
        let hint = |name: &str| read(&folder.path().join(name)).unwrap_err().hint;
        assert_eq!(hint("oscilator.csv").as_deref(), Some("did you mean `oscillator.csv`?"));
        assert_eq!(hint("data.csv").as_deref(), Some("the folder has `oscillator.csv`"));
        assert_eq!(hint("data.toml"), None);
        assert!(hint("nowhere/data.csv").unwrap().starts_with("there is no folder"));
    }

    #[test]
    fn a_folder_is_not_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let message = read(folder.path()).unwrap_err().message;
        assert!(message.ends_with("it is a folder, not a file"), "{message}");
        let message = write(folder.path(), b"x").unwrap_err().message;
        assert!(message.starts_with("cannot write"), "{message}");
    }
}
