//! Mutations: what is done to an input to make the next one.

use lawful::Random;

/// Characters that mean something in the texts that are read.
const CHARACTERS: &[u8] = b"[]{}()\"'=,.:;#\n\r\t\\ -+*/^<>|&eE0987xvtu_\0\x80\xc3\xff";

/// Numbers at the ends of their ranges, and texts that almost are numbers.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e-9",
    "1e9",
    "1e308",
    "-1e308",
    "1e309",
    "5e-324",
    "1e-400",
    "NaN",
    "inf",
    "-inf",
    "255",
    "65536",
    "1000000",
    "10000001",
    "4294967295",
    "4294967296",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1700000000000000001",
    "1_000",
    "0x10",
    "1.",
    ".5",
    "1e",
    "+1",
    "1,5",
];

/// Most mutations of one input.
const MOST: usize = 8;
/// Inputs do not grow beyond this.
const LONGEST: usize = 1 << 16;

/// Returns a mutation of `input`: one to eight edits. `words` are tokens of the format, `other` is
/// another input of the same kind.
pub(crate) fn mutate(random: &mut Random, input: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let mut edits = 1;
    while edits < MOST && random.below(2) == 0 {
        edits += 1;
    }
    for _ in 0..edits {
        edit(random, &mut bytes, other, words);
        bytes.truncate(LONGEST);
    }
    bytes
}

fn edit(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    let at = random.below(bytes.len() + 1);
    match random.below(11) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = CHARACTERS[random.below(CHARACTERS.len())],
        2 => bytes.insert(at, CHARACTERS[random.below(CHARACTERS.len())]),
        3 => {
            let end = (at + 1 + random.below(24)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        4 => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            let part = bytes[at..end].repeat(1 + random.below(3));
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, part);
        }
        5 if !words.is_empty() => {
            bytes.splice(at..at, words[random.below(words.len())].bytes());
        }
        6 if !words.is_empty() => {
            let word = words[random.below(words.len())];
            replace(random, bytes, u8::is_ascii_alphanumeric, word);
        }
        7 | 8 => {
            let number = NUMBERS[random.below(NUMBERS.len())];
            replace(random, bytes, |byte| byte.is_ascii_digit() || b".e".contains(byte), number);
        }
        9 => {
            let from = random.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        _ => lines(random, bytes),
    }
}

/// Replaces a run of bytes that `belongs` by a text; the run begins at a random place or after it.
fn replace(random: &mut Random, bytes: &mut Vec<u8>, belongs: impl Fn(&u8) -> bool, with: &str) {
    let from = random.below(bytes.len() + 1);
    let Some(skipped) = bytes[from..].iter().position(&belongs) else { return };
    // Back to the beginning of the run.
    let mut start = from + skipped;
    while start > 0 && belongs(&bytes[start - 1]) {
        start -= 1;
    }
    let length = bytes[start..].iter().take_while(|byte| belongs(byte)).count();
    bytes.splice(start..start + length, with.bytes());
}

/// Removes, doubles or moves a line.
fn lines(random: &mut Random, bytes: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let at = random.below(lines.len());
    let line = lines[at];
    match random.below(3) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(random.below(lines.len() + 1), line),
        _ => {
            lines.remove(at);
            lines.insert(random.below(lines.len() + 1), line);
        }
    }
    *bytes = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_most_differ_from_their_source() {
        let source = b"t,x\n0,1.5\n1,2.5\n";
        let draw = |n: u64| mutate(&mut Random::new(n, "case"), source, b"a,b\n", &["NaN"]);
        let all: std::collections::BTreeSet<Vec<u8>> = (0..2000).map(draw).collect();
        assert!(all.len() > 1000, "{}", all.len());
        assert!((0..2000).all(|n| draw(n) == draw(n)));
    }

    #[test]
    fn any_input_can_be_mutated() {
        for source in [&b""[..], b"a", b"\n", b"\xff\xfe"] {
            for n in 0..500 {
                mutate(&mut Random::new(n, "case"), source, b"", &[]);
            }
        }
    }

    #[test]
    fn a_number_is_replaced_as_a_whole() {
        let mut found = false;
        for n in 0..200 {
            let mut bytes = b"points = 200\n".to_vec();
            replace(&mut Random::new(n, "case"), &mut bytes, u8::is_ascii_digit, "7");
            assert!(bytes == b"points = 7\n" || bytes == b"points = 200\n");
            found |= bytes == b"points = 7\n";
        }
        assert!(found);
    }
}
