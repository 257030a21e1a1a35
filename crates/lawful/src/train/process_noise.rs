//! Process noise in a training: its segments, and what it cannot be combined with.

use lawful_law::{Enforcement, Relation};

use super::{Prepared, Shooting, TrainingError};
use crate::Trajectory;

/// Most numbers of states between segments and of everything else, as far as segments can be longer: the time
/// of a step grows with their cube.
const MOST_NUMBERS: usize = 240;
/// Most starts: the states are trained, too, and paths between them are short.
const MOST_STARTS: usize = 8;
/// Fewest rows of the longest trajectory: with two, an increment cannot be told from an error.
const FEWEST_ROWS: usize = 3;

impl Prepared {
    /// Chooses segments, at whose ends paths jump, for the phases of a recipe if paths have process noise.
    pub(super) fn choose_segments(&mut self) {
        if !self.process_noise || self.recipe.is_none() {
            return;
        }
        let d = self.data.state().len();
        let states = |steps: usize| -> usize {
            let trajectories = self.data.trajectories().iter();
            d * trajectories.map(|own| (own.len() - 1).div_ceil(steps)).sum::<usize>()
        };
        let longest = self.data.trajectories().iter().map(Trajectory::len).max().unwrap_or(0);
        let fits = |steps: &usize| self.theta_len() + states(*steps) <= MOST_NUMBERS;
        let steps = (1..longest.saturating_sub(1)).find(fits).unwrap_or(1);
        for phase in &mut self.phases {
            if let Some(settings) = &mut phase.least_squares {
                let before = settings.in_words();
                settings.starts = settings.starts.min(MOST_STARTS);
                settings.kept = settings.kept.min(settings.starts);
                phase.shooting = Shooting::Multiple { steps, free: true };
                let said = self.remarks.iter_mut().filter(|remark| **remark == before);
                said.for_each(|remark| *remark = settings.in_words());
            }
        }
        let rows = match steps {
            1 => "row".to_owned(),
            steps => format!("{steps} rows"),
        };
        self.remarks.push(format!(
            "process noise: paths jump every {rows} by increments, whose size is chosen by evidence"
        ));
    }

    /// Checks that process noise can be estimated.
    pub(super) fn check_process_noise(&self) -> Result<(), TrainingError> {
        if !self.process_noise {
            return Ok(());
        }
        let error = |reason: String, hint: &str| {
            Err(TrainingError::ProcessNoise { reason, hint: hint.to_owned() })
        };
        if self.phases.iter().any(|phase| phase.least_squares.is_none()) {
            return error(
                "needs least squares and evidence, and these phases have none".to_owned(),
                "train by `recipe = \"evidence\"`, or by `recipe = \"auto\"`, which then does so",
            );
        }
        let rows = self.data.trajectories().iter().map(Trajectory::len).max().unwrap_or(0);
        if rows < FEWEST_ROWS {
            return error(
                format!(
                    "needs trajectories of at least {FEWEST_ROWS} rows, and the longest has {rows}"
                ),
                "leave `process-noise` out",
            );
        }
        for law in &self.laws {
            let name = law.name();
            match (law.enforcement(), law.relation()) {
                (Enforcement::Hard, Relation::AtMost) => {
                    return error(
                        format!(
                            "cannot be combined with the guaranteed law `{name}`: an increment can break it"
                        ),
                        "measure the law only, by `strategy = \"monitor\"` in its [[law]], or leave `process-noise` out",
                    );
                }
                (Enforcement::Penalty, _) => {
                    return error(
                        format!(
                            "cannot be combined with the penalised law `{name}`: an increment can break it"
                        ),
                        "measure the law only, by `strategy = \"monitor\"` in its [[law]], or leave `process-noise` out",
                    );
                }
                _ => {}
            }
        }
        let free = |shooting| matches!(shooting, Shooting::Multiple { free: true, .. });
        if !self.phases.iter().all(|phase| free(phase.shooting)) {
            return error(
                "needs phases on segments with trained starts".to_owned(),
                "give each phase `segments = 1` and `starts = \"free\"`, or leave the phases to a recipe",
            );
        }
        Ok(())
    }
}
