//! The clock of this process: that of the kernel, in nanoseconds, and ticks of the processor as
//! moments of it.

use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use catena_base::clock::{monotonic_ns, ticks};
use catena_profile::timeline::Scale;

/// How long both clocks are compared at first, for five digits.
const COMPARED: Duration = Duration::from_millis(10);

/// How often both clocks are read, for a moment in which nothing came between.
const TRIES: usize = 4;

/// A moment in ticks, and in nanoseconds.
fn both() -> (u64, u64) {
    let tries = (0..TRIES).map(|_| {
        let (from, ns, to) = (ticks(), monotonic_ns(), ticks());
        let took = to.wrapping_sub(from);
        (took, (from.wrapping_add(took / 2), ns))
    });
    tries.min_by_key(|it| it.0).unwrap_or_default().1
}

/// The scale, right now: ticks are compared with the clock of the kernel since the first call,
/// which takes ten milliseconds. The longer that is ago, the better it is.
pub fn scale() -> Scale {
    static FIRST: OnceLock<(u64, u64)> = OnceLock::new();
    let first = *FIRST.get_or_init(|| {
        let first = both();
        sleep(COMPARED);
        first
    });
    let (now, ns) = both();
    let span = ns.saturating_sub(first.1).max(1);
    Scale {
        ticks: now,
        ns,
        per_us: now.wrapping_sub(first.0) as f64 / (span as f64 / 1e3),
    }
}

/// Now, in nanoseconds of that scale.
pub fn now() -> u64 {
    monotonic_ns()
}
