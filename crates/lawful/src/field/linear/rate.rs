//! Rates from flows, for one column, and directly below the adjoint.

use std::f64::consts::LN_2;

use super::form::{Edge, Flow, Form};

/// `softplus(o)/ln 2` and its derivative: above 0, 1 at 0, and `o/ln 2` where `o` is large.
fn one_way(o: f64) -> (f64, f64) {
    let tail = (-o.abs()).exp();
    let value = o.max(0.0) + tail.ln_1p();
    let slope = if o >= 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) };
    (value / LN_2, slope / LN_2)
}

impl Flow {
    /// The flow without its distances, and its derivative by the output.
    fn activity(&self, o: f64) -> (f64, f64) {
        let (value, slope) = if self.signed { (o, 1.0) } else { one_way(o) };
        (self.rate * value, self.rate * slope)
    }

    /// `Π q`, without the factor at a position.
    fn distances(&self, y: &[f64], without: Option<usize>) -> f64 {
        let factors = self.factors.iter().enumerate().filter(|(n, _)| Some(*n) != without);
        factors.map(|(_, (state, edge))| edge.q(y[*state])).product()
    }
}

impl Form {
    /// Writes the rates of one column to `f`, for outputs `o` of the network.
    pub(super) fn rates(&self, y: &[f64], o: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        for (flow, &o) in self.flows.iter().zip(o) {
            let phi = flow.activity(o).0 * flow.distances(y, None);
            if let Some(from) = flow.from {
                f[from] -= phi / self.states[from].weight;
            }
            if let Some(to) = flow.to {
                f[to] += phi / self.states[to].weight;
            }
        }
        self.projection.rate(f);
    }

    /// The adjoint of [`rates`](Self::rates): turns `f_bar` into that of the rates before the projection,
    /// writes `o_bar`, and adds to `y_bar`.
    pub(super) fn rates_bar(
        &self,
        (y, o): (&[f64], &[f64]),
        f_bar: &mut [f64],
        o_bar: &mut [f64],
        mut y_bar: Option<&mut [f64]>,
    ) {
        self.projection.rate_bar(f_bar);
        for ((flow, &o), o_bar) in self.flows.iter().zip(o).zip(o_bar) {
            let of = |end: Option<usize>| end.map_or(0.0, |i| f_bar[i] / self.states[i].weight);
            let phi_bar = of(flow.to) - of(flow.from);
            let (value, slope) = flow.activity(o);
            *o_bar = phi_bar * slope * flow.distances(y, None);
            let Some(y_bar) = y_bar.as_deref_mut() else { continue };
            for (n, &(state, Edge { sign, distance, .. })) in flow.factors.iter().enumerate() {
                let others = flow.distances(y, Some(n));
                y_bar[state] += phi_bar * value * others * sign / distance;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_one_way_flow_is_one_at_zero_and_never_negative() {
        assert!((one_way(0.0).0 - 1.0).abs() < 1e-15);
        assert!((one_way(0.0).1 - 0.5 / LN_2).abs() < 1e-15);
        for o in [-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0_f64] {
            let (value, slope) = one_way(o);
            assert!(value >= 0.0 && slope >= 0.0 && value.is_finite(), "{o}");
            let h = 1e-5;
            let difference = (one_way(o + h).0 - one_way(o - h).0) / (2.0 * h);
            assert!((difference - slope).abs() < 1e-7, "{o}: {slope} {difference}");
        }
        assert!((one_way(800.0).0 - 800.0 / LN_2).abs() < 1e-9);
        assert!((one_way(-40.0).0 * LN_2 / (-40.0_f64).exp() - 1.0).abs() < 1e-12);
    }
}
