//! Hybrid fields: known rates, and a network for the unknown rates.

use lawful_law::{Expression, Steps, Vocabulary, Words, Workspace};
use lawful_ode::{StepGuard, VectorField};

use super::varying::Varying;
use super::{FieldError, LearnedConstant};

/// Known rates, some of whose constants may be learned.
///
/// An expression may use `t`, the state, the inputs, constants and definitions. It reads learned
/// constants as variables behind the state, so that its pull-back returns their adjoints with the
/// state's.
#[derive(Debug, Clone)]
pub struct KnownRates {
    /// State variable and expression of each rate.
    rates: Vec<(usize, Expression)>,
    constants: Vec<LearnedConstant>,
    /// The constants that have one value for each column.
    varying: Vec<usize>,
    states: usize,
    inputs: usize,
}

impl KnownRates {
    /// Reads rates: the index of a state variable and the expression of its rate. The vocabulary's value
    /// of a learned constant is not used.
    ///
    /// # Errors
    /// If a rate cannot be read, an index is not that of a state variable, a learned constant is not in
    /// the vocabulary, or it does not start inside its bounds.
    pub fn new(
        rates: &[(usize, &str)],
        constants: Vec<LearnedConstant>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, FieldError> {
        let (states, inputs) = (vocabulary.state().len(), vocabulary.inputs().len());
        if let Some(constant) = constants.iter().find(|constant| !constant.starts_inside()) {
            let reason = "does not start inside its bounds";
            return Err(FieldError::Constant { name: constant.name.clone(), reason });
        }
        let variables = with_learned_as_variables(vocabulary, &constants)?;
        let mut read = Vec::with_capacity(rates.len());
        for (rate, &(number, text)) in rates.iter().enumerate() {
            let Some(variable) = vocabulary.state().get(number) else {
                return Err(FieldError::NotAState(number.to_string()));
            };
            let expression = Expression::parse(text, &variables).map_err(|error| {
                let (variable, error) = (variable.clone(), Box::new(error));
                FieldError::Rate { variable, rate, error }
            })?;
            read.push((number, expression));
        }
        Ok(Self { rates: read, constants, varying: Vec::new(), states, inputs })
    }

    /// Gives these learned constants one value for each trajectory: the deviations of their raw numbers from
    /// the shared ones are [effects](VectorField::effect_len) of the field.
    ///
    /// # Errors
    /// If one is not a learned constant.
    pub fn varying(mut self, names: &[&str]) -> Result<Self, FieldError> {
        for name in names {
            let found = self.constants.iter().position(|constant| constant.name == *name);
            let reason = "is not learned, so it cannot have one value for each trajectory";
            let missing = || FieldError::Constant { name: (*name).to_owned(), reason };
            self.varying.push(found.ok_or_else(missing)?);
        }
        Ok(self)
    }

    /// Returns the learned constants, in the order of θ.
    pub fn constants(&self) -> &[LearnedConstant] {
        &self.constants
    }

    /// Returns whether any rate depends on the learned constant with this index; otherwise it cannot be
    /// learned.
    pub fn depends_on(&self, constant: usize) -> bool {
        self.rates.iter().any(|(_, rate)| rate.depends_on(self.states + constant))
    }

    /// Returns the number of variables in a row of an expression: the state and the learned constants.
    fn width(&self) -> usize {
        self.states + self.constants.len()
    }
}

/// Returns the vocabulary in which learned constants are variables behind the state: laws that are read
/// with it can use learned constants ([`Problem::constants`](crate::Problem::constants)).
///
/// # Errors
/// If a learned constant is not in the vocabulary.
pub fn with_learned_as_variables(
    vocabulary: &Vocabulary,
    constants: &[LearnedConstant],
) -> Result<Vocabulary, FieldError> {
    let is_learned = |name: &str| constants.iter().any(|constant| constant.name == name);
    for LearnedConstant { name, .. } in constants {
        if !vocabulary.constants().iter().any(|(known, _)| known == name) {
            let reason = "is not a constant of the vocabulary";
            return Err(FieldError::Constant { name: name.clone(), reason });
        }
    }
    let fixed = vocabulary.constants().iter().filter(|(name, _)| !is_learned(name));
    let words = Words {
        state: vocabulary.state().to_vec(),
        inputs: vocabulary.inputs().to_vec(),
        constants: fixed.cloned().collect(),
        definitions: vocabulary.definitions().to_vec(),
    };
    let words = words.state(constants.iter().map(|constant| &constant.name));
    words.check().map_err(FieldError::Names)
}

/// `dy/dt = known(t, y, u; constants) + network(t, y, u; θ)`, each for the variables that it has.
///
/// A rate may be known, learned, or both: the known rate with a learned correction. A rate that is
/// neither is 0. θ is the network's, then a raw number for each learned constant ([`LearnedConstant`]). The
/// effects are the network's, then the deviations of constants that [vary](KnownRates::varying).
///
/// ```
/// use lawful::law::Words;
/// use lawful::{HybridField, KnownRates, LearnedConstant, VectorField};
///
/// // An oscillator x″ = −k x with unknown stiffness.
/// let vocabulary = Words::new().state(["x", "v"]).constant("k", 2.0).check()?;
/// let k = LearnedConstant { name: "k".to_owned(), start: 2.0, min: Some(0.0), max: None };
/// let known = KnownRates::new(&[(0, "v"), (1, "-k*x")], vec![k], &vocabulary)?;
/// let mut field = HybridField::new(known);
/// field.set_parameters(&[2.0_f64.ln()]);
/// field.reserve(1, 1);
/// let mut dy = [0.0; 2];
/// field.eval(0, &[0.0], &[1.0, 0.5], &[], &mut dy);
/// assert_eq!(dy, [0.5, -4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HybridField {
    known: KnownRates,
    network: Option<Part>,
    /// Value, derivative by its raw number, and accumulated adjoint of each learned constant.
    values: Vec<f64>,
    slopes: Vec<f64>,
    constants_bar: Vec<f64>,
    /// The raw numbers, from which constants of columns deviate.
    raw: Vec<f64>,
    varying: Varying,
    /// Scratch: the network's effects, or their adjoints.
    effects: Vec<f64>,
    /// Tape of the pull-back: the columns of each slot, their times, states and inputs.
    columns: Vec<usize>,
    /// Capacity of each slot, in columns.
    width: usize,
    t: Vec<f64>,
    y: Vec<f64>,
    u: Vec<f64>,
    room: Room,
}

/// A field that computes the rates of some variables.
struct Part {
    field: Box<dyn VectorField>,
    /// The variable of each output.
    variables: Vec<usize>,
}

impl Part {
    /// Writes the network's part of the covector `w` of all `states` to `room`, and returns it.
    #[inline]
    fn outputs_bar<'a>(&self, room: &'a mut [f64], w: &[f64], states: usize) -> &'a [f64] {
        let outputs = &mut room[..w.len() / states * self.variables.len()];
        for (outputs, w) in
            outputs.chunks_exact_mut(self.variables.len()).zip(w.chunks_exact(states))
        {
            self.variables.iter().zip(outputs).for_each(|(&variable, bar)| *bar = w[variable]);
        }
        outputs
    }
}

/// Scratch for the columns of one slot.
#[derive(Default)]
struct Room {
    /// States with the learned constants behind them, and their adjoints.
    rows: Vec<f64>,
    rows_bar: Vec<f64>,
    /// One rate of all columns, or its adjoint.
    rate: Vec<f64>,
    /// The network's outputs, or their adjoints.
    outputs: Vec<f64>,
    network_jacobian: Vec<f64>,
    workspace: Workspace,
}

impl HybridField {
    /// Creates a field of known rates alone, with the learned constants at their initial values.
    pub fn new(known: KnownRates) -> Self {
        let count = known.constants.len();
        let mut field = Self {
            varying: Varying::new(known.varying.clone()),
            known,
            network: None,
            values: vec![0.0; count],
            slopes: vec![0.0; count],
            constants_bar: vec![0.0; count],
            raw: vec![0.0; count],
            effects: Vec::new(),
            columns: Vec::new(),
            width: 0,
            t: Vec::new(),
            y: Vec::new(),
            u: Vec::new(),
            room: Room::default(),
        };
        field.set_constants(&vec![0.0; count]);
        field
    }

    /// Adds a network whose outputs are the rates of these state variables, or corrections of known
    /// rates.
    ///
    /// # Errors
    /// If the network has another state or other inputs, or if there is not one variable for each
    /// of its outputs.
    ///
    /// If the network has a guard, that is the guard of the whole field: known rates must not break its laws.
    pub fn with_network(
        mut self,
        field: Box<dyn VectorField>,
        variables: &[usize],
    ) -> Result<Self, FieldError> {
        let KnownRates { states, inputs, .. } = self.known;
        for (what, found, expected) in [
            ("state variables of the network", field.state_len(), states),
            ("inputs of the network", field.input_len(), inputs),
            ("variables for the network's outputs", variables.len(), field.output_len()),
        ] {
            if found != expected {
                return Err(FieldError::Length { what, found, expected });
            }
        }
        if let Some(variable) = variables.iter().find(|&&variable| variable >= states) {
            return Err(FieldError::NotAState(variable.to_string()));
        }
        self.network = Some(Part { field, variables: variables.to_vec() });
        Ok(self)
    }

    /// Returns the number of the network's parameters.
    fn network_len(&self) -> usize {
        self.network.as_ref().map_or(0, |part| part.field.parameter_len())
    }

    /// Returns the number of the network's effects.
    fn network_effects(&self) -> usize {
        self.network.as_ref().map_or(0, |part| part.field.effect_len())
    }

    /// Pulls `w` back through the known rates to the state and the constants of each column, in
    /// `room.rows_bar`.
    #[inline]
    fn pull_back_known(&mut self, slot: usize, w: &[f64]) {
        let (columns, cell) = (self.columns[slot], slot * self.width);
        let (d, m, width) = (self.known.states, self.known.inputs, self.known.width());
        let y = &self.y[cell * d..][..columns * d];
        self.room.fill_rows(y, d, &self.values, &self.varying);
        let Room { rows, rows_bar, rate, workspace, .. } = &mut self.room;
        let (rows, rows_bar) = (&rows[..columns * width], &mut rows_bar[..columns * width]);
        let times = &self.t[cell..][..columns];
        let steps = Steps { times, states: rows, inputs: &self.u[cell * m..][..columns * m] };
        rows_bar.fill(0.0);
        for (variable, expression) in &self.known.rates {
            let rate = &mut rate[..columns];
            expression.values(&steps, workspace, rate);
            let column = w.iter().skip(*variable).step_by(d);
            rate.iter_mut().zip(column).for_each(|(bar, w)| *bar = *w);
            expression.pull_back(&steps, workspace, rate, rows_bar);
        }
    }

    /// Adds the states' part of `room.rows_bar` to `y_bar`.
    #[inline]
    fn add_to_state(&self, y_bar: &mut [f64]) {
        let rows_bar = self.room.rows_bar.chunks_exact(self.known.width());
        for (row_bar, y_bar) in rows_bar.zip(y_bar.chunks_exact_mut(self.known.states)) {
            y_bar.iter_mut().zip(row_bar).for_each(|(sum, bar)| *sum += bar);
        }
    }

    /// Adds the constants' part of `room.rows_bar` to the accumulated adjoints.
    #[inline]
    fn add_to_constants(&mut self, columns: usize) {
        let rows_bar = self.room.rows_bar.chunks_exact_mut(self.known.width());
        for (column, row_bar) in rows_bar.take(columns).enumerate() {
            let constants = &mut row_bar[self.known.states..];
            self.varying.gather(column, constants);
            self.constants_bar.iter_mut().zip(constants).for_each(|(sum, bar)| *sum += *bar);
        }
    }

    fn set_constants(&mut self, raw: &[f64]) {
        for (n, (constant, &raw)) in self.known.constants.iter().zip(raw).enumerate() {
            self.values[n] = constant.value(raw);
            self.slopes[n] = constant.slope(raw);
        }
        self.constants_bar.fill(0.0);
        self.raw.copy_from_slice(raw);
        self.varying.place(&self.known.constants, &self.raw);
    }
}

impl Room {
    /// Writes the rows of the expressions.
    fn fill_rows(&mut self, y: &[f64], states: usize, constants: &[f64], varying: &Varying) {
        let rows = self.rows.chunks_exact_mut(states + constants.len());
        for (column, (row, y)) in rows.zip(y.chunks_exact(states)).enumerate() {
            row[..states].copy_from_slice(y);
            row[states..].copy_from_slice(constants);
            varying.write(column, &mut row[states..]);
        }
    }
}

impl VectorField for HybridField {
    fn state_len(&self) -> usize {
        self.known.states
    }

    fn input_len(&self) -> usize {
        self.known.inputs
    }

    fn parameter_len(&self) -> usize {
        self.network_len() + self.known.constants.len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        let (network, raw) = theta.split_at(self.network_len());
        if let Some(part) = &mut self.network {
            part.field.set_parameters(network);
        }
        self.set_constants(raw);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        let (d, m, width) = (self.known.states, self.known.inputs, self.known.width());
        let mut outputs = 0;
        if let Some(part) = &mut self.network {
            part.field.reserve(slots, columns);
            outputs = part.variables.len();
        }
        self.varying.reserve(columns, &self.known.constants, &self.raw);
        if columns > self.width || slots > self.columns.len() {
            self.width = self.width.max(columns);
            let slots = slots.max(self.columns.len());
            let cells = slots * self.width;
            self.columns.resize(slots, 0);
            self.t.resize(cells, 0.0);
            self.y.resize(cells * d, 0.0);
            self.u.resize(cells * m, 0.0);
            self.room.rows.resize(self.width * width, 0.0);
            self.room.rows_bar.resize(self.width * width, 0.0);
            self.room.rate.resize(self.width, 0.0);
            self.room.outputs.resize(self.width * outputs, 0.0);
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        let network = self.network.as_ref().map_or(0, |part| part.field.slot_bytes(columns));
        let own = columns * (1 + self.known.states + self.known.inputs) * size_of::<f64>();
        network + size_of::<usize>() + own
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let (columns, d, m) = (t.len(), self.known.states, self.known.inputs);
        let cell = slot * self.width;
        self.columns[slot] = columns;
        self.t[cell..][..columns].copy_from_slice(t);
        self.y[cell * d..][..columns * d].copy_from_slice(y);
        self.u[cell * m..][..columns * m].copy_from_slice(u);

        dy.fill(0.0);
        if let Some(Part { field, variables }) = &mut self.network {
            let outputs = &mut self.room.outputs[..columns * variables.len()];
            field.eval(slot, t, y, u, outputs);
            for (dy, outputs) in dy.chunks_exact_mut(d).zip(outputs.chunks_exact(variables.len())) {
                variables.iter().zip(outputs).for_each(|(&variable, rate)| dy[variable] = *rate);
            }
        }
        self.room.fill_rows(y, d, &self.values, &self.varying);
        let Room { rows, rate, workspace, .. } = &mut self.room;
        let rows = &rows[..columns * self.known.width()];
        let steps = Steps { times: t, states: rows, inputs: u };
        for (variable, expression) in &self.known.rates {
            let rate = &mut rate[..columns];
            expression.values(&steps, workspace, rate);
            let column = dy.iter_mut().skip(*variable).step_by(d);
            column.zip(rate).for_each(|(dy, rate)| *dy += *rate);
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        if let Some(part) = &mut self.network {
            let outputs = part.outputs_bar(&mut self.room.outputs, w, self.known.states);
            part.field.pull_back(slot, outputs, y_bar);
        }
        self.pull_back_known(slot, w);
        self.add_to_state(y_bar);
        self.add_to_constants(self.columns[slot]);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        if let Some(part) = &mut self.network {
            let outputs = part.outputs_bar(&mut self.room.outputs, w, self.known.states);
            part.field.pull_back_state(slot, outputs, y_bar);
        }
        self.pull_back_known(slot, w);
        self.add_to_state(y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        if let Some(part) = &mut self.network {
            let outputs = part.outputs_bar(&mut self.room.outputs, w, self.known.states);
            part.field.pull_back_parameters(slot, outputs);
        }
        if !self.values.is_empty() {
            self.pull_back_known(slot, w);
            self.add_to_constants(self.columns[slot]);
        }
    }

    /// The network's rows, and one pull-back of each known rate.
    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        let (columns, cell) = (self.columns[slot], slot * self.width);
        let (d, m, width) = (self.known.states, self.known.inputs, self.known.width());
        assert_eq!(jacobian.len(), columns * d * d, "one matrix of state × state per column");
        jacobian.fill(0.0);
        let network = &mut self.room.network_jacobian;
        if let Some(Part { field, variables }) = &mut self.network {
            let matrix = variables.len() * d;
            network.resize(network.len().max(columns * matrix), 0.0);
            let network = &mut network[..columns * matrix];
            field.jacobian(slot, network);
            for (to, from) in jacobian.chunks_exact_mut(d * d).zip(network.chunks_exact(matrix)) {
                for (&variable, row) in variables.iter().zip(from.chunks_exact(d)) {
                    to[variable * d..][..d].copy_from_slice(row);
                }
            }
        }
        let y = &self.y[cell * d..][..columns * d];
        self.room.fill_rows(y, d, &self.values, &self.varying);
        let Room { rows, rows_bar, rate, workspace, .. } = &mut self.room;
        let (rows, rows_bar) = (&rows[..columns * width], &mut rows_bar[..columns * width]);
        let times = &self.t[cell..][..columns];
        let steps = Steps { times, states: rows, inputs: &self.u[cell * m..][..columns * m] };
        for (variable, expression) in &self.known.rates {
            let rate = &mut rate[..columns];
            expression.values(&steps, workspace, rate);
            rate.fill(1.0);
            rows_bar.fill(0.0);
            expression.pull_back(&steps, workspace, rate, rows_bar);
            for (to, bar) in jacobian.chunks_exact_mut(d * d).zip(rows_bar.chunks_exact(width)) {
                let row = &mut to[variable * d..][..d];
                row.iter_mut().zip(bar).for_each(|(sum, bar)| *sum += bar);
            }
        }
    }

    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        self.network.as_mut()?.field.guard()
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        let (network, raw) = theta_bar.split_at_mut(self.network_len());
        if let Some(part) = &mut self.network {
            part.field.flush(network);
        }
        for ((sum, bar), slope) in raw.iter_mut().zip(&mut self.constants_bar).zip(&self.slopes) {
            *sum += std::mem::take(bar) * slope;
        }
        self.varying.add_to(raw);
    }

    fn effect_len(&self) -> usize {
        self.network_effects() + self.varying.len()
    }

    fn set_effects(&mut self, effects: &[f64]) {
        let (inner, own) = (self.network_effects(), self.varying.len());
        if inner > 0
            && let Some(part) = &mut self.network
        {
            self.effects.clear();
            effects
                .chunks_exact(inner + own)
                .for_each(|column| self.effects.extend_from_slice(&column[..inner]));
            part.field.set_effects(&self.effects);
        }
        if own > 0 {
            self.effects.clear();
            effects
                .chunks_exact(inner + own)
                .for_each(|column| self.effects.extend_from_slice(&column[inner..]));
            self.varying.set(&self.effects, &self.known.constants, &self.raw);
        }
    }

    fn flush_effects(&mut self, effects_bar: &mut [f64]) {
        let (inner, own) = (self.network_effects(), self.varying.len());
        if inner > 0
            && let Some(part) = &mut self.network
        {
            self.effects.clear();
            self.effects.resize(effects_bar.len() / (inner + own) * inner, 0.0);
            part.field.flush_effects(&mut self.effects);
            let columns = effects_bar.chunks_exact_mut(inner + own);
            for (column, bars) in columns.zip(self.effects.chunks_exact(inner)) {
                column[..inner].iter_mut().zip(bars).for_each(|(sum, bar)| *sum += bar);
            }
        }
        if own > 0 {
            let columns = effects_bar.chunks_exact_mut(inner + own);
            columns
                .enumerate()
                .for_each(|(n, column)| self.varying.take_bars(n, &mut column[inner..]));
        }
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let mut fork = Self::new(self.known.clone());
        fork.set_constants(&self.raw);
        fork.varying.set(self.varying.deviations(), &self.known.constants, &self.raw);
        match &self.network {
            Some(Part { field, variables }) => {
                let network = Part { field: field.fork(), variables: variables.clone() };
                Box::new(Self { network: Some(network), ..fork })
            }
            None => Box::new(fork),
        }
    }
}
