//! Full training iterations, in rows that `benches/peers/run` measures alternately with its peers.
//!
//! `cargo bench -p lawful --bench peers` measures every row once. `-- --serve` lists the rows and says
//! `ready`; then a line on stdin names a case (workload,solver,columns), whose rows are measured, and
//! `end` closes them. CSV: peer,workload,solver,columns,CPU ms per iteration and column,wall ms.
//! `-- --count N WORKLOAD PRECISION [COLUMNS]` does N iterations and nothing else, for instruction
//! counts; `--best` instead of `--count` prints the milliseconds per column of the fastest of N
//! rounds, which a busy machine disturbs least.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints its rows and reads the clock and the weights"
)]

mod workloads;

use std::io::BufRead;
use std::time::{Duration, Instant};

use lawful::ode::tableaus::{DOPRI5, TSIT5};
use lawful::{Adaptive, Control, Precision, Solver};
use workloads::{Training, Workload};

/// Time that a row takes in one round.
const SLICE: Duration = Duration::from_millis(250);

/// Time between two looks at the clock.
const CHUNK: Duration = Duration::from_millis(20);

struct Measured {
    peer: String,
    /// Workload, solver and columns.
    case: String,
    columns: usize,
    /// Iterations between two looks at the clock.
    chunk: usize,
    training: Training,
}

/// As many iterations as take a [`CHUNK`], after some to warm up.
fn chunk(training: &mut Training) -> usize {
    training.run(2);
    let start = Instant::now();
    training.run(2);
    let twos = CHUNK.as_nanos() / start.elapsed().as_nanos().max(1);
    2 * usize::try_from(twos).expect("few") + 1
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
        row.chunk = chunk(&mut row.training);
    }
    if !arguments.iter().any(|argument| argument == "--serve") {
        return rows.iter_mut().for_each(measure);
    }
    for Measured { peer, case, .. } in &rows {
        println!("{peer},{case}");
    }
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let asked = line.expect("stdin can be read");
        rows.iter_mut().filter(|row| row.case == asked.trim()).for_each(measure);
        println!("end");
    }
}

fn rows() -> Vec<Measured> {
    let mut rows = Vec::new();
    let mut add = |workload: &Workload, solver: &str, precision: Precision, training, columns| {
        let peer = format!("lawful {}", precision.name());
        let case = format!("{},{solver},{columns}", workload.name);
        rows.push(Measured { peer, case, columns, chunk: 1, training });
    };
    for precision in [Precision::Single, Precision::Double] {
        for workload in workloads::systems() {
            for columns in [1, 8, 32] {
                let theta = workload.initial();
                let training = workload.training(precision, Solver::default(), columns, theta);
                add(&workload, "rk4-grid", precision, training, columns);
            }
        }
        for columns in [1, 32] {
            let workload = workloads::wide();
            let theta = workload.initial();
            let training = workload.training(precision, Solver::default(), columns, theta);
            add(&workload, "rk4-grid", precision, training, columns);
        }
        let oscillator = workloads::oscillator();
        for tableau in [&DOPRI5, &TSIT5] {
            for (rtol, atol) in [(1e-4, 1e-6), (1e-7, 1e-9)] {
                let control = Control::Adaptive(Adaptive::with_tolerances(rtol, atol));
                let solver = Solver::new(tableau, control).expect("it has an error estimate");
                let training = oscillator.training(precision, solver, 1, oscillator.trained());
                let solver = format!("{} rtol {rtol:e}", tableau.name);
                add(&oscillator, &solver, precision, training, 1);
            }
        }
    }
    rows
}

/// The median over some pieces of work, each long beside what it takes to start and to stop it.
fn measure(row: &mut Measured) {
    let Measured { peer, case, columns, chunk, training } = row;
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    let begin = cpu_time();
    while cpu.is_empty() || cpu_time().saturating_sub(begin) < SLICE {
        let (cpu_then, wall_then) = (cpu_time(), Instant::now());
        let done = (training.run(*chunk) * *columns) as f64;
        cpu.push(cpu_time().saturating_sub(cpu_then).as_secs_f64() / done * 1e3);
        wall.push(wall_then.elapsed().as_secs_f64() / done * 1e3);
    }
    println!("{peer},{case},{:.5},{:.5}", median(&mut cpu), median(&mut wall));
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let half = times.len() / 2;
    if times.len() % 2 == 1 { times[half] } else { 0.5 * (times[half - 1] + times[half]) }
}

/// Time on the processor, of all threads.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("time is not negative")
}

/// The clock on the wall, where the system has no other.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// `N WORKLOAD PRECISION [COLUMNS]`: so many iterations.
fn count(arguments: &[String]) {
    let (iterations, _, mut training) = asked_for(arguments);
    training.run(iterations);
}

/// `N WORKLOAD PRECISION [COLUMNS]`: milliseconds per iteration and column in the fastest of so many rounds.
fn best(arguments: &[String]) {
    let (rounds, columns, mut training) = asked_for(arguments);
    let iterations = chunk(&mut training);
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        let done = training.run(iterations) * columns;
        start.elapsed().as_secs_f64() / done as f64 * 1e3
    });
    println!("{:.5}", times.fold(f64::INFINITY, f64::min));
}

fn asked_for(arguments: &[String]) -> (usize, usize, Training) {
    let [count, name, precision, columns @ ..] = arguments else {
        panic!("N WORKLOAD PRECISION [COLUMNS]")
    };
    let number = |text: &String| text.parse().expect("a number");
    let columns = columns.first().map_or(1, number);
    let precision = Precision::from_name(precision).expect("single or double");
    let mut workloads = workloads::systems().into_iter().chain([workloads::wide()]);
    let workload = workloads.find(|workload| workload.name == name);
    let workload = workload.expect("wpg, cr, dho or wide");
    let training = workload.training(precision, Solver::default(), columns, workload.initial());
    (number(count), columns, training)
}
