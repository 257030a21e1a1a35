//! Exact fractions, and the rooted trees of the order conditions.

use std::ops::{Add, Mul};

/// What order conditions can be computed with: [`Fraction`] or `f64`.
pub(crate) trait Number: Copy + PartialEq + Add<Output = Self> + Mul<Output = Self> {
    fn ratio(n: i128, d: i128) -> Self;
}

impl Number for f64 {
    fn ratio(n: i128, d: i128) -> Self {
        n as f64 / d as f64
    }
}

/// `n / d` in lowest terms, `d > 0`. Overflow panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    n: i128,
    d: i128,
}

impl Number for Fraction {
    fn ratio(n: i128, d: i128) -> Self {
        let divisor = greatest_common_divisor(n.abs(), d.abs()) * d.signum();
        Self { n: n / divisor, d: d / divisor }
    }
}

impl Fraction {
    /// Largest denominator that [`nearest`](Self::nearest) tries.
    const LARGEST: i128 = 1_000_000;

    /// The fraction with a denominator up to a million whose double this is.
    ///
    /// There is at most one: two such fractions differ by 1e-12 at least, and doubles of size
    /// below 64 are at most 8e-15 apart.
    pub(crate) fn nearest(x: f64) -> Self {
        assert!(x.abs() < 64.0);
        // Continued fraction expansion: convergents p/q until p/q rounds to x.
        let (mut p, mut q) = ((1, 0), (0, 1));
        let mut rest = x.abs();
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "the quotients are below 1e6")]
            let whole = rest.floor() as i128;
            p = (whole * p.0 + p.1, p.0);
            q = (whole * q.0 + q.1, q.0);
            assert!(q.0 <= Self::LARGEST, "{x} is not a fraction with a small denominator");
            if (p.0 as f64 / q.0 as f64).to_bits() == x.abs().to_bits() {
                return Self::ratio(if x < 0.0 { -p.0 } else { p.0 }, q.0);
            }
            rest = 1.0 / (rest - rest.floor());
        }
    }
}

impl Add for Fraction {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let common = greatest_common_divisor(self.d, other.d);
        let (left, right) = (other.d / common, self.d / common);
        let n = self.n.checked_mul(left).zip(other.n.checked_mul(right));
        let n = n.and_then(|(x, y)| x.checked_add(y)).expect("no overflow");
        Self::ratio(n, self.d.checked_mul(left).expect("no overflow"))
    }
}

impl Mul for Fraction {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (x, y) = (Self::ratio(self.n, other.d), Self::ratio(other.n, self.d));
        let (n, d) = (x.n.checked_mul(y.n), x.d.checked_mul(y.d));
        Self { n: n.expect("no overflow"), d: d.expect("no overflow") }
    }
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// A rooted tree: the trees above its root, in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tree(Vec<Tree>);

impl Tree {
    /// Number of nodes.
    pub(crate) fn order(&self) -> usize {
        1 + self.0.iter().map(Self::order).sum::<usize>()
    }

    /// γ, the product of the orders of all subtrees.
    pub(crate) fn density(&self) -> i128 {
        self.order() as i128 * self.0.iter().map(Self::density).product::<i128>()
    }

    /// Elementary weights `Φ_i = Π_children Σ_j a_ij Φ_j(child)` of all stages.
    pub(crate) fn weights<N: Number>(&self, a: &[Vec<N>]) -> Vec<N> {
        let mut weights = vec![N::ratio(1, 1); a.len()];
        for child in &self.0 {
            let above = child.weights(a);
            for (weight, row) in weights.iter_mut().zip(a) {
                *weight = *weight * dot(row, &above);
            }
        }
        weights
    }

    /// All trees of an order: a root, and a collection of smaller trees on it.
    pub(crate) fn of_order(order: usize) -> Vec<Self> {
        let mut trees = Vec::new();
        grow(order - 1, &mut Vec::new(), &mut trees);
        trees.sort();
        trees.dedup();
        trees
    }
}

fn grow(nodes: usize, children: &mut Vec<Tree>, found: &mut Vec<Tree>) {
    if nodes == 0 {
        let mut children = children.clone();
        children.sort();
        found.push(Tree(children));
    }
    for size in 1..=nodes {
        for child in Tree::of_order(size) {
            children.push(child);
            grow(nodes - size, children, found);
            children.pop();
        }
    }
}

/// `Σ x_i y_i` over the shorter length.
pub(crate) fn dot<N: Number>(x: &[N], y: &[N]) -> N {
    x.iter().zip(y).fold(N::ratio(0, 1), |sum, (&x, &y)| sum + x * y)
}
