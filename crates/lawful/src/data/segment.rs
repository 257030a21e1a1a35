//! Segments: parts of trajectories, each solved from its own start; and batches of them.

use crate::{Dataset, Random};

/// Rows `first..first + rows` of a trajectory, solved from the state measured at `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Index of the trajectory in the dataset.
    pub trajectory: usize,
    /// The row it starts from.
    pub first: usize,
    /// Number of rows, the first included.
    pub rows: usize,
}

impl Segment {
    /// Returns every trajectory as one segment.
    pub fn whole(dataset: &Dataset) -> Vec<Self> {
        let trajectories = dataset.trajectories().iter().enumerate();
        trajectories.map(|(trajectory, t)| Self { trajectory, first: 0, rows: t.len() }).collect()
    }

    /// Cuts every trajectory into segments of about `steps` steps, which share the rows at their ends.
    /// With `complete`, a segment starts only at a row in which every state variable is measured, so that
    /// segments may be longer.
    ///
    /// # Panics
    /// If `steps` is 0.
    pub fn cut(dataset: &Dataset, steps: usize, complete: bool) -> Vec<Self> {
        assert!(steps > 0, "segments of 0 steps");
        let d = dataset.state().len();
        let mut segments = Vec::new();
        for (trajectory, t) in dataset.trajectories().iter().enumerate() {
            let last = t.len() - 1;
            // Segments of nearly equal length.
            let count = last.div_ceil(steps);
            let mut first = 0;
            for n in 1..=count {
                let row = n * last / count;
                let startable = t.states[row * d..][..d].iter().all(|value| value.is_finite());
                if n == count || startable || !complete {
                    segments.push(Self { trajectory, first, rows: row - first + 1 });
                    first = row;
                }
            }
        }
        segments
    }
}

/// The part of the data that one iteration uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Batch {
    /// All data: the paper's choice, and the default.
    #[default]
    Full,
    /// Some trajectories, drawn without repetition.
    Trajectories {
        /// How many; at most as many as there are.
        count: usize,
    },
    /// Random time windows, each solved from the data at its start.
    Windows {
        /// How many windows.
        count: usize,
        /// Rows of each, at least 2.
        rows: usize,
    },
}

/// Draws the segments of each iteration.
#[derive(Debug, Clone)]
pub struct Sampler {
    batch: Batch,
    seed: u64,
    whole: Vec<Segment>,
    /// Rows at which a window may start: every state variable is measured there.
    starts: Vec<Segment>,
}

impl Sampler {
    /// Creates a sampler that returns every full trajectory in every iteration.
    pub fn full(dataset: &Dataset) -> Self {
        Self::of(Segment::whole(dataset))
    }

    /// Creates a sampler that returns all of these segments in every iteration.
    pub fn of(segments: Vec<Segment>) -> Self {
        Self { batch: Batch::Full, seed: 0, whole: segments, starts: Vec::new() }
    }

    /// Creates a sampler over these data. Returns `None` if there is nothing to draw: a count of 0,
    /// windows of fewer than 2 rows, or no window of that length with a complete first row.
    pub fn new(batch: Batch, dataset: &Dataset, seed: u64) -> Option<Self> {
        let fine = match batch {
            Batch::Full => true,
            Batch::Trajectories { count } => count > 0,
            Batch::Windows { count, rows } => count > 0 && rows > 1,
        };
        if !fine {
            return None;
        }
        let whole = Segment::whole(dataset);
        let mut starts = Vec::new();
        if let Batch::Windows { rows, .. } = batch {
            let d = dataset.state().len();
            for (trajectory, t) in dataset.trajectories().iter().enumerate() {
                let rows = rows.min(t.len());
                for first in 0..=t.len() - rows {
                    if t.states[first * d..][..d].iter().all(|value| value.is_finite()) {
                        starts.push(Segment { trajectory, first, rows });
                    }
                }
            }
            if starts.is_empty() {
                return None;
            }
        }
        Some(Self { batch, seed, whole, starts })
    }

    /// Returns whether every iteration uses all data.
    pub fn is_full(&self) -> bool {
        self.batch == Batch::Full
    }

    /// Returns the segments of all data.
    pub fn whole(&self) -> &[Segment] {
        &self.whole
    }

    /// Draws the segments of an iteration. They depend only on the seed and the iteration, so that a
    /// resumed run draws the same.
    pub fn draw(&self, iteration: usize, segments: &mut Vec<Segment>) {
        segments.clear();
        let mut random = Random::new(self.seed.wrapping_add((iteration as u64) << 20), "batch");
        match self.batch {
            Batch::Full => segments.extend_from_slice(&self.whole),
            Batch::Trajectories { count } => {
                // A partial Fisher–Yates shuffle.
                segments.extend_from_slice(&self.whole);
                let count = count.min(segments.len());
                for n in 0..count {
                    let other = n + random.below(segments.len() - n);
                    segments.swap(n, other);
                }
                segments.truncate(count);
            }
            Batch::Windows { count, .. } => {
                segments.extend((0..count).map(|_| self.starts[random.below(self.starts.len())]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trajectory;

    fn data() -> Dataset {
        let nan = f64::NAN;
        let trajectories = vec![
            Trajectory::new("a", vec![0.0, 1.0, 2.0, 3.0], vec![1.0, nan, 3.0, 4.0]),
            Trajectory::new("b", vec![0.0, 1.0, 2.0], vec![1.0, 2.0, 3.0]),
            Trajectory::new("c", vec![0.0, 1.0], vec![1.0, 2.0]),
        ];
        Dataset::new(vec!["x".into()], Vec::new(), trajectories).unwrap()
    }

    fn drawn(batch: Batch, iteration: usize) -> Vec<Segment> {
        let mut segments = Vec::new();
        Sampler::new(batch, &data(), 1).unwrap().draw(iteration, &mut segments);
        segments
    }

    #[test]
    fn trajectories_are_drawn_without_repetition_and_all_turn_up() {
        let mut seen = [false; 3];
        for iteration in 0..50 {
            let segments = drawn(Batch::Trajectories { count: 2 }, iteration);
            assert_eq!(segments.len(), 2);
            assert_ne!(segments[0].trajectory, segments[1].trajectory);
            for segment in &segments {
                seen[segment.trajectory] = true;
            }
        }
        assert_eq!(seen, [true; 3]);
        assert_eq!(drawn(Batch::Trajectories { count: 9 }, 0).len(), 3);
    }

    #[test]
    fn windows_start_at_complete_rows_and_stay_inside_their_trajectory() {
        let data = data();
        for iteration in 0..100 {
            for segment in drawn(Batch::Windows { count: 4, rows: 3 }, iteration) {
                let trajectory = &data.trajectories()[segment.trajectory];
                assert!(segment.first + segment.rows <= trajectory.len());
                assert!(trajectory.states[segment.first].is_finite());
            }
        }
    }

    #[test]
    fn a_batch_of_nothing_is_refused() {
        for batch in [
            Batch::Trajectories { count: 0 },
            Batch::Windows { count: 0, rows: 3 },
            Batch::Windows { count: 1, rows: 1 },
            Batch::Windows { count: 1, rows: 0 },
        ] {
            assert!(Sampler::new(batch, &data(), 1).is_none(), "{batch:?}");
        }
        let only_first = Trajectory::new("a", vec![0.0, 1.0, 2.0], vec![1.0, f64::NAN, 2.0]);
        let data = Dataset::new(vec!["x".into()], Vec::new(), vec![only_first]).unwrap();
        let sampler = Sampler::new(Batch::Windows { count: 5, rows: 2 }, &data, 1).unwrap();
        assert_eq!(sampler.starts, [Segment { trajectory: 0, first: 0, rows: 2 }]);
    }

    #[test]
    fn an_iteration_draws_the_same_again_and_another_draws_otherwise() {
        let batch = Batch::Windows { count: 8, rows: 2 };
        assert_eq!(drawn(batch, 5), drawn(batch, 5));
        assert_ne!(drawn(batch, 5), drawn(batch, 6));
    }
}
