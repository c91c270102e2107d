//! Floating-point numbers as integers, whose differences are small where the numbers are close.
//!
//! Exactly: the bits of a number, in the order of integers. Within a relative bound: the same
//! without their lowest bits, rounded. Within an absolute bound: multiples of a step of nearly
//! twice the bound. What does not hold the bound is found by restoring each number.

use crate::cursor::{Reader, Writer};
use crate::word::{Block, Word};
use crate::{Bound, Element};

/// 1.5 · 2^52: a double of up to 2^51 that is added to it has its integer part in the lowest bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// How words become integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mapping {
    /// The words are IEEE 754 numbers.
    float: bool,
    inexact: Inexact,
}

/// What is lost on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inexact {
    Nothing,
    /// The lowest bits.
    Bits {
        shift: u32,
        relative: f64,
    },
    /// What lies between the multiples of a step.
    Steps {
        step: f64,
        absolute: f64,
    },
}

impl Mapping {
    /// For words of `bits` bits. A bound that no number could use is none.
    pub(crate) fn new(element: Element, bound: Bound, bits: u32) -> Self {
        let float = element.is_float();
        let digits = if bits == 64 { 53 } else { 24 };
        let inexact = match bound {
            // Rounding to 2^shift units in the last place errs by 2^(shift - digits) at most.
            Bound::Relative(relative) if float && relative > 0.0 => {
                match (relative.log2().floor() + f64::from(digits)).min(f64::from(digits - 1)) {
                    shift if shift >= 1.0 => Inexact::Bits {
                        shift: shift as u32,
                        relative,
                    },
                    _ => Inexact::Nothing,
                }
            }
            // The margin is for what the computation itself errs.
            Bound::Absolute(absolute) if float => match absolute * (2.0 - 2.0 / 512.0) {
                step if step.is_normal() && (1.0 / step).is_normal() => {
                    Inexact::Steps { step, absolute }
                }
                _ => Inexact::Nothing,
            },
            _ => Inexact::Nothing,
        };
        Mapping { float, inexact }
    }

    /// What [`Mapping::read`] needs.
    pub(crate) fn write(&self, out: &mut Writer<'_>) -> Option<()> {
        match self.inexact {
            Inexact::Nothing => out.put(&[0, u8::from(self.float)]),
            Inexact::Bits { shift, .. } => out.put(&[1, shift as u8]),
            Inexact::Steps { step, .. } => {
                out.put(&[2, 0])?;
                out.put(&step.to_le_bytes())
            }
        }
    }

    pub(crate) fn read(from: &mut Reader<'_>, bits: u32) -> Option<Self> {
        let [kind, value] = from.array()?;
        let inexact = match kind {
            0 => Inexact::Nothing,
            1 if u32::from(value) < bits => Inexact::Bits {
                shift: value.into(),
                relative: 0.0,
            },
            2 => Inexact::Steps {
                step: f64::from_le_bytes(from.array()?),
                absolute: 0.0,
            },
            _ => return None,
        };
        Some(Mapping {
            float: kind != 0 || value != 0,
            inexact,
        })
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.inexact == Inexact::Nothing
    }

    /// Without any loss.
    pub(crate) fn exact<W: Word>(&self, words: &Block<W>, integers: &mut Block<W>) {
        if self.float {
            for (integer, word) in integers.iter_mut().zip(words) {
                *integer = word.order_float();
            }
        } else {
            *integers = *words;
        }
    }

    pub(crate) fn restore_exact<W: Word>(&self, integers: &mut Block<W>) {
        if self.float {
            for integer in integers {
                *integer = integer.order_float();
            }
        }
    }

    /// Within the bound; false if a number of the block would break it.
    pub(crate) fn bounded<W: Word>(&self, words: &Block<W>, integers: &mut Block<W>) -> bool {
        let mut held = true;
        match self.inexact {
            Inexact::Nothing => return false,
            Inexact::Bits { shift, relative } => {
                for (integer, word) in integers.iter_mut().zip(words) {
                    *integer = word.order_float().round(shift);
                    let (sent, restored) =
                        (word.to_float(), restore_bits(*integer, shift).to_float());
                    held &=
                        (restored - sent).abs() <= relative * sent.abs() && restored.is_finite();
                }
            }
            Inexact::Steps { step, absolute } => {
                // Integers that stay exact, and whose differences fit.
                let most = if W::BITS == 64 {
                    (1_u64 << 44) as f64
                } else {
                    (1 << 29) as f64
                };
                let times = 1.0 / step;
                for (integer, word) in integers.iter_mut().zip(words) {
                    let sent = word.to_float();
                    let steps = sent * times;
                    let magic = steps + MAGIC;
                    *integer = W::from_u64(magic.to_bits().wrapping_sub(MAGIC.to_bits()));
                    let restored = W::from_float((magic - MAGIC) * step).to_float();
                    held &= (restored - sent).abs() <= absolute && restored.is_finite();
                    held &= steps.abs() < most;
                }
            }
        }
        held
    }

    pub(crate) fn restore_bounded<W: Word>(&self, integers: &mut Block<W>) {
        match self.inexact {
            Inexact::Nothing => self.restore_exact(integers),
            Inexact::Bits { shift, .. } => {
                for integer in integers {
                    *integer = restore_bits(*integer, shift);
                }
            }
            Inexact::Steps { step, .. } => {
                for integer in integers {
                    let magic = MAGIC.to_bits().wrapping_add(integer.to_i64() as u64);
                    *integer = W::from_float((f64::from_bits(magic) - MAGIC) * step);
                }
            }
        }
    }
}

#[inline]
fn restore_bits<W: Word>(integer: W, shift: u32) -> W {
    integer.shift_left(shift).order_float()
}
