//! The drawing surface: the one file that knows the crate `kuva`.
//!
//! Only its primitives, its embedded font and its two writers are used. Ticks, legends and layout
//! are ours, because at version 0.6 its own panels do not line up in a column, write `NaN` into
//! paths with gaps, have no symmetric logarithmic axis and restart a dash pattern at every point of
//! a curve in PNG, which makes a dashed curve of many points solid. Text is never turned: in PNG it
//! would come out bold.

use std::fmt::Write as _;

use kuva::backend::{raster::RasterBackend, svg::SvgBackend};
use kuva::render::{
    color::Color,
    render::{PathData, Primitive, Scene, TextAnchor, TextSpan},
};

use super::dashes::dashes;
use super::style::{Colour, Marker, Pen};
use super::text::clean;

/// A place on the canvas, `y` downwards.
pub(super) type Point = (f64, f64);

/// Pixels of the PNG per unit of the canvas.
const PNG_SCALE: f32 = 2.0;

/// Fonts of the SVG; the first is the one that the PNG carries.
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// Which end of a text its place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lettering {
    pub(super) size: u32,
    pub(super) anchor: Anchor,
    pub(super) colour: Colour,
    pub(super) bold: bool,
}

/// An axis-parallel rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A figure that is being drawn.
pub(super) struct Canvas {
    scene: Scene,
}

impl Canvas {
    /// A white canvas.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut scene = Scene::new(width.ceil().max(1.0), height.ceil().max(1.0));
        scene.font_family = Some(FONTS.to_owned());
        Self { scene }
    }

    /// A filled rectangle.
    pub(super) fn rectangle(&mut self, frame: Frame, fill: Colour) {
        self.scene.elements.push(Primitive::Rect {
            x: frame.left,
            y: frame.top,
            width: frame.width,
            height: frame.height,
            fill: paint(fill),
            stroke: None,
            stroke_width: None,
            opacity: None,
        });
    }

    /// A horizontal or vertical line, as a thin rectangle: its edges stay sharp in PNG.
    pub(super) fn rule(&mut self, from: Point, to: Point, width: f64, colour: Colour) {
        self.rectangle(
            Frame {
                left: from.0.min(to.0) - width / 2.0,
                top: from.1.min(to.1) - width / 2.0,
                width: (to.0 - from.0).abs() + width,
                height: (to.1 - from.1).abs() + width,
            },
            colour,
        );
    }

    /// An open polygon.
    pub(super) fn polyline(&mut self, points: &[Point], pen: &Pen) {
        if points.len() < 2 {
            return;
        }
        if pen.dashes.is_empty() {
            self.scene.elements.push(Primitive::PolyLine {
                points: points.to_vec(),
                stroke: paint(pen.colour),
                stroke_width: pen.width,
                stroke_dasharray: None,
            });
        } else {
            let mut outline = String::new();
            for dash in dashes(points, pen.dashes) {
                trace(&mut outline, &dash);
            }
            self.path(outline, None, Some(pen));
        }
    }

    /// Open polygons of one pen, as one mark.
    pub(super) fn polylines(&mut self, parts: &[Vec<Point>], pen: &Pen) {
        let mut outline = String::new();
        for part in parts.iter().filter(|part| part.len() > 1) {
            for dash in dashes(part, pen.dashes) {
                trace(&mut outline, &dash);
            }
        }
        if !outline.is_empty() {
            self.path(outline, None, Some(pen));
        }
    }

    /// Rows of squares of this side, given by left, top and width; each is drawn with `width` around the
    /// middles of its squares.
    pub(super) fn runs(&mut self, runs: &[(f64, f64, f64)], side: f64, width: f64, fill: Colour) {
        let mut outline = String::new();
        let edge = 0.5 * (width - side).max(0.0);
        for (left, top, length) in runs {
            let (x, y) = (left - edge, top - edge);
            let (across, down) = (length + 2.0 * edge, side + 2.0 * edge);
            write!(outline, "M{x:.1} {y:.1}h{across:.1}v{down:.1}h-{across:.1}Z")
                .expect("a string takes every write");
        }
        self.path(outline, Some(fill), None);
    }

    /// A filled polygon.
    pub(super) fn polygon(&mut self, points: &[Point], fill: Colour) {
        if points.len() < 3 {
            return;
        }
        let mut outline = String::new();
        trace(&mut outline, points);
        outline.push('Z');
        self.path(outline, Some(fill), None);
    }

    /// A dot of the given shape, about `2 r` wide.
    pub(super) fn dot(&mut self, marker: Marker, (x, y): Point, r: f64, colour: Colour) {
        let pen = Pen { colour, width: (0.55 * r).max(0.8), dashes: &[] };
        match marker {
            Marker::Disc | Marker::Ring => {
                let ring = marker == Marker::Ring;
                self.scene.elements.push(Primitive::Circle {
                    cx: x,
                    cy: y,
                    r,
                    fill: if ring { Color::Rgb(255, 255, 255) } else { paint(colour) },
                    fill_opacity: None,
                    stroke: ring.then(|| paint(colour)),
                    stroke_width: ring.then_some(pen.width),
                });
            }
            Marker::Square => {
                let a = 0.9 * r;
                let frame = Frame { left: x - a, top: y - a, width: 2.0 * a, height: 2.0 * a };
                self.rectangle(frame, colour);
            }
            Marker::Triangle => self.polygon(&triangle((x, y), r), colour),
            Marker::Inverted => self.polygon(&triangle((x, y), -r), colour),
            Marker::Diamond => self.polygon(&diamond((x, y), r), colour),
            Marker::OpenSquare => {
                let a = 0.9 * r;
                let corners = [(x - a, y - a), (x + a, y - a), (x + a, y + a), (x - a, y + a)];
                self.ring(&corners, &pen);
            }
            Marker::OpenTriangle => self.ring(&triangle((x, y), r), &pen),
            Marker::OpenInverted => self.ring(&triangle((x, y), -r), &pen),
            Marker::OpenDiamond => self.ring(&diamond((x, y), r), &pen),
            Marker::Cross | Marker::Plus | Marker::Star => {
                if marker != Marker::Plus {
                    self.polyline(&[(x - r, y - r), (x + r, y + r)], &pen);
                    self.polyline(&[(x - r, y + r), (x + r, y - r)], &pen);
                }
                if marker != Marker::Cross {
                    let a = 1.3 * r;
                    self.polyline(&[(x - a, y), (x + a, y)], &pen);
                    self.polyline(&[(x, y - a), (x, y + a)], &pen);
                }
            }
        }
    }

    /// The edge of a polygon around white.
    fn ring(&mut self, corners: &[Point], pen: &Pen) {
        let mut outline = String::new();
        trace(&mut outline, corners);
        outline.push('Z');
        self.path(outline, Some(Colour(255, 255, 255)), Some(pen));
    }

    /// A line of text, its baseline at `y`.
    pub(super) fn text(&mut self, (x, y): Point, content: &str, lettering: Lettering) {
        self.scene.elements.push(Primitive::RichText {
            x,
            y,
            spans: vec![TextSpan { bold: lettering.bold, ..TextSpan::plain(clean(content)) }],
            size: lettering.size,
            anchor: anchor(lettering.anchor),
            color: Some(paint(lettering.colour)),
        });
    }

    /// Returns the figure as SVG.
    pub(super) fn svg(&self) -> String {
        let (width, height) = (self.scene.width, self.scene.height);
        // Without a view box a page cannot show the figure at another size.
        SvgBackend::new().render_scene(&self.scene).replacen(
            "<svg ",
            &format!("<svg viewBox=\"0 0 {width} {height}\" "),
            1,
        )
    }

    /// Returns the figure in pixels.
    pub(super) fn png(&self) -> Vec<u8> {
        RasterBackend::new()
            .with_scale(PNG_SCALE)
            .render_scene(&self.scene)
            .expect("a canvas has a size and its PNG is written to memory")
    }

    fn path(&mut self, outline: String, fill: Option<Colour>, pen: Option<&Pen>) {
        self.scene.elements.push(Primitive::Path(Box::new(PathData {
            d: outline,
            fill: fill.map(paint),
            stroke: pen.map_or(Color::None, |pen| paint(pen.colour)),
            stroke_width: pen.map_or(0.0, |pen| pen.width),
            opacity: None,
            stroke_dasharray: None,
        })));
    }
}

/// The corners of a triangle with its tip up, or down if `r` is negative.
fn triangle((x, y): Point, r: f64) -> [Point; 3] {
    let (a, b) = (1.15 * r, 0.9 * r);
    [(x, y - a), (x + a, y + b), (x - a, y + b)]
}

fn diamond((x, y): Point, r: f64) -> [Point; 4] {
    let a = 1.25 * r;
    [(x, y - a), (x + a, y), (x, y + a), (x - a, y)]
}

/// Appends `M x y L x y …` to a path, in hundredths.
fn trace(outline: &mut String, points: &[Point]) {
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        write!(outline, "{command}{x:.2} {y:.2}").expect("a string takes every write");
    }
}

fn paint(Colour(red, green, blue): Colour) -> Color {
    Color::Rgb(red, green, blue)
}

fn anchor(anchor: Anchor) -> TextAnchor {
    match anchor {
        Anchor::Start => TextAnchor::Start,
        Anchor::Middle => TextAnchor::Middle,
        Anchor::End => TextAnchor::End,
    }
}
