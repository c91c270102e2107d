//! Cached attributes (MPI-5, chapter 7.7): values that libraries attach to
//! communicators, datatypes and windows, with callbacks on copy and delete.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
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
    /// Its number among those of its object.
    number: u64,
    /// Its delete callback is being called: nobody else calls that.
    leaves: bool,
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
    list: RefCell<List>,
    /// How many have been attached.
    made: Cell<u64>,
}

/// Attributes by their numbers, in the order in which they were attached. Under a keyval there is
/// one at most that does not leave. Whatever is done with one costs little, however many there are.
#[derive(Clone, Debug, Default)]
struct List {
    by_number: BTreeMap<u64, Attribute>,
    /// The numbers under each keyval, ascending.
    of_keyval: HashMap<i32, Vec<u64>>,
}

impl List {
    fn push(&mut self, attribute: Attribute) {
        let (id, number) = (attribute.keyval.id, attribute.number);
        self.of_keyval.entry(id).or_default().push(number);
        self.by_number.insert(number, attribute);
    }

    fn remove(&mut self, number: u64) {
        let Some(gone) = self.by_number.remove(&number) else {
            return;
        };
        if let Entry::Occupied(mut numbers) = self.of_keyval.entry(gone.keyval.id) {
            numbers.get_mut().retain(|it| *it != number);
            if numbers.get().is_empty() {
                numbers.remove();
            }
        }
    }

    /// The number of the one under that keyval that does not leave.
    fn staying(&self, id: i32) -> Option<u64> {
        let numbers = self.of_keyval.get(&id)?.iter().copied();
        numbers.into_iter().find(|it| !self.by_number[it].leaves)
    }
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
        self.made.set(self.made.get().max(other.made.get()));
        self.list.replace(other.list.into_inner());
    }

    fn push(&self, keyval: Arc<Keyval>, value: *mut c_void) {
        let number = self.made.get();
        self.made.set(number + 1);
        let mut list = self.list.borrow_mut();
        list.push(Attribute {
            keyval,
            value,
            number,
            leaves: false,
        });
    }

    /// The value under `keyval`, which may be about to leave.
    pub fn get(&self, keyval: &Keyval) -> Option<*mut c_void> {
        let list = self.list.borrow();
        // A new one stands behind those that leave.
        let last = list.of_keyval.get(&keyval.id)?.last()?;
        Some(list.by_number[last].value)
    }

    /// Attaches `value`; older ones are deleted first, also one that another thread attaches
    /// meanwhile.
    ///
    /// # Errors
    /// What the delete callback returns; nothing changes then.
    pub fn set(&self, handle: usize, keyval: Arc<Keyval>, value: *mut c_void) -> Result<()> {
        while self.delete_one(handle, keyval.id)? {}
        self.push(keyval, value);
        Ok(())
    }

    /// Deletes the value under the keyval, if there is one. One whose delete callback is being
    /// called, by another thread say, counts as none.
    ///
    /// # Errors
    /// What the delete callback returns; the attribute stays then.
    pub fn delete(&self, handle: usize, id: i32) -> Result<()> {
        self.delete_one(handle, id).map(drop)
    }

    /// Deletes all, the last attached first.
    ///
    /// # Errors
    /// The first that a delete callback returns; the rest stays.
    pub fn delete_all(&self, handle: usize) -> Result<()> {
        loop {
            let list = self.list.borrow();
            let last = list.by_number.values().rev().find(|a| !a.leaves);
            let Some(id) = last.map(|a| a.keyval.id) else {
                return Ok(());
            };
            drop(list);
            self.delete_one(handle, id)?;
        }
    }

    /// Deletes the value under the keyval; false if there is none. It is marked in the step that
    /// finds it, so that its callback is called once whatever other threads, or the callback
    /// itself, do meanwhile.
    fn delete_one(&self, handle: usize, id: i32) -> Result<bool> {
        let found = {
            let mut list = self.list.borrow_mut();
            let found = list.staying(id);
            found.and_then(|number| {
                let attribute = list.by_number.get_mut(&number)?;
                attribute.leaves = true;
                Some(attribute.clone())
            })
        };
        let Some(Attribute {
            keyval,
            value,
            number,
            ..
        }) = found
        else {
            return Ok(false);
        };
        // The callback may call MPI, also on this object: nothing is borrowed.
        let code = keyval.delete.map_or(0, |delete| {
            let state = keyval.extra_state.value();
            delete.call(|f| f(handle, id, value, state))
        });
        let mut list = self.list.borrow_mut();
        if code == 0 {
            list.remove(number);
            return Ok(true);
        }
        if let Some(stays) = list.by_number.get_mut(&number) {
            stays.leaves = false;
        }
        Err(callback_failed("delete", id, code))
    }

    /// The attributes that a duplicate of the object gets.
    ///
    /// # Errors
    /// What a copy callback returns.
    pub fn copies(&self, handle: usize) -> Result<Attributes> {
        let from = self.list.borrow().by_number.clone().into_values();
        let copies = Attributes::default();
        for Attribute { keyval, value, .. } in from.filter(|a| !a.leaves) {
            match keyval.copy {
                OnCopy::Drop => {}
                OnCopy::Keep => copies.push(keyval, value),
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
                        copies.push(keyval, out);
                    }
                }
            }
        }
        Ok(copies)
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::without_provenance_mut;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    /// What a callback works on: the attributes, and how often it was called.
    struct Object {
        attributes: Attributes,
        keyvals: Keyvals,
        calls: AtomicU32,
        fails: Cell<bool>,
    }

    /// Tries to delete the attribute that is being deleted, and sees its value.
    extern "C" fn nosy(_: usize, id: c_int, value: *mut c_void, state: *mut c_void) -> c_int {
        // SAFETY: the test gives its object, which outlives the call.
        let object = unsafe { &*state.cast::<Object>() };
        if object.calls.fetch_add(1, Relaxed) > 0 {
            return 0;
        }
        let keyval = object.keyvals.get(Carrier::Comm, id).expect("it is there");
        assert_eq!(object.attributes.get(&keyval), Some(value));
        assert!(object.attributes.delete(1, id).is_ok());
        assert!(object.attributes.delete_all(1).is_ok());
        if object.fails.get() {
            return 7;
        }
        // As another thread may do meanwhile.
        let new = without_provenance_mut(9);
        assert!(object.attributes.set(1, keyval.clone(), new).is_ok());
        assert_eq!(object.attributes.get(&keyval), Some(new));
        0
    }

    fn object() -> (Box<Object>, Arc<Keyval>) {
        let object = Box::new(Object {
            attributes: Attributes::default(),
            keyvals: Keyvals::default(),
            calls: AtomicU32::new(0),
            fails: Cell::default(),
        });
        let state = State::from((&raw const *object).cast_mut().cast());
        let keyvals = &object.keyvals;
        let delete = Foreign::new(nosy as DeleteFn);
        let id = keyvals.create(Carrier::Comm, OnCopy::Keep, Some(delete), state);
        let keyval = keyvals.get(Carrier::Comm, id).expect("it is there");
        let old = without_provenance_mut(5);
        assert!(object.attributes.set(1, keyval.clone(), old).is_ok());
        (object, keyval)
    }

    #[test]
    fn a_value_is_deleted_once_whatever_happens_meanwhile() {
        let (object, keyval) = object();
        assert!(object.attributes.delete(1, keyval.id).is_ok());
        assert_eq!(object.calls.load(Relaxed), 1);
        let new = without_provenance_mut(9);
        assert_eq!(object.attributes.get(&keyval), Some(new), "it came later");
        assert!(object.attributes.delete_all(1).is_ok());
        assert_eq!(object.calls.load(Relaxed), 2);
        assert_eq!(object.attributes.get(&keyval), None);
    }

    #[test]
    fn what_is_set_replaces_what_comes_meanwhile() {
        let (object, keyval) = object();
        let last = without_provenance_mut(6);
        assert!(object.attributes.set(1, keyval.clone(), last).is_ok());
        assert_eq!(object.calls.load(Relaxed), 2, "each value is deleted");
        assert_eq!(object.attributes.get(&keyval), Some(last));
        assert_eq!(
            object
                .attributes
                .copies(1)
                .expect("copied")
                .list
                .borrow()
                .by_number
                .len(),
            1
        );
    }

    #[test]
    fn what_cannot_be_deleted_stays() {
        let (object, keyval) = object();
        object.fails.set(true);
        assert!(object.attributes.delete(1, keyval.id).is_err());
        assert_eq!(
            object.attributes.get(&keyval),
            Some(without_provenance_mut(5))
        );
        assert!(object.attributes.delete(1, keyval.id).is_ok());
        assert_eq!(object.calls.load(Relaxed), 2);
    }
}
