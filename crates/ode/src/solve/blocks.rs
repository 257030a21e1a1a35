//! Sums over stages for blocks of columns: the arithmetic of a step without the right-hand side.
//!
//! A block has n = columns × state entries, and `h` holds the step size of each entry's column.
//! Sums run over the stages for a few entries at a time, so that they stay in registers: with one
//! column of a few variables a stage costs a few nanoseconds beside the right-hand side.

/// Runs `$body` for sixteen entries at a time, for four, and for the one to three that are left.
macro_rules! in_blocks {
    ($n:expr, $at:ident, $width:ident => $body:block) => {{
        let n: usize = $n;
        let mut $at = 0;
        while $at + 16 <= n {
            const $width: usize = 16;
            $body
            $at += 16;
        }
        while $at + 4 <= n {
            const $width: usize = 4;
            $body
            $at += 4;
        }
        match n - $at {
            3 => {
                const $width: usize = 3;
                $body
            }
            2 => {
                const $width: usize = 2;
                $body
            }
            1 => {
                const $width: usize = 1;
                $body
            }
            _ => {}
        }
    }};
}

/// `out = y + h Σ_j w_j k_j`.
pub(crate) fn combine(out: &mut [f64], y: &[f64], h: &[f64], weights: &[f64], k: &[f64]) {
    let n = out.len();
    in_blocks!(n, at, WIDTH => {
        let sums = sums::<WIDTH>(weights, k, n, at);
        let (out, y, h) = (&mut out[at..][..WIDTH], &y[at..][..WIDTH], &h[at..][..WIDTH]);
        for i in 0..WIDTH {
            out[i] = y[i] + h[i] * sums[i];
        }
    });
}

/// `out = y + h Σ_j w_j k_j` for one column: `k` begins at the column, in blocks of n entries.
pub(crate) fn combine_column(
    out: &mut [f64],
    y: &[f64],
    h: f64,
    weights: &[f64],
    k: &[f64],
    n: usize,
) {
    let d = out.len();
    in_blocks!(d, at, WIDTH => {
        let sums = sums::<WIDTH>(weights, k, n, at);
        let (out, y) = (&mut out[at..][..WIDTH], &y[at..][..WIDTH]);
        for i in 0..WIDTH {
            out[i] = y[i] + h * sums[i];
        }
    });
}

/// `out = h Σ_j w_j k_j`.
pub(crate) fn weighted(out: &mut [f64], h: &[f64], weights: &[f64], k: &[f64]) {
    let n = out.len();
    in_blocks!(n, at, WIDTH => {
        let sums = sums::<WIDTH>(weights, k, n, at);
        let (out, h) = (&mut out[at..][..WIDTH], &h[at..][..WIDTH]);
        for i in 0..WIDTH {
            out[i] = h[i] * sums[i];
        }
    });
}

/// The adjoint of [`weighted`] with respect to k: `k_bar_j += w_j h x` for every j.
pub(crate) fn spread(k_bar: &mut [f64], h: &[f64], weights: &[f64], x: &[f64]) {
    let n = x.len();
    in_blocks!(n, at, WIDTH => {
        let (x, h) = (&x[at..][..WIDTH], &h[at..][..WIDTH]);
        let mut scaled = [0.0; WIDTH];
        for i in 0..WIDTH {
            scaled[i] = h[i] * x[i];
        }
        for (j, &weight) in weights.iter().enumerate() {
            let k_bar = &mut k_bar[j * n + at..][..WIDTH];
            for (k_bar, scaled) in k_bar.iter_mut().zip(scaled) {
                *k_bar += weight * scaled;
            }
        }
    });
}

/// The adjoint of [`combine_column`] with respect to k: `k_bar_j += w_j h x` for every j.
pub(crate) fn spread_column(k_bar: &mut [f64], h: f64, weights: &[f64], x: &[f64], n: usize) {
    for (j, &weight) in weights.iter().enumerate() {
        let k_bar = &mut k_bar[j * n..][..x.len()];
        for (k_bar, x) in k_bar.iter_mut().zip(x) {
            *k_bar += weight * (h * x);
        }
    }
}

/// `out += x`.
pub(crate) fn add(out: &mut [f64], x: &[f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x;
    }
}

/// Returns whether any entry is not zero; NaN counts as not zero.
pub(crate) fn any_non_zero(x: &[f64]) -> bool {
    x.iter().any(|&x| x != 0.0)
}

/// `Σ_j w_j k_j` for the entries `at..at + WIDTH` of blocks of n.
#[inline]
fn sums<const WIDTH: usize>(weights: &[f64], k: &[f64], n: usize, at: usize) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (j, &weight) in weights.iter().enumerate() {
        let k = &k[j * n + at..][..WIDTH];
        for (sum, k) in sums.iter_mut().zip(k) {
            *sum += weight * k;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_width_give_the_plain_sums() {
        let weights = [0.5, 0.0, -2.0];
        for n in 1..=39 {
            let entry = |i: usize| (i * 7 % 11) as f64 - 3.0;
            let k: Vec<f64> = (0..3 * n).map(entry).collect();
            let (y, h): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (entry(i + 5), entry(i + 2))).unzip();
            let (mut combined, mut alone) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            combine(&mut combined, &y, &h, &weights, &k);
            weighted(&mut alone, &h, &weights, &k);
            let mut column = vec![f64::NAN; n.min(3)];
            let first = n - column.len();
            combine_column(&mut column, &y[first..], h[first], &weights, &k[first..], n);
            let mut k_bar = k.clone();
            spread(&mut k_bar, &h, &weights, &y);
            let mut column_bar = k.clone();
            let ends = &y[first..];
            spread_column(&mut column_bar[first..], h[first], &weights, ends, n);
            // Small integers and halves: every sum is exact.
            for (i, value) in column.iter().enumerate() {
                let i = first + i;
                let expected = y[i] + h[first] * (0.5 * k[i] - 2.0 * k[2 * n + i]);
                assert_eq!(value.to_bits(), expected.to_bits());
                let back: Vec<f64> = (0..3).map(|j| column_bar[j * n + i] - k[j * n + i]).collect();
                assert_eq!(back, weights.map(|weight| weight * h[first] * y[i]));
            }
            assert_eq!(column_bar[..first], k[..first]);
            for i in 0..n {
                let sum = 0.5 * k[i] - 2.0 * k[2 * n + i];
                assert_eq!((combined[i], alone[i]), (y[i] + h[i] * sum, h[i] * sum));
                let back: Vec<f64> = (0..3).map(|j| k_bar[j * n + i] - k[j * n + i]).collect();
                assert_eq!(back, weights.map(|weight| weight * h[i] * y[i]));
            }
        }
    }
}
