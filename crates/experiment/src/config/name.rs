//! Names that become names of files and folders.

use std::path::Path;

/// Longest name, in characters.
const LONGEST: usize = 80;
/// Allowed characters other than letters and digits.
const ALLOWED: [char; 4] = ['-', '_', '.', ' '];
/// Names that mean a device on Windows.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Returns why a name is not a valid file name on every system, as the end of a sentence.
pub(super) fn check(name: &str) -> Result<(), String> {
    let strange = name.chars().find(|c| !c.is_alphanumeric() && !ALLOWED.contains(c));
    if let Some(c) = strange {
        Err(format!("a file name cannot contain `{}`", c.escape_debug()))
    } else if name.is_empty() {
        Err("it is empty".to_owned())
    } else if name.chars().count() > LONGEST {
        Err(format!("it has more than {LONGEST} characters"))
    } else if name.starts_with(['.', ' ', '-']) || name.ends_with(['.', ' ']) {
        Err("it begins or ends with a dot, a space or a dash".to_owned())
    } else if DEVICES.contains(&name.to_lowercase().as_str()) {
        Err("it is the name of a device on Windows".to_owned())
    } else {
        Ok(())
    }
}

/// Returns the name of an experiment without `name`: that of its file, or of the folder of an
/// `experiment.toml` or `config.toml`.
pub(super) fn of_file(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let named = stem.filter(|stem| stem != "experiment" && stem != "config");
    let folder = || {
        let file = std::path::absolute(file).ok()?;
        Some(file.parent()?.file_name()?.to_string_lossy().into_owned())
    };
    let name = named.or_else(folder).unwrap_or_default();
    let fine = |c: char| if c.is_alphanumeric() || ALLOWED.contains(&c) { c } else { '-' };
    let name: String = name.chars().map(fine).take(LONGEST).collect();
    let name = name.trim_matches(['.', ' ', '-']);
    if check(name).is_ok() { name.to_owned() } else { "experiment".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_system_cannot_store_are_refused() {
        for name in ["oscillator", "größe_2", "run 3", "v1.2", "温度"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "a/b", "a\\b", "..", ".hidden", "a:b", "nul", "a\n", "-rf", "a*"] {
            assert!(check(name).is_err(), "{name}");
        }
        assert!(check(&"a".repeat(81)).is_err());
    }

    #[test]
    fn an_experiment_is_named_after_its_file_or_its_folder() {
        assert_eq!(of_file(Path::new("a/pendulum.toml")), "pendulum");
        assert_eq!(of_file(Path::new("a/experiment.toml")), "a");
        assert_eq!(of_file(Path::new("/experiment.toml")), "experiment");
        assert_eq!(of_file(Path::new("what? (1).toml")), "what- -1");
    }
}
