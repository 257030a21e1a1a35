//! Initial states on the laws that a field guarantees.

use lawful_law::Law;

use crate::{Accuracy, Dataset, Failure, GuaranteedLaws, Trajectory, short};

/// Violations up to this, in sizes of a law, come from rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

/// An initial state that is farther off a law than its accuracy explains.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the initial state of trajectory `{trajectory}` is off the law `{law}` by {}, and the accuracy of the \
     data explains {}",
    short(*.off),
    short(*.explained)
)]
pub struct OffLaw {
    /// The law's name.
    pub law: String,
    /// The trajectory's name.
    pub trajectory: String,
    /// By how much, in units of the law.
    pub off: f64,
    /// How much the noise and the last digit of the data explain.
    pub explained: f64,
}

impl From<OffLaw> for Failure {
    fn from(OffLaw { law, trajectory, off, explained }: OffLaw) -> Self {
        let why = format!(
            "is off the law `{law}` by {}, and the accuracy of the data explains {}",
            short(off),
            short(explained)
        );
        Self::Start { trajectory, why }
    }
}

/// An initial state that was moved to the laws.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moved {
    pub(crate) state: Vec<f64>,
    /// The law that it was farthest off, and by how much, if that was more than rounding.
    pub(crate) from: Option<(String, f64)>,
}

/// Moves the initial state of a trajectory of `d` states to the laws; `None` if it has gaps.
///
/// # Errors
/// If it is farther off than the accuracy of the data explains.
pub(crate) fn moved(
    laws: &mut GuaranteedLaws,
    trajectory: &Trajectory,
    d: usize,
    accuracy: &Accuracy,
) -> Result<Option<Moved>, OffLaw> {
    let (t, first) = (trajectory.times[0], &trajectory.states[..d]);
    if first.iter().any(|value| value.is_nan()) {
        return Ok(None);
    }
    let off_law = |law: &str, off: f64, explained: f64| OffLaw {
        law: law.to_owned(),
        trajectory: trajectory.name.clone(),
        off,
        explained,
    };
    let mut from: Option<(String, f64, f64)> = None;
    let mut error = None;
    laws.each_off(t, first, &mut |law| {
        let (off, share) = (law.off.abs(), law.off.abs() / law.size);
        let explained = accuracy.explains(law.gradient);
        let near = off <= explained + ROUNDING * law.size;
        if !near && error.is_none() {
            error = Some(off_law(law.name, off, explained));
        }
        if share > ROUNDING && from.as_ref().is_none_or(|(_, most, _)| share > *most) {
            from = Some((law.name.to_owned(), share, off));
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    let mut state = first.to_vec();
    if laws.project(t, &mut state).is_err() {
        let (law, _, off) = from.unwrap_or_default();
        return Err(off_law(&law, off, 0.0));
    }
    Ok(Some(Moved { state, from: from.map(|(law, _, off)| (law, off)) }))
}

/// Returns the name of the law with this name or text.
pub(crate) fn name_of(laws: &[Law], law: &str) -> String {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let named = laws.iter().find(|own| own.name() == law);
    let found = named.or_else(|| laws.iter().find(|own| squeezed(own.text()) == squeezed(law)));
    found.map_or_else(|| law.to_owned(), |own| own.name().to_owned())
}

/// Returns which initial states are moved by more than rounding, in words; one sentence for all.
pub(crate) fn in_words(dataset: &Dataset, moved: &[Option<Moved>]) -> Vec<String> {
    let far: Vec<(usize, &(String, f64))> = (moved.iter().enumerate())
        .filter_map(|(n, moved)| Some((n, moved.as_ref()?.from.as_ref()?)))
        .collect();
    let Some(&(n, (law, off))) = far.iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1)) else {
        return Vec::new();
    };
    let (count, of) = (far.len(), moved.len());
    let off = short(*off);
    vec![if of == 1 {
        format!(
            "the initial state is moved to the law `{law}`, off which it is by {off}, within the accuracy of \
             the data"
        )
    } else {
        let name = &dataset.trajectories()[n].name;
        format!(
            "{count} of {of} initial states are moved to their laws, within the accuracy of the data: \
             trajectory `{name}` is off `{law}` by {off}"
        )
    }]
}
