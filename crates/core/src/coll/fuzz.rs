//! Targets for fuzzing: see [`crate::fuzz`].

use super::control::{CallControl, LONGEST};
use super::inquiry::Context;
use super::report;
use super::signature::CallSignature;

/// What a member of a communicator tells another besides its messages: a tag
/// (4 bytes), and what the message says.
pub fn call(data: &[u8]) {
    let Some((tag, bytes)) = data.split_first_chunk() else {
        return;
    };
    let tag = i32::from_ne_bytes(*tag);
    if let Some(control) = CallControl::read(tag) {
        assert_eq!(control.tag(), tag);
    }
    if let Some(signature) = CallSignature::read(bytes) {
        assert_eq!(CallSignature::read(&signature.to_bytes()), Some(signature));
        assert!(!signature.to_string().is_empty());
    }
    if let Some(context) = Context::read(bytes) {
        assert_eq!(context.to_bytes(), bytes);
    }
    let error = report::read("rank 3", bytes);
    assert!(error.text().len() <= "rank 3 gave the call up: ".len() + 3 * bytes.len());
    assert!(report::to_bytes(&error).len() <= LONGEST);
}
