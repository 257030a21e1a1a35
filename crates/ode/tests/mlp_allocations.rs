//! Once room is reserved, an iteration allocates nothing.

mod mlp_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use lawful_ode::{Activation, Equations, Mlp, Precision, Recorded, Scaled, Scaling, VectorField};
use mlp_support::{Numbers, shape};

/// The system's allocator, counting.
struct Counting;

thread_local! {
    /// Of this thread: the test's own thread and the harness run at the same time.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator is unsafe to write")]
// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the system allocator's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the system allocator's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_after_reserve() {
    let shape = shape(2, &[50, 50], &[Activation::Tanh, Activation::Silu]);
    let mut numbers = Numbers(1);
    let theta = numbers.theta(&shape);
    let (t, y) = (numbers.vec(7), numbers.vec(14));
    for precision in Precision::ALL {
        let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
        let mut theta_bar = vec![0.0; theta.len()];
        let (mut dy, mut y_bar) = ([0.0; 14], [0.0; 14]);
        mlp.reserve(200, 7);
        let before = ALLOCATIONS.get();
        for _ in 0..2 {
            mlp.set_parameters(&theta);
            mlp.reserve(200, 7);
            for slot in 0..200 {
                let columns = 1 + slot % 7;
                let values = ..2 * columns;
                mlp.eval(slot, &t[..columns], &y[values], &[], &mut dy[values]);
            }
            for slot in (0..200).rev() {
                let values = ..2 * (1 + slot % 7);
                mlp.pull_back(slot, &y[values], &mut y_bar[values]);
                mlp.pull_back_state(slot, &y[values], &mut y_bar[values]);
                mlp.pull_back_parameters(slot, &y[values]);
            }
            mlp.flush(&mut theta_bar);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{}", precision.name());
    }
}

#[test]
fn jacobians_allocate_nothing_after_the_first() {
    let shape = shape(2, &[50, 50], &[Activation::Tanh, Activation::Silu]);
    let theta = Numbers(1).theta(&shape);
    let mlp =
        |precision| Box::new(Mlp::new(shape.clone(), precision).expect("the shape of a network"));
    let fields: [(&str, Box<dyn VectorField>); 4] = [
        ("double", mlp(Precision::Double)),
        ("single", mlp(Precision::Single)),
        (
            "scaled",
            Box::new(
                Scaled::new(mlp(Precision::Double), Scaling::none(2, 0))
                    .expect("scales of the field's lengths"),
            ),
        ),
        ("recorded", Box::new(Recorded::new(Decay))),
    ];
    for (name, mut field) in fields {
        field.set_parameters(&theta[..field.parameter_len()]);
        field.reserve(1, 7);
        field.eval(0, &[0.0; 7], &[0.3; 14], &[], &mut [0.0; 14]);
        let (mut jacobian, mut y_bar) = ([0.0; 28], [0.0; 14]);
        field.jacobian(0, &mut jacobian);
        let before = ALLOCATIONS.get();
        for _ in 0..3 {
            field.jacobian(0, &mut jacobian);
            field.pull_back_state(0, &[1.0; 14], &mut y_bar);
            field.pull_back_parameters(0, &[1.0; 14]);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{name}");
    }
}

/// `y' = −θ y` for two variables.
#[derive(Clone)]
struct Decay;

impl Equations for Decay {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn eval(&mut self, theta: &[f64], _t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        dy.iter_mut().zip(y).for_each(|(dy, y)| *dy = -theta[0] * y);
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        _t: f64,
        y: &[f64],
        _u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        for ((y, w), y_bar) in y.iter().zip(w).zip(y_bar) {
            *y_bar -= theta[0] * w;
            theta_bar[0] -= y * w;
        }
    }
}
