//! Several models of one system, a panel for each, with all state variables in it.

use super::Figure;
use super::curves::Trajectory;
use super::legend::{self, Key, Sample};
use super::marks::Mark;
use super::panel::Panel;
use super::scale::{Scale, limits};
use super::sheet::Sheet;
use super::style::{INK, Pen, trajectory_colour};
use super::ticks::short_number;

/// Panels beside each other.
const COLUMNS: usize = 3;
/// Width and height of a frame.
const SIZE: (f64, f64) = (250.0, 170.0);

/// The predictions of one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exhibit {
    /// The model's name, above its panel.
    pub name: String,
    /// States over time.
    pub predicted: Trajectory,
}

/// What [`gallery`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GalleryFigure {
    /// Title; may be empty.
    pub title: String,
    /// Name of the time axis.
    pub time: String,
    /// Names of the state variables.
    pub states: Vec<String>,
    /// What is true, dashed in every panel.
    pub real: Trajectory,
    /// The models, solid, a panel for each.
    pub exhibits: Vec<Exhibit>,
}

/// Models side by side on the same axes: real dashed, predicted solid, a colour and
/// a width for each state variable.
///
/// A prediction may leave its panel: the vertical axis follows what is real, and predictions up to
/// half its range beyond. How far one went is said in a note.
#[must_use]
pub fn gallery(figure: &GalleryFigure) -> Figure {
    let mut notes = Vec::new();
    let everything = figure.exhibits.iter().map(|exhibit| &exhibit.predicted);
    let times = everything.chain([&figure.real]).flat_map(|path| path.t.iter().copied());
    let (x, y) = (Scale::linear(limits(times), 0.012), heights(figure, &mut notes));
    let panels = figure.exhibits.iter().map(|exhibit| Panel {
        title: exhibit.name.clone(),
        x_name: figure.time.clone(),
        y_name: String::new(),
        x,
        y,
        y_words: Vec::new(),
        spans: Vec::new(),
        names_spans: false,
        keys: Vec::new(),
        marks: marks(figure, exhibit),
        size: SIZE,
    });
    let (title, panels) = (figure.title.clone(), panels.collect());
    Sheet { title, keys: keys(figure), panels, columns: COLUMNS, shared: true, notes }.draw()
}

/// The pen of a state variable: colour and width both differ, because dashes tell real from
/// predicted.
fn pen(state: usize) -> Pen {
    let width = [2.4, 1.4, 0.9][state % 3];
    Pen { colour: trajectory_colour(state), width, dashes: &[] }
}

/// The same for what is real.
fn real(pen: Pen) -> Pen {
    Pen { dashes: &[4.0, 3.0], ..pen }
}

fn marks(figure: &GalleryFigure, exhibit: &Exhibit) -> Vec<Mark> {
    let states = figure.states.len();
    let curve = |path: &Trajectory, state: usize, pen: Pen| Mark::Curve {
        points: path.series(state, states),
        pen,
    };
    let predicted = (0..states).map(|state| curve(&exhibit.predicted, state, pen(state)));
    let known = (0..states).map(|state| curve(&figure.real, state, real(pen(state))));
    predicted.chain(known).collect()
}

fn keys(figure: &GalleryFigure) -> Vec<Key> {
    let mut keys = Vec::new();
    if figure.states.len() > 1 {
        for (state, name) in figure.states.iter().enumerate() {
            legend::add(&mut keys, name, Sample::Line(pen(state)));
        }
    }
    let ink = Pen { colour: INK, ..pen(1) };
    legend::add(&mut keys, "predicted", Sample::Line(ink));
    legend::add(&mut keys, "real", Sample::Line(real(ink)));
    keys
}

/// The axis of all state variables, and a note on each prediction that leaves it.
fn heights(figure: &GalleryFigure, notes: &mut Vec<String>) -> Scale {
    let of = |path: &Trajectory| {
        let count = path.t.len() * figure.states.len();
        limits(path.values.iter().copied().take(count))
    };
    let predicted: Vec<_> =
        figure.exhibits.iter().map(|exhibit| (&exhibit.name, of(&exhibit.predicted))).collect();
    let all = limits(predicted.iter().filter_map(|(_, range)| *range).flat_map(<[f64; 2]>::from));
    let (Some((low, high)), Some((lowest, highest))) = (of(&figure.real), all) else {
        return Scale::linear(of(&figure.real).or(all), 0.06);
    };
    let reach = if high > low { 0.5 * (high - low) } else { f64::INFINITY };
    for (name, range) in predicted {
        let Some((least, most)) = range else { continue };
        let ends = [(least < low - reach, least), (most > high + reach, most)];
        let left = ends.iter().filter(|(leaves, _)| *leaves);
        let left: Vec<String> = left.map(|(_, value)| short_number(*value)).collect();
        if !left.is_empty() {
            notes.push(format!("“{name}” leaves its panel, as far as {}.", left.join(" and ")));
        }
    }
    let limits = (lowest.max(low - reach).min(low), highest.min(high + reach).max(high));
    Scale::linear(Some(limits), 0.06)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(values: &[f64]) -> Trajectory {
        let t = (0..values.len() / 2).map(|n| n as f64).collect();
        Trajectory { name: String::new(), t, values: values.to_vec() }
    }

    #[test]
    fn every_model_has_a_panel_and_leaving_it_is_said() {
        let exhibit =
            |name: &str, values: &[f64]| Exhibit { name: name.to_owned(), predicted: path(values) };
        let figure = gallery(&GalleryFigure {
            title: "system".to_owned(),
            time: "t".to_owned(),
            states: vec!["x".to_owned(), "v".to_owned()],
            real: path(&[0.0, 1.0, 1.0, 0.0, 0.5, 0.5]),
            exhibits: vec![
                exhibit("near", &[0.0, 1.0, 1.2, 0.0, 0.5, 0.5]),
                exhibit("far", &[0.0, 1.0, 7.0, 0.0, 0.5, -3.0]),
                exhibit("nothing", &[]),
                exhibit("not finite", &[0.0, f64::NAN, f64::INFINITY, 0.0, 0.5, 0.5]),
            ],
        });
        for words in ["system", "near", "far", "nothing", "not finite", "predicted", "real"] {
            assert!(figure.svg.contains(&format!(">{words}<")), "{words}");
        }
        assert!(figure.svg.contains("“far” leaves its panel, as far as −3.00 and 7.00."));
        assert_eq!(figure.svg.matches("leaves its panel").count(), 1);
        assert!(figure.png.starts_with(b"\x89PNG"));
    }

    #[test]
    fn nothing_to_show_is_no_panic() {
        assert!(gallery(&GalleryFigure::default()).svg.contains("<svg"));
    }
}
