//! An iteration that needs no more steps than any before allocates nothing.

#![expect(unsafe_code, reason = "a counting global allocator forwards to the system's")]

mod guards;
mod systems;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use guards::CASES;
use lawful_ode::tableaus::{BOSH3, DOPRI5, HEUN, RK4};
use lawful_ode::{
    Adaptive, Control, InitialValueProblems, NoInputs, Path, Solver, predict, pull_back,
    sensitivities, sensitivities_len, solve,
};
use systems::{Driven, Smooth};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn the_allocator_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1.0; 100]))) == 1);
}

#[test]
fn the_second_iteration_allocates_nothing() {
    let adaptive = Control::Adaptive(Adaptive::default());
    let grid = Control::Grid { substeps: 3 };
    let plain =
        [(&RK4, grid), (&DOPRI5, grid), (&DOPRI5, adaptive), (&BOSH3, adaptive), (&HEUN, adaptive)];
    let times: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    // Of the same first and last observations.
    let ends = [times[0], times[10], times[29]];
    for (memory, nodes) in [Solver::MEMORY, 20_000, 0]
        .iter()
        .flat_map(|&memory| [&times[..], &ends].map(|nodes| (memory, nodes)))
    {
        for (tableau, control) in plain {
            let solver = Solver::new(tableau, control).unwrap().with_memory(memory);
            let (mut field, mut path, mut ivps) =
                (Driven::field(), Path::new(), InitialValueProblems::new(2));
            let w = vec![1.0; 2 * times.len()];
            let mut matrix = vec![0.0; 2 * times.len() * (4 + 2)];
            let mut iteration = || {
                ivps.clear();
                ivps.push_between(nodes, &times, &[0.6, -0.2]).expect("a valid problem");
                solve(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
                let (mut initial_bar, mut theta_bar) = ([0.0; 2], [0.0; 4]);
                pull_back(
                    &mut field,
                    &solver,
                    &ivps,
                    &Smooth,
                    &mut path,
                    &w,
                    &mut initial_bar,
                    &mut theta_bar,
                );
                sensitivities(&mut field, &solver, &ivps, &Smooth, &mut path, &mut matrix);
                predict(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
            };
            let first = allocations(&mut iteration);
            let second = allocations(&mut iteration);
            assert!(first > 0);
            assert_eq!(second, 0, "{} {control:?} {memory}", tableau.name);
        }
    }
}

#[test]
fn the_second_iteration_with_a_guard_allocates_nothing() {
    let adaptive = Control::Adaptive(Adaptive::with_tolerances(1e-3, 1e-4));
    let grid = Control::Grid { substeps: 3 };
    let times: Vec<f64> = (0..30).map(|i| 0.1 * f64::from(i)).collect();
    for case in &CASES {
        for memory in [Solver::MEMORY, 20_000, 0] {
            for (tableau, control) in
                [(&RK4, grid), (&DOPRI5, grid), (&DOPRI5, adaptive), (&HEUN, adaptive)]
            {
                let solver = Solver::new(tableau, control).unwrap().with_memory(memory);
                let (mut field, mut path) = (case.field(), Path::new());
                let mut ivps = InitialValueProblems::new(2);
                ivps.push(&times, &case.initial[0]).expect("a valid problem");
                let w = vec![1.0; 2 * times.len()];
                let mut matrix = vec![0.0; sensitivities_len(&*field, &ivps)];
                let mut iteration = || {
                    let (mut y_bar, mut theta_bar) = ([0.0; 2], [0.0; 2]);
                    let (field, path) = (&mut *field, &mut path);
                    solve(field, &solver, &ivps, &NoInputs, path).unwrap();
                    pull_back(
                        field,
                        &solver,
                        &ivps,
                        &NoInputs,
                        path,
                        &w,
                        &mut y_bar,
                        &mut theta_bar,
                    );
                    sensitivities(field, &solver, &ivps, &NoInputs, path, &mut matrix);
                    predict(field, &solver, &ivps, &NoInputs, path).unwrap();
                };
                iteration();
                let second = allocations(&mut iteration);
                assert_eq!(second, 0, "{} {} {control:?} {memory}", case.name, tableau.name);
            }
        }
    }
}

/// A tape that has grown once is reserved at once by later solves.
#[test]
fn fewer_steps_than_before_allocate_nothing_and_stay_on_the_tape() {
    let solver = Solver::new(&DOPRI5, Control::Adaptive(Adaptive::default())).unwrap();
    let (mut field, mut path, mut ivps) =
        (Driven::field(), Path::new(), InitialValueProblems::new(2));
    let mut solve_until = |end: f64| {
        let count = allocations(|| {
            ivps.clear();
            ivps.push(&[0.0, end], &[0.6, -0.2]).expect("a valid problem");
            solve(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
        });
        (count, path.checkpoint_blocks())
    };
    let (first, blocks) = solve_until(20.0);
    assert!(first > 0 && blocks > 1);
    for end in 1..=200 {
        assert_eq!(solve_until(f64::from(end) / 10.0), (0, 1), "{end}");
    }
}
