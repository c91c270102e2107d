//! Row 8: the library as a whole: `core`, and what stands above it, in one list. A new crate is a
//! line here, or two.
//!
//! # Examples
//! ```
//! catena_library::list();
//! assert!(catena_core::settings::registry().find("RMA_REMOTE").is_some());
//! ```

#![forbid(unsafe_code)]

use catena_core::components::{self, Component};
use catena_core::listing::{self, Listing};

/// What crates above `core` list.
static LISTINGS: [Listing; 2] = [catena_rma::LISTING, catena_io::LISTING];

/// What they do at moments that only `core` sees, in the order in which they are called.
static COMPONENTS: [&dyn Component; 2] = [catena_ft::COMPONENT, catena_dynamic::COMPONENT];

/// Makes known what all crates list. To be called before settings or variables are listed; again
/// does nothing.
pub fn list() {
    listing::register(&LISTINGS);
}

/// Joins all crates to the library. To be called before that is first initialised; again does
/// nothing.
pub fn assemble() {
    list();
    components::register(&COMPONENTS);
    catena_trace::count_by(catena_mpit::counts);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt::Debug;

    use catena_mpit::catalog;

    fn all_differ<T: std::hash::Hash + Eq + Debug>(names: impl Iterator<Item = T>) {
        let mut seen = HashSet::new();
        for name in names {
            assert!(!seen.contains(&name), "{name:?} occurs twice");
            seen.insert(name);
        }
    }

    #[test]
    fn what_the_crates_add_is_listed_once() {
        super::list();
        let catalog = catalog();
        all_differ(catalog.cvars.iter().map(|it| &it.name));
        all_differ(catalog.pvars.iter().map(|it| (&it.name, it.class.name())));
        let is_listed = |name: &str| catalog.pvars.iter().any(|it| it.name == name);
        assert!(is_listed("files_read_bytes") && is_listed("file_aggregators"));
        assert!(catalog.cvar_index("CATENA_RMA_LATENCY").is_ok());
        for pvar in &catalog.pvars {
            let has_it = |name: &str| *name == pvar.area;
            assert!(
                catalog.categories.iter().any(|it| has_it(&it.name)),
                "{pvar:?}"
            );
        }
    }
}
