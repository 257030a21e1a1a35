//! One frame with its axes, its title and its legend.

use super::canvas::{Anchor, Canvas, Frame, Lettering};
use super::legend::{self, Key};
use super::marks::{Mark, Place};
use super::scale::Scale;
use super::spans::{self, Span};
use super::style::{GRID, INK};
use super::text::{shorten, width, wrap};
use super::ticks::{Ticks, ticks};

pub(super) const TICK_SIZE: u32 = 11;
const NAME_SIZE: u32 = 12;
const TITLE_SIZE: u32 = 12;
const TITLE_ROW: f64 = 16.0;
/// Widest name of a vertical axis beside its frame; a wider one stands above.
const SIDE: f64 = 72.0;

/// Height that tick numbers and the name of the horizontal axis take below a frame.
pub(super) const FOOT: f64 = 38.0;

/// A frame, its axes and its content.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x_name: String,
    pub(super) y_name: String,
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Words along the vertical axis, in the place of numbers.
    pub(super) y_words: Vec<(f64, String)>,
    pub(super) spans: Vec<Span>,
    /// Whether the names of the spans stand above this frame.
    pub(super) names_spans: bool,
    pub(super) keys: Vec<Key>,
    pub(super) marks: Vec<Mark>,
    /// Width and height of the frame.
    pub(super) size: (f64, f64),
}

impl Panel {
    /// Width of the numbers, or words, of the vertical axis and of their ticks.
    pub(super) fn numbers_width(&self) -> f64 {
        let ticks = self.y_ticks();
        let size = f64::from(TICK_SIZE);
        let labels = ticks.major.iter().map(|(_, label)| label).chain(&ticks.factor);
        labels.map(|label| width(label, size)).fold(0.0, f64::max) + 8.0
    }

    /// Width of the vertical axis' name, if that stands beside the frame.
    pub(super) fn name_width(&self) -> f64 {
        self.side_name().map_or(0.0, |name| width(name, f64::from(NAME_SIZE)) + 8.0)
    }

    /// Space above the frame: title, legend and names of the spans.
    pub(super) fn head(&self) -> f64 {
        let legend = legend::height(&self.keys, self.size.0);
        let title = self.title_lines().len() as f64 * TITLE_ROW;
        let spans =
            if self.names_spans { spans::head(&self.spans, &self.x, self.size.0) } else { 0.0 };
        let least = if self.y_ticks().factor.is_some() { 14.0 } else { 4.0 };
        (title + legend + spans).max(least) + 8.0
    }

    /// Draws the panel; `numbers` is the width left free for those of the vertical axis, and the
    /// horizontal axis is written if `foot`.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        frame: Frame,
        (numbers, foot): (f64, bool),
        coarseness: f64,
    ) {
        spans::draw(canvas, &self.spans, &self.x, &frame, self.names_spans);
        self.draw_axes(canvas, &frame, numbers, foot);
        for mark in &self.marks {
            mark.draw(canvas, &Place { coarseness, ..self.at(&frame) });
        }
        self.draw_head(canvas, &frame);
    }

    /// The name of the vertical axis, if it is short enough to stand, level, beside the frame.
    fn side_name(&self) -> Option<&str> {
        let fits = width(&self.y_name, f64::from(NAME_SIZE)) <= SIDE;
        (fits && !self.y_name.is_empty()).then_some(&*self.y_name)
    }

    fn title_lines(&self) -> Vec<String> {
        let parts = match (self.title.is_empty(), self.side_name().is_some()) {
            // A name too long to stand beside the frame stands above it.
            (true, false) => vec![&self.y_name],
            (false, false) if !self.y_name.is_empty() => vec![&self.title, &self.y_name],
            _ => vec![&self.title],
        };
        // Bold letters are about a tenth wider.
        let room = self.size.0 / 1.12;
        parts.into_iter().flat_map(|part| wrap(part, f64::from(TITLE_SIZE), room, 3)).collect()
    }

    fn y_ticks(&self) -> Ticks {
        if self.y_words.is_empty() {
            return ticks(&self.y, whole(self.size.1 / 20.0).min(8));
        }
        let short = |word: &String| shorten(word, f64::from(TICK_SIZE), 150.0);
        let major = self.y_words.iter().map(|(value, word)| (*value, short(word))).collect();
        Ticks { major, ..Ticks::default() }
    }

    /// As many ticks as have room for their numbers.
    fn x_ticks(&self) -> Ticks {
        let most = whole(self.size.0 / 50.0).max(2);
        let fits = |found: &Ticks| {
            let size = f64::from(TICK_SIZE);
            let widest =
                found.major.iter().map(|(_, label)| width(label, size)).fold(0.0, f64::max);
            (widest + 12.0) * found.major.len() as f64 <= self.size.0 + widest
        };
        let mut candidates = (2..=most).rev().map(|count| ticks(&self.x, count));
        candidates.find(fits).unwrap_or_else(|| ticks(&self.x, 2))
    }

    fn at(&self, frame: &Frame) -> Place {
        Place { frame: *frame, x: self.x, y: self.y, coarseness: 1.0 }
    }

    fn draw_axes(&self, canvas: &mut Canvas, frame: &Frame, numbers_width: f64, foot: bool) {
        let numbers = |anchor| Lettering { size: TICK_SIZE, anchor, colour: INK, bold: false };
        let y_ticks = self.y_ticks();
        for (value, label) in &y_ticks.major {
            let y = self.at(frame).height(*value);
            canvas.rule((frame.left, y), (frame.right(), y), 0.5, GRID);
            canvas.rule((frame.left - 4.0, y), (frame.left, y), 0.8, INK);
            canvas.text((frame.left - 7.0, y + 4.0), label, numbers(Anchor::End));
        }
        for &value in &y_ticks.minor {
            let y = self.at(frame).height(value);
            canvas.rule((frame.left - 2.5, y), (frame.left, y), 0.5, INK);
        }
        if let Some(factor) = &y_ticks.factor {
            canvas.text((frame.left - 7.0, frame.top - 9.0), factor, numbers(Anchor::End));
        }
        let x_ticks = self.x_ticks();
        let bottom = frame.bottom();
        for (value, label) in &x_ticks.major {
            let x = self.at(frame).across(*value);
            canvas.rule((x, frame.top), (x, bottom), 0.5, GRID);
            canvas.rule((x, bottom), (x, bottom + 4.0), 0.8, INK);
            if foot {
                canvas.text((x, bottom + 16.0), label, numbers(Anchor::Middle));
            }
        }
        canvas.rule((frame.left, frame.top), (frame.left, bottom), 0.8, INK);
        canvas.rule((frame.left, bottom), (frame.right(), bottom), 0.8, INK);
        if foot {
            let factor = x_ticks.factor.map(|factor| format!(" ({factor})"));
            let name = format!("{}{}", self.x_name, factor.unwrap_or_default());
            let name = shorten(&name, f64::from(NAME_SIZE), frame.width);
            let lettering =
                Lettering { size: NAME_SIZE, anchor: Anchor::Middle, colour: INK, bold: false };
            canvas.text((frame.left + frame.width / 2.0, bottom + 33.0), &name, lettering);
        }
        if let Some(name) = self.side_name() {
            let lettering =
                Lettering { size: NAME_SIZE, anchor: Anchor::End, colour: INK, bold: false };
            let (right, middle) =
                (frame.left - numbers_width - 8.0, frame.top + frame.height / 2.0);
            canvas.text((right, middle + 4.0), name, lettering);
        }
    }

    fn draw_head(&self, canvas: &mut Canvas, frame: &Frame) {
        let mut top = frame.top - self.head() + 4.0;
        let lettering =
            Lettering { size: TITLE_SIZE, anchor: Anchor::Start, colour: INK, bold: true };
        for line in self.title_lines() {
            canvas.text((frame.left, top + 11.0), &line, lettering);
            top += TITLE_ROW;
        }
        legend::draw(canvas, &self.keys, (frame.left, top), frame.width);
    }
}

/// A small count as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few ticks")]
fn whole(count: f64) -> usize {
    count.clamp(0.0, 100.0) as usize
}
