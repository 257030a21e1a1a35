//! Packs as registers of AVX, where loops over lanes do not become the instructions that they should.

use std::arch::asm;
use std::arch::x86_64::{__m256, _mm256_fmadd_pd, _mm256_fmadd_ps};
use std::mem::transmute_copy;

use super::lanes::{Lanes, Real};

/// `sum + a * b`, rounded once, as one instruction: of a loop over lanes for each of many packs, the
/// compiler may join the wrong lanes.
///
/// # Safety
/// The processor has AVX2 and FMA.
#[inline(always)]
pub(super) unsafe fn plus_product<T: Real, const N: usize>(
    sum: Lanes<T, N>,
    a: Lanes<T, N>,
    b: Lanes<T, N>,
) -> Lanes<T, N> {
    const { assert!(N * size_of::<T>() == 32) };
    // SAFETY: 32 bytes, which are eight `f32` or four `f64`, and every bit pattern is a number. The
    // caller guarantees the instruction set.
    unsafe {
        if size_of::<T>() == 4 {
            let (a, b, c) = (transmute_copy(&a), transmute_copy(&b), transmute_copy(&sum));
            transmute_copy(&_mm256_fmadd_ps(a, b, c))
        } else {
            let (a, b, c) = (transmute_copy(&a), transmute_copy(&b), transmute_copy(&sum));
            transmute_copy(&_mm256_fmadd_pd(a, b, c))
        }
    }
}

/// The same pack, in a register of which the compiler no longer knows where it comes from: it would
/// load lanes from memory again, or join them with other packs', where one shuffle does it.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn held<T: Real, const N: usize>(pack: Lanes<T, N>) -> Lanes<T, N> {
    const { assert!(N * size_of::<T>() == 32) };
    // SAFETY: as above.
    unsafe { transmute_copy(&opaque(transmute_copy(&pack))) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn opaque(mut register: __m256) -> __m256 {
    // SAFETY: a comment, and no instruction.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) register, options(pure, nomem, nostack, preserves_flags));
    }
    register
}
