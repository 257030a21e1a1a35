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
        Activation::Relu => each(x, |x| at_least(T::default(), x) + T::default()),
        Activation::Softplus => each(x, |x| softplus::<T, FMA>(x)),
        Activation::Silu => each(x, |x| at_least(T::LOWEST_EXP, x) * sigmoid::<T, FMA>(x)),
        Activation::Sin => each(x, T::sin),
        Activation::Identity => {}
    }
}

/// `x_bar = x_bar ∘ σ′`, where `value` is σ and `input` its argument; an activation whose slope
/// follows from its value does not look at `input`. On the way, `kept = value`.
#[inline(always)]
pub(crate) fn times_slope<T: Exponential, const N: usize, const FMA: bool>(
    activation: Activation,
    value: &[Lanes<T, N>],
    input: &[Lanes<T, N>],
    kept: &mut [Lanes<T, N>],
    x_bar: &mut [Lanes<T, N>],
) {
    let (zero, one) = (T::default(), T::from_f64(1.0));
    let slope_of_value = Slopes { value, kept, x_bar };
    match activation {
        Activation::Tanh => slope_of_value.times(|a| mul_add::<T, FMA>(-a, a, one)),
        Activation::Elu => slope_of_value.times(|a| one + if a > zero { zero } else { a }),
        Activation::Relu => slope_of_value.times(|a| if a > zero { one } else { zero }),
        Activation::Softplus => slope_of_value.times(|a| -exp_m1::<T, FMA>(-a)),
        Activation::Identity => slope_of_value.times(|_| one),
        Activation::Silu => slope_of_value.times_of(input, |x| {
            let s = sigmoid::<T, FMA>(x);
            let x = -at_least(T::LOWEST_EXP, -at_least(T::LOWEST_EXP, x));
            s * mul_add::<T, FMA>(x, one - s, one)
        }),
        Activation::Sin => slope_of_value.times_of(input, T::cos),
    }
}

/// What [`times_slope`] reads and writes.
struct Slopes<'a, T, const N: usize> {
    value: &'a [Lanes<T, N>],
    kept: &'a mut [Lanes<T, N>],
    x_bar: &'a mut [Lanes<T, N>],
}

impl<T: Exponential, const N: usize> Slopes<'_, T, N> {
    /// With the slope as a function of the value.
    #[inline(always)]
    fn times(self, slope: impl Fn(T) -> T) {
        for ((x_bar, kept), a) in self.x_bar.iter_mut().zip(self.kept).zip(self.value) {
            *kept = *a;
            *x_bar = x_bar.zip(*a, |x_bar, a| x_bar * slope(a));
            one_pack_at_a_time();
        }
    }

    /// With the slope as a function of the argument.
    #[inline(always)]
    fn times_of(self, input: &[Lanes<T, N>], slope: impl Fn(T) -> T) {
        self.kept.copy_from_slice(self.value);
        for (x_bar, x) in self.x_bar.iter_mut().zip(input) {
            *x_bar = x_bar.zip(*x, |x_bar, x| x_bar * slope(x));
            one_pack_at_a_time();
        }
    }
}

#[inline(always)]
fn each<T: Exponential, const N: usize>(x: &mut [Lanes<T, N>], f: impl Fn(T) -> T) {
    for x in x {
        *x = x.map(&f);
        one_pack_at_a_time();
    }
}

/// Keeps the compiler from joining lanes of neighbouring packs, which costs it shuffles.
#[inline(always)]
fn one_pack_at_a_time() {
    std::hint::black_box(());
}

#[inline(always)]
fn tanh<T: Exponential, const FMA: bool>(x: T) -> T {
    let e = exp_m1::<T, FMA>(T::from_f64(-2.0) * x.abs());
    (e / (e + T::from_f64(2.0))).copysign(x)
}

#[inline(always)]
fn elu<T: Exponential, const FMA: bool>(x: T) -> T {
    at_least(T::default(), x) + exp_m1::<T, FMA>(if x > T::default() { T::default() } else { x })
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
