//! The packages of `Cargo.lock` are what `deny.toml` allows: licences, sources, versions. It needs no
//! network, and knows no advisories.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use lawful_experiment::files;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The packages that are built on this machine, with those of tests.
fn packages() -> Vec<Value> {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let version = run("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let arguments =
        ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&run(env!("CARGO"), &arguments)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The texts of a list in a table of `deny.toml`, or the crates that it names.
fn listed(table: &str, key: &str) -> BTreeSet<String> {
    let file = files::read_text(&root().join("deny.toml")).unwrap();
    let file: toml::Table = file.parse().unwrap();
    let list = file[table][key].as_array().unwrap().iter();
    let names = list.map(|entry| entry.get("crate").unwrap_or(entry).as_str().unwrap().to_owned());
    names.collect()
}

/// Returns whether an SPDX expression offers allowed licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], "");
    let fine = |licence: &str| allowed.contains(licence.trim().split(" WITH ").next().unwrap());
    expression.split(" AND ").all(|part| part.split(" OR ").any(fine))
}

#[test]
fn every_package_has_an_allowed_licence_and_comes_from_the_registry() {
    let (allowed, packages) = (listed("licenses", "allow"), packages());
    let (banned, sources) = (listed("bans", "deny"), listed("sources", "allow-registry"));
    assert!(packages.len() > 50, "{}", packages.len());
    for package in &packages {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        assert!(is_allowed(licence, &allowed), "`{name}` has the licence `{licence}`");
        assert!(!banned.contains(name), "`{name}` is banned");
        // Those of the workspace have no source.
        let source = text(package, "source").strip_prefix("registry+").unwrap_or_default();
        let own = name == "lawful" || name.starts_with("lawful-");
        assert!(own || sources.contains(source), "`{name}` comes from {}", package["source"]);
    }
}

#[test]
fn no_package_has_two_versions_but_those_that_are_listed() {
    let skipped = listed("bans", "skip");
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let of = versions.entry(text(&package, "name").to_owned()).or_default();
        of.insert(text(&package, "version").to_owned());
    }
    versions.retain(|name, versions| versions.len() > 1 && !skipped.contains(name));
    assert!(versions.is_empty(), "{versions:?}: move to one version, or list them in deny.toml");
}

#[test]
fn every_direct_dependency_has_its_reason() {
    let reasons = files::read_text(&root().join("docs/decisions/0002-dependencies.md")).unwrap();
    let manifest: toml::Table =
        files::read_text(&root().join("Cargo.toml")).unwrap().parse().unwrap();
    for name in manifest["workspace"]["dependencies"].as_table().unwrap().keys() {
        let own = name == "lawful" || name.starts_with("lawful-");
        assert!(own || reasons.contains(&format!("`{name}`")), "`{name}` has no reason");
    }
}

#[test]
fn licences_are_read_as_they_are_meant() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "Apache-2.0".to_owned()]);
    for fine in ["MIT", "GPL-3.0 OR MIT", "Unlicense/MIT", "(MIT OR X) AND Apache-2.0"] {
        assert!(is_allowed(fine, &allowed), "{fine}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR X) AND Y"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
    assert!(is_allowed("Apache-2.0 WITH LLVM-exception", &allowed));
}
