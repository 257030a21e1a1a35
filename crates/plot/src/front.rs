//! Fit against violation: what several methods make of the same data and laws.

use super::Figure;
use super::canvas::Point;
use super::legend::{self, Key, Sample};
use super::marks::Mark;
use super::panel::Panel;
use super::scale::Scale;
use super::sheet::Sheet;
use super::style::{INK, Pen, QUIET, method_marker, trajectory_colour};
use super::text::shorten;

/// Panels shown; more are mentioned in a note.
const MOST_PANELS: usize = 9;
/// Methods shown: as many as there are shapes.
const MOST_METHODS: usize = 13;
/// Decades that an axis shows at most.
const DECADES: i32 = 20;

/// A number that was found several times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Interval {
    /// Its median, where the dot is.
    pub middle: f64,
    /// The smallest, where its bar begins.
    pub low: f64,
    /// The largest, where its bar ends.
    pub high: f64,
}

/// A method with what it reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contestant {
    /// Its name; the same name is the same dot in every panel.
    pub name: String,
    /// The error of its fit.
    pub error: Interval,
    /// The violation of laws.
    pub violation: Interval,
}

/// One frame of the figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrontPanel {
    /// What the frame is about; may be empty.
    pub title: String,
    /// The methods.
    pub contestants: Vec<Contestant>,
}

/// What [`front`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrontFigure {
    /// Title; may be empty.
    pub title: String,
    /// Name of the horizontal axis.
    pub error: String,
    /// Name of the vertical axis.
    pub violation: String,
    /// The violation up to which laws count as kept, drawn as a line; none if it is not positive.
    pub limit: f64,
    /// The frames.
    pub panels: Vec<FrontPanel>,
}

/// Errors across and violations upwards, both on logarithmic axes: the median of each method as a dot, with
/// bars from the smallest to the largest value, and a thin line along the methods to which no other is
/// better in both.
///
/// What is too small for an axis, a violation of zero above all, is drawn on its lower edge, and a note
/// says so.
#[must_use]
pub fn front(figure: &FrontFigure) -> Figure {
    let mut notes = Vec::new();
    let shown = &figure.panels[..figure.panels.len().min(MOST_PANELS)];
    if figure.panels.len() > shown.len() {
        notes.push(format!("Shown: the first {MOST_PANELS} of {} panels.", figure.panels.len()));
    }
    let mut names: Vec<&str> = Vec::new();
    for contestant in shown.iter().flat_map(|panel| &panel.contestants) {
        if !names.contains(&contestant.name.as_str()) {
            names.push(&contestant.name);
        }
    }
    if names.len() > MOST_METHODS {
        notes.push(format!("Shown: the first {MOST_METHODS} of {} methods.", names.len()));
        names.truncate(MOST_METHODS);
    }
    let mut keys: Vec<Key> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let sample = Sample::Dot(method_marker(index), trajectory_colour(index));
        legend::add(&mut keys, name, sample);
    }
    legend::add(&mut keys, "none is better in both", Sample::Line(BEST));
    if figure.limit > 0.0 {
        legend::add(&mut keys, "laws count as kept below", Sample::Line(LIMIT));
    }
    let panels = shown.iter().map(|panel| draw(figure, panel, &names, &mut notes)).collect();
    let columns = if shown.len() > 3 { 3 } else { shown.len().max(1) };
    Sheet { title: figure.title.clone(), keys, panels, columns, shared: false, notes }.draw()
}

/// The line along the methods to which no other is better in both.
const BEST: Pen = Pen { colour: QUIET, width: 1.2, dashes: &[1.5, 3.0] };

/// The line at the violation up to which laws are kept.
const LIMIT: Pen = Pen { colour: INK, width: 0.8, dashes: &[3.0, 4.0] };

fn draw(
    figure: &FrontFigure,
    panel: &FrontPanel,
    names: &[&str],
    notes: &mut Vec<String>,
) -> Panel {
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    let place = |contestant: &Contestant| names.iter().position(|name| *name == contestant.name);
    let known: Vec<(usize, &Contestant)> = panel
        .contestants
        .iter()
        .filter_map(|contestant| Some((place(contestant)?, contestant)))
        .collect();
    let is_shown = |c: &Contestant| c.error.middle.is_finite() && c.violation.middle.is_finite();
    for (_, lost) in known.iter().filter(|(_, contestant)| !is_shown(contestant)) {
        let name = shorten(&lost.name, 10.0, 200.0);
        add(format!("Without a dot: “{name}”, whose median is not finite."));
    }
    let dots: Vec<(usize, &Contestant)> =
        known.into_iter().filter(|(_, contestant)| is_shown(contestant)).collect();
    let scale = |of: fn(&Contestant) -> Interval, more: Option<f64>| {
        let each = |c: &Contestant| <[f64; 3]>::from((of(c).middle, of(c).low, of(c).high));
        let values: Vec<f64> = dots.iter().flat_map(|(_, c)| each(c)).chain(more).collect();
        Scale::log(values, DECADES)
    };
    let limit = Some(figure.limit).filter(|limit| *limit > 0.0);
    let (x, x_below) = scale(|contestant| contestant.error, None);
    let (y, y_below) = scale(|contestant| contestant.violation, limit);
    if y_below {
        add("A violation of zero, or too small for the axis, is drawn on its lower edge."
            .to_owned());
    }
    if x_below {
        add("An error of zero, or too small for the axis, is drawn on its left edge.".to_owned());
    }
    let mut marks: Vec<Mark> = Vec::new();
    marks.extend(limit.map(|value| Mark::Level { value, pen: LIMIT }));
    let on_axes = |(error, violation): Point| (error.max(x.low), violation.max(y.low));
    let middles = dots.iter().map(|(_, c)| on_axes((c.error.middle, c.violation.middle)));
    marks.push(Mark::Curve { points: staircase(middles.collect()), pen: BEST });
    for (index, contestant) in &dots {
        let Contestant { error, violation, .. } = contestant;
        let reach = |interval: &Interval, scale: &Scale| {
            let end = if interval.high.is_finite() { interval.high } else { scale.high };
            (interval.low, end)
        };
        if !(error.high.is_finite() && violation.high.is_finite()) {
            add("A bar up to the edge of its frame has no finite end.".to_owned());
        }
        let (left, right) = reach(error, &x);
        let (bottom, top) = reach(violation, &y);
        let (middle, height) = on_axes((error.middle, violation.middle));
        let pen = Pen::hairline(trajectory_colour(*index));
        for ends in [[(left, height), (right, height)], [(middle, bottom), (middle, top)]] {
            let points = ends.into_iter().map(on_axes).collect();
            marks.push(Mark::Curve { points, pen });
        }
    }
    for (n, (index, contestant)) in dots.iter().enumerate() {
        let is_over = |(_, other): &&(usize, &Contestant)| {
            let same = |a: f64, b: f64| a.total_cmp(&b).is_eq();
            same(other.error.middle, contestant.error.middle)
                && same(other.violation.middle, contestant.violation.middle)
        };
        if let Some((_, over)) = dots[n + 1..].iter().find(is_over) {
            let [under, over] = [contestant, over].map(|c| shorten(&c.name, 10.0, 200.0));
            add(format!("“{under}” has the medians of “{over}”, which is drawn over it."));
        }
        marks.push(Mark::Dots {
            points: vec![on_axes((contestant.error.middle, contestant.violation.middle))],
            marker: method_marker(*index),
            colour: trajectory_colour(*index),
            radius: 4.0,
        });
    }
    Panel {
        title: panel.title.clone(),
        x_name: figure.error.clone(),
        y_name: figure.violation.clone(),
        x,
        y,
        y_words: Vec::new(),
        spans: Vec::new(),
        names_spans: false,
        keys: Vec::new(),
        marks,
        size: if figure.panels.len() > 1 { (300.0, 260.0) } else { (520.0, 360.0) },
    }
}

/// The corners of the line below and left of all points: of every error the least violation that is
/// reached with it or a lower one.
fn staircase(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut corners: Vec<Point> = Vec::new();
    for (error, violation) in points {
        match corners.last() {
            Some(&(_, lowest)) if violation >= lowest => {}
            Some(&(_, lowest)) => corners.extend([(error, lowest), (error, violation)]),
            None => corners.push((error, violation)),
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_passes_through_what_none_is_better_than_in_both() {
        let points = vec![(3.0, 1.0), (1.0, 5.0), (2.0, 6.0), (4.0, 0.5), (3.5, 1.0)];
        let expected = [(1.0, 5.0), (3.0, 5.0), (3.0, 1.0), (4.0, 1.0), (4.0, 0.5)];
        assert_eq!(staircase(points), expected);
        assert!(staircase(Vec::new()).is_empty());
    }

    fn contestant(name: &str, error: f64, violation: f64) -> Contestant {
        let about = |x: f64| Interval { middle: x, low: 0.5 * x, high: 2.0 * x };
        Contestant { name: name.to_owned(), error: about(error), violation: about(violation) }
    }

    fn drawn(contestants: Vec<Contestant>) -> String {
        let panels = vec![FrontPanel { title: String::new(), contestants }];
        let (error, violation) = ("error".to_owned(), "violation".to_owned());
        front(&FrontFigure { error, violation, limit: 1e-3, panels, ..FrontFigure::default() }).svg
    }

    #[test]
    fn what_cannot_be_placed_is_said() {
        let svg =
            drawn(vec![contestant("kept", 1e-3, 0.0), contestant("lost", f64::INFINITY, 0.1)]);
        assert!(svg.contains("A violation of zero"), "{svg}");
        assert!(svg.contains("Without a dot: “lost”"), "{svg}");
        let mut open = contestant("open", 1e-3, 0.1);
        open.error.high = f64::INFINITY;
        assert!(drawn(vec![open]).contains("has no finite end"));
        let alike = vec![contestant("a", 1e-3, 0.1), contestant("b", 1e-3, 0.1)];
        assert!(drawn(alike).contains("“a” has the medians of “b”"));
        let many = (0..20).map(|n| contestant(&format!("m{n}"), 1e-3, 0.1)).collect();
        assert!(drawn(many).contains("the first 13 of 20 methods"));
    }

    #[test]
    fn every_method_has_a_shape_of_its_own() {
        let mut known = Vec::new();
        for index in 0..MOST_METHODS {
            let marker = method_marker(index);
            assert!(!known.contains(&marker), "{marker:?}");
            known.push(marker);
        }
    }
}
