//! Full training iterations, in rows that `benches/peers/run` measures alternately with its peers.
//!
//! `cargo bench -p lawful --bench peers` prints one round; `-- --serve` waits for a line on stdin
//! before each round. CSV: peer,workload,solver,columns,CPU ms per iteration and column,wall ms. `-- --count N WORKLOAD PRECISION` does N iterations and nothing else, for instruction counts; `--best` instead of `--count` prints the
//! milliseconds of the fastest of N rounds, which a busy machine disturbs least.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints its rows and reads the clock and the weights"
)]

mod workloads;

use std::io::BufRead;
use std::time::{Duration, Instant};

use lawful::ode::methods::{DOPRI5, TSIT5};
use lawful::{Adaptive, Control, Method, Precision};
use workloads::{Training, Workload};

/// Time that a row takes in one round.
const SLICE: Duration = Duration::from_millis(500);

/// Time between two looks at the clock: long beside what it takes to start and to stop a training.
const CHUNK: Duration = Duration::from_millis(50);

struct Measured {
    label: String,
    columns: usize,
    /// Iterations between two looks at the clock.
    chunk: usize,
    training: Training,
}

impl Measured {
    fn warm_up(&mut self) {
        self.training.run(2);
        let start = Instant::now();
        self.training.run(2);
        let chunks = CHUNK.as_nanos() / start.elapsed().as_nanos().max(1);
        self.chunk = 2 * usize::try_from(chunks).expect("few") + 1;
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("--count") => return count(&arguments[1..]),
        Some("--best") => return best(&arguments[1..]),
        _ => {}
    }
    let mut rows = rows();
    for row in &mut rows {
        row.warm_up();
    }
    if arguments.iter().any(|argument| argument == "--serve") {
        println!("ready");
        for _ in std::io::stdin().lock().lines() {
            rows.iter_mut().for_each(round);
            println!("end");
        }
    } else {
        rows.iter_mut().for_each(round);
    }
}

fn rows() -> Vec<Measured> {
    let mut rows = Vec::new();
    let mut add = |workload: &Workload, solver: &str, precision: Precision, training, columns| {
        let label = format!("lawful {},{},{solver}", precision.name(), workload.name);
        rows.push(Measured { label, columns, chunk: 1, training });
    };
    for precision in [Precision::Single, Precision::Double] {
        for workload in workloads::systems() {
            for columns in [1, 8, 32] {
                let theta = workload.initial();
                let training = workload.training(precision, Method::default(), columns, theta);
                add(&workload, "rk4-grid", precision, training, columns);
            }
        }
        for columns in [1, 32] {
            let workload = workloads::wide();
            let theta = workload.initial();
            let training = workload.training(precision, Method::default(), columns, theta);
            add(&workload, "rk4-grid", precision, training, columns);
        }
        let oscillator = workloads::oscillator();
        for tableau in [&DOPRI5, &TSIT5] {
            for (rtol, atol) in [(1e-4, 1e-6), (1e-7, 1e-9)] {
                let control = Control::Adaptive(Adaptive::with_tolerances(rtol, atol));
                let method = Method::new(tableau, control).expect("it has an error estimate");
                let training = oscillator.training(precision, method, 1, oscillator.trained());
                let solver = format!("{} rtol {rtol:e}", tableau.name);
                add(&oscillator, &solver, precision, training, 1);
            }
        }
    }
    rows
}

fn round(row: &mut Measured) {
    let Measured { label, columns, chunk, training } = row;
    let (cpu, wall, mut done) = (cpu_time(), Instant::now(), 0);
    // The system's clock of the processor ticks every few milliseconds: only whole slices are timed.
    while wall.elapsed() < SLICE || cpu_time().saturating_sub(cpu) < SLICE {
        done += training.run(*chunk) * *columns;
    }
    let milliseconds = |time: Duration| time.as_secs_f64() / done as f64 * 1e3;
    let (cpu, wall) = (cpu_time().saturating_sub(cpu), wall.elapsed());
    println!("{label},{columns},{:.5},{:.5}", milliseconds(cpu), milliseconds(wall));
}

/// Time on the processor of all threads, to the nanosecond where the system tells; elsewhere the
/// clock on the wall.
fn cpu_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds: Option<u64> = threads
        .map(|thread| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        })
        .sum();
    nanoseconds.filter(|&time| time > 0).map_or_else(wall_time, Duration::from_nanos)
}

fn wall_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// `N WORKLOAD PRECISION`: so many iterations.
fn count(arguments: &[String]) {
    let (iterations, mut training) = asked_for(arguments);
    training.run(iterations);
}

/// `N WORKLOAD PRECISION`: milliseconds per iteration in the fastest of so many rounds.
fn best(arguments: &[String]) {
    const ITERATIONS: usize = 32;
    let (rounds, mut training) = asked_for(arguments);
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        training.run(ITERATIONS);
        start.elapsed()
    });
    let best = times.min().expect("one round at least");
    println!("{:.5}", best.as_secs_f64() / ITERATIONS as f64 * 1e3);
}

fn asked_for(arguments: &[String]) -> (usize, Training) {
    let [count, name, precision] = arguments else { panic!("N WORKLOAD PRECISION") };
    let precision = Precision::from_name(precision).expect("single or double");
    let workload = workloads::systems().into_iter().find(|workload| workload.name == name);
    let workload = workload.expect("wpg, cr or dho");
    let training = workload.training(precision, Method::default(), 1, workload.initial());
    (count.parse().expect("a number"), training)
}
