//! The time steps that a law is evaluated on, and the buffers of an evaluation.

/// Consecutive time steps of one trajectory.
///
/// For an expression, which depends on its own row only, the rows may also be independent points.
#[derive(Debug, Clone, Copy)]
pub struct Steps<'a> {
    /// The times, `n` of them.
    pub times: &'a [f64],
    /// The states, row after row: `states[row * state variables + variable]`.
    pub states: &'a [f64],
    /// The exogenous inputs, row after row; empty without inputs.
    pub inputs: &'a [f64],
}

impl Steps<'_> {
    /// Returns the number of time steps.
    ///
    /// # Panics
    /// If a length is wrong.
    pub(crate) fn check(&self, state_len: usize, input_len: usize) -> usize {
        let n = self.times.len();
        assert_eq!(self.states.len(), n * state_len, "{n} steps of {state_len} state variables");
        assert_eq!(self.inputs.len(), n * input_len, "{n} steps of {input_len} inputs");
        n
    }
}

/// Reusable buffers: the values of the last forward sweep, and the adjoints of the reverse sweep.
///
/// Buffers grow as needed and never shrink: a sweep that is no larger than an earlier one allocates
/// nothing. Several laws may use one workspace in turn.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    values: Vec<f64>,
    bars: Vec<f64>,
    /// The tape that computed the values, by its fingerprint, and the number of time steps.
    owner: Option<(u64, usize)>,
}

impl Workspace {
    /// Returns a workspace with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the size of the buffers in bytes.
    pub fn bytes(&self) -> usize {
        (self.values.capacity() + self.bars.capacity()) * size_of::<f64>()
    }

    /// Returns the buffer for the values of a forward sweep.
    pub(crate) fn record(&mut self, tape: u64, nodes: usize, steps: usize) -> &mut [f64] {
        self.owner = Some((tape, steps));
        grown(&mut self.values, nodes * steps)
    }

    /// Returns the first `length` values of the last forward sweep.
    pub(crate) fn values(&self, length: usize) -> &[f64] {
        &self.values[..length]
    }

    /// Returns the values of the last forward sweep, and as many adjoints, all 0.
    pub(crate) fn recorded(
        &mut self,
        tape: u64,
        nodes: usize,
        steps: usize,
    ) -> (&[f64], &mut [f64]) {
        debug_assert_eq!(
            self.owner,
            Some((tape, steps)),
            "the forward sweep of the same law on the same steps must come just before"
        );
        let bars = grown(&mut self.bars, nodes * steps);
        bars.fill(0.0);
        (&self.values[..nodes * steps], bars)
    }
}

/// Returns the first `length` numbers of a buffer, which grows if it is too small.
fn grown(buffer: &mut Vec<f64>, length: usize) -> &mut [f64] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}
