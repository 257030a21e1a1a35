//! A place at which the gradients of laws do not determine a direction.

use super::basis::{Loss, RankLoss};

/// Where gradients are dependent, and which.
#[derive(Debug, Clone, Default)]
pub(super) struct Lost {
    pub(super) loss: RankLoss,
    pub(super) t: f64,
    pub(super) y: Vec<f64>,
}

impl Lost {
    /// The end of the sentence "the step …".
    pub(super) fn why(&self, laws: &[&str], state: &[String]) -> String {
        let (law, before) = (laws[self.loss.row], &laws[..self.loss.row]);
        let what = match self.loss.loss {
            Loss::Vanishes => format!("the gradient of the law `{law}` vanishes"),
            Loss::NotFinite => format!("the gradient of the law `{law}` is not finite"),
            Loss::Depends => {
                let before: Vec<_> = before.iter().map(|law| format!("`{law}`")).collect();
                format!("the gradient of the law `{law}` depends on that of {}", before.join(", "))
            }
        };
        let y = state.iter().zip(&self.y).map(|(name, y)| format!("{name} = {y:.6}"));
        let y = y.collect::<Vec<_>>().join(", ");
        format!("cannot obey its laws: {what} at t = {:.6}, {y}", self.t)
    }
}
