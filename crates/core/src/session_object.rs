//! A session as an object: what it was granted, its error handler and its buffer.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi as abi;
use catena_objects::errhandler::{ErrhandlerRef, HasErrhandler};
use catena_objects::info::Info;

use crate::attached::Slot;

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Its own handle.
    pub handle: Cell<abi::Session>,
    /// Error handler.
    pub errhandler: RefCell<ErrhandlerRef>,
    /// What it was granted.
    pub info: Arc<Info>,
    /// Buffer for buffered sends on communicators of this session.
    pub buffer: Slot,
}

impl HasErrhandler for Session {
    fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
        &self.errhandler
    }

    fn called(&self) -> String {
        "a session".to_owned()
    }
}
