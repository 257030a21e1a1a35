//! What holds for every figure: well-formed, complete, deterministic, never a panic.

use super::*;

/// Values that have broken plots before.
const ODD: [f64; 12] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    5e-324,
    -0.0,
    0.0,
    1.0,
    -1e-300,
    1e17,
    0.1,
];

/// A name with everything that XML, the font or the plotting crate could stumble on.
const NAME: &str = "θ̇ <ẋ> & \"T\" in '°C' 中 $μ_1$ \u{0}";

/// The figure of each kind, made of `values` as far as they go, repeated.
fn all_kinds(name: &str, t: &[f64], values: &[f64]) -> Vec<(&'static str, Figure)> {
    let name = name.to_owned();
    let cycle = |start: usize, length: usize| -> Vec<f64> {
        values.iter().copied().cycle().skip(start).take(length.min(values.len() * length)).collect()
    };
    let trajectory = |start: usize| Trajectory {
        name: name.clone(),
        t: t.to_vec(),
        values: cycle(start, 2 * t.len()),
    };
    let prediction = |line: Line, start: usize| Prediction {
        name: name.clone(),
        line,
        trajectories: vec![trajectory(start), trajectory(start + 1)],
    };
    let range = |from: f64, to: f64| TimeRange { name: name.clone(), from, to };
    let last = t.last().copied().unwrap_or(f64::NAN);
    let plain = CurvesFigure {
        title: name.clone(),
        time: name.clone(),
        states: vec![name.clone(), name.clone()],
        measured: vec![trajectory(3)],
        predictions: vec![prediction(Line::Solid, 0), prediction(Line::Truth, 2)],
        band: Some(Band {
            name: name.clone(),
            low: vec![trajectory(1), trajectory(2)],
            high: vec![trajectory(2), trajectory(0)],
        }),
        ranges: vec![range(0.0, last), range(last, 0.0), range(0.0, 1e9)],
    };
    let history = |start: usize| History { name: name.clone(), values: cycle(start, t.len()) };
    let law = |side: Side, start: usize| LawResiduals {
        name: name.clone(),
        text: "next(E) <= E".to_owned(),
        side,
        tolerance: values.get(start).copied().unwrap_or(0.0),
        curves: vec![ResidualCurve {
            name: name.clone(),
            line: Line::Dashed,
            t: t.to_vec(),
            residual: cycle(start, t.len()),
        }],
    };
    vec![
        ("curves", curves(&plain)),
        ("phase", phase(&plain, 0, 1)),
        ("phase of states that do not exist", phase(&plain, 7, 9)),
        ("side by side", side_by_side(&name, &[plain.clone(), plain.clone()])),
        (
            "residuals",
            residuals(&ResidualsFigure {
                title: name.clone(),
                time: name.clone(),
                laws: vec![law(Side::Both, 0), law(Side::Above, 3)],
            }),
        ),
        (
            "learning",
            learning(&LearningFigure {
                title: name.clone(),
                iterations: t.to_vec(),
                losses: vec![history(0), history(1)],
                violations: vec![history(2)],
                weights: vec![history(3)],
                events: vec![Events { name: name.clone(), iterations: t.to_vec() }],
            }),
        ),
        ("front", front(&contest(&name, t, values))),
    ]
}

/// Two panels with a method for each value.
fn contest(name: &str, t: &[f64], values: &[f64]) -> FrontFigure {
    let at = |n: usize| values.get(n % values.len().max(1)).copied().unwrap_or(f64::NAN);
    let interval = |n: usize| Interval { middle: at(n), low: at(n + 1), high: at(n + 2) };
    let contestant = |(n, t): (usize, &f64)| Contestant {
        name: if n == 0 { name.to_owned() } else { format!("m{n}") },
        error: interval(n),
        violation: Interval { middle: *t, ..interval(3 * n) },
    };
    let contestants = t.iter().enumerate().map(contestant).collect();
    let panel = FrontPanel { title: name.to_owned(), contestants };
    let panels = vec![panel.clone(), panel];
    let (title, error, violation) = (name.to_owned(), name.to_owned(), name.to_owned());
    FrontFigure { title, error, violation, limit: at(0), panels }
}

/// Width and height in a PNG's header.
fn png_size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    (number(16), number(20))
}

/// Checks that tags are closed in order, quotes paired and entities known; gives the text content.
fn well_formed(svg: &str) -> String {
    let (mut open, mut content) = (Vec::new(), String::new());
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let (text, tagged) = rest.split_at(start);
        content.push_str(text);
        let end = tagged.find('>').expect("a tag ends");
        let tag = &tagged[1..end];
        rest = &tagged[end + 1..];
        assert!(!tag.contains('<'), "`{tag}`");
        if tag.starts_with("!--") {
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "`{tag}`");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closing tags come in order");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    assert!(!svg.contains(control), "XML forbids control characters");
    for entity in svg.split('&').skip(1) {
        let name = entity.split(';').next().unwrap_or_default();
        assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name), "`&{name}`");
    }
    content
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

fn check(kind: &str, figure: &Figure) {
    let content = well_formed(&figure.svg);
    assert!(!content.contains("NaN"), "{kind}");
    for bad in ["\"NaN", "NaN\"", " NaN", "inf"] {
        assert!(!figure.svg.contains(bad), "{kind}: `{bad}`");
    }
    let (width, height) = png_size(&figure.png);
    assert!((600..=4000).contains(&width) && (60..=8000).contains(&height), "{kind}");
    assert!(figure.svg.contains(&format!("viewBox=\"0 0 {} {}\"", width / 2, height / 2)));
}

#[test]
fn every_figure_is_well_formed_and_names_what_it_shows() {
    let t: Vec<f64> = (0..40).map(f64::from).collect();
    let values: Vec<f64> = t.iter().map(|t| t.sin()).collect();
    for (kind, figure) in all_kinds("A <b> & \"c\" 'd' $e$ θ", &t, &values) {
        check(kind, &figure);
        let content = well_formed(&figure.svg);
        assert!(content.contains("A <b> & \"c\" 'd' $e$ θ"), "{kind}");
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let t: Vec<f64> = (0..300).map(f64::from).collect();
    let values: Vec<f64> = t.iter().map(|t| (t * 0.1).sin()).collect();
    assert_eq!(all_kinds(NAME, &t, &values), all_kinds(NAME, &t, &values));
}

#[test]
fn empty_constant_huge_and_missing_values_are_drawn_without_a_panic() {
    let grid: Vec<f64> = (0..12).map(f64::from).collect();
    let cases: Vec<(Vec<f64>, Vec<f64>)> = vec![
        (vec![], vec![]),
        (vec![0.0], vec![1.0]),
        (grid.clone(), vec![]),
        (grid.clone(), vec![f64::NAN]),
        (grid.clone(), vec![0.0]),
        (grid.clone(), vec![-7.25]),
        (grid.clone(), vec![1e300, -1e300]),
        (grid.clone(), vec![f64::MAX, f64::MIN]),
        (grid.clone(), vec![5e-324, 0.0]),
        (grid.clone(), vec![1.0, 1.0 + f64::EPSILON]),
        (grid, ODD.to_vec()),
        (ODD.to_vec(), ODD.to_vec()),
        (vec![f64::NAN; 5], vec![1.0]),
        (vec![3.0; 5], vec![1.0, 2.0]),
    ];
    for (t, values) in cases {
        for (kind, figure) in all_kinds(NAME, &t, &values) {
            check(&format!("{kind} of {values:?} at {t:?}"), &figure);
        }
    }
}

#[test]
fn random_mixtures_of_odd_values_are_drawn_without_a_panic() {
    // A small linear congruential generator: the same mixtures on every machine.
    let mut state: u64 = 42;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for _ in 0..10 {
        let mut value = || match draw() % 4 {
            0 => ODD[usize::try_from(draw() % 12).unwrap()],
            1 => f64::from_bits(draw() << 32 | draw()),
            _ => draw() as f64 / 1e9 - 1.0,
        };
        let t: Vec<f64> = (0..9).map(|_| value()).collect();
        let values: Vec<f64> = (0..23).map(|_| value()).collect();
        for (kind, figure) in all_kinds("n", &t, &values) {
            check(&format!("{kind} of {values:?} at {t:?}"), &figure);
        }
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let trajectory =
        || Trajectory { t: vec![0.0, 1.0], values: vec![0.5; 40], ..Trajectory::default() };
    let figure = CurvesFigure {
        states: (0..20).map(|index| format!("s{index}")).collect(),
        measured: (0..9).map(|_| trajectory()).collect(),
        ..CurvesFigure::default()
    };
    let content = well_formed(&curves(&figure).svg);
    assert!(content.contains("the first 12 of 20 state variables"), "{content}");
    assert!(content.contains("the first 6 of 9 trajectories"), "{content}");
}

#[test]
fn a_prediction_that_runs_away_leaves_the_panel_and_is_named() {
    let t: Vec<f64> = (0..50).map(f64::from).collect();
    let series = |f: fn(f64) -> f64| Trajectory {
        t: t.clone(),
        values: t.iter().map(|&t| f(t)).collect(),
        ..Trajectory::default()
    };
    let wild = Prediction {
        name: "wild".to_owned(),
        line: Line::Dashed,
        trajectories: vec![series(f64::exp)],
    };
    let figure = CurvesFigure {
        states: vec!["y".to_owned()],
        measured: vec![series(f64::sin)],
        predictions: vec![wild],
        ..CurvesFigure::default()
    };
    let content = well_formed(&curves(&figure).svg);
    assert!(content.contains("“wild” leaves the panel of y, as far as 1.91×10²¹."), "{content}");
    let axis = curve_axes::state_scale(&[&figure], 0, &mut Vec::new());
    assert!(axis.low > -1.5 && axis.high < 3.5, "one measured range beyond: {axis:?}");
}

#[test]
fn a_million_points_make_a_small_figure() {
    let t: Vec<f64> = (0..1_000_000).map(|i| f64::from(i) * 1e-4).collect();
    let values: Vec<f64> = t.iter().map(|t| (37.0 * t).sin()).collect();
    let trajectory = Trajectory { t, values, ..Trajectory::default() };
    let prediction = Prediction { trajectories: vec![trajectory.clone()], ..Prediction::default() };
    let figure = curves(&CurvesFigure {
        states: vec!["y".to_owned()],
        measured: vec![trajectory],
        predictions: vec![prediction],
        ..CurvesFigure::default()
    });
    assert!(figure.svg.len() < 300_000, "{}", figure.svg.len());
    assert!(figure.png.len() < 600_000, "{}", figure.png.len());
}

#[test]
fn zero_violations_are_drawn_on_the_edge_and_noted() {
    let figure = LearningFigure {
        iterations: (0..4).map(f64::from).collect(),
        violations: vec![History { name: "v".to_owned(), values: vec![1.0, 1e-3, 0.0, 0.0] }],
        ..LearningFigure::default()
    };
    let content = well_formed(&learning(&figure).svg);
    assert!(content.contains("A violation of zero"), "{content}");
    assert!(content.contains("10⁻³") || content.contains("10⁻²"), "{content}");
}

/// A number that looks random.
fn shuffled(n: usize) -> f64 {
    (n.wrapping_mul(2_654_435_761) % 1_000_003) as f64 / 1_000_003.0 - 0.5
}

#[test]
fn no_figure_is_large_whatever_its_points_do() {
    const N: usize = 60_000;
    let angle = |n: usize| 0.05 * n as f64;
    for (what, state) in [
        (
            "an orbit",
            (|n, a: f64| (a.cos(), 0.5 * a.sin() + 1e-9 * n as f64)) as fn(usize, f64) -> _,
        ),
        ("a cloud", |n, _| (shuffled(n), shuffled(3 * n + 1))),
        ("a filled disc", |n, a| (n as f64 * (a * 1.01).cos(), n as f64 * a.sin())),
        ("noise around an orbit", |n, a| {
            (a.cos() + 0.05 * shuffled(n), a.sin() + 0.1 * shuffled(7 * n))
        }),
    ] {
        let trajectory = |name: &str| Trajectory {
            name: name.to_owned(),
            t: (0..N).map(|n| n as f64).collect(),
            values: (0..N).flat_map(|n| <[f64; 2]>::from(state(n, angle(n)))).collect(),
        };
        let all = vec![trajectory("a"), trajectory("b")];
        let predictions = vec![Prediction {
            line: Line::Dashed,
            trajectories: all.clone(),
            ..Prediction::default()
        }];
        let figure = CurvesFigure {
            states: vec!["x".to_owned(), "v".to_owned()],
            measured: all,
            predictions,
            ..CurvesFigure::default()
        };
        for (kind, drawn) in [("curves", curves(&figure)), ("phase", phase(&figure, 0, 1))] {
            well_formed(&drawn.svg);
            assert!(drawn.svg.len() < 300_000, "{what}, {kind}: {}", drawn.svg.len());
            assert!(drawn.svg.len() > 6_000, "{what}, {kind}: {}", drawn.svg.len());
        }
    }
    let curve = ResidualCurve {
        t: (0..N).map(|n| n as f64).collect(),
        residual: (0..N).map(shuffled).collect(),
        ..ResidualCurve::default()
    };
    let law = |side| LawResiduals { curves: vec![curve.clone()], side, ..LawResiduals::default() };
    let laws = vec![law(Side::Both), law(Side::Above)];
    let drawn = residuals(&ResidualsFigure { laws, ..ResidualsFigure::default() });
    assert!(drawn.svg.len() < 300_000, "residuals: {}", drawn.svg.len());
}

#[test]
fn a_band_lies_behind_lines_and_is_named_in_the_legend() {
    let along = |shift: f64| Trajectory {
        name: "a".to_owned(),
        t: (0..20).map(f64::from).collect(),
        values: (0..20).map(|n| (0.3 * f64::from(n)).sin() + shift).collect(),
    };
    let figure = CurvesFigure {
        states: vec!["x".to_owned()],
        measured: vec![along(0.05)],
        predictions: vec![Prediction {
            name: "predicted".to_owned(),
            line: Line::Solid,
            trajectories: vec![along(0.0)],
        }],
        ..CurvesFigure::default()
    };
    let without = curves(&figure).svg;
    let band =
        Band { name: "90 % interval".to_owned(), low: vec![along(-0.2)], high: vec![along(0.2)] };
    let with = curves(&CurvesFigure { band: Some(band), ..figure }).svg;
    assert!(with.contains("90 % interval") && !without.contains("interval"));
    // Of each colour the last place; the legend is drawn first.
    let place = |colour: &str| with.rfind(colour).unwrap_or_else(|| panic!("{colour}: {with}"));
    assert!(place("#c8deeb") < place("#0072b2"));
}
