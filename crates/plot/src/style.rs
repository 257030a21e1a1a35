//! Colours, pens and markers, chosen to stay distinct in grey.

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

pub(super) const INK: Colour = Colour(30, 30, 30);
pub(super) const QUIET: Colour = Colour(95, 95, 95);
pub(super) const MEASURED: Colour = Colour(160, 160, 160);
pub(super) const GRID: Colour = Colour(226, 226, 226);
pub(super) const SHADE: Colour = Colour(240, 243, 246);
pub(super) const EXCESS: Colour = Colour(248, 205, 190);

impl Colour {
    /// The same colour as a light area behind lines and dots.
    pub(super) const fn light(self) -> Self {
        const fn mix(channel: u8) -> u8 {
            200 + channel / 5
        }
        Self(mix(self.0), mix(self.1), mix(self.2))
    }
}

/// The Okabe–Ito colours that are dark enough for lines on white paper.
const COLOURS: [Colour; 6] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 140, 100),
    Colour(170, 68, 130),
    Colour(140, 100, 20),
    Colour(60, 60, 60),
];

/// Alternating lengths of dashes and gaps, in units of the figure; empty is a solid line.
pub(super) type Dashes = &'static [f64];

const SOLID: Dashes = &[];
const DASHED: Dashes = &[7.0, 4.0];
const DASH_DOTTED: Dashes = &[9.0, 3.0, 1.5, 3.0];
const DOTTED: Dashes = &[1.5, 3.0];
const FINE: Dashes = &[3.0, 4.0];
const LONG: Dashes = &[14.0, 4.0];

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) width: f64,
    pub(super) dashes: Dashes,
}

impl Pen {
    /// A thin solid line.
    pub(super) const fn hairline(colour: Colour) -> Self {
        Self { colour, width: 0.8, dashes: SOLID }
    }

    /// The pen of the `index`-th series of a panel: colour and dashes both differ.
    pub(super) fn series(index: usize) -> Self {
        let dashes = [SOLID, DASHED, DASH_DOTTED, DOTTED, LONG, FINE][index % 6];
        // Past six, the colours shift against the dashes: 36 pens in all.
        Self { colour: trajectory_colour(index + index / 6), width: 1.6, dashes }
    }

    /// The same line, drawn heavily.
    pub(super) const fn heavy(self) -> Self {
        Self { width: self.width * 2.0, ..self }
    }
}

/// How a prediction is drawn: each word is a colour and a dash pattern.
///
/// Later words are drawn over earlier ones, so that a dashed line stays visible on a solid one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Line {
    /// Blue, unbroken: the model that the figure is about.
    #[default]
    Solid,
    /// Vermilion, dashed: the model it is compared with.
    Dashed,
    /// Green, dashes and dots.
    DashDotted,
    /// Purple, dots.
    Dotted,
    /// Thin, black, finely dashed: the known solution.
    Truth,
}

impl Line {
    /// The pen of a single trajectory.
    pub(super) fn pen(self) -> Pen {
        match self {
            Self::Solid => Pen { colour: COLOURS[0], width: 1.8, dashes: SOLID },
            Self::Dashed => Pen { colour: COLOURS[1], width: 1.8, dashes: DASHED },
            Self::DashDotted => Pen { colour: COLOURS[2], width: 1.8, dashes: DASH_DOTTED },
            Self::Dotted => Pen { colour: COLOURS[3], width: 1.8, dashes: DOTTED },
            Self::Truth => Pen { colour: INK, width: 0.8, dashes: FINE },
        }
    }
}

/// Shape of a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Square,
    Triangle,
    Diamond,
    Ring,
    Cross,
    Inverted,
    Plus,
    OpenSquare,
    OpenTriangle,
    OpenDiamond,
    OpenInverted,
    Star,
}

/// The marker of the `index`-th trajectory.
pub(super) fn trajectory_marker(index: usize) -> Marker {
    use Marker::{Cross, Diamond, Disc, Ring, Square, Triangle};
    [Disc, Square, Triangle, Diamond, Ring, Cross][index % 6]
}

/// The marker of the `index`-th of up to 13 methods.
pub(super) fn method_marker(index: usize) -> Marker {
    use Marker::{Inverted, OpenDiamond, OpenInverted, OpenSquare, OpenTriangle, Plus, Star};
    let more = [Inverted, Plus, OpenSquare, OpenTriangle, OpenDiamond, OpenInverted, Star];
    match index % 13 {
        index if index < 6 => trajectory_marker(index),
        index => more[index - 6],
    }
}

/// The colour of the `index`-th trajectory.
pub(super) fn trajectory_colour(index: usize) -> Colour {
    COLOURS[index % COLOURS.len()]
}
