//! Time limits that other work on the machine does not shorten.

use std::time::{Duration, Instant};

use crate::disk;

/// Waiting counts as hanging after this many times the limit.
const WAITING: u32 = 20;

/// The time limit of a process: on its time on processors, and a longer one on waiting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    begun: Instant,
    /// Its time on processors then; `None` where the system does not say it, so that all time counts.
    used: Option<Duration>,
    most: Duration,
}

impl Limit {
    /// A limit from now on; `process` is a number or `self`.
    pub(crate) fn new(process: &str, limit: Duration) -> Self {
        Self { begun: Instant::now(), used: used(process), most: limit }
    }

    /// Returns whether it is exceeded.
    pub(crate) fn is_over(&self, process: &str) -> bool {
        let waited = self.begun.elapsed();
        if waited <= self.most {
            return false;
        }
        match (self.used, used(process)) {
            (Some(before), Some(now)) => {
                now.saturating_sub(before) > self.most || waited > WAITING * self.most
            }
            _ => true,
        }
    }
}

/// Returns the time that a process spent on processors (Linux).
fn used(process: &str) -> Option<Duration> {
    let bytes = disk::read(std::path::Path::new(&format!("/proc/{process}/stat"))).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    // Behind the name, which may have spaces: fields 14 and 15, in hundredths of a second.
    let mut fields = text.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_of_work_where_it_is_known() {
        let limit = Limit::new("self", Duration::from_millis(50));
        std::thread::sleep(Duration::from_millis(80));
        // Sleeping is not work; without `/proc` it is.
        assert_eq!(limit.is_over("self"), limit.used.is_none());
        let begun = Instant::now();
        while !limit.is_over("self") {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
    }
}
