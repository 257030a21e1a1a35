//! Tells the manifest of a run which commit the program was built from.
//!
//! In the repository git knows it; in a published package cargo has written it into
//! `.cargo_vcs_info.json`. Elsewhere it stays empty: the git repository around an unpacked package
//! is not this one.

use std::path::Path;
use std::process::Command;

/// Digits of the commit's hash.
const DIGITS: usize = 12;

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written = package.join(".cargo_vcs_info.json");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = if written.exists() {
        of_package(&written)
    } else if package.join("../../.git").exists() {
        of_repository()
    } else {
        None
    };
    println!("cargo::rustc-env=LAWFUL_COMMIT={}", commit.unwrap_or_default());
}

/// The commit that is checked out.
fn of_repository() -> Option<String> {
    // In a worktree these files are not below `.git`.
    for name in ["HEAD", "refs/heads", "packed-refs"] {
        let path = git(&["rev-parse", "--path-format=absolute", "--git-path", name])?;
        // Cargo takes a file that does not exist for one that changes all the time.
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", &format!("--short={DIGITS}"), "HEAD"])
}

/// The line that a git command prints, if it succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The commit that a package was made from: `"sha1": "…"`.
fn of_package(file: &Path) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a build script has no `files`")]
    let text = std::fs::read_to_string(file).ok()?;
    let (_, hash) = text.split_once("\"sha1\": \"")?;
    hash.get(..DIGITS).map(str::to_owned)
}
