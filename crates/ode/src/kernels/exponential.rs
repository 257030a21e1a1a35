//! eˣ, eˣ − 1 and ln(1 + x) as polynomials, without branches, so that all lanes run together.
//!
//! For x ≤ 0, with n the integer nearest to x / ln 2 and r = x − n ln 2, |r| ≤ ln 2 / 2:
//!
//! ```text
//! e^r = 1 + r + r² q(r)          q: minimax polynomial for the relative error of e^r − 1
//! e^x = 2ⁿ e^r
//! ```
//!
//! For 0 ≤ z ≤ 1, with s = z / (2 + z) ≤ 1/3 and v = s²:
//!
//! ```text
//! ln(1 + z) = 2 artanh s = 2 s (1 + v g(v))        g: minimax polynomial, in the same sense
//! ```
//!
//! The coefficients come from the Remez exchange in 60 digits; relative errors before rounding:
//! q 2⁻⁵⁵·⁶ (`f64`, degree 9) and 2⁻²⁶·² (`f32`, degree 4), g 2⁻⁵⁴·² (degree 8) and 2⁻²⁷·⁷
//! (degree 3). Only arguments x ≤ 0 are needed: every activation can be written with them, and
//! nothing overflows.

use super::lanes::{Real, mul_add};

/// The constants of one precision.
pub(crate) trait Exponential: Real {
    /// 1 / ln 2.
    const LOG2_E: Self;
    /// ln 2, its leading bits: the product with any exponent is exact.
    const LN_2_HIGH: Self;
    /// ln 2 − `LN_2_HIGH`.
    const LN_2_LOW: Self;
    /// 1.5 · 2^(mantissa bits): adding it rounds to an integer, which is then in the lowest bits.
    const ROUNDER: Self;
    /// Below it eˣ − 1 is −1 to the last bit.
    const LOWEST_EXPM1: Self;
    /// Below it eˣ is not a normal number; taken for zero.
    const LOWEST_EXP: Self;
    /// q(r), by Estrin's scheme: its steps wait less for each other than Horner's do.
    fn q<const FMA: bool>(r: Self) -> Self;
    /// g(v), by Estrin's scheme.
    fn g<const FMA: bool>(v: Self) -> Self;
    /// 2ⁿ from n + `ROUNDER`.
    fn power_of_two(rounded: Self) -> Self;
}

impl Exponential for f64 {
    const LOG2_E: Self = std::f64::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_147_180_369_123_8;
    const LN_2_LOW: Self = 1.908_214_929_270_587_7e-10;
    const ROUNDER: Self = 6_755_399_441_055_744.0;
    const LOWEST_EXPM1: Self = -40.0;
    const LOWEST_EXP: Self = -708.0;
    #[inline(always)]
    fn q<const FMA: bool>(r: Self) -> Self {
        let r2 = r * r;
        let a = mul_add::<_, FMA>(0.166_666_666_666_665_88, r, 0.500_000_000_000_000_6);
        let b = mul_add::<_, FMA>(0.008_333_333_333_389_73, r, 0.041_666_666_666_576_466);
        let c = mul_add::<_, FMA>(0.000_198_412_697_187_180_95, r, 0.001_388_888_893_166_691_4);
        let d = mul_add::<_, FMA>(2.755_740_767_917_088_4e-6, r, 2.480_150_514_293_482_4e-5);
        let e = mul_add::<_, FMA>(2.505_377_801_259_441_3e-8, r, 2.762_609_273_868_761_5e-7);
        let a = mul_add::<_, FMA>(b, r2, a);
        let c = mul_add::<_, FMA>(d, r2, c);
        let r4 = r2 * r2;
        let a = mul_add::<_, FMA>(c, r4, a);
        let r8 = r4 * r4;
        mul_add::<_, FMA>(e, r8, a)
    }
    #[inline(always)]
    fn g<const FMA: bool>(v: Self) -> Self {
        let v2 = v * v;
        let a = mul_add::<_, FMA>(0.199_999_999_980_231_57, v, 0.333_333_333_333_388_55);
        let b = mul_add::<_, FMA>(0.111_110_964_427_580_28, v, 0.142_857_145_291_823);
        let c = mul_add::<_, FMA>(0.076_821_432_051_831_49, v, 0.090_914_073_104_733_3);
        let d = mul_add::<_, FMA>(0.049_511_855_399_965_46, v, 0.067_932_008_720_700_14);
        let e = 0.088_703_588_359_886_56;
        let a = mul_add::<_, FMA>(b, v2, a);
        let c = mul_add::<_, FMA>(d, v2, c);
        let v4 = v2 * v2;
        let a = mul_add::<_, FMA>(c, v4, a);
        let v8 = v4 * v4;
        mul_add::<_, FMA>(e, v8, a)
    }
    #[inline(always)]
    fn power_of_two(rounded: Self) -> Self {
        Self::from_bits((rounded.to_bits() << 52).wrapping_add(1.0_f64.to_bits()))
    }
}

impl Exponential for f32 {
    const LOG2_E: Self = std::f32::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_359_4;
    const LN_2_LOW: Self = -2.121_944_4e-4;
    const ROUNDER: Self = 12_582_912.0;
    const LOWEST_EXPM1: Self = -20.0;
    const LOWEST_EXP: Self = -87.0;
    #[inline(always)]
    fn q<const FMA: bool>(r: Self) -> Self {
        let r2 = r * r;
        let a = mul_add::<_, FMA>(0.166_665_43, r, 0.499_999_98);
        let b = mul_add::<_, FMA>(0.008_366_547, r, 0.041_667_2);
        let c = 0.001_388_251_6;
        let a = mul_add::<_, FMA>(b, r2, a);
        let r4 = r2 * r2;
        mul_add::<_, FMA>(c, r4, a)
    }
    #[inline(always)]
    fn g<const FMA: bool>(v: Self) -> Self {
        let v2 = v * v;
        let a = mul_add::<_, FMA>(0.200_107_67, v, 0.333_332_1);
        let b = mul_add::<_, FMA>(0.140_063_32, v, 0.140_008_39);
        mul_add::<_, FMA>(b, v2, a)
    }
    #[inline(always)]
    fn power_of_two(rounded: Self) -> Self {
        Self::from_bits((rounded.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
    }
}

/// eˣ − 1 for x ≤ 0. NaN stays NaN; ±0 gives 0.
#[inline(always)]
pub(crate) fn exp_m1<T: Exponential, const FMA: bool>(x: T) -> T {
    Reduced::near::<FMA>(at_least(T::LOWEST_EXPM1, x)).plus::<FMA>(T::from_f64(-1.0))
}

/// eˣ − 1 and eˣ + 1 for x ≤ 0: the second does not wait for the first.
#[inline(always)]
pub(crate) fn exp_m1_and_p1<T: Exponential, const FMA: bool>(x: T) -> (T, T) {
    let reduced = Reduced::near::<FMA>(at_least(T::LOWEST_EXPM1, x));
    (reduced.plus::<FMA>(T::from_f64(-1.0)), reduced.plus::<FMA>(T::from_f64(1.0)))
}

/// eˣ for x ≤ 0; results below the normal numbers are 0. NaN stays NaN.
#[inline(always)]
pub(crate) fn exp<T: Exponential, const FMA: bool>(x: T) -> T {
    let value = Reduced::far::<FMA>(at_least(T::LOWEST_EXP, x)).plus::<FMA>(T::default());
    if x < T::LOWEST_EXP { T::default() } else { value }
}

/// ln(1 + z) for 0 ≤ z ≤ 1.
#[inline(always)]
pub(crate) fn ln_1p<T: Exponential, const FMA: bool>(z: T) -> T {
    let s = z / (z + T::from_f64(2.0));
    let twice = s + s;
    let v = s * s;
    mul_add::<T, FMA>(twice * v, T::g::<FMA>(v), twice)
}

/// eˣ = 2ⁿ + 2ⁿ r + 2ⁿ r² q(r), in parts.
#[derive(Clone, Copy)]
struct Reduced<T> {
    /// 2ⁿ.
    scale: T,
    r: T,
    /// 2ⁿ r².
    square: T,
    /// q(r).
    q: T,
}

impl<T: Exponential> Reduced<T> {
    /// Where eˣ is used beside ±1: the error of n ln 2 is small beside these.
    #[inline(always)]
    fn near<const FMA: bool>(x: T) -> Self {
        let (n, scale) = split::<T, FMA>(x);
        Self::new::<FMA>(scale, mul_add::<T, FMA>(n, -(T::LN_2_HIGH + T::LN_2_LOW), x))
    }

    /// Where eˣ is used alone.
    #[inline(always)]
    fn far<const FMA: bool>(x: T) -> Self {
        let (n, scale) = split::<T, FMA>(x);
        let r = mul_add::<T, FMA>(n, -T::LN_2_HIGH, x);
        Self::new::<FMA>(scale, mul_add::<T, FMA>(n, -T::LN_2_LOW, r))
    }

    #[inline(always)]
    fn new<const FMA: bool>(scale: T, r: T) -> Self {
        Self { scale, r, square: scale * (r * r), q: T::q::<FMA>(r) }
    }

    /// eˣ + c.
    #[inline(always)]
    fn plus<const FMA: bool>(self, c: T) -> T {
        let rest = mul_add::<T, FMA>(self.scale, self.r, self.scale + c);
        mul_add::<T, FMA>(self.square, self.q, rest)
    }
}

/// The integer n nearest to x / ln 2, and 2ⁿ.
#[inline(always)]
fn split<T: Exponential, const FMA: bool>(x: T) -> (T, T) {
    let rounded = mul_add::<T, FMA>(x, T::LOG2_E, T::ROUNDER);
    (rounded - T::ROUNDER, T::power_of_two(rounded))
}

/// The larger one; NaN stays NaN.
#[inline(always)]
pub(crate) fn at_least<T: Real>(lowest: T, x: T) -> T {
    if x < lowest { lowest } else { x }
}
