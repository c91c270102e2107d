//! Atomics of what a model is made of: `tests/loom_changes.rs` has others in their place.

pub(crate) use std::sync::atomic::{AtomicU32, Ordering, fence};
