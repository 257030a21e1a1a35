//! Panels in rows and columns, with a title above and notes below.

use super::Figure;
use super::canvas::{Anchor, Canvas, Frame, Lettering};
use super::legend::{self, Key};
use super::panel::{FOOT, Panel};
use super::style::{INK, QUIET};
use super::text::wrap;

const MARGIN: f64 = 12.0;
/// Half of the last tick's number reaches beyond its frame.
const RIGHT: f64 = 22.0;
const TITLE_SIZE: u32 = 15;
const TITLE_ROW: f64 = 20.0;
const NOTE_SIZE: u32 = 10;
const NOTE_ROW: f64 = 14.0;

/// Largest SVG, in bytes, that is not drawn more coarsely, and the factors that are tried. A few names and
/// notes are beyond them.
const LARGEST: usize = 280_000;
const COARSER: [f64; 8] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0];

/// A figure before it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) keys: Vec<Key>,
    /// Row by row.
    pub(super) panels: Vec<Panel>,
    pub(super) columns: usize,
    /// The panels of a column have the same horizontal axis, written once, below the lowest.
    pub(super) shared: bool,
    pub(super) notes: Vec<String>,
}

impl Sheet {
    /// Draws it as finely as a file of a reasonable size can be.
    pub(super) fn draw(&self) -> Figure {
        let mut drawn = None;
        for coarseness in COARSER {
            let canvas = self.draw_with(coarseness);
            let svg = canvas.svg();
            let small = svg.len() <= LARGEST;
            drawn = Some((canvas, svg));
            if small {
                break;
            }
        }
        let (canvas, svg) = drawn.expect("there is a first factor");
        Figure { png: canvas.png(), svg }
    }

    /// Lays everything out and draws it.
    fn draw_with(&self, coarseness: f64) -> Canvas {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows: Vec<&[Panel]> = self.panels.chunks(columns).collect();
        let in_column = |column: usize| rows.iter().filter_map(move |row| row.get(column));
        let widest = |column: usize, size: &dyn Fn(&Panel) -> f64| -> f64 {
            in_column(column).map(size).fold(0.0, f64::max)
        };
        // Names stand beside the numbers of the panels that have a name; words of others may be wider.
        let beside = |panel: &Panel| match panel.name_width() {
            name if name > 0.0 => panel.numbers_width(),
            _ => 0.0,
        };
        let numbers: Vec<f64> = (0..columns).map(|c| widest(c, &beside)).collect();
        let gutters: Vec<f64> = (0..columns)
            .map(|c| {
                (numbers[c] + widest(c, &Panel::name_width)).max(widest(c, &Panel::numbers_width))
            })
            .collect();
        let widths: Vec<f64> = (0..columns).map(|c| widest(c, &|panel| panel.size.0)).collect();
        let inner: f64 = gutters.iter().chain(&widths).sum::<f64>() + RIGHT * columns as f64;
        let inner = inner.max(300.0);

        let title = wrap(&self.title, f64::from(TITLE_SIZE), inner / 1.12, 4);
        let legend_left = MARGIN + gutters.first().copied().unwrap_or(0.0);
        let legend_room = inner - (legend_left - MARGIN) - RIGHT;
        let title_height = title.len() as f64 * TITLE_ROW;
        let top = MARGIN + title_height + legend::height(&self.keys, legend_room) + 4.0;

        let wrap_note = |note: &String| wrap(note, f64::from(NOTE_SIZE), inner, 3);
        let notes: Vec<String> = self.notes.iter().flat_map(wrap_note).collect();
        let has_foot = |row: usize, column: usize| {
            !self.shared || rows.get(row + 1).is_none_or(|below| below.get(column).is_none())
        };
        let heights: Vec<(f64, f64, f64)> = rows
            .iter()
            .enumerate()
            .map(|(row, panels)| {
                let head = panels.iter().map(Panel::head).fold(0.0, f64::max);
                let body = panels.iter().map(|panel| panel.size.1).fold(0.0, f64::max);
                let foot = (0..panels.len()).any(|column| has_foot(row, column));
                (head, body, if foot { FOOT } else { 6.0 })
            })
            .collect();
        let body: f64 = heights.iter().map(|(head, body, foot)| head + body + foot).sum();
        let bottom = top + body;
        let notes_height = if notes.is_empty() { 0.0 } else { notes.len() as f64 * NOTE_ROW + 6.0 };
        let mut canvas = Canvas::new(inner + 2.0 * MARGIN, bottom + notes_height + MARGIN);

        let heading =
            Lettering { size: TITLE_SIZE, anchor: Anchor::Start, colour: INK, bold: true };
        for (row, line) in title.iter().enumerate() {
            let baseline = MARGIN + row as f64 * TITLE_ROW + 14.0;
            canvas.text((legend_left, baseline), line, heading);
        }
        legend::draw(&mut canvas, &self.keys, (legend_left, MARGIN + title_height), legend_room);

        let mut y = top;
        for (row, panels) in rows.iter().enumerate() {
            let (head, body, foot) = heights[row];
            let mut x = MARGIN;
            for (column, panel) in panels.iter().enumerate() {
                let (width, height) = panel.size;
                let frame = Frame { left: x + gutters[column], top: y + head, width, height };
                panel.draw(
                    &mut canvas,
                    frame,
                    (numbers[column], has_foot(row, column)),
                    coarseness,
                );
                x += gutters[column] + widths[column] + RIGHT;
            }
            y += head + body + foot;
        }

        let small =
            Lettering { size: NOTE_SIZE, anchor: Anchor::Start, colour: QUIET, bold: false };
        for (row, line) in notes.iter().enumerate() {
            let baseline = bottom + row as f64 * NOTE_ROW + 14.0;
            canvas.text((MARGIN, baseline), line, small);
        }
        canvas
    }
}
