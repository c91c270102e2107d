//! Targets for fuzzing: see [`crate::fuzz`].

use super::aside::{Aside, LONGEST};
use super::inquiry::Context;
use super::report;
use super::said::Said;

/// What a member of a communicator tells another besides its messages: a tag
/// (4 bytes), and what the message says.
pub fn aside(data: &[u8]) {
    let Some((tag, bytes)) = data.split_first_chunk() else {
        return;
    };
    let tag = i32::from_ne_bytes(*tag);
    if let Some(aside) = Aside::read(tag) {
        assert_eq!(aside.tag(), tag);
    }
    if let Some(said) = Said::read(bytes) {
        assert_eq!(Said::read(&said.to_bytes()), Some(said));
        assert!(!said.to_string().is_empty());
    }
    if let Some(context) = Context::read(bytes) {
        assert_eq!(context.to_bytes(), bytes);
    }
    let error = report::read("rank 3", bytes);
    assert!(error.text().len() <= "rank 3 gave the call up: ".len() + 3 * bytes.len());
    assert!(report::to_bytes(&error).len() <= LONGEST);
}
