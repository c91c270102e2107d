//! What is told of settings that are not right.

use std::fmt;

/// Something is wrong with what the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about, as the user wrote it.
    pub subject: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.subject, self.cause, self.remedy)
    }
}
