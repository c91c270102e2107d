//! Where figures are taken: on how many ranks, in sessions with this label.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What tells figures of one benchmark and size apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunPlace {
    /// Number of ranks.
    pub ranks: u32,
    /// As the user said; empty if nothing was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

impl fmt::Display for RunPlace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let RunPlace { ranks, label } = self;
        let s = if *ranks == 1 { "" } else { "s" };
        match label.is_empty() {
            true => write!(f, "{ranks} rank{s}"),
            false => write!(f, "{ranks} rank{s}, {label}"),
        }
    }
}
