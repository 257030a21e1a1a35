//! Settings of listed methods as data: their keys, with the values that each takes.
//!
//! Strategies and optimisers describe their settings with a table of [`Key`]s. Experiment files,
//! messages and tests read and write settings through it, so that a new method needs no code outside its
//! file.

use std::fmt;

use thiserror::Error;

use crate::number::exact;

/// A settings struct with a table of its keys.
pub trait Settings: Clone + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The word of the method in an experiment file.
    const NAME: &'static str;
    /// One line of help.
    const HELP: &'static str;
    /// Every key, in the order in which it is written.
    const KEYS: &'static [Key<Self>];
}

/// A key of an experiment file, and the field that it sets.
#[derive(Debug)]
pub struct Key<S: 'static> {
    /// Its word.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Which values it takes, and the field that holds it.
    pub access: Access<S>,
}

/// Which values a key takes, and the field that holds it.
#[derive(Debug)]
pub enum Access<S: 'static> {
    /// A number.
    Number(Range, fn(&mut S) -> &mut f64),
    /// A number, or nothing.
    Optional(Range, fn(&mut S) -> &mut Option<f64>),
    /// A whole number from 1 to a largest one.
    Count(usize, fn(&mut S) -> &mut usize),
    /// One number for all laws, or one for each.
    PerLaw(Range, fn(&mut S) -> &mut Vec<f64>),
    /// One of a list of words.
    Word {
        /// The words.
        words: fn() -> Vec<&'static str>,
        /// Returns the word of these settings.
        get: fn(&S) -> &'static str,
        /// Sets the field to the meaning of a word.
        set: fn(&mut S, &str),
    },
}

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Above 0.
    Positive,
    /// At least 0.
    NotNegative,
    /// From 0 to below 1.
    BelowOne,
    /// At least 1.
    AtLeastOne,
}

/// Which values a key takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// A number.
    Number(Range),
    /// A number, or nothing.
    Optional(Range),
    /// A whole number from 1 to this one.
    Count(usize),
    /// One number for all laws, or one for each.
    PerLaw(Range),
    /// One of these words.
    Word(Vec<&'static str>),
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A number, or nothing.
    Optional(Option<f64>),
    /// A whole number.
    Count(usize),
    /// One number for all laws, or one for each.
    PerLaw(Vec<f64>),
    /// A word.
    Word(String),
}

/// A key, without its settings struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its word.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Which values it takes.
    pub values: Values,
}

/// A setting is outside its range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{key}` of `{method}` is {value}, but must be {range}")]
pub struct SettingError {
    /// The word of the method.
    pub method: &'static str,
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// The values that it takes.
    pub range: String,
}

/// Checks that every key of these settings is in its range. [`set`] keeps to the ranges; fields that
/// are set directly need this check.
///
/// ```
/// use lawful::{optimiser::LbfgsSettings, settings};
/// let error = settings::check(&LbfgsSettings { memory: 0, ..Default::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "`memory` of `lbfgs` is 0, but must be a whole number from 1 to 10000");
/// ```
pub fn check<S: Settings>(settings: &S) -> Result<(), SettingError> {
    for key in S::KEYS {
        let (value, values) = (key.access.get(settings), key.access.values());
        if !values.contain(&value) {
            let (value, range) = (value.to_string(), values.to_string());
            return Err(SettingError { method: S::NAME, key: key.name, value, range });
        }
    }
    Ok(())
}

/// Returns the keys of a settings struct.
pub fn keys<S: Settings>() -> Vec<KeyInfo> {
    let info =
        |key: &Key<S>| KeyInfo { name: key.name, help: key.help, values: key.access.values() };
    S::KEYS.iter().map(info).collect()
}

/// Returns the value of a key; `None` if there is no such key.
pub fn get<S: Settings>(settings: &S, key: &str) -> Option<Setting> {
    S::KEYS.iter().find(|known| known.name == key).map(|key| key.access.get(settings))
}

/// Sets a key. Returns `false` if there is no such key, or the value is of another kind or outside the
/// key's range.
#[must_use]
pub fn set<S: Settings>(settings: &mut S, key: &str, value: Setting) -> bool {
    let Some(key) = S::KEYS.iter().find(|known| known.name == key) else { return false };
    if !key.access.values().contain(&value) {
        return false;
    }
    match (&key.access, value) {
        (Access::Number(_, field), Setting::Number(x)) => *field(settings) = x,
        (Access::Optional(_, field), Setting::Optional(x)) => *field(settings) = x,
        (Access::Count(_, field), Setting::Count(n)) => *field(settings) = n,
        (Access::PerLaw(_, field), Setting::PerLaw(each)) => *field(settings) = each,
        (Access::Word { set, .. }, Setting::Word(word)) => set(settings, &word),
        _ => return false,
    }
    true
}

impl<S: Clone> Access<S> {
    fn get(&self, settings: &S) -> Setting {
        // Fields are reached through `&mut`, here that of a copy.
        let mut copy = settings.clone();
        match self {
            Self::Number(_, field) => Setting::Number(*field(&mut copy)),
            Self::Optional(_, field) => Setting::Optional(*field(&mut copy)),
            Self::Count(_, field) => Setting::Count(*field(&mut copy)),
            Self::PerLaw(_, field) => Setting::PerLaw(field(&mut copy).clone()),
            Self::Word { get, .. } => Setting::Word(get(settings).to_owned()),
        }
    }

    fn values(&self) -> Values {
        match self {
            Self::Number(range, _) => Values::Number(*range),
            Self::Optional(range, _) => Values::Optional(*range),
            Self::Count(most, _) => Values::Count(*most),
            Self::PerLaw(range, _) => Values::PerLaw(*range),
            Self::Word { words, .. } => Values::Word(words()),
        }
    }
}

impl Values {
    /// Returns whether a value is of this kind and in its range.
    pub fn contain(&self, value: &Setting) -> bool {
        match (self, value) {
            (Self::Number(range), Setting::Number(x)) => range.contains(*x),
            (Self::Optional(range), Setting::Optional(x)) => x.is_none_or(|x| range.contains(x)),
            (Self::Count(most), Setting::Count(n)) => (1..=*most).contains(n),
            (Self::PerLaw(range), Setting::PerLaw(each)) => {
                !each.is_empty() && each.iter().all(|&x| range.contains(x))
            }
            (Self::Word(words), Setting::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(range) => write!(f, "a number {range}"),
            Self::Optional(range) => write!(f, "a number {range}, or nothing"),
            Self::Count(most) => write!(f, "a whole number from 1 to {most}"),
            Self::PerLaw(range) => write!(f, "one number or a list of numbers {range}"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Positive => "above 0",
            Self::NotNegative => "of at least 0",
            Self::BelowOne => "from 0 to below 1",
            Self::AtLeastOne => "of at least 1",
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) | Self::Optional(Some(x)) => f.write_str(&exact(*x)),
            Self::Optional(None) => f.write_str("nothing"),
            Self::Count(n) => write!(f, "{n}"),
            Self::PerLaw(each) => {
                let numbers: Vec<String> = each.iter().map(|&x| exact(x)).collect();
                write!(f, "[{}]", numbers.join(", "))
            }
            Self::Word(word) => write!(f, "`{word}`"),
        }
    }
}

impl Range {
    /// Returns whether a number is in the range; infinities and NaN never are.
    pub fn contains(self, x: f64) -> bool {
        x.is_finite()
            && match self {
                Self::Positive => x > 0.0,
                Self::NotNegative => x >= 0.0,
                Self::BelowOne => (0.0..1.0).contains(&x),
                Self::AtLeastOne => x >= 1.0,
            }
    }
}

/// The largest count that every reader of a file represents exactly: 2⁵³.
#[expect(clippy::cast_possible_truncation, reason = "on 32 bits, the largest count there is")]
pub const LARGEST: usize = {
    let largest = 1_u64 << 53;
    if largest > usize::MAX as u64 { usize::MAX } else { largest as usize }
};

/// An [`Access::Word`] to a field of an enum with a list `NAMES` of its words.
macro_rules! word {
    ($field:ident: $Type:ty) => {
        $crate::settings::Access::Word {
            words: || <$Type>::NAMES.iter().map(|(word, _)| *word).collect(),
            get: |settings| {
                let found = <$Type>::NAMES.iter().find(|(_, known)| *known == settings.$field);
                found.expect("every meaning has a word").0
            },
            set: |settings, word| {
                if let Some((_, meaning)) = <$Type>::NAMES.iter().find(|(known, _)| *known == word)
                {
                    settings.$field = *meaning;
                }
            },
        }
    };
}

/// The list of all methods of a kind: an enum of their settings structs, one line each.
///
/// The trait behind `dyn` holds the other properties of each method; the compiler requires it.
macro_rules! listed {
    (
        $(#[$attribute:meta])*
        pub enum $Enum:ident: dyn $Trait:ident { $($Variant:ident($Settings:ty),)+ }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $Enum {
            $(
                #[doc = concat!("[`", stringify!($Settings), "`].")]
                $Variant($Settings),
            )+
        }

        impl $Enum {
            /// The words of `kind` in an experiment file, each with one line of help.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[
                $((
                    <$Settings as $crate::settings::Settings>::NAME,
                    <$Settings as $crate::settings::Settings>::HELP,
                ),)+
            ];

            /// Returns every method of the list, with its default settings.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$Variant(<$Settings>::default()),)+]
            }

            /// Returns the method of this name, with its default settings.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::all().into_iter().find(|known| known.name() == name)
            }

            /// Returns its word in an experiment file.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => <$Settings as $crate::settings::Settings>::NAME,)+
                }
            }

            /// Returns its keys in an experiment file, in the order in which they are written.
            pub fn keys(&self) -> Vec<$crate::settings::KeyInfo> {
                match self {
                    $(Self::$Variant(_) => $crate::settings::keys::<$Settings>(),)+
                }
            }

            /// Returns the value of a key; `None` if the method has no such key.
            pub fn get(&self, key: &str) -> Option<$crate::settings::Setting> {
                match self {
                    $(Self::$Variant(settings) => $crate::settings::get(settings, key),)+
                }
            }

            /// Sets a key. Returns `false` if the method has no such key, or the value is of another
            /// kind or out of range.
            #[must_use]
            pub fn set(&mut self, key: &str, value: $crate::settings::Setting) -> bool {
                match self {
                    $(Self::$Variant(settings) => $crate::settings::set(settings, key, value),)+
                }
            }

            /// Checks that every key is in its range: see [`check`](crate::settings::check).
            pub fn check(&self) -> Result<(), $crate::settings::SettingError> {
                match self {
                    $(Self::$Variant(settings) => $crate::settings::check(settings),)+
                }
            }

            fn listed(&self) -> &dyn $Trait {
                match self {
                    $(Self::$Variant(settings) => settings,)+
                }
            }
        }

        $(impl From<$Settings> for $Enum {
            fn from(settings: $Settings) -> Self {
                Self::$Variant(settings)
            }
        })+
    };
}

pub(crate) use {listed, word};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimiser::{AdamSettings, LbfgsSettings, OptimiserKind};
    use crate::strategy::{L1, StrategyKind};

    /// Another value than the default, of the kind that the key takes.
    fn another(values: &Values, now: &Setting) -> Setting {
        match values {
            Values::Number(Range::AtLeastOne) => Setting::Number(2.375),
            Values::Number(_) => Setting::Number(0.375),
            Values::Optional(_) => Setting::Optional(Some(0.375)),
            Values::Count(_) => Setting::Count(7),
            Values::PerLaw(_) => Setting::PerLaw(vec![0.375, 2.0]),
            Values::Word(words) => {
                let other = words.iter().find(|&&word| *now != Setting::Word(word.to_owned()));
                Setting::Word((*other.expect("at least two words")).to_owned())
            }
        }
    }

    macro_rules! check_keys {
        ($List:ty) => {
            for default in <$List>::all() {
                assert_eq!(<$List>::from_name(default.name()), Some(default.clone()));
                for key in default.keys() {
                    let name = key.name;
                    let now = default.get(name).expect("a key has a value");
                    let new = another(&key.values, &now);
                    let mut changed = default.clone();
                    assert!(changed.set(name, new.clone()), "{name}");
                    assert_eq!(changed.get(name), Some(new), "{name}");
                    for other in default.keys().iter().filter(|other| other.name != name) {
                        assert_eq!(changed.get(other.name), default.get(other.name), "{name}");
                    }
                    assert!(!changed.set(name, Setting::Number(f64::NAN)), "{name}");
                    assert!(!changed.set(name, Setting::Word("no such word".to_owned())), "{name}");
                    assert!(!key.help.is_empty(), "{name}");
                }
                let mut same = default.clone();
                assert!(!same.set("no-such-key", Setting::Number(1.0)));
                assert_eq!((same.get("no-such-key"), same), (None, default));
            }
        };
    }

    #[test]
    fn every_key_of_every_listed_method_is_read_and_set_by_its_name_alone() {
        check_keys!(StrategyKind);
        check_keys!(OptimiserKind);
    }

    #[test]
    fn settings_out_of_range_are_named_with_their_range() {
        let defaults = (StrategyKind::all(), OptimiserKind::all());
        assert!(defaults.0.iter().all(|kind| kind.check().is_ok()));
        assert!(defaults.1.iter().all(|kind| kind.check().is_ok()));
        let rate = OptimiserKind::from(AdamSettings { rate: f64::NAN, ..Default::default() });
        let clip = OptimiserKind::from(AdamSettings { clip: Some(0.0), ..Default::default() });
        let memory = OptimiserKind::from(LbfgsSettings { memory: 0, ..Default::default() });
        let mu = StrategyKind::from(L1 { mu: vec![1.0, -0.5] });
        let none = StrategyKind::from(L1 { mu: Vec::new() });
        for (error, text) in [
            (rate.check(), "`rate` of `adam` is NaN, but must be a number above 0"),
            (clip.check(), "`clip` of `adam` is 0, but must be a number above 0, or nothing"),
            (
                memory.check(),
                "`memory` of `lbfgs` is 0, but must be a whole number from 1 to 10000",
            ),
            (
                mu.check(),
                "`mu` of `l1` is [1, -0.5], but must be one number or a list of numbers of at least 0",
            ),
            (
                none.check(),
                "`mu` of `l1` is [], but must be one number or a list of numbers of at least 0",
            ),
        ] {
            assert_eq!(error.unwrap_err().to_string(), text);
        }
    }
}
