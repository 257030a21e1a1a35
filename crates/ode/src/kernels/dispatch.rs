//! Which instruction set the kernels use: detected once, and the same for the whole process.

use std::sync::OnceLock;

/// The instruction set that a network's kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels(Set);

/// Private, so that only detection can make anything but `Portable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
}

/// One call's worth of work, compiled once for each instruction set.
///
/// Implementations and everything they call must be `#[inline(always)]`: code that is not inlined
/// is still right, but compiled for any processor and slow.
pub(crate) trait Kernel {
    /// Does the work; `FMA`: whether `a * b + c` is one instruction.
    fn run<const FMA: bool>(self);
}

impl Kernels {
    /// For any processor.
    pub const PORTABLE: Self = Self(Set::Portable);

    /// The sets that this processor can run, the slowest first.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return vec![Self::PORTABLE, Self(Set::Avx2Fma)];
        }
        vec![Self::PORTABLE]
    }

    /// The fastest of the [`available`](Self::available) ones, or the portable ones if the
    /// environment variable `LAWFUL_KERNELS` is `portable`. Decided once.
    pub fn chosen() -> Self {
        static CHOSEN: OnceLock<Kernels> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            if std::env::var_os("LAWFUL_KERNELS").is_some_and(|word| word == "portable") {
                return Self::PORTABLE;
            }
            Self::available().pop().unwrap_or(Self::PORTABLE)
        })
    }

    /// `avx2+fma` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2Fma => "avx2+fma",
        }
    }

    /// Runs the kernel as compiled for this instruction set.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            Set::Portable => run_portable(kernel),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Set::Avx2Fma` is made in `available` only, after both features were found.
            Set::Avx2Fma => unsafe { run_avx2_fma(kernel) },
        }
    }
}

/// Names the kernels in use: `avx2+fma` or `portable`. Two sets may round differently, so a run
/// records which it used.
pub fn kernels() -> &'static str {
    Kernels::chosen().name()
}

/// Runs `work`, compiled for the fastest instruction set of this processor: for loops over long rows
/// of numbers outside this crate. The result is the same on every set, to the last bit, because the
/// compiler never joins a product and a sum by itself.
///
/// ```
/// let mut x = [1.0, 4.0, 9.0];
/// lawful_ode::vectorised(|| x.iter_mut().for_each(|x| *x = f64::sqrt(*x)));
/// assert_eq!(x, [1.0, 2.0, 3.0]);
/// ```
#[inline]
pub fn vectorised(work: impl FnOnce()) {
    Kernels::chosen().run(Work(work));
}

struct Work<F>(F);

impl<F: FnOnce()> Kernel for Work<F> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        (self.0)();
    }
}

/// Does a part of a kernel's work as a function of its own, which has all registers to itself.
#[inline(always)]
pub(crate) fn apart<K: Kernel, const FMA: bool>(kernel: K) {
    #[cfg(target_arch = "x86_64")]
    if FMA {
        // SAFETY: only `run_avx2_fma` runs kernels with `FMA`.
        return unsafe { run_avx2_fma(kernel) };
    }
    run_portable(kernel);
}

#[inline(never)]
fn run_portable<K: Kernel>(kernel: K) {
    kernel.run::<false>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn run_avx2_fma<K: Kernel>(kernel: K) {
    kernel.run::<true>();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_kernels_are_always_available() {
        assert!(Kernels::available().contains(&Kernels::PORTABLE));
        assert!(Kernels::available().contains(&Kernels::chosen()));
        assert_eq!(kernels(), Kernels::chosen().name());
    }
}
