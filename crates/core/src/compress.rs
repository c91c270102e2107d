//! Which messages are compressed on their way over networks, and how exact they have to arrive.
//!
//! [`COMPRESS`] says so for all communicators, and hints for one (`MPI_Comm_set_info`, MPI-5,
//! chapter 7.4.4):
//!
//! | hint                         | value                                                 |
//! |------------------------------|-------------------------------------------------------|
//! | `catena_compress`            | `off`, `lossless` or `auto`, as [`COMPRESS`] has them  |
//! | `catena_compress_error_abs`  | how far a floating-point number may be off            |
//! | `catena_compress_error_rel`  | likewise, as a part of its absolute value             |
//!
//! What counts is what the sender has set; whether it pays is the receiver's business
//! ([`Endpoint::compress_messages`](catena_link::Endpoint::compress_messages)).

use catena_datatype::{Basic, Kinds, Scalar, TypeRef};
use catena_link::{Bound, Element, Numbers};
use catena_objects::error::Result;
use catena_objects::fail;
use catena_objects::info::Info;
use catena_settings::{Setting, Value, choice, setting};

/// Bytes of messages that are worth it, at least: those that networks announce are longer.
pub(crate) const LEAST: u64 = 32 << 10;

const MODE: &str = "catena_compress";
const ABSOLUTE: &str = "catena_compress_error_abs";
const RELATIVE: &str = "catena_compress_error_rel";

choice! {
    /// Whether long messages are compressed.
    pub enum Compress {
        /// No.
        Off = "off",
        /// Where that is faster, so that each bit arrives.
        Lossless = "lossless",
        /// As `lossless`, and within the bounds that the program has given.
        Auto = "auto",
    }
}

setting! {
    /// Whether long messages over networks are compressed where that is faster.
    ///
    /// `lossless`: each bit arrives. `auto`: on communicators for which the program gives a bound
    /// by info keys, floating-point numbers arrive within that. Messages on a node never are.
    pub static COMPRESS: Compress = Compress::Off;
    scope: AllEqual,
    level: User,
}

/// The setting of this module.
pub static SETTINGS: &[&dyn Setting] = &[&COMPRESS];

/// What the program has said for a communicator.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    mode: Compress,
    bound: Bound,
}

impl Wishes {
    /// What the setting says.
    pub fn from_settings() -> Self {
        Wishes {
            mode: COMPRESS.get(),
            bound: Bound::Exact,
        }
    }

    /// With what an info object says.
    ///
    /// # Errors
    /// `InfoValue` for values that mean nothing.
    pub fn with(self, hints: &Info) -> Result<Self> {
        let mut wishes = self;
        if let Some(mode) = hints.hint(MODE) {
            wishes.mode = match Compress::parse(&mode) {
                Ok(mode) => mode,
                Err(cause) => fail!(
                    InfoValue,
                    "the value of info key '{MODE}' is '{mode}': {cause}"
                ),
            };
        }
        let amount = |key| -> Result<Option<f64>> {
            let Some(text) = hints.hint(key) else {
                return Ok(None);
            };
            match text.trim().parse::<f64>() {
                Ok(it) if it >= 0.0 && it.is_finite() => Ok(Some(it)),
                _ => fail!(
                    InfoValue,
                    "the value of info key '{key}' is '{text}': it must be a number that is not negative"
                ),
            }
        };
        wishes.bound = match (amount(ABSOLUTE)?, amount(RELATIVE)?) {
            (None, None) => wishes.bound,
            (Some(absolute), None) => Bound::Absolute(absolute),
            (None, Some(relative)) => Bound::Relative(relative),
            (Some(_), Some(_)) => fail!(
                InfoValue,
                "the info object has both {ABSOLUTE} and {RELATIVE}: give one of them"
            ),
        };
        Ok(wishes)
    }

    /// Whether anything is compressed.
    pub fn is_off(&self) -> bool {
        self.mode == Compress::Off
    }

    /// What a message of `count` elements consists of, if it is to be compressed.
    #[inline]
    pub(crate) fn numbers(&self, count: u64, ty: &TypeRef) -> Option<Numbers> {
        if self.is_off() || count.saturating_mul(ty.size()) < LEAST {
            return None;
        }
        let bound = match self.mode {
            Compress::Auto => self.bound,
            _ => Bound::Exact,
        };
        let element = ty.basic().map_or(Element::Bytes, element);
        Some(Numbers { element, bound })
    }

    /// What elements of these kinds are, in a collective: exact ones, as schedules may cut them
    /// anywhere.
    #[inline]
    pub(crate) fn numbers_of(&self, kinds: Kinds) -> Option<Numbers> {
        if self.is_off() {
            return None;
        }
        let element = match kinds.class() {
            3 => Element::I32,
            4 => Element::I64,
            7 => Element::F32,
            8 => Element::F64,
            _ => Element::Bytes,
        };
        let bound = Bound::Exact;
        Some(Numbers { element, bound })
    }

    /// As hints that are followed.
    pub(crate) fn tell(&self, info: &Info) -> Result<()> {
        if self.is_off() {
            return Ok(());
        }
        info.set(MODE, self.mode.show())?;
        match self.bound {
            Bound::Absolute(most) => info.set(ABSOLUTE, most.to_string()),
            Bound::Relative(most) => info.set(RELATIVE, most.to_string()),
            Bound::Exact => Ok(()),
        }
    }
}

/// The numbers that elements of a predefined type are; bytes if they are none that can be made
/// shorter as such.
fn element(basic: Basic) -> Element {
    let Basic::Scalar(scalar) = basic else {
        return Element::Bytes;
    };
    match (scalar.real_part().unwrap_or(scalar), scalar.size()) {
        (Scalar::Float32, _) => Element::F32,
        (Scalar::Float64, _) => Element::F64,
        (Scalar::Int32 | Scalar::UInt32, _) => Element::I32,
        (Scalar::Int64 | Scalar::UInt64 | Scalar::Long | Scalar::ULong, 8) => Element::I64,
        _ => Element::Bytes,
    }
}
