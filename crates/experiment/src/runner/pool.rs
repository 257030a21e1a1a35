//! Independent tasks on threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Applies `work` to every item on at most this many threads and returns the results in the order of
/// the items.
///
/// Items are started in their order: a thread that is free takes the next one.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        while let Some((item, place)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            items.get(n).zip(done.get(n))
        } {
            let result = work(item);
            *place.lock().expect("a place is written once") = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(worker);
        }
    });
    let result = |place: Mutex<Option<R>>| {
        let place = place.into_inner().expect("no worker panicked");
        place.expect("every item was worked on")
    };
    done.into_iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_on_any_number_of_threads() {
        let items: Vec<u64> = (0..100).collect();
        let expected: Vec<u64> = items.iter().map(|n| n * n).collect();
        for threads in [0, 1, 2, 7, 1000] {
            let work = |n: &u64| {
                thread::yield_now();
                n * n
            };
            assert_eq!(map(&items, threads, work), expected);
        }
        assert!(map(&[], 4, |n: &u64| *n).is_empty());
    }

    #[test]
    fn every_item_is_worked_on_once() {
        let counts: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
        map(&counts, 3, |count| count.fetch_add(1, Ordering::Relaxed));
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }
}
