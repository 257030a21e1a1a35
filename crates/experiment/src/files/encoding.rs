//! Detects which encoding a file has that is not UTF-8, and how to convert it.

use crate::diagnostic::Spot;

/// What is wrong with the bytes of a text file.
#[derive(Debug)]
pub(super) struct EncodingError {
    /// A sentence that follows the file's name.
    pub(super) message: String,
    /// How to save the file instead.
    pub(super) hint: &'static str,
    /// The first character that is not UTF-8.
    pub(super) spot: Option<Spot>,
}

const CSV: &str = "export the table as CSV (in a spreadsheet: Save as, `CSV UTF-8`)";
const UNPACK: &str = "unpack it first";
const SAVE: &str = "save it as UTF-8 (in an editor or a spreadsheet: Save as, encoding `UTF-8`)";

/// The first bytes of files that are not text.
const SIGNATURES: &[(&[u8], &str, &str)] = &[
    (b"PK\x03\x04", "is a spreadsheet or a zip archive, not a text file", CSV),
    (b"\xd0\xcf\x11\xe0", "is a spreadsheet of an old format, not a text file", CSV),
    (b"PAR1", "is a Parquet file, not a text file", CSV),
    (b"\x89HDF", "is an HDF5 file, not a text file", CSV),
    (b"\x93NUMPY", "is a NumPy array, not a text file", CSV),
    (b"\x1f\x8b", "is compressed with gzip", UNPACK),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd", UNPACK),
    (b"%PDF", "is a PDF, not a text file", CSV),
    (b"\xff\xfe", "is encoded in UTF-16, not in UTF-8", SAVE),
    (b"\xfe\xff", "is encoded in UTF-16, not in UTF-8", SAVE),
];

/// Decodes UTF-8 and removes a byte-order mark.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, EncodingError> {
    let error = |message: &str, hint| EncodingError { message: message.into(), hint, spot: None };
    for (signature, message, hint) in SIGNATURES {
        if bytes.starts_with(signature) {
            return Err(error(message, hint));
        }
    }
    let zeros: usize = bytes.iter().map(|&byte| usize::from(byte == 0)).sum();
    if zeros > 0 {
        // Every other byte of Latin text in UTF-16 is 0.
        let (message, hint) = if zeros >= bytes.len() / 3 && zeros <= bytes.len() / 2 + 1 {
            ("seems to be encoded in UTF-16, not in UTF-8", SAVE)
        } else {
            ("is a binary file, not a text file", CSV)
        };
        return Err(error(message, hint));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(not_utf8) if not_utf8.as_bytes().iter().any(|&byte| is_control(byte)) => {
            Err(error("is a binary file, not a text file", CSV))
        }
        Err(not_utf8) => {
            let start = not_utf8.utf8_error().valid_up_to();
            let latin: String = not_utf8.as_bytes().iter().map(|&byte| char::from(byte)).collect();
            let position = latin.char_indices().nth(start).map_or(latin.len(), |(at, _)| at);
            let spot = Spot::within(&latin, position..position + 1);
            let letter = spot.excerpt.chars().nth(spot.column - 1).unwrap_or('?');
            let message = format!(
                "is not encoded in UTF-8: it seems to be Latin-1 (Windows-1252), where `{letter}` is \
                 one byte"
            );
            Err(EncodingError { message, hint: SAVE, spot: Some(spot) })
        }
    }
}

/// Returns whether no text in an encoding of one byte per letter has this byte.
fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        decode(bytes.to_vec()).unwrap_err().message
    }

    #[test]
    fn utf8_is_read_with_and_without_its_mark() {
        assert_eq!(decode("t,größe".into()).unwrap(), "t,größe");
        assert_eq!(decode(b"\xef\xbb\xbft,x".to_vec()).unwrap(), "t,x");
        assert_eq!(decode(Vec::new()).unwrap(), "");
    }

    #[test]
    fn each_other_encoding_is_recognised() {
        let utf16: Vec<u8> = "t,x\n0,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(message(&utf16).contains("UTF-16"));
        assert!(message(&[&b"\xff\xfe"[..], &utf16].concat()).contains("UTF-16"));
        assert!(message(b"PK\x03\x04\x14\x00\x06\x00").contains("spreadsheet"));
        assert!(message(b"\x1f\x8b\x08\x00").contains("gzip"));
        assert!(message(b"abc\x00defghijkl").contains("binary"));
        assert!(message(b"\x7fELF\x02\x01\xff").contains("binary"));
    }

    #[test]
    fn the_first_letter_of_latin1_is_shown_in_its_place() {
        let error = decode(b"t,x\n0,1\nTemp \xb0C,2\n".to_vec()).unwrap_err();
        let spot = error.spot.unwrap();
        assert_eq!((spot.line, spot.column, spot.excerpt.as_str()), (3, 6, "Temp °C,2"));
        assert!(error.message.contains("Latin-1") && error.message.contains('°'));
    }
}
