//! Modules use each other in one direction: no module uses, directly or through others, itself.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lawful_experiment::files;

/// Names of modules, and the modules that each one uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The Rust files of a folder and of those in it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = files::list(folder).into_iter().map(|name| folder.join(name));
    let found = entries.flat_map(|path| match path.extension() {
        Some(extension) if extension == "rs" => vec![path],
        _ if path.is_dir() => rust_files(&path),
        _ => Vec::new(),
    });
    found.collect()
}

/// The code of a file, without comments.
fn code(path: &Path) -> String {
    let text = files::read_text(path).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules behind `root` in a text: `a` and `b` of `crate::a::x` and `crate::{b::y, a}`.
fn used(text: &str, root: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(root).filter(|(at, _)| !text[..*at].ends_with(is_name)) {
        let rest = &text[at + root.len()..];
        for path in rest.strip_prefix('{').map_or(vec![rest], list) {
            let path = path.trim_start();
            found.insert(path[..path.find(|c| !is_name(c)).unwrap_or(path.len())].to_owned());
        }
    }
    // `super::*` in the tests of a file means the file itself.
    found.remove("");
    found
}

/// The parts of a list between braces, from behind the first brace.
fn list(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

/// A path along which a module uses itself.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit(graph: &Graph, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        let last = path[path.len() - 1].clone();
        if path[..path.len() - 1].contains(&last) {
            return true;
        }
        if !done.contains(&last) {
            for next in graph.get(&last).into_iter().flatten() {
                path.push(next.clone());
                if visit(graph, path, done) {
                    return true;
                }
                path.pop();
            }
            done.insert(last);
        }
        false
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|name| {
        let mut path = vec![name.clone()];
        visit(graph, &mut path, &mut done).then_some(path)
    })
}

#[test]
fn top_level_modules_have_no_cycle() {
    let mut graph = Graph::new();
    for path in rust_files(&source()).iter().filter(|path| !path.ends_with("lib.rs")) {
        let inside = path.strip_prefix(source()).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        let uses = used(&code(path), "crate::").into_iter().filter(|name| name != module);
        graph.entry(module.to_owned()).or_default().extend(uses);
    }
    assert!(graph["run"].contains("config"), "{graph:?}");
    assert_eq!(cycle(&graph), None);
}

#[test]
fn files_of_a_run_have_no_cycle() {
    let mut graph = Graph::new();
    for path in rust_files(&source().join("run")).iter().filter(|path| !path.ends_with("mod.rs")) {
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = code(path);
        let uses = ["super::", "crate::run::"].into_iter().flat_map(|root| used(&text, root));
        graph.insert(module, uses.collect());
    }
    assert!(graph["manifest"].contains("digest"), "{graph:?}");
    assert_eq!(cycle(&graph), None);
}

#[test]
fn a_cycle_is_found_along_its_path() {
    let text = "use crate::{b::{X, y}, c};\nlet x = crate::d::Z; not_crate::e::W";
    let uses = used(text, "crate::");
    assert_eq!(uses.iter().map(String::as_str).collect::<Vec<_>>(), ["b", "c", "d"]);
    let mut graph = Graph::from([("a".to_owned(), uses)]);
    assert_eq!(cycle(&graph), None);
    graph.insert("c".to_owned(), BTreeSet::from(["a".to_owned()]));
    assert_eq!(cycle(&graph), Some(["a", "c", "a"].map(str::to_owned).to_vec()));
}
