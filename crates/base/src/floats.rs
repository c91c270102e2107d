//! The modes in which a thread computes with floating-point numbers.

use std::arch::asm;

/// While it lives, this thread computes as programs begin: rounding to nearest, without traps, with
/// subnormal numbers. What the program has set, and which exceptions it has raised, comes back with
/// its end (C17, 7.6; MXCSR of x86-64, FPCR and FPSR of AArch64).
///
/// The library computes with numbers of the program where neither must matter: in compression.
#[derive(Debug)]
pub struct PlainFloats {
    modes: Modes,
}

#[cfg(target_arch = "x86_64")]
type Modes = u32;
#[cfg(target_arch = "aarch64")]
type Modes = [u64; 2];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Modes = ();

impl PlainFloats {
    /// From now on.
    #[inline]
    pub fn hold() -> Self {
        let modes = Self::modes();
        Self::set(Self::PLAIN);
        PlainFloats { modes }
    }

    #[cfg(target_arch = "x86_64")]
    const PLAIN: Modes = 0x1f80;
    #[cfg(target_arch = "aarch64")]
    const PLAIN: Modes = [0, 0];

    #[cfg(target_arch = "x86_64")]
    fn modes() -> Modes {
        let mut modes = 0_u32;
        // SAFETY: it stores four bytes where there are four.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut modes, options(nostack)) };
        modes
    }

    #[cfg(target_arch = "x86_64")]
    fn set(modes: Modes) {
        // SAFETY: these are modes that the processor takes: its own, or the first ones.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const modes, options(nostack)) };
    }

    #[cfg(target_arch = "aarch64")]
    fn modes() -> Modes {
        let (control, status): (u64, u64);
        // SAFETY: it reads two registers.
        unsafe {
            asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) status, options(nostack));
        }
        [control, status]
    }

    #[cfg(target_arch = "aarch64")]
    fn set([control, status]: Modes) {
        // SAFETY: these are modes that the processor takes: its own, or the first ones.
        unsafe {
            asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) control, in(reg) status, options(nostack));
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    const PLAIN: Modes = ();

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn modes() -> Modes {}

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn set((): Modes) {}
}

impl Drop for PlainFloats {
    #[inline]
    fn drop(&mut self) {
        Self::set(self.modes);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_and_raised_comes_back() {
        // Toward plus infinity, subnormal numbers are zero, and nothing is raised.
        let set = 0x1f80 | 2 << 13 | 1 << 15 | 1 << 6;
        PlainFloats::set(set);
        {
            let _plain = PlainFloats::hold();
            assert_eq!(PlainFloats::modes(), 0x1f80);
            let raised = std::hint::black_box(1.0_f64) / std::hint::black_box(0.0);
            assert!(raised.is_infinite());
            assert_ne!(PlainFloats::modes(), 0x1f80, "it is raised");
        }
        let after = PlainFloats::modes();
        PlainFloats::set(0x1f80);
        assert_eq!(after, set);
    }
}
