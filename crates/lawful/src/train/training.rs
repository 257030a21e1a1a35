//! The builder of a training: data and settings; recipes choose the rest.

use lawful_law::{Enforcement, Law};
use lawful_ode::{Activation, Adaptive, Control, Solver, tableaus};

use super::guarantee::{Guarantee, Kept, Question};
use super::law_points::MOST_ROWS;
use super::phase_checks::check_phase;
use super::recipes::{Choice, EVIDENCE, Facts, Given, MOST_ROWS_WITH_LAWS, MOST_SLOPES, scarce};
use super::start::table;
use super::subjects::own_numbers;
use super::{
    FieldSettings, Laws, Observer, Phase, Prepared, RECIPES, Recipe, Start, Trained, TrainingError,
};
use crate::data::{Batch, Interpolation, scaling, scaling_by, units};
use crate::number::exact;
use crate::strategy::{AugmentedLagrangian, SelfAdaptive, StrategyKind, StrategySettings};
use crate::{Dataset, FieldError, Loss, ObjectiveError, Trajectory, Units};

/// A training: data, laws and settings. Settings that are left out have defaults or are chosen by the
/// recipe.
///
/// ```no_run
/// # use lawful::{Dataset, Laws, Training};
/// # let (times, states): (Vec<f64>, Vec<f64>) = Default::default();
/// let data = Dataset::single(&["x", "v"], times, states)?;
/// let laws = Laws::parse(&data, ["next(x^2 + v^2) <= x^2 + v^2"])?;
/// let trained = Training::new(data).laws(laws).seed(1).run()?;
/// println!("{}", trained.summary());
/// trained.model.save("oscillator.safetensors")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | setting | default |
/// |---|---|
/// | [`laws`](Self::laws) | none |
/// | [`field`](Self::field) | two hidden layers of 50 tanh units; one of 8 for scarce or noisy data |
/// | [`recipe`](Self::recipe) or [`phases`](Self::phases) | the recipe `auto` |
/// | [`strategy`](Self::strategy) | [chosen for each law](Self::auto_strategy) with the recipes `auto`, `lbfgs` and `adam`; otherwise self-adaptive |
/// | [`solver`](Self::solver), [`predict`](Self::predict) | the 3/8 rule on the data's grid, adaptive where every rate is known; adaptive Dormand–Prince |
/// | [`horizon`](Self::horizon) | none: laws count at the rows |
/// | [`loss`](Self::loss), [`interpolation`](Self::interpolation) | squared errors; linear inputs |
/// | [`scale`](Self::scale), [`initial_state`](Self::initial_state), [`start`](Self::start), [`weight_decay`](Self::weight_decay), [`validation`](Self::validation), [`remedies`](Self::remedies) | chosen by the recipe |
/// | [`process_noise`](Self::process_noise) | none |
/// | [`seed`](Self::seed) | 1 |
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "settings that are independent")]
pub struct Training {
    data: Dataset,
    laws: Option<Laws>,
    field: Option<FieldSettings>,
    /// Whether the recipe chooses the widths of hidden layers.
    open_width: bool,
    /// Whether the evidence chooses the number of effects.
    open_effects: bool,
    phases: Phases,
    strategy: Option<StrategySettings>,
    auto: bool,
    solver: Solver,
    /// Whether the recipe may choose another solver.
    open_solver: bool,
    predict: Solver,
    horizon: Option<f64>,
    test_times: Vec<(String, Vec<f64>)>,
    loss: Loss,
    interpolation: Interpolation,
    scale: Option<bool>,
    initial_state: Option<bool>,
    process_noise: bool,
    start: Option<Start>,
    decay: Option<f64>,
    validation: Option<f64>,
    remedies: Option<bool>,
    seed: u64,
}

/// Where the phases come from.
#[derive(Debug, Clone)]
enum Phases {
    Recipe(&'static Recipe),
    Listed(Vec<Phase>),
}

impl Phases {
    /// Returns the widths of the hidden layers, if the user gives none.
    fn hidden(&self) -> &'static [usize] {
        match self {
            Self::Recipe(recipe) => recipe.hidden,
            Self::Listed(_) => RECIPES[0].hidden,
        }
    }

    /// Returns the field of the training: the given one, of which the widths may be open.
    fn field(&self, given: Option<FieldSettings>, open: bool, data: &Dataset) -> FieldSettings {
        let usual = || FieldSettings::layers(self.hidden(), data.state());
        let mut field = given.unwrap_or_else(usual);
        if open && !field.learn.is_empty() && field.hidden != self.hidden() {
            let activation = field.activations.first().copied().unwrap_or(Activation::Tanh);
            field.hidden = self.hidden().to_vec();
            field.activations = vec![activation; field.hidden.len()];
        }
        field
    }
}

impl Training {
    /// Creates a training on these data, with defaults for everything else.
    pub fn new(data: Dataset) -> Self {
        let tolerances = Adaptive::with_tolerances(1e-9, 1e-11);
        let predict = Solver::new(&tableaus::DOPRI5, Control::Adaptive(tolerances));
        Self {
            data,
            laws: None,
            field: None,
            open_width: false,
            open_effects: false,
            phases: Phases::Recipe(&RECIPES[0]),
            strategy: None,
            auto: false,
            solver: Solver::default(),
            open_solver: true,
            predict: predict.expect("dopri5 has an error estimate"),
            horizon: None,
            test_times: Vec::new(),
            loss: Loss::default(),
            interpolation: Interpolation::default(),
            scale: None,
            initial_state: None,
            process_noise: false,
            start: None,
            decay: None,
            validation: None,
            remedies: None,
            seed: 1,
        }
    }

    /// Sets the laws.
    #[must_use]
    pub fn laws(self, laws: Laws) -> Self {
        Self { laws: Some(laws), ..self }
    }

    /// Sets the right-hand side.
    #[must_use]
    pub fn field(self, field: FieldSettings) -> Self {
        Self { field: Some(field), ..self }
    }

    /// Sets whether the recipe chooses the widths of the hidden layers instead of the field's settings. Without
    /// [`field`](Self::field) it does.
    #[must_use]
    pub fn open_width(self, open_width: bool) -> Self {
        Self { open_width, ..self }
    }

    /// Sets whether the recipe `auto` chooses the number of effects of trajectories by evidence, instead of the
    /// field's settings. Without [`field`](Self::field) it does.
    #[must_use]
    pub fn open_effects(self, open_effects: bool) -> Self {
        Self { open_effects, ..self }
    }

    /// Selects the recipe that chooses the phases.
    #[must_use]
    pub fn recipe(self, recipe: &'static Recipe) -> Self {
        Self { phases: Phases::Recipe(recipe), ..self }
    }

    /// Sets the phases.
    #[must_use]
    pub fn phases(self, phases: Vec<Phase>) -> Self {
        Self { phases: Phases::Listed(phases), ..self }
    }

    /// Sets the strategy. Laws are guaranteed only where [`Laws::enforced`] asks for it.
    #[must_use]
    pub fn strategy(self, strategy: StrategySettings) -> Self {
        Self { strategy: Some(strategy), auto: false, ..self }
    }

    /// Chooses for every law how it is enforced, unless [`Laws::enforced`] says so: by the form of the
    /// vector field where that can guarantee it and the data do not contradict it, otherwise by the
    /// augmented Lagrangian, or the self-adaptive penalty where batches of windows leave no multipliers.
    #[must_use]
    pub fn auto_strategy(self) -> Self {
        Self { strategy: None, auto: true, ..self }
    }

    /// Sets the solver of the training.
    #[must_use]
    pub fn solver(self, solver: Solver) -> Self {
        Self { solver, open_solver: false, ..self }
    }

    /// Sets whether the recipe may choose another solver of the training. Without [`solver`](Self::solver) it
    /// may.
    #[must_use]
    pub fn open_solver(self, open_solver: bool) -> Self {
        Self { open_solver, ..self }
    }

    /// Sets the solver of predictions and scores.
    #[must_use]
    pub fn predict(self, predict: Solver) -> Self {
        Self { predict, ..self }
    }

    /// Sets the time up to which laws count: each path is solved on to it, beyond the last row.
    #[must_use]
    pub fn horizon(self, horizon: f64) -> Self {
        Self { horizon: Some(horizon), ..self }
    }

    /// Lets laws count at the times of these data, too, on the paths of the trajectories with the same
    /// names, beyond their rows: up to 20 times the duration of a trajectory, and only if the strategy has
    /// points [between](StrategySettings::between) rows or there is a horizon. No value of the data is used.
    #[must_use]
    pub fn test_times(mut self, data: &Dataset) -> Self {
        let times = data.trajectories().iter().map(|t| (t.name.clone(), t.times.to_vec()));
        self.test_times.extend(times);
        self
    }

    /// Sets the loss.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }

    /// Sets the interpolation of inputs between rows.
    #[must_use]
    pub fn interpolation(self, interpolation: Interpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Sets whether the network and the objective work in units of order one, estimated from the data.
    #[must_use]
    pub fn scale(self, scale: bool) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// Sets whether the initial states of trajectories are trained.
    #[must_use]
    pub fn initial_state(self, trained: bool) -> Self {
        Self { initial_state: Some(trained), ..self }
    }

    /// Sets whether paths have process noise: normal increments of variance `Q Δt` between segments, whose
    /// size the evidence estimates. It is for systems that their states do not determine, and for least squares
    /// alone.
    #[must_use]
    pub fn process_noise(self, estimated: bool) -> Self {
        Self { process_noise: estimated, ..self }
    }

    /// Sets where the training starts.
    #[must_use]
    pub fn start(self, start: Start) -> Self {
        Self { start: Some(start), ..self }
    }

    /// Sets the weight decay: `decay/2` times the sum of the network's squared parameters is added to the
    /// objective.
    #[must_use]
    pub fn weight_decay(self, decay: f64) -> Self {
        Self { decay: Some(decay), ..self }
    }

    /// Sets the share of the data that is held out for early stopping.
    #[must_use]
    pub fn validation(self, share: f64) -> Self {
        Self { validation: Some(share), ..self }
    }

    /// Sets whether remedies add phases after a flat or poor fit, a fit that depends on the solver's
    /// steps, or a phase that diverges.
    #[must_use]
    pub fn remedies(self, remedies: bool) -> Self {
        Self { remedies: Some(remedies), ..self }
    }

    /// Sets the seed of initial weights and batches, at most 2⁵³.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Trains.
    ///
    /// # Errors
    /// If the settings do not fit the data or each other. A training that diverges is not an error: see
    /// [`Trained::stop`].
    pub fn run(self) -> Result<Trained, TrainingError> {
        self.run_with(&mut ())
    }

    /// Trains, and calls an observer after every iteration, which may stop the training.
    ///
    /// # Errors
    /// If the settings do not fit the data or each other.
    pub fn run_with(self, observer: &mut dyn Observer) -> Result<Trained, TrainingError> {
        let prepared = self.prepare()?;
        let run = prepared.run(observer);
        Ok(prepared.trained(&run))
    }

    /// Chooses all settings that were left out, and checks that the training can run.
    ///
    /// # Errors
    /// If the settings do not fit the data or each other.
    pub fn prepare(self) -> Result<Prepared, TrainingError> {
        if let Some(why) = self.prefers_evidence() {
            let recipe = RECIPES.iter().find(|recipe| recipe.name == EVIDENCE);
            let evidence = self.clone().recipe(recipe.expect("it is one of the recipes"));
            // Where it is not possible, for example with too many parameters, the data are trained as others.
            let open_width = self.open_width || self.field.is_none();
            let evidence = Self { open_width, ..evidence };
            // Initial states are trained, but must not be moved by more than the accuracy of the data.
            let measured = Self { initial_state: Some(false), ..evidence.clone() };
            if let Err(off @ TrainingError::Start(_)) = measured.complete() {
                return Err(off);
            }
            let open_effects = self.open_effects || self.field.is_none();
            match evidence.clone().complete() {
                Ok(mut prepared) => {
                    if open_effects {
                        prepared = evidence.choose_effects(prepared);
                    }
                    prepared.recipe = Some(RECIPES[0].name);
                    prepared.remarks.insert(0, why);
                    return Ok(prepared);
                }
                // No other recipe has them.
                Err(error) if self.own_numbers().is_some() || self.process_noise => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        self.complete()
    }

    /// Returns why `auto` trains by the recipe `evidence`, if it does: the data are scarce or noisy, and no
    /// setting has been made that this recipe does not have.
    fn prefers_evidence(&self) -> Option<String> {
        let auto = matches!(&self.phases, Phases::Recipe(recipe) if recipe.name == RECIPES[0].name);
        let open =
            self.field.as_ref().is_none_or(|field| self.open_width && !field.learn.is_empty());
        let strategy = self.auto || self.strategy.is_none();
        let none = self.decay.is_none() && self.validation.is_none() && self.remedies.is_none();
        let scaled = self.scale != Some(false) && self.start.is_none() && self.loss == Loss::Mse;
        if let Some(what) = self.own_numbers().filter(|_| auto) {
            return Some(format!(
                "{what} need least squares and evidence, as by the recipe `evidence`"
            ));
        }
        if auto && self.process_noise {
            let why = "process noise needs least squares and evidence, as by the recipe `evidence`";
            return Some(why.to_owned());
        }
        if !(auto && strategy && none && scaled) {
            return None;
        }
        if let Some(why) = self.physics_alone() {
            return Some(why);
        }
        if open { scarce(&self.data) } else { None }
    }

    /// Returns why known physics alone is fitted by least squares, if its constants are few and its Jacobian is
    /// small.
    fn physics_alone(&self) -> Option<String> {
        let field = self.field.as_ref().filter(|field| field.learn.is_empty())?;
        let constants = self.laws.as_ref()?.constants().len();
        let (rows, d) = (self.data.rows() as f64, self.data.state().len());
        let starts = if self.initial_state == Some(false) { 0 } else { d };
        let own = self.data.trajectories().len() * (starts + field.varying.len());
        let slopes = rows * d as f64 * (constants + own) as f64;
        let count = if constants == 1 { "constant is" } else { "constants are" };
        let laws = self.laws.as_ref().is_some_and(|laws| !laws.laws().is_empty());
        let few = !laws || self.data.rows() <= MOST_ROWS_WITH_LAWS;
        (constants > 0 && few && slopes <= MOST_SLOPES)
            .then(|| format!("{constants} {count} learned, and nothing else: least squares"))
    }

    /// Returns what trajectories have of their own, in words, if they do.
    fn own_numbers(&self) -> Option<String> {
        let field = self.field.as_ref()?;
        own_numbers(field.effects, &field.varying)
    }

    pub(super) fn complete(self) -> Result<Prepared, TrainingError> {
        self.check_settings()?;
        let Self { data, laws, field, phases, solver, predict, loss, interpolation, auto, .. } =
            self;
        let laws = match laws {
            Some(laws) => laws,
            None => Laws::new(Laws::words(&data).check().map_err(FieldError::Names)?),
        };
        check_names(&data, &laws)?;
        let field = phases.field(field, self.open_width, &data);
        let is_smooth = matches!(&phases, Phases::Recipe(recipe) if recipe.smooth);
        let auto = auto || (self.strategy.is_none() && is_smooth);
        let closed = vec![false; laws.laws().len()];
        let open = if auto { laws.open() } else { &closed };
        let (vocabulary, constants) = (laws.vocabulary(), laws.constants());
        let asked = Question::new((laws.laws(), open), vocabulary, constants, &field, &data);
        let Guarantee { part: guarantee, kept } = asked.decide()?;
        let list = enforced(laws.laws(), &kept);
        let said = list.iter().zip(&kept).filter_map(|(law, kept)| kept.in_words(law.name()));
        let mut remarks: Vec<String> = if auto { said.collect() } else { Vec::new() };
        let strategy = match (self.strategy, &phases) {
            (Some(strategy), _) => strategy,
            (None, phases) if auto => automatic(&list, phases, &mut remarks),
            (None, _) => StrategySettings::new(StrategyKind::default()),
        };
        let (choice, recipe) = match phases {
            Phases::Recipe(recipe) => {
                let facts = Facts {
                    dataset: &data,
                    strategy: &strategy,
                    solver,
                    open_solver: self.open_solver,
                    physics: field.learn.is_empty() && !laws.constants().is_empty(),
                    penalised: (list.iter()).any(|law| law.enforcement() == Enforcement::Penalty),
                    given: Given {
                        initial_state: self.initial_state,
                        decay: self.decay,
                        validation: self.validation,
                    },
                };
                ((recipe.choose)(&facts), Some(recipe.name))
            }
            Phases::Listed(phases) => (Choice::of(phases), None),
        };
        let start = self.start.unwrap_or(choice.start);
        let table = (start == Start::Table)
            .then(|| table(&data, &list, laws.constants(), &strategy))
            .flatten();
        if table.is_some() {
            remarks.push(
                "training starts at the states nearest to the data on which the laws hold"
                    .to_owned(),
            );
        }
        let scale = self.scale.unwrap_or(choice.scale);
        let (scaling, mut units) = if scale {
            let scaling = match &table {
                Some(table) => scaling_by(&data, table),
                None => scaling(&data),
            };
            let units = units(&data, &list, laws.constants(), &scaling);
            (Some(scaling), units)
        } else {
            (None, Units::of_data(data.state().len(), laws.laws().len()))
        };
        units.laws.iter_mut().zip(&list).for_each(|(unit, law)| *unit /= law.weight());
        let mut prepared = Prepared {
            vocabulary: laws.vocabulary().clone(),
            constants: laws.constants().to_vec(),
            laws: list,
            kept,
            guarantee,
            data,
            loss,
            interpolation,
            field,
            solver: choice.solver.unwrap_or(solver),
            predict,
            strategy,
            horizon: self.horizon,
            test_times: self.test_times,
            scale,
            initial_state: self.initial_state.unwrap_or(choice.initial_state),
            process_noise: self.process_noise,
            start,
            table,
            decay: self.decay.unwrap_or(choice.decay),
            validation: self.validation.unwrap_or(choice.validation),
            remedies: self.remedies.unwrap_or(choice.remedies),
            seed: self.seed,
            phases: choice.phases,
            recipe,
            remarks: choice.remarks.into_iter().chain(remarks).collect(),
            scaling,
            units,
        };
        prepared.choose_segments();
        let moved = check(&prepared)?;
        prepared.remarks.extend(moved);
        Ok(prepared)
    }

    fn check_settings(&self) -> Result<(), TrainingError> {
        let decay = self.decay.unwrap_or(0.0);
        let validation = self.validation.unwrap_or(0.0);
        let seed = self.seed;
        for (setting, value, range, fine) in [
            (
                "weight-decay",
                decay.to_string(),
                "a number of at least 0",
                decay >= 0.0 && decay.is_finite(),
            ),
            (
                "validation",
                validation.to_string(),
                "a number from 0 to below 1",
                (0.0..1.0).contains(&validation),
            ),
            ("seed", seed.to_string(), "at most 2⁵³ = 9007199254740992", seed <= 1 << 53),
        ] {
            if !fine {
                return Err(TrainingError::Setting { setting, value, range });
            }
        }
        if let Some(horizon) = self.horizon {
            let ends = self.data.trajectories().iter().filter_map(|t| t.times.last());
            if !horizon.is_finite() || !ends.clone().any(|&end| end <= horizon) {
                let (value, range) =
                    (exact(horizon), "the time of the last row of a trajectory, or later");
                return Err(TrainingError::Setting { setting: "horizon", value, range });
            }
            if Prepared::rows_to_horizon(&self.data, horizon) > MOST_ROWS as f64 {
                let (value, range) =
                    (exact(horizon), "at most a million row intervals after the data");
                return Err(TrainingError::Setting { setting: "horizon", value, range });
            }
        }
        if let Some(strategy) = &self.strategy {
            strategy.kind.check()?;
        }
        Ok(())
    }
}

/// Checks that the laws are written in the names of the data.
fn check_names(data: &Dataset, laws: &Laws) -> Result<(), TrainingError> {
    let vocabulary = laws.vocabulary();
    if vocabulary.state() == data.state() && vocabulary.inputs() == data.inputs() {
        return Ok(());
    }
    let listed = |state: &[String], inputs: &[String]| [state, inputs].concat().join(", ");
    Err(TrainingError::Names {
        laws: listed(vocabulary.state(), vocabulary.inputs()),
        data: listed(data.state(), data.inputs()),
    })
}

/// Checks that everything can be built and every phase can run. Returns which initial states are moved to
/// laws, in words.
fn check(prepared: &Prepared) -> Result<Vec<String>, TrainingError> {
    let mut moved = Vec::new();
    let laws = prepared.laws.len();
    prepared.strategy.kind.check_laws(laws).map_err(ObjectiveError::Strategy)?;
    if prepared.phases.is_empty() {
        return Err(TrainingError::NoPhase);
    }
    prepared.check_subjects()?;
    prepared.check_process_noise()?;
    if !prepared.initial_state {
        prepared.data.check_starts()?;
        moved = prepared.check_starts_on_laws()?;
    }
    for (n, phase) in prepared.phases.iter().enumerate() {
        let checked = check_phase(prepared, phase);
        checked.map_err(|reason| TrainingError::Phase { number: n + 1, reason })?;
        prepared.strategy_of(phase).kind.check_laws(laws).map_err(ObjectiveError::Strategy)?;
        prepared.check()?;
        // Whether it can be built does not depend on the number of rows.
        prepared.objective(&Phase { part: None, ..phase.clone() }, first_rows(&prepared.data))?;
    }
    Ok(moved)
}

/// Returns the laws, hard where the form of the vector field guarantees them, and monitored where the data
/// contradict them.
fn enforced(laws: &[Law], kept: &[Kept]) -> Vec<Law> {
    // A weight is one of penalised laws.
    let laws = laws.iter().zip(kept).map(|(law, kept)| match kept {
        Kept::Guaranteed(_) => law.clone().enforced(Enforcement::Hard).weighted(1.0),
        Kept::Monitored(_) => law.clone().enforced(Enforcement::Monitor).weighted(1.0),
        Kept::Penalised(_) => law.clone(),
    });
    laws.collect()
}

/// Returns the strategy that `auto` chooses for the laws that are not guaranteed.
fn automatic(laws: &[Law], phases: &Phases, remarks: &mut Vec<String>) -> StrategySettings {
    let windows =
        |phase: &Phase| phase.strategy.is_none() && matches!(phase.batch, Batch::Windows { .. });
    let has_windows = matches!(phases, Phases::Listed(phases) if phases.iter().any(windows));
    let penalised = laws.iter().any(|law| law.enforcement() == Enforcement::Penalty);
    if has_windows && penalised {
        remarks.push(
            "batches of windows leave no multiplier for each row: the self-adaptive penalty instead"
                .to_owned(),
        );
    }
    if laws.is_empty() || has_windows {
        StrategySettings::new(SelfAdaptive::smooth())
    } else {
        let between = StrategySettings::BETWEEN;
        StrategySettings { between, ..StrategySettings::new(AugmentedLagrangian::default()) }
    }
}

/// Returns the first rows of the first trajectory.
fn first_rows(data: &Dataset) -> Dataset {
    const ROWS: usize = 16;
    let mut first = data.trajectories()[0].clone();
    let (d, m) = (data.state().len(), data.inputs().len());
    first.times.truncate(ROWS);
    first.states.truncate(ROWS * d);
    first.inputs.truncate(ROWS * m);
    let first = Trajectory { scored_from: 0, ..first };
    let (state, inputs) = (data.state().to_vec(), data.inputs().to_vec());
    Dataset::with_open_starts(state, inputs, vec![first]).expect("rows of checked data")
}
