//! The time from which times are counted, where their digits do not fit into a double.
//!
//! Nanoseconds since 1970 have 19 digits, and doubles are 256 apart there. So the first time of the data is
//! subtracted from the digits of every time before it is rounded, and added to the digits of every time
//! that is shown. In between, in data, models and laws, times are those since the origin.

use lawful::exact;

use super::decimal::{difference, sum};

/// The time from which times are counted: none by default, and then times are numbers as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeOrigin(Option<String>);

impl TimeOrigin {
    /// The origin at a time in plain digits; `None` if it is none.
    pub fn at(text: &str) -> Option<Self> {
        difference(text, "0").map(|_| Self(Some(text.trim().to_owned())))
    }

    /// Returns its digits, if there is one.
    pub fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the finite time that a text says, since the origin: subtracted exactly, then rounded once.
    pub fn read(&self, text: &str) -> Option<f64> {
        match &self.0 {
            None => text.trim().parse().ok().filter(|t: &f64| t.is_finite()),
            Some(origin) => difference(text, origin),
        }
    }

    /// Returns the digits of a time since the origin: those of the file, for a time of the file.
    pub fn shown(&self, t: f64) -> String {
        let Some(origin) = &self.0 else { return exact(t) };
        // A time between those of the file has more digits than are worth their place.
        let rounded = (0..=17).rev().filter_map(|digits| sum(&format!("{t:.digits$}"), origin));
        let all = sum(&exact(t), origin);
        all.into_iter().chain(rounded).next().unwrap_or_else(|| format!("{} + {origin}", exact(t)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_they_were_read() {
        for (origin, text, since) in [
            ("1700000000000000000", "1700000000000001000", 1000.0),
            ("1700000000000000000", "1699999999999999999", -1.0),
            ("1700000000.1", "1700000000.3", 0.2),
            ("1.7e9", "1700000000.0000001", 1e-7),
            ("-0.5", "0", 0.5),
            ("-3", "-2.25", 0.75),
            ("1700000000000000000", "1700000000000000000", 0.0),
        ] {
            let origin = TimeOrigin::at(origin).unwrap();
            let read = origin.read(text).unwrap();
            assert_eq!(read.to_bits(), f64::to_bits(since), "{text}");
            assert_eq!(origin.shown(read), text);
        }
        let none = TimeOrigin::default();
        assert_eq!((none.read(" 1e3 "), none.shown(1e-5).as_str()), (Some(1000.0), "1e-5"));
        assert_eq!((none.read("inf"), none.read("noon")), (None, None));
        assert_eq!(TimeOrigin::at("noon"), None);
    }

    #[test]
    fn digits_that_do_not_fit_are_rounded() {
        let origin = TimeOrigin::at("1700000000000000000").unwrap();
        assert_eq!(origin.shown(1.0 / 3.0), "1700000000000000000.3333333333333333");
        assert_eq!(origin.shown(1e-30), "1700000000000000000");
        assert_eq!(origin.shown(1e300), "1e300 + 1700000000000000000");
        assert_eq!(origin.read("1e300"), None);
    }
}
