//! What the crates above this one list: their settings and their performance variables. Nothing
//! here names one of these crates. Whoever uses the library, or only shows what there is, registers
//! the lists of all, once, before any is read.

use std::fmt;
use std::sync::OnceLock;

use catena_settings::Setting;

use crate::variables::Pvar;

/// What a crate above this one has to be listed.
///
/// # Examples
/// A crate with one setting, and no variables:
/// ```
/// use catena_core::listing::{self, Listing};
/// use catena_settings::setting;
///
/// setting! {
///     /// How long a window may be.
///     pub static WINDOW_MAX: u64 = 1 << 20;
///     scope: Local,
///     level: Developer,
/// }
///
/// static ALL: [Listing; 1] = [Listing {
///     settings: &[&WINDOW_MAX],
///     ..Listing::NOTHING
/// }];
///
/// listing::register(&ALL);
/// assert!(catena_core::settings::registry().find("WINDOW_MAX").is_some());
/// ```
#[derive(Clone, Copy)]
pub struct Listing {
    /// The settings that the crate reads.
    pub settings: &'static [&'static dyn Setting],
    /// Lists its performance variables behind those of others.
    pub variables: fn(&mut Vec<Pvar>),
}

impl Listing {
    /// No settings, and no variables.
    pub const NOTHING: Listing = Listing {
        settings: &[],
        variables: |_| {},
    };
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.settings.iter().map(|it| it.name());
        f.debug_list().entries(names).finish()
    }
}

static LISTINGS: OnceLock<&'static [Listing]> = OnceLock::new();

/// Says what all crates list. The first call counts: whoever joins the crates has one list.
pub fn register(listings: &'static [Listing]) {
    let _ = LISTINGS.set(listings);
}

/// All that were registered.
pub fn all() -> &'static [Listing] {
    LISTINGS.get().copied().unwrap_or_default()
}
