//! Activations and their slopes on whole packs, in place.
//!
//! Every exponential has an argument ≤ 0:
//!
//! ```text
//! tanh x     = ± (1 − e) / (1 + e)     e = exp(−2|x|), the sign of x
//! elu x      = x  or  exp(x) − 1
//! softplus x = max(x, 0) + ln(1 + e)   e = exp(−|x|)
//! sigmoid x  = 1 / (1 + e)  or  e / (1 + e)
//! ```

use super::dispatch::{Kernel, apart};
use super::exponential::{Exponential, at_least, exp, exp_m1, exp_m1_and_p1, ln_1p};
use super::lanes::{Lanes, mul_add, prefetch};
use crate::Activation;

/// Lines of the cache, of two packs each, that are fetched ahead with each pack that is activated:
/// about as many as arrive in the time.
const AHEAD: usize = 8;

/// `x = σ(x)` for every number. Meanwhile what is `ahead`, the weights that come next, is fetched
/// from the second level of the cache, which has nothing to do while numbers are activated.
#[inline(always)]
pub(crate) fn activate<T: Exponential, const N: usize, const FMA: bool>(
    activation: Activation,
    x: &mut [Lanes<T, N>],
    ahead: &[Lanes<T, N>],
) {
    match activation {
        Activation::Tanh => each::<T, N, FMA>(x, ahead, |x| tanh::<T, FMA>(x)),
        Activation::Elu => each::<T, N, FMA>(x, ahead, |x| elu::<T, FMA>(x)),
        Activation::Relu => {
            each::<T, N, FMA>(x, ahead, |x| at_least(T::default(), x) + T::default());
        }
        Activation::Softplus => each::<T, N, FMA>(x, ahead, |x| softplus::<T, FMA>(x)),
        Activation::Silu => {
            each::<T, N, FMA>(x, ahead, |x| at_least(T::LOWEST_EXP, x) * sigmoid::<T, FMA>(x));
        }
        Activation::Sin => each::<T, N, FMA>(x, ahead, T::sin),
        Activation::Identity => {}
    }
}

/// `x_bar = x_bar ∘ σ′`, where `value` is σ and `input` its argument; an activation whose slope
/// follows from its value does not read `input`. On the way, `kept = value`.
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
            let (s, rest) = (sigmoid::<T, FMA>(x), sigmoid::<T, FMA>(-x));
            let x = -at_least(T::LOWEST_EXP, -at_least(T::LOWEST_EXP, x));
            s * mul_add::<T, FMA>(x, rest, one)
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
            one_at_a_time();
        }
    }

    /// With the slope as a function of the argument.
    #[inline(always)]
    fn times_of(self, input: &[Lanes<T, N>], slope: impl Fn(T) -> T) {
        self.kept.copy_from_slice(self.value);
        for (x_bar, x) in self.x_bar.iter_mut().zip(input) {
            *x_bar = x_bar.zip(*x, |x_bar, x| x_bar * slope(x));
            one_at_a_time();
        }
    }
}

/// `to = from`, for a few packs: no call of the library's copy.
#[inline(always)]
pub(crate) fn copy<T: Exponential, const N: usize>(from: &[Lanes<T, N>], to: &mut [Lanes<T, N>]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
        one_at_a_time();
    }
}

#[inline(always)]
fn each<T: Exponential, const N: usize, const FMA: bool>(
    x: &mut [Lanes<T, N>],
    ahead: &[Lanes<T, N>],
    f: impl Fn(T) -> T,
) {
    apart::<_, FMA>(Each { x, ahead, f });
}

/// `x = f(x)` for every number.
struct Each<'a, T, const N: usize, F> {
    x: &'a mut [Lanes<T, N>],
    ahead: &'a [Lanes<T, N>],
    f: F,
}

impl<T: Exponential, const N: usize, F: Fn(T) -> T> Kernel for Each<'_, T, N, F> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (ahead, _) = self.ahead.as_chunks::<{ 2 * AHEAD }>();
        let (with, without) = self.x.split_at_mut(ahead.len().min(self.x.len()));
        for (x, ahead) in with.iter_mut().zip(ahead) {
            for line in 0..AHEAD {
                prefetch(&ahead[2 * line]);
            }
            // Held, because a choice between x and another number would be stored by a mask, slowly.
            *x = x.map(&self.f).held::<FMA>();
            one_at_a_time();
        }
        for x in without {
            *x = x.map(&self.f).held::<FMA>();
            one_at_a_time();
        }
    }
}

/// Keeps the compiler from joining lanes of neighbouring packs, which costs it shuffles, or the few
/// numbers of a state, which costs it more checks than they are worth.
#[inline(always)]
pub(crate) fn one_at_a_time() {
    std::hint::black_box(());
}

#[inline(always)]
fn tanh<T: Exponential, const FMA: bool>(x: T) -> T {
    let (below, above) = exp_m1_and_p1::<T, FMA>(T::from_f64(-2.0) * x.abs());
    (below / above).copysign(x)
}

#[inline(always)]
fn elu<T: Exponential, const FMA: bool>(x: T) -> T {
    // Computed for every x, so that there is no branch; for x > 0 it may be anything.
    let below = exp_m1::<T, FMA>(x);
    if x.is_sign_negative() { below } else { x }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernels;

    /// `σ` of one number, and `σ′` as the network computes it, with kernels of one's choice.
    struct One<'a, T, const N: usize> {
        activation: Activation,
        x: T,
        result: &'a mut [T; 2],
    }

    impl<T: Exponential, const N: usize> Kernel for One<'_, T, N> {
        #[inline(always)]
        fn run<const FMA: bool>(self) {
            let input = [Lanes::<T, N>::splat(self.x)];
            let (mut value, mut kept) = (input, input);
            activate::<T, N, FMA>(self.activation, &mut value, &[]);
            let mut slope = [Lanes::splat(T::from_f64(1.0))];
            times_slope::<T, N, FMA>(self.activation, &value, &input, &mut kept, &mut slope);
            assert_eq!(
                kept[0].0.map(T::to_f64).map(f64::to_bits),
                value[0].0.map(T::to_f64).map(f64::to_bits)
            );
            *self.result = [value[0].0[3], slope[0].0[3]];
        }
    }

    fn both<T: Exponential, const N: usize>(
        kernels: Kernels,
        activation: Activation,
        x: T,
    ) -> [f64; 2] {
        let mut result = [T::default(); 2];
        kernels.run(One::<T, N> { activation, x, result: &mut result });
        result.map(T::to_f64)
    }

    /// Numbers of every size and sign, dense where the functions bend.
    fn arguments() -> impl Iterator<Item = f64> {
        let sizes = (-300..300).map(|i| 1.07_f64.powi(i));
        let dense = (1..4000).map(|i| f64::from(i) * 0.005_123);
        sizes.chain(dense).flat_map(|x| [x, -x])
    }

    /// Largest error in units of the last place of the exact value, as `f64` knows it.
    fn worst<T: Exponential, const N: usize>(
        kernels: Kernels,
        activation: Activation,
        ulp: f64,
    ) -> [f64; 2] {
        let mut worst = [0.0_f64; 2];
        for x in arguments() {
            let x = T::from_f64(x);
            let result = both::<T, N>(kernels, activation, x);
            let exact = [activation.value(x.to_f64()), activation.slope(x.to_f64())];
            for i in 0..2 {
                // Slopes are at most about one; what is tiny beside one does not matter in a sum.
                let floor = [1e-30, 1.0][i];
                let unit = ulp * exact[i].abs().max(floor).log2().floor().exp2();
                worst[i] = worst[i].max((result[i] - exact[i]).abs() / unit);
            }
        }
        worst
    }

    /// Single precision is measured against double, double against the standard library, which
    /// is itself wrong by up to one unit.
    #[test]
    fn every_activation_is_right_to_a_few_units_of_the_last_place() {
        for kernels in Kernels::available() {
            for activation in Activation::ALL {
                let single = worst::<f32, 8>(kernels, activation, f64::from(f32::EPSILON));
                let double = worst::<f64, 4>(kernels, activation, f64::EPSILON);
                let name = kernels.name();
                assert!(
                    single.iter().all(|error| *error <= 3.0),
                    "{activation}, {name}, single: {single:?}"
                );
                assert!(
                    double.iter().all(|error| *error <= 4.0),
                    "{activation}, {name}, double: {double:?}"
                );
            }
        }
    }

    #[test]
    fn special_numbers_give_the_limits() {
        use Activation::{Elu, Identity, Relu, Silu, Softplus, Tanh};
        let huge = f64::MAX;
        for (activation, below, zero, above) in [
            (Tanh, -1.0, 0.0, 1.0),
            (Elu, -1.0, 0.0, huge),
            (Relu, 0.0, 0.0, huge),
            (Softplus, 0.0, std::f64::consts::LN_2, huge),
            (Silu, 0.0, 0.0, huge),
            (Identity, -huge, 0.0, huge),
        ] {
            for kernels in Kernels::available() {
                let value = |x: f64| both::<f64, 4>(kernels, activation, x)[0];
                let name = activation.name();
                for tiny in [0.0, -0.0, f64::MIN_POSITIVE, -f64::from_bits(1)] {
                    assert!((value(tiny) - zero).abs() <= 2.5e-16 * zero + 3e-308, "{name} {tiny}");
                }
                for (x, limit) in [(-huge, below), (huge, above)] {
                    assert!((value(x) - limit).abs() <= 0.0, "{name} of {x:e}: {}", value(x));
                }
                let infinite = |limit: f64| if limit.abs() < huge { limit } else { limit * 2.0 };
                for x in [f64::INFINITY, f64::NEG_INFINITY] {
                    let limit = infinite(if x > 0.0 { above } else { below });
                    assert_eq!(value(x).to_bits() << 1, limit.to_bits() << 1, "{name} of {x}");
                }
                assert!(value(f64::NAN).is_nan(), "{name}");
                assert!(both::<f32, 8>(kernels, activation, f32::NAN)[0].is_nan(), "{name}");
            }
        }
    }

    #[test]
    fn tanh_is_odd_to_the_last_bit() {
        for x in arguments() {
            let [[plus, _], [minus, _]] =
                [x, -x].map(|x| both::<f64, 4>(Kernels::chosen(), Activation::Tanh, x));
            assert_eq!((-plus).to_bits(), minus.to_bits());
        }
    }
}
