//! Hints for keys in the wrong section, and for names of keys in other programs.

use lawful::law::nearest;

use super::{KEYS, SECTIONS};

/// Names of keys in other programs, and their names here.
const SYNONYMS: [(&str, &str); 24] = [
    ("lr", "rate"),
    ("learning-rate", "rate"),
    ("learning_rate", "rate"),
    ("epochs", "iterations"),
    ("steps", "iterations"),
    ("layers", "hidden"),
    ("width", "hidden"),
    ("neurons", "hidden"),
    ("units", "hidden"),
    ("path", "file"),
    ("csv", "file"),
    ("variables", "state"),
    ("parameters", "constants"),
    ("constraint", "law"),
    ("constraints", "law"),
    ("network", "field"),
    ("model", "field"),
    ("penalty", "strategy"),
    ("integrator", "solver"),
    ("tol", "tolerance"),
    ("hold", "interpolation"),
    ("switch", "penalise"),
    ("violation", "penalty"),
    ("refresh", "weight-every"),
];

/// Returns a hint for a key that is not similar to one of this section.
pub(super) fn elsewhere(word: &str, known: &[&str]) -> Option<String> {
    if nearest(word, known.iter().copied()).is_some() {
        return None;
    }
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == word).map(|(_, name)| *name);
    let name = synonym.unwrap_or(word);
    let is_section = KEYS.contains(&name) && name != "name";
    match (synonym, home(name)) {
        (Some(name), _) if known.contains(&name) => Some(format!("it is called `{name}` here")),
        _ if is_section => {
            let header = if name == "law" { "[[law]]".to_owned() } else { format!("[{name}]") };
            Some(format!("write a line `{header}`, and its keys below it"))
        }
        (Some(name), Some(home)) => {
            Some(format!("it is called `{name}` and belongs in `[{home}]`"))
        }
        (None, Some(home)) => Some(format!("`{word}` belongs in `[{home}]`")),
        (_, None) => None,
    }
}

/// Returns the section that has this key, if there is one; of several, the one at the top level.
fn home(key: &str) -> Option<&'static str> {
    let homes = SECTIONS.iter().filter(|(path, keys)| !path.is_empty() && keys.contains(&key));
    let homes: Vec<&str> = homes.map(|(path, _)| *path).collect();
    let mut outer = homes.iter().copied().filter(|path| !path.contains('.'));
    match (homes.as_slice(), outer.next(), outer.next()) {
        ([only], ..) => Some(only),
        (_, outer, None) => outer,
        _ => None,
    }
}
