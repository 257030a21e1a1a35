//! An observer that records everything.

use std::ops::ControlFlow;

use lawful::{Event, Observer, Progress, Row, Verdict};

/// One row, owned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) iteration: usize,
    /// Loss, objective and the gradient, if the evaluation succeeded.
    pub(crate) found: Option<(f64, f64, Vec<f64>)>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) factor: f64,
    pub(crate) event: Option<Event>,
}

/// Keeps every row and the checkpoints it requests.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) rows: Vec<Seen>,
    pub(crate) checkpoints: Vec<Progress>,
    /// Requests checkpoints at multiples of this; 0 for none.
    pub(crate) every: usize,
    /// Stops the run at this iteration.
    pub(crate) stop_at: Option<usize>,
}

impl Watch {
    /// Requests a checkpoint at multiples of `every`.
    pub(crate) fn every(every: usize) -> Self {
        Self { every, ..Self::default() }
    }

    /// The events, each with its iteration.
    pub(crate) fn events(&self) -> Vec<(usize, &Event)> {
        self.rows.iter().filter_map(|row| Some((row.iteration, row.event.as_ref()?))).collect()
    }

    /// How many trials had this verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> u64 {
        self.rows.iter().filter(|row| row.verdict == Some(verdict)).count() as u64
    }
}

impl Observer for Watch {
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let found = row.evaluation.map(|e| (e.loss, e.value.value, e.gradient.clone()));
        let (iteration, verdict, factor) = (row.iteration, row.verdict, row.factor);
        self.rows.push(Seen { iteration, found, verdict, factor, event: row.event.cloned() });
        if self.stop_at == Some(iteration) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn wants_checkpoint(&mut self, iteration: usize) -> bool {
        self.every > 0 && iteration.is_multiple_of(self.every)
    }

    fn checkpoint(&mut self, progress: &Progress) {
        self.checkpoints.push(progress.clone());
    }
}
