//! Row 0: typed configuration variables.
//!
//! A setting is defined beside the code that reads it, with [`setting!`]. Its
//! value comes from the first of these that names it (see [`Origin`]):
//!
//! 1. the command line of the launcher (`mpirun --set NAME=value`),
//! 2. the environment (`CATENA_NAME=value`),
//! 3. the configuration file (`$CATENA_CONF`, else `~/.config/catena.conf`;
//!    lines `NAME = value`, `#` starts a comment),
//! 4. the profile that `catena tune` has measured, for settings of which no result depends
//!    ([`profile`]),
//! 5. its default.
//!
//! The launcher reads the file once and hands on what it says ([`FILE`]). Settings of
//! [`Scope::AllEqual`] are compared where processes meet ([`Registry::equal`], [`difference`]).
//!
//! Each crate lists its settings in a `pub static SETTINGS: &[&dyn Setting]`;
//! a [`Registry`] joins the lists, to show them and to find misspelt names.
//! Nothing here prints: warnings are values, and the caller decides which of
//! the processes of a job says them.
//!
//! ```
//! use catena_settings::{Bytes, Setting, setting};
//!
//! setting! {
//!     /// Largest message sent eagerly through shared memory.
//!     ///
//!     /// Longer messages use rendezvous.
//!     pub static SHM_EAGER_MAX: Bytes = Bytes::kib(8);
//!     range: Bytes::ZERO..=Bytes::kib(64),
//!     scope: AllEqual,
//!     level: Tuner,
//! }
//!
//! pub static SETTINGS: &[&dyn Setting] = &[&SHM_EAGER_MAX];
//! assert_eq!(SHM_EAGER_MAX.get(), Bytes::kib(8));
//! ```

#![forbid(unsafe_code)]

mod equal;
mod file;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub mod profile;
mod registry;
mod source;
mod value;
mod var;
mod warning;

pub use equal::difference;
pub use file::CONF;
pub use profile::Tuned;
pub use registry::{Registry, nearest, reserved, unknown};
pub use source::{COMMAND_LINE, FILE, Origin, PREFIX, Sources};
pub use value::{Bytes, Plain, Text, Value};
pub use var::{Change, Level, Scope, Setting, Spec, Var, changes};
pub use warning::Warning;

/// Defines settings.
///
/// After the `;` come `range:` (optional), `scope:` ([`Scope`]), `level:`
/// ([`Level`]), `change:` ([`Change`]; `BeforeInit` if it is left out) and `tuned:`
/// ([`Tuned`]; `Never` if it is left out), in this order. The environment variable is `CATENA_`
/// followed by the name.
#[macro_export]
macro_rules! setting {
    ($(
        $(#[doc = $doc:literal])+
        $vis:vis static $name:ident: $ty:ty = $default:expr;
        $(range: $range:expr,)?
        scope: $scope:ident,
        level: $level:ident $(,)?
        $(change: $change:ident $(,)?)?
        $(tuned: $tuned:ident $(,)?)?
    )+) => {$(
        $(#[doc = $doc])+
        $vis static $name: $crate::Var<$ty> = $crate::Var::new($crate::Spec {
            name: stringify!($name),
            doc: concat!($($doc, "\n"),+),
            default: $default,
            range: $crate::setting!(@range $($range)?),
            scope: $crate::Scope::$scope,
            level: $crate::Level::$level,
            change: $crate::setting!(@change $($change)?),
            tuned: $crate::setting!(@tuned $($tuned)?),
        });
    )+};
    (@change) => { $crate::Change::BeforeInit };
    (@change $change:ident) => { $crate::Change::$change };
    (@tuned) => { $crate::Tuned::Never };
    (@tuned $tuned:ident) => { $crate::Tuned::$tuned };
    (@range) => { None };
    (@range $range:expr) => {{
        let range = $range;
        Some((*range.start(), *range.end()))
    }};
}

/// Defines an enum whose variants a setting can take by name.
///
/// ```
/// catena_settings::choice! {
///     /// What ranks are bound to.
///     pub enum BindTo {
///         /// Nothing.
///         None = "none",
///         /// One core each.
///         Core = "core",
///     }
/// }
/// use catena_settings::Value;
/// assert_eq!(BindTo::parse("core"), Ok(BindTo::Core));
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $($(#[$vmeta])* $variant),+
        }

        impl $crate::Value for $name {
            const KIND: &'static str = "choice";

            fn choices() -> &'static [&'static str] {
                &[$($text),+]
            }

            fn parse(text: &str) -> Result<Self, String> {
                $(if text.eq_ignore_ascii_case($text) {
                    return Ok($name::$variant);
                })+
                Err(format!("it must be one of: {}", [$($text),+].join(", ")))
            }

            fn show(self) -> String {
                match self {
                    $($name::$variant => $text.to_string()),+
                }
            }

            fn to_bits(self) -> u64 {
                self as u64
            }

            fn from_bits(bits: u64) -> Self {
                *[$($name::$variant),+].get(bits as usize).expect("bits come from to_bits")
            }
        }
    };
}
