//! What a law is evaluated on, and the buffers it is evaluated in.

/// Consecutive time steps of one trajectory.
///
/// The same layout serves many independent points, one in each row, for expressions that know
/// only their own row.
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
    /// The number of time steps.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub(crate) fn check(&self, state_len: usize, input_len: usize) -> usize {
        let n = self.times.len();
        assert_eq!(self.states.len(), n * state_len, "{n} steps of {state_len} state variables");
        assert_eq!(self.inputs.len(), n * input_len, "{n} steps of {input_len} inputs");
        n
    }
}

/// Reusable buffers: what the last forward sweep recorded, and room to go back.
///
/// Buffers grow to their largest use and stay; a sweep that needs no more room than any before it
/// allocates nothing. One workspace may serve many laws, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    values: Vec<f64>,
    bars: Vec<f64>,
    /// Whose values these are: the tape's fingerprint, and the number of time steps.
    owner: Option<(u64, usize)>,
}

impl Workspace {
    /// A workspace without any room yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that the buffers hold.
    pub fn bytes(&self) -> usize {
        (self.values.capacity() + self.bars.capacity()) * size_of::<f64>()
    }

    /// Room for the values of a forward sweep.
    pub(crate) fn record(&mut self, tape: u64, nodes: usize, steps: usize) -> &mut [f64] {
        self.owner = Some((tape, steps));
        grown(&mut self.values, nodes * steps)
    }

    /// The values of the last forward sweep, and as many adjoints, all zero.
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

/// The first `length` numbers of a buffer that grows if it must.
fn grown(buffer: &mut Vec<f64>, length: usize) -> &mut [f64] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}
