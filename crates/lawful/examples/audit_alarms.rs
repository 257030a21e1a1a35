//! Counts the alarms of the audit on simulated systems: true laws accused, and false laws found.
//!
//! `docs/audit/update` writes its table and remarks into `docs/audit.md`. With two arguments it takes that many
//! seeds, and only systems whose name contains the second.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

#[path = "../tests/audit_support/mod.rs"]
mod support;

use support::{alarms, systems};

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let only = std::env::args().nth(2);
    println!(
        "| system | noise | true laws accused | false laws found | named alone | true ones accused beside them |"
    );
    println!("|---|---|---|---|---|---|");
    let mut remarks = Vec::new();
    for system in systems() {
        if only.as_ref().is_some_and(|only| !system.name.contains(only.as_str())) {
            continue;
        }
        for share in [0.0, 0.01, 0.05, 0.1] {
            let seeds = if share > 0.0 { seeds } else { 1 };
            let found = alarms(&system, share, 1..seeds + 1);
            println!(
                "| {} | {} % | {} of {} | {} of {} | {} | {} |",
                system.name,
                100.0 * share,
                found.wrong.len(),
                found.audits,
                found.found,
                found.with,
                found.alone,
                found.misled.len(),
            );
            let mut missed = found.missed.clone();
            missed.sort_unstable();
            for group in missed.chunk_by(|a, b| a == b) {
                let text = format!("`{}` missed {} times", group[0], group.len());
                remarks.push(format!("{}, {} %: {text}", system.name, 100.0 * share));
            }
            for (what, texts) in
                [("true laws alone", &found.wrong), ("beside a false law", &found.misled)]
            {
                let of = |text| format!("{}, {} %, {what}: {text}", system.name, 100.0 * share);
                remarks.extend(texts.iter().map(of));
            }
        }
    }
    println!();
    for remark in remarks {
        println!("- {remark}");
    }
}
