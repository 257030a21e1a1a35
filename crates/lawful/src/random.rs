//! Random numbers that depend on a seed and a purpose, and on nothing else.
//!
//! Each purpose (initial weights, noise, batches) has its own stream, so that a new one does not change
//! the others.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::Fingerprint;

/// A stream of random numbers (xoshiro256++) for one purpose.
#[derive(Debug, Clone)]
pub struct Random {
    generator: Xoshiro256PlusPlus,
    /// The second half of the last pair of normal numbers.
    spare: Option<f64>,
}

impl Random {
    /// Creates the stream of `seed` for `purpose`, e.g. `Random::new(1, "weights")`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        // The purpose's fingerprint, mixed with the seed by the generator's own seeding (SplitMix64).
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(purpose.as_bytes());
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ fingerprint.value();
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(mixed), spare: None }
    }

    /// Returns a uniform number on `[0, 1)`, with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Returns a uniform index in `0..end`, without the bias of a remainder.
    ///
    /// # Panics
    /// If `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "an empty range has no random element");
        let end = end as u64;
        // Numbers below `skip` would favour the small remainders.
        let skip = end.wrapping_neg() % end;
        loop {
            let draw = self.generator.next_u64();
            if draw >= skip {
                return usize::try_from(draw % end).expect("smaller than a usize");
            }
        }
    }

    /// Returns a standard normal number, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let factor = (-2.0 * s.ln() / s).sqrt();
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_same_on_every_machine() {
        let mut random = Random::new(1, "weights");
        let drawn: Vec<u64> = (0..3).map(|_| random.generator.next_u64()).collect();
        // From an independent implementation of FNV-1a, SplitMix64 and xoshiro256++ in Python.
        let golden =
            [906_978_250_946_796_090, 6_943_911_381_697_036_403, 2_449_627_714_648_191_394];
        assert_eq!(drawn, golden);
    }

    #[test]
    fn purposes_and_seeds_give_different_streams() {
        let first = |seed, purpose| Random::new(seed, purpose).uniform().to_bits();
        assert_ne!(first(1, "weights"), first(1, "noise"));
        assert_ne!(first(1, "weights"), first(2, "weights"));
        assert_eq!(first(7, "batch"), first(7, "batch"));
    }

    #[test]
    fn normal_numbers_have_the_moments_of_a_normal_distribution() {
        let mut random = Random::new(3, "moments");
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let moment = |k| draws.iter().map(|x: &f64| x.powi(k)).sum::<f64>() / f64::from(n);
        for (k, expected, bound) in [(1, 0.0, 0.01), (2, 1.0, 0.02), (3, 0.0, 0.04), (4, 3.0, 0.1)]
        {
            assert!((moment(k) - expected).abs() < bound, "moment {k}: {}", moment(k));
        }
    }

    #[test]
    fn below_reaches_every_element_about_equally() {
        let mut random = Random::new(5, "below");
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
    }
}
