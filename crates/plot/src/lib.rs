//! Figures of data, predictions and training, as SVG and PNG.
//!
//! Every function takes names and numbers and returns a [`Figure`]; the caller writes the files. The
//! same data give the same bytes: figures do not depend on the date, the locale or the fonts of the
//! machine (the PNG uses a font of its own).
//!
//! Rules for every figure:
//! - A value that is not finite is a gap, never an error. Empty and constant series are drawn too.
//! - Nothing is left out silently: what does not fit is mentioned in a note below the panels.
//! - Colour is never the only difference: lines differ in their dashes, dots in their shape.
//! - Legends and labels stand outside the frames, so they cover no data.
//! - A curve with more points than pixels keeps the first, the lowest, the highest and the last point
//!   of each narrow slice, which looks the same and hides no spike.
//!
//! ```
//! use lawful_plot::{CurvesFigure, Line, Prediction, Trajectory, curves};
//!
//! let t: Vec<f64> = (0..100).map(|step| 0.1 * f64::from(step)).collect();
//! let cosine = |shift: f64| Trajectory {
//!     t: t.clone(),
//!     values: t.iter().map(|t| (t + shift).cos()).collect(),
//!     ..Trajectory::default()
//! };
//! let figure = curves(&CurvesFigure {
//!     title: "Pendulum".into(),
//!     time: "t".into(),
//!     states: vec!["θ".into()],
//!     measured: vec![cosine(0.0)],
//!     predictions: vec![Prediction {
//!         name: "with the law".into(),
//!         line: Line::Solid,
//!         trajectories: vec![cosine(0.05)],
//!     }],
//!     ..CurvesFigure::default()
//! });
//! assert!(figure.svg.contains("with the law"));
//! assert!(figure.png.starts_with(b"\x89PNG"));
//! ```
//!
//! ```text
//! curves · gallery · phase · residuals · learning · front   what is shown
//!                     sheet                         panels in rows and columns, title, legend, notes
//!                     panel                         frame, axes, marks, legend
//!           scale · ticks · trace · text            where things go
//!                     canvas                        the one file that knows the crate `kuva`
//! ```

mod canvas;
mod curve_axes;
mod curve_marks;
mod curves;
mod dashes;
mod front;
mod gallery;
mod learning;
mod legend;
mod marks;
mod panel;
mod phase;
mod residuals;
mod scale;
mod sheet;
mod spans;
mod style;
#[cfg(test)]
mod tests;
mod text;
mod ticks;
mod trace;

pub use curves::{Band, CurvesFigure, Prediction, TimeRange, Trajectory, curves, side_by_side};
pub use front::{Contestant, FrontFigure, FrontPanel, Interval, front};
pub use gallery::{Exhibit, GalleryFigure, gallery};
pub use learning::{Events, History, LearningFigure, learning};
pub use phase::phase;
pub use residuals::{LawResiduals, ResidualCurve, ResidualsFigure, Side, residuals};
pub use style::Line;

/// A finished figure in two formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Vector graphics; text uses the fonts of the viewer.
    pub svg: String,
    /// The same figure in pixels, at twice the size of the SVG, with the text drawn in.
    pub png: Vec<u8>,
}
