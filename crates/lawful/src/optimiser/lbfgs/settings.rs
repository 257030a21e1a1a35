//! The settings of L-BFGS.

use super::Lbfgs;
use crate::optimiser::{ListedOptimiser, Optimiser};
use crate::settings::{Access, Key, Settings, word};

/// The settings of [`Lbfgs`].
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `memory` | 400 | 1 to 10 000 | pairs of steps and gradient changes that are kept; 16 bytes each per parameter |
/// | `scaling` | `every` | [`LbfgsScaling`] | where the size of a step comes from |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LbfgsSettings {
    /// Number of pairs that are kept.
    pub memory: usize,
    /// Where the size of a step comes from.
    pub scaling: LbfgsScaling,
}

impl Default for LbfgsSettings {
    fn default() -> Self {
        Self { memory: 400, scaling: LbfgsScaling::Every }
    }
}

/// Iterations of multiple shooting in a remedy.
const ON_SEGMENTS: usize = 999;
/// Largest memory.
const MOST_PAIRS: usize = 10_000;

impl Settings for LbfgsSettings {
    const NAME: &'static str = "lbfgs";
    const HELP: &'static str =
        "L-BFGS with a strong Wolfe line search; every trial is an iteration";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "memory",
            help: "pairs of steps and gradient changes that are kept",
            access: Access::Count(MOST_PAIRS, |lbfgs| &mut lbfgs.memory),
        },
        Key {
            name: "scaling",
            help: "every pair corrects the scale, or the newest sets it",
            access: word!(scaling: LbfgsScaling),
        },
    ];
}

impl ListedOptimiser for LbfgsSettings {
    fn build(&self, parameters: usize) -> Box<dyn Optimiser> {
        Box::new(Lbfgs::new(*self, parameters))
    }

    fn title(&self) -> &'static str {
        "L-BFGS"
    }

    /// Both gradients of a pair must be of one function.
    fn takes_batches(&self) -> bool {
        false
    }

    /// The line search never accepts a worse point.
    fn returns_to_best_point(&self) -> bool {
        false
    }

    fn searches_lines(&self) -> bool {
        true
    }

    fn iterations_on_segments(&self, _: usize) -> usize {
        ON_SEGMENTS
    }

    fn details(&self) -> String {
        let by = match self.scaling {
            LbfgsScaling::Every => "",
            LbfgsScaling::Newest => ", scaled by the newest",
        };
        format!(", memory of {} pairs{by}", self.memory)
    }
}

/// How the approximate inverse Hessian is scaled.
///
/// As a fit improves, the curvature falls by orders of magnitude. BFGS corrects eigenvalues that are too
/// small only slowly; the factors `1/τ ≥ 1` of `every` increase all of them at once. On a noise-free
/// oscillator, with 400 pairs and 4990 evaluations, the final mean squared error is 16 times smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LbfgsScaling {
    /// `H₀ = (sᵀy/yᵀy) I` of the newest pair; updates are those of BFGS (Nocedal 1980).
    Newest,
    /// `H₀ = (sᵀy/yᵀy) I` of the oldest pair, and each update divides the previous matrix by
    /// `τ = min(1, sᵀy/sᵀH⁻¹s)` (Al-Baali, Journal of Optimization Theory and Applications 96, 1998).
    Every,
}

impl LbfgsScaling {
    /// The words of `scaling` in an experiment file with their meanings; the first is the default.
    pub const NAMES: [(&'static str, Self); 2] = [("every", Self::Every), ("newest", Self::Newest)];

    /// Returns its word in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Newest => "newest",
        }
    }
}
