//! Cheap ticks for policies and statistics.
//!
//! The processor's time-stamp counter where it runs at a constant rate, the
//! monotonic clock elsewhere. Not for `MPI_Wtime`: ticks of two cores or of
//! two machines need not agree to the last digit.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How ticks relate to time.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Ticks per microsecond.
    per_us: f64,
}

/// The number of ticks now. Cost: about 10 ns, no system call.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        monotonic_ns()
    }
}

/// Both clocks at an early moment.
static START: OnceLock<(u64, Instant)> = OnceLock::new();

/// Looks at both clocks, so that [`ticks_per_us`] need not wait later. For those who begin to use
/// this library.
pub fn start() {
    START.get_or_init(|| (ticks(), Instant::now()));
}

/// Ticks per microsecond; measured at the first call, which takes some 50 µs unless [`start`] was
/// called a millisecond before.
pub fn ticks_per_us() -> f64 {
    static RATE: OnceLock<Rate> = OnceLock::new();
    RATE.get_or_init(|| since_start().unwrap_or_else(calibrate))
        .per_us
}

/// The rate since [`start`], if that is long enough ago for an interrupt in between not to matter.
fn since_start() -> Option<Rate> {
    let (from, began) = START.get()?;
    let (gone, span) = (ticks().wrapping_sub(*from), began.elapsed());
    (span >= Duration::from_millis(1)).then(|| Rate {
        per_us: gone as f64 / (span.as_secs_f64() * 1e6),
    })
}

/// Ticks in `time`.
pub fn ticks_in(time: Duration) -> u64 {
    (time.as_secs_f64() * 1e6 * ticks_per_us()) as u64
}

/// The time that `ticks` ticks take.
pub fn duration(ticks: u64) -> Duration {
    Duration::from_secs_f64(ticks as f64 / ticks_per_us() / 1e6)
}

/// Compares both clocks over a short while. The shortest of three spans
/// counts, since an interrupt can only lengthen one.
fn calibrate() -> Rate {
    let mut best = f64::INFINITY;
    let mut per_us = 1000.0;
    for _ in 0..3 {
        let (from, began) = (ticks(), Instant::now());
        let span = loop {
            let span = began.elapsed();
            if span >= Duration::from_micros(15) {
                break span;
            }
        };
        let gone = ticks().wrapping_sub(from);
        let us = span.as_secs_f64() * 1e6;
        if us < best && gone > 0 {
            best = us;
            per_us = gone as f64 / us;
        }
    }
    Rate { per_us }
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is valid for the call, which cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_follow_the_clock() {
        ticks_per_us();
        // Ticks around and within a span of the clock: whatever interrupts
        // this can only widen the one and narrow the other.
        let (before, began, first) = (ticks(), Instant::now(), ticks());
        while began.elapsed() < Duration::from_millis(2) {}
        let (last, real, after) = (ticks(), began.elapsed(), ticks());
        let (around, within) = (duration(after - before), duration(last - first));
        assert!(around >= real.mul_f64(0.8), "{around:?} around {real:?}");
        assert!(within <= real.mul_f64(1.25), "{within:?} within {real:?}");
    }

    #[test]
    fn the_rate_since_the_start_is_that_of_a_short_while() {
        start();
        let (_, began) = START.get().unwrap();
        while began.elapsed() < Duration::from_millis(2) {}
        let (long, short) = (since_start().unwrap().per_us, calibrate().per_us);
        assert!((0.5..2.0).contains(&(long / short)), "{long} and {short}");
    }

    #[test]
    fn spans_survive_the_way_to_ticks_and_back() {
        let back = duration(ticks_in(Duration::from_millis(7)));
        assert!(back.abs_diff(Duration::from_millis(7)) < Duration::from_micros(1));
    }
}
