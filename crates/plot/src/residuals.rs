//! How far each law is from holding, over time, one panel per law.

use super::Figure;
use super::canvas::Point;
use super::legend::{self, Sample};
use super::marks::Mark;
use super::panel::Panel;
use super::scale::{Scale, limits};
use super::sheet::Sheet;
use super::style::{EXCESS, INK, Line, Pen, QUIET};

/// Laws shown; more are mentioned in a note.
const MOST_LAWS: usize = 12;

/// Curves of one law that are drawn; of more, those with the largest residuals and some of the others.
const MOST_CURVES: usize = 40;

/// Where the largest residual is this many times the median one, the axis is logarithmic.
const SPREAD: f64 = 100.0;

/// The line at the tolerance.
const TOLERANCE: Pen = Pen { dashes: &[2.0, 2.0], ..Pen::hairline(QUIET) };

/// Which side of zero breaks a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// The law is `c = 0`: broken on both sides.
    #[default]
    Both,
    /// The law is `c ≤ 0`: broken above.
    Above,
}

/// The residual of one model on one trajectory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResidualCurve {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub line: Line,
    /// Times.
    pub t: Vec<f64>,
    /// Residual `c` at these times; `NaN` where the law has none.
    pub residual: Vec<f64>,
}

/// One law and its residuals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LawResiduals {
    /// Name of the law.
    pub name: String,
    /// The law as written, such as `next(E) <= E`; may be empty.
    pub text: String,
    /// Which side breaks it.
    pub side: Side,
    /// Residuals up to this size are not marked as violated; 0 marks all.
    pub tolerance: f64,
    /// One or several curves.
    pub curves: Vec<ResidualCurve>,
}

/// What [`residuals`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResidualsFigure {
    /// Title; may be empty.
    pub title: String,
    /// Name of the time axis.
    pub time: String,
    /// The laws, one panel each.
    pub laws: Vec<LawResiduals>,
}

/// The residual of each law over time, the part that breaks the law heavy and filled.
///
/// The vertical axis is linear and always shows zero. Where the largest residual is more than a
/// hundred times the median one, a linear axis would show a spike and a flat line: there the axis is
/// symmetric-logarithmic, linear up to the power of ten below the median.
#[must_use]
pub fn residuals(figure: &ResidualsFigure) -> Figure {
    let shown = figure.laws.len().min(MOST_LAWS);
    let laws = &figure.laws[..shown];
    let times = laws.iter().flat_map(|law| law.curves.iter().flat_map(|curve| &curve.t).copied());
    let x = Scale::linear(limits(times), 0.012);
    let panels: Vec<Panel> = laws.iter().map(|law| panel(law, &figure.time, x)).collect();
    let mut keys = Vec::new();
    for curve in laws.iter().flat_map(|law| &law.curves) {
        let pen = thin(curve.line);
        legend::add(&mut keys, &curve.name, Sample::Line(pen));
    }
    if !keys.is_empty() {
        let heavy = Pen { colour: INK, ..thin(Line::Solid) }.heavy();
        legend::add(&mut keys, "breaks the law", Sample::Excess(heavy, EXCESS));
        if laws.iter().any(|law| law.tolerance > 0.0) {
            legend::add(&mut keys, "tolerance", Sample::Line(TOLERANCE));
        }
    }
    let mut notes = Vec::new();
    if shown < figure.laws.len() {
        notes.push(format!("Shown: the first {shown} of {} laws.", figure.laws.len()));
    }
    let most = laws.iter().map(|law| law.curves.len()).max().unwrap_or(0);
    if most > MOST_CURVES {
        notes.push(format!(
            "Shown: {MOST_CURVES} of {most} curves, half of them those that are farthest from 0 on the side \
             that breaks the law."
        ));
    }
    let title = figure.title.clone();
    Sheet { title, keys, panels, columns: 1, shared: true, notes }.draw()
}

fn panel(law: &LawResiduals, time: &str, x: Scale) -> Panel {
    let tolerance = if law.tolerance.is_finite() { law.tolerance.max(0.0) } else { 0.0 };
    let (mut areas, mut lines, mut heavy) = (Vec::new(), Vec::new(), Vec::new());
    let levels: &[f64] = match law.side {
        Side::Above => &[tolerance],
        Side::Both => &[tolerance, -tolerance],
    };
    lines.push(Mark::Level { value: 0.0, pen: Pen::hairline(INK) });
    if tolerance > 0.0 {
        lines.extend(levels.iter().map(|&value| Mark::Level { value, pen: TOLERANCE }));
    }
    for curve in shown_curves(law) {
        let pen = thin(curve.line);
        let points: Vec<Point> =
            curve.t.iter().copied().zip(curve.residual.iter().copied()).collect();
        for (&level, side) in levels.iter().zip([1.0, -1.0]) {
            let excess = beyond(&points, level, side);
            areas.push(Mark::Area { points: excess.clone(), level, colour: EXCESS });
            heavy.push(Mark::Curve { points: excess, pen: pen.heavy() });
        }
        lines.push(Mark::Curve { points, pen });
    }
    // Areas lie below all lines, heavy lines above the thin ones.
    let marks = areas.into_iter().chain(lines).chain(heavy).collect();
    let title = match (law.name.is_empty(), law.text.is_empty()) {
        (false, false) => format!("{}: {}", law.name, law.text),
        _ => format!("{}{}", law.name, law.text),
    };
    Panel {
        title,
        x_name: time.to_owned(),
        y_name: "residual".to_owned(),
        x,
        y: vertical_scale(law, tolerance),
        y_words: Vec::new(),
        spans: Vec::new(),
        names_spans: false,
        keys: Vec::new(),
        marks,
        size: (600.0, 130.0),
    }
}

/// Returns all curves of a law, or of many the ones that go farthest, and some spread over the others, in
/// their order.
fn shown_curves(law: &LawResiduals) -> Vec<&ResidualCurve> {
    let curves = &law.curves;
    if curves.len() <= MOST_CURVES {
        return curves.iter().collect();
    }
    let farthest = |curve: &ResidualCurve| {
        let sizes =
            curve.residual.iter().map(|&c| if law.side == Side::Both { c.abs() } else { c });
        sizes.filter(|c| c.is_finite()).fold(f64::NEG_INFINITY, f64::max)
    };
    let sizes: Vec<f64> = curves.iter().map(farthest).collect();
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
    let (first, others) = order.split_at_mut(MOST_CURVES / 2);
    others.sort_unstable();
    let some = MOST_CURVES - first.len();
    let spread = (0..some).map(|n| others[n * others.len() / some]);
    let mut shown: Vec<usize> = first.iter().copied().chain(spread).collect();
    shown.sort_unstable();
    shown.into_iter().map(|n| &curves[n]).collect()
}

fn thin(line: Line) -> Pen {
    Pen { width: line.pen().width * 0.65, ..line.pen() }
}

fn vertical_scale(law: &LawResiduals, tolerance: f64) -> Scale {
    let residuals = law.curves.iter().flat_map(|curve| curve.residual.iter().copied());
    let mut sizes: Vec<f64> =
        residuals.clone().map(f64::abs).filter(|size| size.is_finite() && *size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    let found = limits(residuals.chain([0.0, tolerance]));
    let (Some(&largest), Some(&median)) = (sizes.last(), sizes.get(sizes.len() / 2)) else {
        return Scale::linear(found, 0.08);
    };
    if largest <= SPREAD * median {
        return Scale::linear(found, 0.08);
    }
    let start = median.max(largest * 1e-8).max(1e-280);
    Scale::symmetric_log(found, 10_f64.powf(start.log10().floor()))
}

/// The parts of a curve beyond a level, above it for `side = 1`, below for `side = −1`; gaps between.
///
/// Where the curve crosses the level between two points, the crossing is added.
fn beyond(points: &[Point], level: f64, side: f64) -> Vec<Point> {
    let excess = |(_, y): Point| side * (y - level);
    let gap = (f64::NAN, f64::NAN);
    let mut parts = Vec::new();
    for (index, &point) in points.iter().enumerate() {
        if index > 0 {
            let before = points[index - 1];
            let (a, b) = (excess(before), excess(point));
            if (a > 0.0) != (b > 0.0) && (a - b).is_finite() {
                let share = a / (a - b);
                parts.push((before.0 + share * (point.0 - before.0), level));
            }
        }
        parts.push(if excess(point) > 0.0 { point } else { gap });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::{scale::Spacing, trace::segment_rows};
    use super::*;

    #[test]
    fn the_part_beyond_a_level_starts_and_ends_on_it() {
        let points = [(0.0, -1.0), (1.0, 1.0), (2.0, 3.0), (3.0, -3.0)];
        let parts = segment_rows(&beyond(&points, 0.0, 1.0));
        assert_eq!(parts, [vec![(0.5, 0.0), (1.0, 1.0), (2.0, 3.0), (2.5, 0.0)]]);
        let below = segment_rows(&beyond(&points, -0.5, -1.0));
        assert_eq!(below.len(), 2);
        assert!(below.iter().flatten().all(|&(_, y)| y <= -0.5));
    }

    #[test]
    fn a_missing_residual_is_a_gap_on_both_sides() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 1.0)];
        let parts = segment_rows(&beyond(&points, 0.0, 1.0));
        assert_eq!(parts, [vec![(0.0, 1.0)], vec![(2.0, 1.0)]]);
    }

    #[test]
    fn of_many_curves_the_farthest_are_shown() {
        let curve = |n: usize| ResidualCurve {
            t: vec![0.0, 1.0],
            residual: vec![0.0, if n == 777 { 9.0 } else { (n % 10) as f64 * 0.1 }],
            ..ResidualCurve::default()
        };
        let law = LawResiduals { curves: (0..1000).map(curve).collect(), ..Default::default() };
        let shown = shown_curves(&law);
        assert_eq!(shown.len(), MOST_CURVES);
        assert!(shown.iter().any(|curve| curve.residual[1] > 8.0));
        assert!(shown.iter().any(|curve| curve.residual[1] < 0.15), "not the farthest alone");
        let figure = ResidualsFigure { laws: vec![law], ..ResidualsFigure::default() };
        assert!(residuals(&figure).svg.contains("Shown: 40 of 1000 curves"));
    }

    #[test]
    fn a_spike_over_small_residuals_gets_a_logarithmic_axis() {
        let law = |spike: f64| {
            let mut residual = vec![1e-3; 100];
            residual[7] = spike;
            let curve = ResidualCurve { residual, ..ResidualCurve::default() };
            LawResiduals { curves: vec![curve], ..LawResiduals::default() }
        };
        assert_eq!(vertical_scale(&law(0.05), 0.0).spacing, Spacing::Linear);
        let spiked = vertical_scale(&law(5.0), 0.0).spacing;
        assert!(matches!(spiked, Spacing::SymmetricLog { .. }), "{spiked:?}");
    }
}
