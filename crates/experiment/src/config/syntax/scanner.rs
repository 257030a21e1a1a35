//! A reader of TOML that stops at the first mistake it knows.
//!
//! It accepts more than TOML: the parser checks the rest.

use std::collections::HashMap;
use std::ops::Range;

use super::{CURVED_QUOTES, Mistake, scalar};
use crate::toml_quote::{key as quoted_key, quoted};

/// Most brackets within each other.
const DEEPEST: usize = 80;
/// Separates the parts of a path, which can be any text.
const DOT: char = '\0';

/// Returns the first mistake in a text.
pub(super) fn first_mistake(text: &str) -> Option<Mistake> {
    if text.trim_start().starts_with('{') {
        let start = text.len() - text.trim_start().len();
        let message = "this is JSON, and an experiment file is TOML";
        let hint = "write lines `key = value` below headers `[section]`";
        return Some(Mistake::new(start..start + 1, message, hint));
    }
    Scanner { text, at: 0, seen: HashMap::new(), depth: 0 }.file().err()
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Where each key and each header was read, by its whole path.
    seen: HashMap<String, usize>,
    /// Brackets around the value that is read.
    depth: usize,
}

/// A key, perhaps with points: `a."b c".d`.
struct Key {
    span: Range<usize>,
    path: String,
}

type Result<T = ()> = std::result::Result<T, Mistake>;

impl<'t> Scanner<'t> {
    fn file(&mut self) -> Result {
        let mut section = String::new();
        loop {
            self.skip_lines();
            match self.peek() {
                None => return Ok(()),
                Some('[') => section = self.header()?,
                Some(_) => self.entry(&section)?,
            }
            self.end_of_line()?;
        }
    }

    /// Reads `[section]` or `[[section]]` and returns its path.
    fn header(&mut self) -> Result<String> {
        let (open, close) = if self.rest().starts_with("[[") { ("[[", "]]") } else { ("[", "]") };
        self.at += open.len();
        self.skip_blanks();
        let key = self.key()?;
        self.skip_blanks();
        if !self.rest().starts_with(close) {
            let line = self.line();
            if !line.contains(']') {
                let end = self.at + line.trim_end().len();
                let message = format!("the bracket `{open}` of this header is never closed");
                return Err(Mistake::new(end..end, message, format!("write `{close}` at its end")));
            }
            if line.starts_with(']') {
                let message = "this header begins with `[[` and ends with `]`";
                return Err(Mistake::new(self.at..self.at + 1, message, "write `]]` at its end"));
            }
            let message = "a header is one name, or several with points between them";
            let hint = "a name with other characters is written in quotes: `[test.\"my data\"]`";
            return Err(Mistake::new(self.word(), message, hint));
        }
        self.at += close.len();
        if open == "[[" {
            // Another element of a list, with keys of its own.
            let below = format!("{}{DOT}", key.path);
            self.seen.retain(|path, _| *path != key.path && !path.starts_with(&below));
            Ok(key.path)
        } else {
            self.once(&key.path, &key)?;
            Ok(key.path)
        }
    }

    /// Reads `key = value`.
    fn entry(&mut self, section: &str) -> Result {
        let key = self.key()?;
        self.skip_blanks();
        if self.peek() != Some('=') {
            return Err(self.no_equals(&key));
        }
        self.at += 1;
        let path = if section.is_empty() {
            key.path.clone()
        } else {
            format!("{section}{DOT}{}", key.path)
        };
        self.once(&path, &key)?;
        self.value(&path)
    }

    /// Returns an error if a path was read before.
    fn once(&mut self, path: &str, key: &Key) -> Result {
        let Some(first) = self.seen.insert(path.to_owned(), key.span.start) else { return Ok(()) };
        let line = 1 + self.text[..first].matches('\n').count();
        let name = &self.text[key.span.clone()];
        let message = format!("`{name}` is given twice, first in line {line}");
        let is_law = path == "law" || path.starts_with(&format!("law{DOT}"));
        let laws = if is_law { "; each law begins with a line `[[law]]`" } else { "" };
        Err(Mistake::new(key.span.clone(), message, format!("keep one of them{laws}")))
    }

    fn key(&mut self) -> Result<Key> {
        let start = self.at;
        let mut path = String::new();
        loop {
            let part = self.at;
            match self.peek() {
                Some('"' | '\'') => self.string()?,
                _ => {
                    self.at = self.at_first(|c| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
                }
            }
            if self.at == part || self.peek().is_some_and(char::is_alphanumeric) {
                return Err(self.no_key(part));
            }
            path += self.text[part..self.at].trim_matches(['"', '\'']);
            let end = self.at;
            self.skip_blanks();
            if self.peek() != Some('.') {
                self.at = end;
                return Ok(Key { span: start..end, path });
            }
            self.at += 1;
            self.skip_blanks();
            path.push(DOT);
        }
    }

    /// There is no key at `start`, or one with letters that need quotes.
    fn no_key(&self, start: usize) -> Mistake {
        let Some(c) = self.peek() else {
            return Mistake::new(self.at..self.at, "a key is missing here", "");
        };
        let one = self.at..self.at + c.len_utf8();
        if CURVED_QUOTES.contains(&c) {
            return Mistake::new(one, "TOML does not have these quotes", STRAIGHT);
        }
        if c.is_alphanumeric() {
            let plain = |c: char| c.is_ascii() || !c.is_alphanumeric();
            let ends = |c: char| !(c.is_alphanumeric() || "-_".contains(c));
            let end = start + self.text[start..].find(ends).unwrap_or(self.text.len() - start);
            let letters = self.at..self.at_first(plain);
            let hint = format!("write the key in quotes: `{}`", quoted(&self.text[start..end]));
            return Mistake::new(letters, "letters like these need quotes in a key", hint);
        }
        if c == ';' || self.rest().starts_with("//") {
            return Mistake::new(one, format!("unexpected `{c}`"), "a comment begins with `#`");
        }
        if matches!(c, ']' | '}') {
            return Mistake::new(one, format!("`{c}` closes a bracket that was not opened"), "");
        }
        let hint = "write `key = value`, or `[section]` for a header";
        Mistake::new(one, format!("a key cannot begin with `{}`", c.escape_debug()), hint)
    }

    /// There is a key and no `=` behind it.
    fn no_equals(&self, key: &Key) -> Mistake {
        let name = &self.text[key.span.clone()];
        let rest = self.line();
        if rest.starts_with(':') {
            let hint = format!("write `{name} = …`");
            return Mistake::new(
                self.at..self.at + 1,
                "a key is followed by `=`, not by `:`",
                hint,
            );
        }
        let words = rest.split_once('=').map(|(words, _)| words.trim_end());
        if let Some(words) = words
            && !words.is_empty()
            && words.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c))
        {
            let whole = &self.text[key.span.start..self.at + words.len()];
            let joined: Vec<&str> = whole.split_whitespace().collect();
            let hint = format!("a key is one word, such as `{}`", quoted_key(&joined.join("-")));
            let span = key.span.start..self.at + words.len();
            return Mistake::new(span, "this key has spaces", hint);
        }
        let hint = "write `key = value`, or `[section]` for a header";
        Mistake::new(self.at..self.at, "`=` is missing", hint)
    }

    fn value(&mut self, path: &str) -> Result {
        self.skip_blanks();
        match self.peek() {
            None | Some('\n' | '\r' | '#') => {
                let hint = "a text is written in quotes: `\"…\"`";
                Err(Mistake::new(self.at..self.at, "a value is missing after `=`", hint))
            }
            Some('"' | '\'') => self.string(),
            Some('[') => self.bracket(']', |scanner, n| scanner.value(&format!("{path}{DOT}{n}"))),
            Some('{') => self.bracket('}', |scanner, _| scanner.entry(path)),
            Some(c) if CURVED_QUOTES.contains(&c) => {
                let line = self.line();
                let end = line
                    .rfind(CURVED_QUOTES)
                    .map_or(0, |last| last + line[last..].chars().next().map_or(0, char::len_utf8));
                let span = self.at..self.at + end;
                Err(Mistake::new(span, "TOML does not have these quotes", STRAIGHT))
            }
            Some(_) => self.scalar(),
        }
    }

    /// Reads the elements between brackets, separated by `,`; `element` reads one, given its number.
    fn bracket(
        &mut self,
        close: char,
        mut element: impl FnMut(&mut Self, usize) -> Result,
    ) -> Result {
        let start = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Mistake::new(start..self.at, "brackets are nested too deeply", ""));
        }
        let open = &self.text[start..self.at];
        let never = || {
            let message = format!("the bracket `{open}` is never closed");
            Mistake::new(start..start + 1, message, format!("write `{close}` at its end"))
        };
        for n in 0.. {
            self.skip_lines();
            match self.peek() {
                None => return Err(never()),
                Some(c) if c == close => break,
                Some(_) if close == ']' && self.is_entry() => return Err(self.not_parted()),
                Some(_) => element(self, n)?,
            }
            self.skip_lines();
            match self.peek() {
                None => return Err(never()),
                Some(c) if c == close => break,
                Some(',') => self.at += 1,
                Some(_) => return Err(self.not_parted()),
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    fn not_parted(&self) -> Mistake {
        Mistake::new(self.word(), "a `,` or a closing bracket is missing before this", "")
    }

    /// Whether a line `key = …` or a header comes next, which a list does not have.
    fn is_entry(&self) -> bool {
        let name =
            self.line().trim_start_matches(|c: char| c.is_alphanumeric() || "-_".contains(c));
        name.len() < self.line().len() && name.trim_start().starts_with('=')
    }

    /// Reads a text in quotes of any kind.
    fn string(&mut self) -> Result {
        let start = self.at;
        let rest = self.rest();
        let Some(quote) = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| rest.starts_with(q))
        else {
            return Ok(());
        };
        let (long, escapes) = (quote.len() == 3, quote.starts_with('"'));
        self.at += quote.len();
        while let Some(c) = self.peek() {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                // A long text can end in up to two quotes before the three that close it.
                let more = self.rest().bytes().take_while(|&b| long && b == quote.as_bytes()[0]);
                self.at += more.take(2).count();
                return Ok(());
            }
            match c {
                '\n' | '\r' if !long => break,
                '\\' if escapes => self.escape(start + quote.len())?,
                c => self.at += c.len_utf8(),
            }
        }
        let end = if long { start + quote.len() } else { self.at };
        let hint = format!("end it with `{quote}`");
        Err(Mistake::new(start..end, "the closing quote of this text is missing", hint))
    }

    /// Reads an escape in a text that starts at `start`.
    fn escape(&mut self, start: usize) -> Result {
        let mut rest = self.rest().chars();
        rest.next();
        let kind = rest.next();
        let digits = rest.take_while(char::is_ascii_hexdigit).count();
        let good = match kind {
            Some('u') => digits >= 4,
            Some('U') => digits >= 8,
            Some('x') => digits >= 2,
            // A line break in a long text; in a short one it is found next.
            Some(c) => "btnfre\"\\ \t\r\n".contains(c),
            None => true,
        };
        let length = 1 + kind.map_or(0, char::len_utf8);
        if !good {
            let shown = &self.text[self.at..self.at + length];
            let line = &self.text[start..];
            let text = line.split(['"', '\'', '\n']).next().unwrap_or_default();
            return Err(Mistake::new(
                self.at..self.at + length,
                format!("`{shown}` is not an escape in double quotes"),
                format!("use `/` in paths, or single quotes: `'{text}'`"),
            ));
        }
        self.at += length;
        Ok(())
    }

    /// Reads a value without quotes or brackets.
    fn scalar(&mut self) -> Result {
        let ends = |c: char| c.is_whitespace() || ",]}#".contains(c);
        let mut end = self.at_first(ends);
        let mut word = &self.text[self.at..end];
        let text = self.line().split('#').next().unwrap_or_default().trim_end();
        let is_name = word.starts_with(char::is_alphabetic) && !word.contains('=');
        if self.depth == 0 && is_name && !text.contains(['=', '"']) {
            // A text may have spaces and commas.
            (end, word) = (self.at + text.len(), text);
        }
        if word.is_empty() {
            let one = self.at..self.at + self.peek().map_or(0, char::len_utf8);
            return Err(Mistake::new(one, "a value is missing before this", ""));
        }
        scalar::check(word).map_err(|(message, hint)| Mistake::new(self.at..end, message, hint))?;
        self.at = end;
        if scalar::is_date(word) {
            // A date and a time can be separated by a space.
            let time = self.rest().strip_prefix(' ').unwrap_or_default();
            let time = time.split(ends).next().unwrap_or_default();
            if scalar::is_date(time) {
                self.at += 1 + time.len();
            }
        }
        Ok(())
    }

    /// Checks that only a comment follows a header or a value.
    fn end_of_line(&mut self) -> Result {
        let before = self.at;
        self.skip_blanks();
        let Some(c) = self.peek().filter(|&c| !matches!(c, '\n' | '\r' | '#')) else {
            return Ok(());
        };
        let one = self.at..self.at + c.len_utf8();
        match c {
            ',' => {
                let digits = |c: char| c.is_ascii_digit() || c == '.';
                let head = self.text[..before].rsplit(|c| !digits(c)).next().unwrap_or_default();
                let tail = self.text[one.end..].split(|c| !digits(c)).next().unwrap_or_default();
                let hint = if head.is_empty() || tail.is_empty() {
                    "a list is written in brackets: `[…]`".to_owned()
                } else {
                    format!("write `{head}.{tail}` for a number, or `[{head}, {tail}]` for a list")
                };
                Err(Mistake::new(one, "unexpected `,`", hint))
            }
            ']' | '}' => {
                Err(Mistake::new(one, format!("`{c}` closes a bracket that was not opened"), ""))
            }
            _ => {
                let hint = "write one `key = value` per line, and `#` before a comment";
                Err(Mistake::new(self.word(), "unexpected text after the value", hint))
            }
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// What is left of this line.
    fn line(&self) -> &'t str {
        self.rest().split(['\n', '\r']).next().unwrap_or_default()
    }

    /// Where the first of these characters is, or the end of the text.
    fn at_first(&self, of: impl FnMut(char) -> bool) -> usize {
        self.rest().find(of).map_or(self.text.len(), |found| self.at + found)
    }

    /// The characters up to the next space or separator, and at least one.
    fn word(&self) -> Range<usize> {
        let end = self.at_first(|c| c.is_whitespace() || ",=]}#".contains(c));
        self.at..end.max(self.at + self.peek().map_or(0, char::len_utf8))
    }

    fn skip_blanks(&mut self) {
        self.at = self.at_first(|c| !matches!(c, ' ' | '\t'));
    }

    /// Skips spaces, line breaks and comments.
    fn skip_lines(&mut self) {
        loop {
            self.at = self.at_first(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
            if self.peek() != Some('#') {
                return;
            }
            self.at = self.at_first(|c| c == '\n');
        }
    }
}

const STRAIGHT: &str = "use straight quotes: `\"…\"`";

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
# A comment with = and [ and ".
name = "a # b" # behind a value
"quoted key" = 'C:\data'
a.b . c = 1_000
dates = [1979-05-27, 07:32:00, 1979-05-27 07:32:00Z, 1979-05-27T07:32:00]
lists = [ 1, 2.5e-3, [ ], [inf, -nan,], # a comment ]
  "x",
]
tables = { a = 1, "b c" = { d = true }, e = [ { f = 1 }, { f = 2 } ] }
escapes = "\" \\ \t \u00e9 \U0001F600"
long = """
two "lines" \
   end """"
raw = '''
it's'''
[section]
name = 1
[section.below]
name = 1
[[law]]
holds = "x <= 1"
[law.more]
name = 1
[[law]]
holds = "x <= 1"
[law.more]
name = 1
[test."my data"]
"#;

    #[test]
    fn toml_has_no_mistakes() {
        assert!(GOOD.parse::<toml::Table>().is_ok());
        assert_eq!(first_mistake(GOOD), None);
        assert_eq!(first_mistake(&GOOD.replace('\n', "\r\n")), None);
        assert_eq!(first_mistake(""), None);
    }

    #[test]
    fn a_text_that_was_cut_off_has_no_mistake_before_its_end() {
        for end in (0..GOOD.len()).filter(|&end| GOOD.is_char_boundary(end)) {
            let cut = &GOOD[..end];
            let whole = cut.parse::<toml::Table>();
            let mistake = first_mistake(cut);
            assert!(whole.is_err() || mistake.is_none(), "{cut}\n{mistake:?}");
            assert!(mistake.is_none_or(|mistake| mistake.span.end <= end));
        }
    }

    #[test]
    fn each_mistake_is_found_where_it_is() {
        for (text, found, message) in [
            ("name = my run # x", "my run", "a text needs quotes"),
            ("a = [tanh, elu]", "tanh", "a text needs quotes"),
            ("a = «x»", "«x»", "TOML does not have these quotes"),
            ("a = 1 b = 2", "b", "unexpected text after"),
            ("a = 1,5", ",", "unexpected `,`"),
            ("a = [1 2]", "2", "a `,` or a closing bracket"),
            ("a = [1\nb = 2", "b", "a `,` or a closing bracket"),
            ("a = [1,\nb = 2", "b", "a `,` or a closing bracket"),
            ("a = { b = 1\nc = 2 }", "c", "a `,` or a closing bracket"),
            ("a = [1, [2]", "[", "the bracket `[` is never closed"),
            ("a = [1]]", "]", "`]` closes a bracket"),
            ("a = [,]", ",", "a value is missing"),
            ("[a", "", "the bracket `[` of this header"),
            ("[[a]", "]", "this header begins"),
            ("[my data]", "data", "a header is one name"),
            ("learning rate = 1", "learning rate", "this key has spaces"),
            ("name: x", ":", "a key is followed by"),
            ("name", "", "`=` is missing"),
            ("; x", ";", "unexpected `;`"),
            ("= 1", "=", "a key cannot begin"),
            ("a = \"x", "\"x", "the closing quote of this text is missing"),
            ("a = \"\"\"x\n", "\"\"\"", "the closing quote of this text is missing"),
            ("a = \"\\users\"", "\\u", "`\\u` is not an escape"),
            ("a = { b = 1, b = 2 }", "b", "`b` is given twice"),
            ("[x]\na.b = 1\na.b = 2", "a.b", "`a.b` is given twice, first in line 2"),
            (" {}", "{", "this is JSON"),
        ] {
            let mistake = first_mistake(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(&text[mistake.span], found, "{text}");
            assert!(mistake.message.starts_with(message), "{text}: {}", mistake.message);
            assert!(text.parse::<toml::Table>().is_err(), "{text}");
        }
    }

    #[test]
    fn deep_brackets_end_at_a_mistake() {
        let deep = format!("a = {}", "[".repeat(100_000));
        let message = first_mistake(&deep).map(|mistake| mistake.message);
        assert_eq!(message.as_deref(), Some("brackets are nested too deeply"));
    }
}
