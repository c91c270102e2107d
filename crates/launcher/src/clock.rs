//! The clock of this process: ticks as nanoseconds, on one scale for as long as it runs.

use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use catena_base::clock::{monotonic_ns, ticks};
use catena_profile::timeline::Scale;

/// How long both clocks are compared, for five digits.
const COMPARED: Duration = Duration::from_millis(10);

/// The scale. The first call takes ten milliseconds.
pub fn scale() -> Scale {
    static SCALE: OnceLock<Scale> = OnceLock::new();
    *SCALE.get_or_init(|| {
        let (from, began, ns) = (ticks(), Instant::now(), monotonic_ns());
        sleep(COMPARED);
        let now = ticks();
        let per_us = now.wrapping_sub(from) as f64 / (began.elapsed().as_secs_f64() * 1e6);
        Scale {
            ticks: from,
            ns,
            per_us,
        }
    })
}

/// Now, in nanoseconds of that scale.
pub fn now() -> u64 {
    scale().ns(ticks())
}
