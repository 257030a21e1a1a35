//! A global allocator that counts bytes: what an input makes the program allocate is measured.

#![expect(unsafe_code, reason = "a counting global allocator forwards to the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

/// Bytes in use, of all threads.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The largest number of bytes in use since [`begin`].
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// A larger block is refused, which ends the process: the machine is not to be filled.
const LARGEST: usize = 4 << 30;

fn grow(bytes: usize) {
    PEAK.fetch_max(USED.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged, or returns null; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST {
            return std::ptr::null_mut();
        }
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST {
            return std::ptr::null_mut();
        }
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > LARGEST {
            return std::ptr::null_mut();
        }
        grow(size);
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Begins to measure. Returns the bytes in use.
pub(crate) fn begin() -> usize {
    let used = USED.load(Relaxed);
    PEAK.store(used, Relaxed);
    used
}

/// Returns the most bytes in use since [`begin`], beyond those in use then.
pub(crate) fn peak_since(begun: usize) -> usize {
    PEAK.load(Relaxed).saturating_sub(begun)
}
