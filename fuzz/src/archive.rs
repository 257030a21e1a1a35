//! Model files in their parts: mutated one by one and put together again, with the right lengths and
//! the right fingerprint, so that what is behind these checks is reached too.

use lawful::{Archive, Random};
use serde_json::Value;

use crate::mutate::mutate;

/// Returns the header of a safetensors file and the bytes of its tensors.
fn parts(file: &[u8]) -> Option<(&str, &[u8])> {
    let length = usize::try_from(u64::from_le_bytes(*file.first_chunk()?)).ok()?;
    let header = std::str::from_utf8(file.get(8..8usize.checked_add(length)?)?).ok()?;
    Some((header, &file[8 + length..]))
}

fn assemble(header: &[u8], tensors: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, tensors].concat()
}

/// Returns a mutation of a model file: of its bytes, its header, its metadata or its tensors.
pub(crate) fn mutate_archive(
    random: &mut Random,
    file: &[u8],
    other: &[u8],
    words: &[&str],
) -> Vec<u8> {
    let whole = |random: &mut Random| mutate(random, file, other, words);
    let (Some((header, tensors)), which) = (parts(file), random.below(10)) else {
        return whole(random);
    };
    let header_of_other = parts(other).map_or("", |(header, _)| header);
    match which {
        0 => whole(random),
        1 => {
            let header = mutate(random, header.as_bytes(), header_of_other.as_bytes(), words);
            assemble(&header, tensors)
        }
        2 => assemble(header.as_bytes(), &mutate(random, tensors, &[], &[])),
        3 => {
            let mut tensors = tensors.to_vec();
            number(random, &mut tensors);
            sealed(header, &tensors, str::to_owned)
        }
        _ => {
            let of_other = metadata(header_of_other).unwrap_or_default();
            sealed(header, tensors, |text| {
                let bytes = mutate(random, text.as_bytes(), of_other.as_bytes(), words);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        }
    }
}

/// Replaces one number of the tensors by one at the end of a range.
fn number(random: &mut Random, tensors: &mut [u8]) {
    const NUMBERS: &[f64] =
        &[0.0, -1.0, 1e300, 1e-300, f64::NAN, f64::INFINITY, -1e19, 9e15, 1e4, f64::MAX];
    let (numbers, _) = tensors.as_chunks_mut::<8>();
    if !numbers.is_empty() {
        let at = random.below(numbers.len());
        numbers[at] = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
    }
}

/// Returns the metadata in a header, a JSON text.
fn metadata(header: &str) -> Option<String> {
    let header: Value = serde_json::from_str(header).ok()?;
    Some(header["__metadata__"]["lawful"].as_str()?.to_owned())
}

/// Puts a file together whose metadata were changed, with the fingerprint of the new contents.
fn sealed(header: &str, tensors: &[u8], change: impl FnOnce(&str) -> String) -> Vec<u8> {
    let Ok(mut header) = serde_json::from_str::<Value>(header) else { return Vec::new() };
    let text = header["__metadata__"]["lawful"].as_str().unwrap_or_default();
    let changed = change(&Archive::unsealed(text));
    header["__metadata__"]["lawful"] = Archive::sealed(&changed, tensors).into();
    let text = header.to_string();
    assemble(text.as_bytes(), tensors)
}
