//! The posterior in a model file.
//!
//! | tensor | shape |
//! |---|---|
//! | `posterior.weights`, `posterior.freedom` | components |
//! | `posterior.theta` | components × parameters |
//! | `posterior.factors` | components × packed lower triangle; missing in an ensemble |
//! | `posterior.noise`, `posterior.freedom-of-noise` | components × states |
//! | `posterior.draws` | draws × parameters; missing in an ensemble, whose members are its draws |
//! | `posterior.noise-of-draws` | draws × states; the same |
//! | `posterior.start-guesses`, `posterior.start-scale` | where initial states are trained |
//!
//! Process noise has entries of its own, see `process_noise.rs`.

use super::{Component, DrawnTheta, Posterior, ProcessNoise, StartUnits, packed_len};
use crate::{Archive, ModelError};

/// The key in the metadata of a file with a posterior: the number of components.
const KEY: &str = "posterior";
/// Most components of a file.
const MOST_COMPONENTS: usize = 100_000;

impl Posterior {
    /// Adds the posterior to the file of its model.
    pub(crate) fn write(&self, archive: &mut Archive) {
        let Self { components, draws, starts, process_noise } = self;
        let (count, n, d) =
            (components.len(), components[0].theta.len(), components[0].noise.len());
        let joined = |part: fn(&Component) -> &[f64]| -> Vec<f64> {
            components.iter().flat_map(part).copied().collect()
        };
        archive.set(KEY, count.into());
        let weights: Vec<f64> = components.iter().map(|component| component.weight).collect();
        let freedom: Vec<f64> = components.iter().map(|component| component.freedom).collect();
        archive.add("posterior.weights", &weights);
        archive.add("posterior.freedom", &freedom);
        archive.add_matrix("posterior.theta", [count, n], &joined(|c| &c.theta));
        let factors = joined(|c| &c.factor);
        if !factors.is_empty() {
            archive.add_matrix("posterior.factors", [count, packed_len(n)], &factors);
        }
        archive.add_matrix("posterior.noise", [count, d], &joined(|c| &c.noise));
        let freedom = joined(|c| &c.freedom_of_noise);
        archive.add_matrix("posterior.freedom-of-noise", [count, d], &freedom);
        if !self.is_ensemble() {
            let joined = |part: fn(&DrawnTheta) -> &[f64]| -> Vec<f64> {
                draws.iter().flat_map(part).copied().collect()
            };
            let count = draws.len();
            archive.add_matrix("posterior.draws", [count, n], &joined(|draw| &draw.theta));
            archive.add_matrix("posterior.noise-of-draws", [count, d], &joined(|draw| &draw.noise));
        }
        if !starts.guesses.is_empty() {
            archive.add("posterior.start-guesses", &starts.guesses);
            archive.add("posterior.start-scale", &starts.scale);
        }
        if let Some(process_noise) = process_noise {
            process_noise.write(archive, d);
        }
    }

    /// Reads the posterior of a file, if it has one, of a model with `n` parameters, `d` states and `starts`
    /// trained initial states.
    pub(crate) fn read(
        archive: &Archive,
        (n, d, starts): (usize, usize, usize),
    ) -> Result<Option<Self>, ModelError> {
        let Some(count) = archive.get(KEY) else { return Ok(None) };
        let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
        let count = count.filter(|count| (1..=MOST_COMPONENTS).contains(count));
        let count = count.ok_or_else(|| archive.damaged("it has no number of components"))?;
        let rows = |name: &str,
                    count: usize,
                    each: usize,
                    fits: fn(f64) -> bool|
         -> Result<&[f64], ModelError> {
            let values = archive.values(name)?;
            if Some(values.len()) != count.checked_mul(each) {
                let found = values.len();
                let what = format!("`{name}` has {found} numbers instead of {count} times {each}");
                return Err(archive.damaged(&what));
            }
            if !values.iter().all(|value| value.is_finite() && fits(*value)) {
                return Err(archive.damaged(&format!("`{name}` has a number out of its range")));
            }
            Ok(values)
        };
        let read = |name: &str, each: usize, fits: fn(f64) -> bool| rows(name, count, each, fits);
        let weights = read("posterior.weights", 1, |weight| weight > 0.0)?;
        let freedom = read("posterior.freedom", 1, |freedom| freedom > 0.0)?;
        let theta = read("posterior.theta", n, |_| true)?;
        let noise = read("posterior.noise", d, |noise| noise >= 0.0)?;
        let freedom_of_noise = read("posterior.freedom-of-noise", d, |freedom| freedom > 0.0)?;
        let factors = match archive.values("posterior.factors") {
            Ok(_) => read("posterior.factors", packed_len(n), |_| true)?,
            Err(_) => &[],
        };
        let mut components = Vec::with_capacity(count);
        for k in 0..count {
            let factor = factors.get(k * packed_len(n)..).unwrap_or_default();
            let factor = if factor.is_empty() { factor } else { &factor[..packed_len(n)] };
            let diagonal =
                (1..=n).filter(|_| !factor.is_empty()).map(|i| factor[packed_len(i) - 1]);
            if !diagonal.clone().all(|x| x > 0.0) {
                return Err(
                    archive.damaged("`posterior.factors` has a diagonal that is not positive")
                );
            }
            components.push(Component {
                weight: weights[k],
                theta: theta[k * n..][..n].to_vec(),
                factor: factor.to_vec(),
                noise: noise[k * d..][..d].to_vec(),
                freedom_of_noise: freedom_of_noise[k * d..][..d].to_vec(),
                freedom: freedom[k],
            });
        }
        let mut units = StartUnits::default();
        if starts > 0 {
            units = StartUnits { guesses: vec![0.0; starts * d], scale: vec![0.0; d] };
            archive.fill("posterior.start-guesses", &mut units.guesses)?;
            archive.fill("posterior.start-scale", &mut units.scale)?;
            let all = units.guesses.iter().chain(&units.scale);
            if !all.clone().all(|value| value.is_finite()) {
                return Err(
                    archive.damaged("`posterior.start-guesses` has a number out of its range")
                );
            }
        }
        let drawn = |theta: &[f64], noise: &[f64]| DrawnTheta {
            theta: theta.to_vec(),
            noise: noise.to_vec(),
        };
        let draws: Vec<DrawnTheta> = if factors.is_empty() {
            components.iter().map(|c| drawn(&c.theta, &c.noise)).collect()
        } else {
            let count = archive.values("posterior.noise-of-draws")?.len() / d.max(1);
            if !(1..=MOST_COMPONENTS).contains(&count) {
                return Err(archive.damaged("`posterior.noise-of-draws` has no draws"));
            }
            let theta = rows("posterior.draws", count, n, |_| true)?;
            let noise = rows("posterior.noise-of-draws", count, d, |noise| noise >= 0.0)?;
            (0..count).map(|k| drawn(&theta[k * n..][..n], &noise[k * d..][..d])).collect()
        };
        let lengths = (components.len(), draws.len(), d);
        let process_noise = ProcessNoise::read(archive, lengths)?;
        Ok(Some(Self { components, draws, starts: units, process_noise }))
    }
}
