//! Once room is reserved, an iteration allocates nothing.

mod mlp_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use lawful_ode::{Activation, Mlp, Precision, VectorField};
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
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the one that is asked for.
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
        let mut mlp = Mlp::new(shape.clone(), precision);
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
            }
            mlp.flush(&mut theta_bar);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{}", precision.name());
    }
}
