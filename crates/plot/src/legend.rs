//! What each line and dot means, in rows above the frames.

use super::canvas::{Anchor, Canvas, Frame, Lettering, Point};
use super::style::{Colour, INK, Marker, Pen};
use super::text::{shorten, width};

/// Height of a row of the legend.
pub(super) const ROW: f64 = 17.0;

const SIZE: u32 = 11;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 18.0;

/// One entry: a sample and its meaning.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) sample: Sample,
}

/// What is shown in front of the name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sample {
    Line(Pen),
    Dot(Marker, Colour),
    /// A filled area.
    Area(Colour),
    /// A heavy line on the edge of a filled area.
    Excess(Pen, Colour),
}

/// Adds an entry unless the same one is there already.
pub(super) fn add(keys: &mut Vec<Key>, name: &str, sample: Sample) {
    let key = Key { name: name.to_owned(), sample };
    if !keys.contains(&key) {
        keys.push(key);
    }
}

/// Height of the legend in this room.
pub(super) fn height(keys: &[Key], room: f64) -> f64 {
    rows(keys, room).len() as f64 * ROW
}

/// Draws the legend, its upper left corner at `corner`.
pub(super) fn draw(canvas: &mut Canvas, keys: &[Key], corner: Point, room: f64) {
    let lettering = Lettering { size: SIZE, anchor: Anchor::Start, colour: INK, bold: false };
    for (row, entries) in rows(keys, room).into_iter().enumerate() {
        let middle = corner.1 + (row as f64 + 0.5) * ROW;
        for (offset, key) in entries {
            let left = corner.0 + offset;
            draw_sample(canvas, key.sample, (left, middle));
            let name = shorten(&key.name, f64::from(SIZE), room - SAMPLE);
            canvas.text((left + SAMPLE, middle + 4.0), &name, lettering);
        }
    }
}

fn draw_sample(canvas: &mut Canvas, sample: Sample, (left, middle): Point) {
    let ends = [(left, middle), (left + SAMPLE - 7.0, middle)];
    match sample {
        Sample::Line(pen) => canvas.polyline(&ends, &pen),
        Sample::Dot(marker, colour) => {
            canvas.dot(marker, (left + (SAMPLE - 7.0) / 2.0, middle), 3.0, colour);
        }
        Sample::Area(fill) => {
            let width = SAMPLE - 7.0;
            canvas.rectangle(Frame { left, top: middle - 5.0, width, height: 10.0 }, fill);
        }
        Sample::Excess(pen, fill) => {
            let width = SAMPLE - 7.0;
            canvas.rectangle(Frame { left, top: middle - 3.0, width, height: 7.0 }, fill);
            let raise = |(x, y): Point| (x, y - 3.0);
            canvas.polyline(&ends.map(raise), &pen);
        }
    }
}

/// The entries of each row, with their distance from the left.
fn rows(keys: &[Key], room: f64) -> Vec<Vec<(f64, &Key)>> {
    let mut rows: Vec<Vec<(f64, &Key)>> = Vec::new();
    let mut used = 0.0;
    for key in keys {
        let length = SAMPLE + width(&key.name, f64::from(SIZE)).min(room - SAMPLE);
        match rows.last_mut() {
            Some(row) if used + length <= room => row.push((used, key)),
            _ => {
                rows.push(vec![(0.0, key)]);
                used = 0.0;
            }
        }
        used += length + GAP;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::style::Line;
    use super::*;

    #[test]
    fn rows_hold_every_entry_and_fit_their_room() {
        let sample = Sample::Line(Line::Solid.pen());
        let mut keys = Vec::new();
        for index in 0..20 {
            add(&mut keys, &format!("the prediction number {index}"), sample);
        }
        add(&mut keys, "the prediction number 3", sample);
        assert_eq!(keys.len(), 20);
        let rows = rows(&keys, 400.0);
        assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), 20);
        for (offset, key) in rows.iter().flatten() {
            assert!(offset + SAMPLE + width(&key.name, f64::from(SIZE)) <= 400.0);
        }
    }
}
