//! Steps and evidences allocate nothing after the first.

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use lawful::least_squares::{
    Damping, Evidence, Group, LevenbergMarquardt, Noise, NoisePrior, Point, Residuals,
};

/// `r_i = Π_k (1 + x_k/(1 + i k)) − 1 − sin i`.
struct Products {
    rows: usize,
    x: [f64; 6],
}

impl Residuals for Products {
    fn residual_len(&self) -> usize {
        self.rows
    }

    fn parameter_len(&self) -> usize {
        6
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        self.x.copy_from_slice(x);
        for (i, r) in residuals.iter_mut().enumerate() {
            let factors = x.iter().enumerate().map(|(k, x)| 1.0 + x / (1.0 + (i * k) as f64));
            *r = factors.product::<f64>() - 1.0 - (i as f64).sin();
        }
        true
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        for (i, row) in jacobian.chunks_exact_mut(6).enumerate() {
            let below = |k: usize| 1.0 + (i * k) as f64;
            let all: f64 = self.x.iter().enumerate().map(|(k, x)| 1.0 + x / below(k)).product();
            for (k, slope) in row.iter_mut().enumerate() {
                *slope = all / (1.0 + self.x[k] / below(k)) / below(k);
            }
        }
    }
}

#[test]
fn nothing_is_allocated_after_the_first_iteration() {
    // More residuals than parameters, and fewer: the dual form.
    for rows in [20, 4] {
        let mut products = Products { rows, x: [0.0; 6] };
        let mut point = Point::new(&mut products, vec![0.1; 6]).expect("residuals");
        let groups = vec![Group {
            name: "x".to_owned(),
            members: (0..6).collect(),
            precision: 0.5,
            chosen: true,
        }];
        let noise = Noise {
            of: vec![0; rows],
            kinds: 1,
            precision: 10.0,
            prior: NoisePrior::default(),
            increments: Vec::new(),
        };
        let mut evidence = Evidence::new(groups, vec![1.0; 6], noise, 0.0);
        let mut precisions = evidence.start();
        let (mut weights, mut priors) = (vec![0.0; rows], vec![0.0; 6]);
        let mut method = LevenbergMarquardt::new(Damping::default());
        let mut counts = [0; 4];
        for count in &mut counts {
            evidence.weights(&precisions, 0.0, &mut weights, &mut priors);
            method.step(&mut products, &mut point, &weights, &priors);
            evidence.measure(&point, &precisions, 0.0).expect("a proper prior");
            precisions.copy_from(evidence.wanted());
            *count = allocations();
        }
        assert_eq!(counts[1], counts[3], "{rows} residuals");
    }
}
