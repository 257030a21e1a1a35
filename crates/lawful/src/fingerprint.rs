//! Fingerprints of bytes: a 64-bit hash, the same on every machine.

/// FNV-1a, 64 bits (Fowler, Noll and Vo): for every byte `b`, `h ← (h ⊕ b) · 0x100000001b3`, starting
/// from `0xcbf29ce484222325`. It finds accidental changes; it does not resist deliberate ones.
///
/// ```
/// let mut fingerprint = lawful::Fingerprint::new();
/// fingerprint.add(b"foobar");
/// assert_eq!(fingerprint.value(), 0x85944171f73967e8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self::new()
    }
}

impl Fingerprint {
    /// The fingerprint of no bytes.
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes behind those added before.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Returns the fingerprint of all bytes added so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_authors_test_suite() {
        for (text, value) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            let mut fingerprint = Fingerprint::new();
            fingerprint.add(text.as_bytes());
            assert_eq!(fingerprint.value(), value, "{text:?}");
        }
    }

    #[test]
    fn bytes_added_in_parts_have_the_fingerprint_of_the_whole() {
        let (mut whole, mut parts) = (Fingerprint::new(), Fingerprint::default());
        whole.add(b"weights");
        parts.add(b"wei");
        parts.add(b"ghts");
        assert_eq!(whole, parts);
    }
}
