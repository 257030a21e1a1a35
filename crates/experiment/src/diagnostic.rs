//! An error for the user: what is wrong, where, and how to fix it.
//!
//! ```text
//! error: the law `mass is conserved` uses `E`, which is not known
//!   reaction.toml:7:18
//!     holds = "A + B + E + D == 1"
//!                      ^
//! hint: the state variables are `A`, `B`, `C`, `D`
//! ```

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthStr;

/// An error for the user, in the form that the program prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, without a full stop.
    pub message: String,
    /// Where, if it has a place.
    pub place: Option<Box<Place>>,
    /// How to fix it, if there is a good guess.
    pub hint: Option<String>,
    /// The law or another formula that has the mistake.
    pub formula: Option<Box<Formula>>,
}

/// A formula, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// Its whole text.
    pub text: String,
    /// The bytes of the mistake.
    pub span: Range<usize>,
}

/// A file, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user would write its path.
    pub file: PathBuf,
    /// The spot in the file; `None` means the file as a whole.
    pub spot: Option<Spot>,
}

/// A stretch of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the first character, from 1.
    pub column: usize,
    /// The whole line, without its end.
    pub excerpt: String,
    /// Number of characters under which carets go, at least 1.
    pub width: usize,
}

impl Diagnostic {
    /// Creates an error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, hint: None, formula: None }
    }

    /// Adds the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// Adds the formula that has the mistake, at these bytes.
    #[must_use]
    pub fn in_formula(mut self, text: &str, span: Range<usize>) -> Self {
        self.formula = Some(Box::new(Formula { text: text.to_owned(), span }));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Place {
    /// A file as a whole.
    pub fn file(file: impl AsRef<Path>) -> Self {
        Self { file: file.as_ref().to_owned(), spot: None }
    }

    /// The bytes `span` of a file with this text; of several lines, the first.
    pub fn within(file: impl AsRef<Path>, text: &str, span: Range<usize>) -> Self {
        Self { file: file.as_ref().to_owned(), spot: Some(Spot::within(text, span)) }
    }
}

impl Spot {
    /// The bytes `span` of this text; of several lines, the first.
    pub fn within(text: &str, span: Range<usize>) -> Self {
        let start = floor_char(text, span.start);
        let first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let rest = text[first..].split('\n').next().unwrap_or_default();
        let excerpt = rest.strip_suffix('\r').unwrap_or(rest);
        let from = (start - first).min(excerpt.len());
        let to = floor_char(excerpt, span.end.saturating_sub(first)).max(from);
        Self {
            line: 1 + text[..first].matches('\n').count(),
            column: 1 + excerpt[..from].chars().count(),
            excerpt: excerpt.to_owned(),
            width: excerpt[from..to].chars().count().max(1),
        }
    }
}

/// Returns the last boundary of a character at or before `position`.
fn floor_char(text: &str, position: usize) -> usize {
    let position = position.min(text.len());
    (0..=position).rev().find(|&p| text.is_char_boundary(p)).unwrap_or(0)
}

/// Characters of a line that a message shows; a longer line is cut around the carets.
const SHOWN: usize = 100;

impl fmt::Display for Spot {
    /// The line and the carets below it, each indented by four spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line: Vec<char> = self.excerpt.chars().map(visible_in_line).collect();
        let from = (self.column - 1).min(line.len());
        let to = (from + self.width).min(line.len()).max(from + 1);
        let start = if line.len() <= SHOWN { 0 } else { window_start(from, to, line.len()) };
        let end = (start + SHOWN).min(line.len());
        let before = if start > 0 { "…" } else { "" };
        let after = if end < line.len() { "…" } else { "" };
        let shown: String = line[start..end].iter().collect();
        writeln!(f, "    {before}{}{after}", shown.trim_end())?;
        let cells = |part: &[char]| String::from_iter(part).width();
        let indent = before.width() + cells(&line[start..from]);
        let carets = cells(&line[from..to.min(end).max(from).min(line.len())]).max(1);
        write!(f, "    {}{}", " ".repeat(indent), "^".repeat(carets))
    }
}

/// Returns where the shown part of a long line begins, so that the carets `from..to` are in it.
fn window_start(from: usize, to: usize, len: usize) -> usize {
    let middle = usize::midpoint(from, to.min(from + SHOWN));
    middle.saturating_sub(SHOWN / 2).min(len - SHOWN).min(from)
}

/// Returns a text as it is safe on a terminal: control characters other than newlines and tabs, which
/// could move the cursor or change colours, and characters that change the direction of the text are
/// replaced by `\u{fffd}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    let kept = |c: char| matches!(c, '\n' | '\t') || !acts_on_terminal(c);
    if text.chars().all(kept) {
        return text.into();
    }
    text.chars().map(|c| if kept(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Returns whether a character changes what a terminal shows of others.
fn acts_on_terminal(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control()
}

/// Replaces tabs too, whose width depends on the terminal.
fn visible_in_line(c: char) -> char {
    match c {
        '\t' => ' ',
        c if acts_on_terminal(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Cuts the middle out of a very long sentence.
fn shortened(sentence: &str) -> Cow<'_, str> {
    const LONGEST: usize = 600;
    let letters = sentence.chars().count();
    if letters <= LONGEST {
        return sentence.into();
    }
    let head: String = sentence.chars().take(LONGEST / 2).collect();
    let tail: String = sentence.chars().skip(letters - LONGEST / 2).collect();
    format!("{head} … {tail}").into()
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", shortened(&self.message))?;
        if let Some(Place { file, spot }) = self.place.as_deref() {
            write!(f, "\n  {}", file.display())?;
            if let Some(spot) = spot {
                write!(f, ":{}:{}\n{spot}", spot.line, spot.column)?;
            }
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {}", shortened(hint))?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the carets below it.
    fn shown(text: &str, span: Range<usize>) -> (String, String) {
        let shown = Spot::within(text, span).to_string();
        let (line, carets) = shown.split_once('\n').unwrap();
        (line.to_owned(), carets.to_owned())
    }

    fn find(text: &str, part: &str) -> Range<usize> {
        let start = text.find(part).unwrap();
        start..start + part.len()
    }

    #[test]
    fn message_place_line_carets_and_hint_stand_below_each_other() {
        let text = "[[law]]\nholds = \"A + B + E + D == 1\"\n";
        let place = Place::within("reaction.toml", text, find(text, "E"));
        let diagnostic = Diagnostic::new("`E` is not known").at(place).with_hint("write `D`");
        insta::assert_snapshot!(diagnostic, @r#"
        error: `E` is not known
          reaction.toml:2:18
            holds = "A + B + E + D == 1"
                             ^
        hint: write `D`
        "#);
    }

    #[test]
    fn a_file_as_a_whole_has_no_line() {
        let diagnostic = Diagnostic::new("`a.csv` is empty").at(Place::file("a.csv"));
        assert_eq!(diagnostic.to_string(), "error: `a.csv` is empty\n  a.csv");
    }

    #[test]
    fn carets_stand_below_their_part_after_tabs_accents_and_wide_letters() {
        for (before, cells) in [
            ("\tx = ", 5),
            ("\u{1b}x = ", 5),
            ("größe = ", 8),
            ("e\u{301} = ", 4),
            ("温度 = ", 7),
            ("ﾃﾞｰﾀ = ", 7),
            ("🦀 = ", 5),
            ("👩‍🔬 = ", 5),
        ] {
            let text = format!("{before}BAD # 🦀");
            let (line, carets) = shown(&text, find(&text, "BAD"));
            assert!(!line.contains(['\t', '\u{1b}']));
            assert_eq!(carets, format!("{}^^^", " ".repeat(4 + cells)), "{text}");
        }
        let text = "x = 温度";
        assert_eq!(shown(text, find(text, "温度")).1, "        ^^^^");
    }

    #[test]
    fn control_and_direction_characters_are_visible_and_all_others_stay() {
        for text in ["", "a\tb\n", "größe – 温度 👩‍🔬"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        for (text, shown) in [
            ("\u{1b}[31mred", "\u{fffd}[31mred"),
            ("a\rb\u{7}\u{9b}2J\u{7f}", "a\u{fffd}b\u{fffd}\u{fffd}2J\u{fffd}"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a\u{fffd}b\u{fffd}c\u{fffd}"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(shown("x = \u{202e}1", 4..5).0, "    x = \u{fffd}1");
    }

    #[test]
    fn columns_count_characters_and_lines_end_in_any_way() {
        let text = "a\r\nßß = 1\r\n";
        let spot = Spot::within(text, find(text, "="));
        assert_eq!((spot.line, spot.column, spot.excerpt.as_str()), (2, 4, "ßß = 1"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_carets() {
        let text = format!("{}BAD{}", "a".repeat(500), "b".repeat(500));
        let (line, carets) = shown(&text, find(&text, "BAD"));
        assert!(line.starts_with("    …aaa") && line.ends_with("bbb…"), "{line}");
        assert_eq!(line.chars().count(), 4 + SHOWN + 2);
        let above: String = line.chars().skip(carets.chars().count() - 3).take(3).collect();
        assert_eq!(above, "BAD");
    }

    #[test]
    fn a_span_of_several_lines_or_beyond_the_text_stays_in_its_line() {
        let text = "one = [\n  2,\n]";
        assert_eq!(shown(text, 6..text.len()).1, "          ^");
        assert_eq!(Spot::within(text, 100..200).line, 3);
        assert_eq!(
            Spot::within("", 0..1),
            Spot { line: 1, column: 1, excerpt: String::new(), width: 1 }
        );
    }
}
