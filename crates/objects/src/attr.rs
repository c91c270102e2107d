//! Cached attributes (MPI-5, chapter 7.7): values that libraries attach to
//! communicators, datatypes and windows, with callbacks on copy and delete.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Weak};

use crate::callback::{CopyFn, DeleteFn, Foreign};
use crate::error::{Error, Kind, Result};
use crate::fail;
use crate::state::State;

/// Kinds of object that carry attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Carrier {
    Comm,
    Type,
    Win,
}

/// What happens to an attribute when its object is duplicated.
#[derive(Clone, Copy, Debug)]
pub enum OnCopy {
    /// `MPI_NULL_COPY_FN`: it is not copied.
    Drop,
    /// `MPI_DUP_FN`: its value is copied.
    Keep,
    /// The program's function decides.
    Call(Foreign<CopyFn>),
}

/// A key under which attributes are attached.
#[derive(Debug)]
pub struct Keyval {
    /// Its number.
    pub id: i32,
    /// What it may be used on.
    pub carrier: Carrier,
    /// Copy callback.
    pub copy: OnCopy,
    /// Delete callback, if there is one.
    pub delete: Option<Foreign<DeleteFn>>,
    /// Passed to the callbacks.
    pub extra_state: State,
}

/// All keyvals of the process.
#[derive(Debug, Default)]
pub struct Keyvals {
    live: RefCell<BTreeMap<i32, Arc<Keyval>>>,
    /// Freed ones, which live on as long as an attribute under them does.
    freed: RefCell<BTreeMap<i32, Weak<Keyval>>>,
    made: Cell<i32>,
}

/// Numbers below are the predefined attribute keys of the ABI.
const FIRST_KEYVAL: i32 = 1 << 16;

impl Keyvals {
    /// Makes a keyval.
    pub fn create(
        &self,
        carrier: Carrier,
        copy: OnCopy,
        delete: Option<Foreign<DeleteFn>>,
        extra_state: State,
    ) -> i32 {
        let id = FIRST_KEYVAL + self.made.get();
        self.made.set(self.made.get() + 1);
        let keyval = Keyval {
            id,
            carrier,
            copy,
            delete,
            extra_state,
        };
        self.live.borrow_mut().insert(id, keyval.into());
        id
    }

    /// The keyval of this number, to attach a value under it.
    ///
    /// # Errors
    /// `Keyval` if there is none, or it is for another kind of object.
    pub fn get(&self, carrier: Carrier, id: i32) -> Result<Arc<Keyval>> {
        Keyvals::check(self.live.borrow().get(&id).cloned(), carrier, id)
    }

    /// The keyval of this number, to look at or delete values: also one that was
    /// freed while it was in use (MPI-5, 7.7.2).
    ///
    /// # Errors
    /// `Keyval` if there is none, or it is for another kind of object.
    pub fn find(&self, carrier: Carrier, id: i32) -> Result<Arc<Keyval>> {
        let live = self.live.borrow().get(&id).cloned();
        let freed = || self.freed.borrow().get(&id).and_then(Weak::upgrade);
        Keyvals::check(live.or_else(freed), carrier, id)
    }

    fn check(found: Option<Arc<Keyval>>, carrier: Carrier, id: i32) -> Result<Arc<Keyval>> {
        match found {
            Some(k) if k.carrier == carrier => Ok(k),
            Some(k) => fail!(
                Keyval,
                "keyval {id} is for {:?} attributes, not for {carrier:?} \
                attributes",
                k.carrier
            ),
            None => fail!(Keyval, "{id} is not a keyval, or was freed"),
        }
    }

    /// Frees a keyval. Attributes that exist under it stay until they go, and
    /// their delete callbacks may free it once more.
    ///
    /// # Errors
    /// As [`Keyvals::find`].
    pub fn free(&self, carrier: Carrier, id: i32) -> Result<()> {
        let old = self.find(carrier, id)?;
        self.live.borrow_mut().remove(&id);
        let mut freed = self.freed.borrow_mut();
        // Now and then, so that many can be freed in little time.
        if freed.len().is_power_of_two() {
            freed.retain(|_, k| k.strong_count() > 0);
        }
        freed.insert(id, Arc::downgrade(&old));
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct Attribute {
    keyval: Arc<Keyval>,
    value: *mut c_void,
}

/// The attributes of one object.
///
/// # Examples
/// ```
/// use std::ptr::without_provenance_mut;
///
/// use catena_objects::attr::{Attributes, Carrier, Keyvals, OnCopy};
/// use catena_objects::state::State;
///
/// let keyvals = Keyvals::default();
/// let state = State::from(without_provenance_mut(0));
/// let id = keyvals.create(Carrier::Comm, OnCopy::Keep, None, state);
/// let (key, comm) = (keyvals.get(Carrier::Comm, id)?, 0x100);
///
/// let attributes = Attributes::default();
/// attributes.set(comm, key.clone(), without_provenance_mut(7))?;
/// assert_eq!(attributes.copies(comm)?.get(&key), Some(without_provenance_mut(7)));
/// # Ok::<(), catena_objects::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Attributes {
    /// In the order in which they were attached.
    list: RefCell<Vec<Attribute>>,
}

fn callback_failed(what: &str, id: i32, code: c_int) -> Error {
    Error::new(
        Kind::Code(code),
        format!("the {what} callback of keyval {id} returned {code}"),
    )
}

impl Attributes {
    /// Takes over the attributes of `other`, which replace those here.
    pub fn take(&self, other: Attributes) {
        self.list.replace(other.list.into_inner());
    }

    /// The value under `keyval`.
    pub fn get(&self, keyval: &Keyval) -> Option<*mut c_void> {
        self.list
            .borrow()
            .iter()
            .find(|a| a.keyval.id == keyval.id)
            .map(|a| a.value)
    }

    /// Attaches `value`; an older one is deleted first.
    ///
    /// # Errors
    /// What the delete callback returns; nothing changes then.
    pub fn set(&self, handle: usize, keyval: Arc<Keyval>, value: *mut c_void) -> Result<()> {
        self.call_delete(handle, keyval.id)?;
        let mut list = self.list.borrow_mut();
        match list.iter_mut().find(|a| a.keyval.id == keyval.id) {
            Some(a) => a.value = value,
            None => list.push(Attribute { keyval, value }),
        }
        Ok(())
    }

    /// Deletes the value under the keyval, if there is one.
    ///
    /// # Errors
    /// What the delete callback returns; the attribute stays then.
    pub fn delete(&self, handle: usize, id: i32) -> Result<()> {
        self.call_delete(handle, id)?;
        self.list.borrow_mut().retain(|a| a.keyval.id != id);
        Ok(())
    }

    /// Deletes all, the last attached first.
    ///
    /// # Errors
    /// The first that a delete callback returns; the rest stays.
    pub fn delete_all(&self, handle: usize) -> Result<()> {
        loop {
            let last = self.list.borrow().last().map(|a| a.keyval.id);
            match last {
                Some(id) => self.delete(handle, id)?,
                None => return Ok(()),
            }
        }
    }

    fn call_delete(&self, handle: usize, id: i32) -> Result<()> {
        // The callback may call MPI, also on this object: nothing is borrowed.
        let there = self
            .list
            .borrow()
            .iter()
            .find(|a| a.keyval.id == id)
            .cloned();
        let Some(Attribute { keyval, value }) = there else {
            return Ok(());
        };
        if let Some(delete) = keyval.delete {
            let state = keyval.extra_state.value();
            let code = delete.call(|f| f(handle, id, value, state));
            if code != 0 {
                return Err(callback_failed("delete", id, code));
            }
        }
        Ok(())
    }

    /// The attributes that a duplicate of the object gets.
    ///
    /// # Errors
    /// What a copy callback returns.
    pub fn copies(&self, handle: usize) -> Result<Attributes> {
        let from = self.list.borrow().clone();
        let mut list = Vec::new();
        for Attribute { keyval, value } in from {
            match keyval.copy {
                OnCopy::Drop => {}
                OnCopy::Keep => list.push(Attribute { keyval, value }),
                OnCopy::Call(copy) => {
                    let mut out: *mut c_void = std::ptr::null_mut();
                    let mut flag: c_int = 0;
                    let slot = (&raw mut out).cast();
                    let state = keyval.extra_state.value();
                    let code =
                        copy.call(|f| f(handle, keyval.id, state, value, slot, &raw mut flag));
                    if code != 0 {
                        return Err(callback_failed("copy", keyval.id, code));
                    }
                    if flag != 0 {
                        list.push(Attribute { keyval, value: out });
                    }
                }
            }
        }
        Ok(Attributes {
            list: RefCell::new(list),
        })
    }
}
