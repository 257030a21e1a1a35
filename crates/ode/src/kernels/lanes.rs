//! Fixed-width arrays of numbers that stand for vector registers.
//!
//! Written as loops over arrays of a constant length, which the compiler unrolls and turns into
//! vector instructions of whatever instruction set the surrounding kernel is compiled for.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(target_arch = "x86_64")]
use super::registers;

/// The arithmetic that the kernels need: `f32` or `f64`.
pub(crate) trait Real:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Rounds to this precision.
    fn from_f64(x: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// `self * b + c`, rounded once.
    fn fused(self, b: Self, c: Self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// Whether the sign bit is set.
    fn is_sign_negative(self) -> bool;
    /// |x| with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// sin x of the standard library.
    fn sin(self) -> Self;
    /// cos x of the standard library.
    fn cos(self) -> Self;
}

macro_rules! real {
    ($real:ty) => {
        impl Real for $real {
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "only one of the two types truncates")]
            #[allow(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
            fn from_f64(x: f64) -> Self {
                x as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn is_sign_negative(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            #[inline(always)]
            fn sin(self) -> Self {
                self.sin()
            }
            #[inline(always)]
            fn cos(self) -> Self {
                self.cos()
            }
        }
    };
}
real!(f32);
real!(f64);

/// `a * b + c`: one instruction where there is one, else two (never a library call).
#[inline(always)]
pub(crate) fn mul_add<T: Real, const FMA: bool>(a: T, b: T, c: T) -> T {
    if FMA { a.fused(b, c) } else { a * b + c }
}

/// `N` numbers that are worked on together: four `f64` or eight `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Lanes<T, const N: usize>(pub(crate) [T; N]);

impl<T: Real, const N: usize> Lanes<T, N> {
    /// The same number in every lane.
    #[inline(always)]
    pub(crate) fn splat(x: T) -> Self {
        Self([x; N])
    }

    /// All zero.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self::splat(T::default())
    }

    /// The first half pack of numbers in `x`, twice: one load for as many splats by
    /// [`splat_of_half`](Self::splat_of_half).
    #[inline(always)]
    pub(crate) fn both_halves<const FMA: bool>(x: &[T]) -> Self {
        let mut halves = Self::zero();
        let (first, second) = halves.0.split_at_mut(N / 2);
        first.copy_from_slice(&x[..N / 2]);
        second.copy_from_slice(&x[..N / 2]);
        halves.held::<FMA>()
    }

    /// Number `i` of the half that both halves hold, in every lane.
    #[inline(always)]
    pub(crate) fn splat_of_half(self, i: usize) -> Self {
        let mut result = self;
        for lane in 0..N {
            result.0[lane] = self.0[lane / (N / 2) * (N / 2) + i];
        }
        result
    }

    /// `f` of every lane.
    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(T) -> T) -> Self {
        let mut result = self;
        for x in &mut result.0 {
            *x = f(*x);
        }
        result
    }

    /// `f` of every pair of lanes.
    #[inline(always)]
    pub(crate) fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let mut result = self;
        for (x, y) in result.0.iter_mut().zip(other.0) {
            *x = f(*x, y);
        }
        result
    }

    /// `self + a * b`.
    #[inline(always)]
    pub(crate) fn plus_product<const FMA: bool>(self, a: Self, b: Self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if FMA {
            // SAFETY: only `run_avx2_fma` runs kernels with `FMA`.
            return unsafe { registers::plus_product(self, a, b) };
        }
        let mut result = self;
        for i in 0..N {
            result.0[i] = mul_add::<T, FMA>(a.0[i], b.0[i], self.0[i]);
        }
        result
    }

    /// The same, where there are registers in one: from it lanes are shuffled and not loaded, and it is stored
    /// as a whole.
    #[inline(always)]
    pub(crate) fn held<const FMA: bool>(self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if FMA {
            // SAFETY: only `run_avx2_fma` runs kernels with `FMA`.
            return unsafe { registers::held(self) };
        }
        self
    }

    /// Sum of the lanes, by halves.
    #[inline(always)]
    pub(crate) fn sum<const FMA: bool>(self) -> T {
        let mut parts = self.held::<FMA>().0;
        let mut len = N;
        while len > 1 {
            len /= 2;
            for i in 0..len {
                parts[i] = parts[i] + parts[i + len];
            }
        }
        parts[0]
    }

    /// Sums of the lanes of either half, by halves; zeros behind them.
    #[inline(always)]
    pub(crate) fn sums_of_halves<const FMA: bool>(self) -> Self {
        let mut lanes = self.held::<FMA>();
        let mut apart = N / 2;
        while apart > 1 {
            apart /= 2;
            let mut others = lanes;
            for i in 0..N {
                others.0[i] = lanes.0[i ^ apart];
            }
            // Held, because a compiler that knows that half of the sums are the same as the other half
            // makes them with more instructions, not with fewer.
            lanes = lanes + others.held::<FMA>();
        }
        let (lanes, mut sums) = (lanes.held::<FMA>(), Self::zero());
        (sums.0[0], sums.0[1]) = (lanes.0[0], lanes.0[N / 2]);
        sums.held::<FMA>()
    }
}

impl<T: Real, const N: usize> Add for Lanes<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |x, y| x + y)
    }
}

/// Asks the cache for the line in which `at` begins.
#[inline(always)]
pub(crate) fn prefetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that reads nothing, about a place that is there.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// How many packs of `N` lanes hold `len` numbers.
pub(crate) const fn packs(len: usize, lanes: usize) -> usize {
    len.div_ceil(lanes)
}

/// `len` in as few parts of at most `most` as possible, as equal as possible, the large ones first.
#[inline(always)]
pub(crate) fn parts(len: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = len.div_ceil(most);
    (0..count).map(move |part| len / count + usize::from(part < len % count))
}

/// The numbers of some packs, in order.
#[inline(always)]
pub(crate) fn flat<T: Real, const N: usize>(packs: &[Lanes<T, N>]) -> &[T] {
    const { assert!(size_of::<Lanes<T, N>>() == N * size_of::<T>()) };
    // SAFETY: `Lanes` is `repr(C)` around `[T; N]` and, as asserted, without padding, so the
    // packs are `len * N` initialised numbers in a row, borrowed for as long as the result.
    unsafe { std::slice::from_raw_parts(packs.as_ptr().cast(), packs.len() * N) }
}

/// The numbers of some packs, in order, to be written.
#[inline(always)]
pub(crate) fn flat_mut<T: Real, const N: usize>(packs: &mut [Lanes<T, N>]) -> &mut [T] {
    const { assert!(size_of::<Lanes<T, N>>() == N * size_of::<T>()) };
    // SAFETY: as in `flat`; the borrow is exclusive, and any `T` is a valid lane.
    unsafe { std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast(), packs.len() * N) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_shows_the_lanes_in_order() {
        let mut packs = [Lanes([1.0_f32; 8]), Lanes([2.0; 8])];
        flat_mut(&mut packs)[9] = 3.0;
        assert_eq!(packs[1].0[1].to_bits(), 3.0_f32.to_bits());
        assert_eq!(flat(&packs).len(), 16);
        assert_eq!(flat(&packs)[7..10], [1.0, 2.0, 3.0]);
    }

    #[test]
    fn the_sum_counts_every_lane_once() {
        let sum: f64 = Lanes([1.0, 10.0, 100.0, 1000.0]).sum::<false>();
        assert_eq!(sum.to_bits(), 1111.0_f64.to_bits());
        let sum: f32 = Lanes([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]).sum::<false>();
        assert_eq!(sum.to_bits(), 255.0_f32.to_bits());
    }
}
