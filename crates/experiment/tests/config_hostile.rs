//! Random and hostile files give an error or an experiment, never a panic.

mod config_support;

use config_support::{BASE, Folder, LINE};
use lawful_experiment::{files, read_embedded};

/// A small generator of its own, so that the cases never change.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.below(256).to_le_bytes()[0]).collect()
    }

    /// A text with some of its bytes replaced, removed, doubled or moved.
    fn damage(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let pool = b"[]{}\"'=,.#\n\t\\ -+eE0987xvt\xc3\xbc\0";
            match self.below(4) {
                0 => bytes[at] = pool[self.below(pool.len())],
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, pool[self.below(pool.len())]),
                _ => {
                    let end = (at + self.below(20)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

const FULL: &str = "name = \"a\"\n[system]\nstate = [\"x\", \"v\"]\ninputs = [\"u\"]\n\
    constants = { k = 1.5, c = { start = 2, min = 0 } }\ndefine = { E = \"x^2 + k\" }\n[[law]]\nholds = \"0 <= E <= 9\"\n\
    [data]\ninterpolation = \"previous\"\n[data.simulate]\nequations = { x = \"v\", v = \"u - x\" }\n\
    initial = { x = 1, v = 0 }\ngrid = { from = 0, to = 1, points = 5 }\ninputs = { u = \"sin(t)\" }\n\
    noise = { std = 0.1 }\n[test.a]\nafter = 0.5\n[field]\nhidden = [3]\nactivations = [\"elu\"]\n\
    known = { v = \"-c*x\" }\nlearn = [\"x\", \"v\"]\n\
    [solver]\nmethod = \"tsit5\"\nrtol = 1e-6\nmemory = \"1 MB\"\n[strategy]\nkind = \"l1\"\nmu = [2]\n\
    [training]\nloss = \"mae\"\noptimiser = { rate = 0.1 }\nbatch = { windows = 2, rows = 2 }\n";

#[test]
fn damaged_experiment_files_never_panic_and_errors_can_be_shown() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    read_embedded("full.toml", FULL).unwrap_or_else(|error| panic!("{error}"));
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4000 {
        match read_embedded("full.toml", &random.damage(FULL)) {
            Ok(_) => good += 1,
            Err(error) => {
                bad += 1;
                assert!(error.to_string().starts_with("error: "));
            }
        }
    }
    assert!(good > 100 && bad > 1000, "{good} good, {bad} bad: the damage is not instructive");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random(42);
    let folder = Folder::new(&[("experiment.toml", BASE)]);
    for _ in 0..500 {
        let bytes = random.bytes(300);
        files::write(&folder.path("data.csv"), &bytes).unwrap();
        folder.error();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.trim().is_empty() || read_embedded("a.toml", &text).is_err());
    }
}

#[test]
fn damaged_tables_never_panic() {
    let mut random = Random(7);
    let folder = Folder::new(&[("experiment.toml", BASE)]);
    for _ in 0..1500 {
        files::write(&folder.path("data.csv"), random.damage(LINE).as_bytes()).unwrap();
        if let Err(error) = folder.read() {
            assert!(error.place.is_some(), "{error}");
        }
    }
}

#[test]
fn deep_nesting_and_long_lines_are_refused() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{ a = ".repeat(100_000)),
        format!("[{}]\nb = 1\n", vec!["a"; 10_000].join(".")),
        format!(
            "[system]\nstate = [\"x\"]\ndefine = {{ E = \"{}x{}\" }}\n",
            "(".repeat(30_000),
            ")".repeat(30_000)
        ),
        format!("[system]\nstate = [\"x\"]\ndefine = {{ E = \"x{}\" }}\n", " + x".repeat(30_000)),
        format!("[system]\nstate = [{}]\n", "\"x\", ".repeat(10_000)),
        format!("name = \"{}\"\n", "a".repeat(1_000_000)),
    ] {
        let error = read_embedded("a.toml", &text).unwrap_err().to_string();
        assert!(error.chars().count() < 1500, "{} letters", error.chars().count());
    }
}
