//! Trains on arrays held in memory: a damped oscillation whose energy never rises.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lawful::{Dataset, FieldSettings, Laws, Model, Training};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let times: Vec<f64> = (0..40).map(|n| 0.2 * f64::from(n)).collect();
    let decay = |t: f64| (-0.05 * t).exp();
    let states = times.iter().flat_map(|&t| [decay(t) * t.cos(), -decay(t) * t.sin()]).collect();
    let data = Dataset::single(&["x", "v"], times, states)?;

    let words = Laws::words(&data).define("E", "x^2/2 + v^2/2").check()?;
    let laws = Laws::new(words).law("energy never rises", "next(E) <= E")?;
    let field = FieldSettings::layers(&[16], data.state());
    let trained = Training::new(data).laws(laws).field(field).seed(1).run()?;
    print!("{}", trained.summary());

    let file = std::env::temp_dir().join("lawful-oscillator.safetensors");
    trained.model.save(&file)?;
    let path = Model::load(&file)?.predict(&[1.0, 0.0], &[0.0, 5.0, 10.0])?;
    println!("x = {:.4} and {:.4} at t = 5 and 10", path[2], path[4]);
    Ok(())
}
