//! Activations and their slopes on whole packs, in place.
//!
//! Every exponential has an argument ≤ 0:
//!
//! ```text
//! tanh x     = ∓ e / (2 + e)           e = exp(−2|x|) − 1, the sign of x
//! elu x      = x  or  exp(x) − 1
//! softplus x = max(x, 0) + ln(1 + e)   e = exp(−|x|)
//! sigmoid x  = 1 / (1 + e)  or  e / (1 + e)
//! ```

use super::exponential::{Exponential, at_least, exp, exp_m1, ln_1p};
use super::lanes::{Lanes, mul_add};
use crate::Activation;

/// `x = σ(x)` for every number.
#[inline(always)]
pub(crate) fn activate<T: Exponential, const N: usize, const FMA: bool>(
    activation: Activation,
    x: &mut [Lanes<T, N>],
) {
    match activation {
        Activation::Tanh => each(x, |x| tanh::<T, FMA>(x)),
        Activation::Elu => each(x, |x| elu::<T, FMA>(x)),
        Activation::Relu => each(x, |x| if x < T::default() { T::default() } else { x }),
        Activation::Softplus => each(x, |x| softplus::<T, FMA>(x)),
        Activation::Silu => each(x, |x| at_least(T::LOWEST_EXP, x) * sigmoid::<T, FMA>(x)),
        Activation::Sin => each(x, T::sin),
        Activation::Identity => {}
    }
}

/// `x_bar = x_bar ∘ σ′`, where `value` is σ and `input` its argument; an activation whose slope
/// follows from its value does not look at `input`.
#[inline(always)]
pub(crate) fn times_slope<T: Exponential, const N: usize, const FMA: bool>(
    activation: Activation,
    value: &[Lanes<T, N>],
    input: &[Lanes<T, N>],
    x_bar: &mut [Lanes<T, N>],
) {
    let one = T::from_f64(1.0);
    match activation {
        Activation::Tanh => both(x_bar, value, |w, a| w * mul_add::<T, FMA>(-a, a, one)),
        Activation::Elu => {
            both(x_bar, value, |w, a| w * (one + if a > T::default() { T::default() } else { a }));
        }
        Activation::Relu => {
            both(x_bar, value, |w, a| if a > T::default() { w } else { T::default() });
        }
        Activation::Softplus => both(x_bar, value, |w, a| w * -exp_m1::<T, FMA>(-a)),
        Activation::Silu => both(x_bar, input, |w, x| {
            let s = sigmoid::<T, FMA>(x);
            let x = -at_least(T::LOWEST_EXP, -at_least(T::LOWEST_EXP, x));
            w * s * mul_add::<T, FMA>(x, one - s, one)
        }),
        Activation::Sin => both(x_bar, input, |w, x| w * x.cos()),
        Activation::Identity => {}
    }
}

#[inline(always)]
fn each<T: Exponential, const N: usize>(x: &mut [Lanes<T, N>], f: impl Fn(T) -> T) {
    for x in x {
        *x = x.map(&f);
    }
}

#[inline(always)]
fn both<T: Exponential, const N: usize>(
    x: &mut [Lanes<T, N>],
    y: &[Lanes<T, N>],
    f: impl Fn(T, T) -> T,
) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = x.zip(*y, &f);
    }
}

#[inline(always)]
fn tanh<T: Exponential, const FMA: bool>(x: T) -> T {
    let e = exp_m1::<T, FMA>(T::from_f64(-2.0) * x.abs());
    (e / (e + T::from_f64(2.0))).copysign(x)
}

#[inline(always)]
fn elu<T: Exponential, const FMA: bool>(x: T) -> T {
    let zero = T::default();
    let e = exp_m1::<T, FMA>(if x > zero { zero } else { x });
    if x >= zero { x } else { e }
}

#[inline(always)]
fn softplus<T: Exponential, const FMA: bool>(x: T) -> T {
    let zero = T::default();
    let tail = ln_1p::<T, FMA>(exp::<T, FMA>(-x.abs()));
    (if x < zero { zero } else { x }) + tail
}

#[inline(always)]
fn sigmoid<T: Exponential, const FMA: bool>(x: T) -> T {
    let one = T::from_f64(1.0);
    let e = exp::<T, FMA>(-x.abs());
    (if x < T::default() { e } else { one }) / (one + e)
}
