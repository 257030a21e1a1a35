//! The largest factor of the blend with the chord at which the laws hold inside a step.
//!
//! A polynomial lies between its Bernstein coefficients, and rises if they do. Each law asks that linear
//! functions of the coefficients are not negative; where one is `P < 0` on the polynomial and `C ≥ 0` on the
//! chord, `a P + (1 − a) C ≥ 0` for `a ≤ C/(C − P)`.

use super::form::Form;
use super::guard::ROUNDING;

/// Coefficients of a polynomial of degree 4.
const LAST: usize = 4;

/// What decides on the factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tight {
    state: usize,
    /// 1 or −1.
    sign: f64,
    part: Part,
    chord: f64,
    polynomial: f64,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    /// A coefficient beyond a bound.
    Bound(usize),
    /// A coefficient, and the next, in the wrong order.
    Direction(usize),
}

impl Tight {
    /// `a`
    pub(super) fn factor(&self) -> f64 {
        self.chord / (self.chord - self.polynomial)
    }

    /// The adjoint of [`factor`](Self::factor), for coefficients of `d` states.
    pub(super) fn pull_back(&self, d: usize, a_bar: f64, control_bar: &mut [f64]) {
        let (a, apart) = (self.factor(), self.chord - self.polynomial);
        let chord_bar = self.sign * a_bar * (1.0 - a) / apart;
        let polynomial_bar = self.sign * a_bar * a / apart;
        let mut add = |j: usize, bar: f64| control_bar[j * d + self.state] += bar;
        match self.part {
            Part::Bound(j) => {
                add(j, polynomial_bar);
                add(0, (1.0 - along(j)) * chord_bar);
                add(LAST, along(j) * chord_bar);
            }
            Part::Direction(j) => {
                add(j + 1, polynomial_bar);
                add(j, -polynomial_bar);
                add(LAST, chord_bar / LAST as f64);
                add(0, -chord_bar / LAST as f64);
            }
        }
    }
}

/// Where a coefficient of the chord is.
fn along(j: usize) -> f64 {
    j as f64 / LAST as f64
}

/// Returns what decides on the factor; nothing if the polynomial keeps all laws.
pub(super) fn factor(form: &Form, control: &[f64]) -> Option<Tight> {
    let d = form.states.len();
    let mut tightest: Option<Tight> = None;
    let mut consider = |tight: Tight| {
        // A chord that breaks the law by rounding is on it.
        let tight = Tight { chord: tight.chord.max(0.0), ..tight };
        if tightest.is_none_or(|least| tight.factor() < least.factor()) {
            tightest = Some(tight);
        }
    };
    for (state, laws) in form.states.iter().enumerate().filter(|(_, laws)| laws.is_limited()) {
        let p = |j: usize| control[j * d + state];
        let (start, end) = (p(0), p(LAST));
        for edge in laws.edges() {
            for j in 1..LAST {
                let polynomial = edge.gap(p(j));
                if polynomial < -ROUNDING * (p(j).abs() + start.abs() + edge.at.abs()) {
                    let chord = edge.gap(start + along(j) * (end - start));
                    let part = Part::Bound(j);
                    consider(Tight { state, sign: edge.sign, part, chord, polynomial });
                }
            }
        }
        if let Some(sign) = laws.direction {
            for j in 0..LAST {
                let polynomial = sign * (p(j + 1) - p(j));
                if polynomial < -ROUNDING * (p(j + 1).abs() + p(j).abs()) {
                    let chord = sign * (end - start) / LAST as f64;
                    let part = Part::Direction(j);
                    consider(Tight { state, sign, part, chord, polynomial });
                }
            }
        }
    }
    tightest
}
