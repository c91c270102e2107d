//! Address vectors: who is known by which number, as a list of what was inserted and removed that
//! each endpoint carries out for itself.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};

use crate::host;
use crate::object::{free, no_bind, no_control, no_ops_open, of};
use crate::queue::lock;
use crate::sys::{Addr, AvAttr, AvOps, Fid, FidAv, FidOps, class, err, num};

/// Bytes of an address: the length of the short form of an address record, the record, zeros.
pub const ADDRESS: usize = 64;

/// An address.
pub type Address = [u8; ADDRESS];

/// The address that a record is; `None` if it is too long.
pub fn address_of(record: &[u8]) -> Option<Address> {
    let mut address = [0; ADDRESS];
    let (len, rest) = address.split_first_mut()?;
    rest.get_mut(..record.len())?.copy_from_slice(record);
    *len = record.len() as u8;
    Some(address)
}

/// The record that an address is; empty if it is damaged.
pub fn record_of(address: &Address) -> &[u8] {
    let len = usize::from(address[0]);
    address.get(1..1 + len).unwrap_or_default()
}

/// What became of a number of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is that address's from now on.
    Inserted(Addr, Address),
    /// It is nobody's.
    Removed(Addr),
}

#[derive(Default)]
struct Known {
    /// By number.
    now: Vec<Option<Address>>,
    free: Vec<usize>,
    changes: Vec<Change>,
}

/// An address vector itself.
#[derive(Default)]
pub struct Vector {
    known: Mutex<Known>,
    /// How many changes there were.
    changed: AtomicUsize,
    users: AtomicUsize,
}

impl Vector {
    /// Whether something has changed since there were as many changes.
    #[inline]
    pub fn has_changed_since(&self, seen: usize) -> bool {
        self.changed.load(Acquire) != seen
    }

    /// What has changed since then.
    pub fn changes_since(&self, seen: usize) -> Vec<Change> {
        lock(&self.known).changes[seen..].to_vec()
    }

    /// One more endpoint uses it, or one less.
    pub fn use_it(&self, begins: bool) {
        match begins {
            true => self.users.fetch_add(1, Release),
            false => self.users.fetch_sub(1, Release),
        };
    }

    fn insert(&self, address: Address) -> Addr {
        let mut known = lock(&self.known);
        let at = match known.free.pop() {
            Some(at) => at,
            None => {
                known.now.push(None);
                known.now.len() - 1
            }
        };
        known.now[at] = Some(address);
        known.changes.push(Change::Inserted(at as Addr, address));
        self.changed.store(known.changes.len(), Release);
        at as Addr
    }

    fn remove(&self, addr: Addr) -> bool {
        let mut known = lock(&self.known);
        let at = addr as usize;
        if known.now.get_mut(at).and_then(Option::take).is_none() {
            return false;
        }
        known.free.push(at);
        known.changes.push(Change::Removed(addr));
        self.changed.store(known.changes.len(), Release);
        true
    }

    fn lookup(&self, addr: Addr) -> Option<Address> {
        *lock(&self.known).now.get(usize::try_from(addr).ok()?)?
    }
}

/// An address vector as an object.
#[repr(C)]
pub struct AvObject {
    fid: FidAv,
    pub vector: Arc<Vector>,
}

static FID_OPS: FidOps = FidOps {
    size: size_of::<FidOps>(),
    close,
    bind: no_bind,
    control: no_control,
    ops_open: no_ops_open,
};

static OPS: AvOps = AvOps {
    size: size_of::<AvOps>(),
    insert,
    insertsvc,
    insertsym,
    remove,
    lookup,
    straddr,
};

/// Opens a vector; an error number, negative, if it cannot be had.
///
/// # Safety
/// Null, or attributes.
pub unsafe fn open(attr: *mut AvAttr, context: *mut c_void) -> Result<*mut FidAv, c_int> {
    // SAFETY: as promised.
    if let Some(attr) = unsafe { attr.as_mut() } {
        if !attr.name.is_null() || attr.flags != 0 || attr.rx_ctx_bits != 0 {
            host::warn(
                host::VECTOR,
                "address vectors with a name, events, user ids or receive contexts are not there: \
                 open one without",
            );
            return Err(err::NOSYS);
        }
        if attr.kind == 0 {
            attr.kind = num::AV_TABLE;
        }
    }
    let object = Box::new(AvObject {
        fid: FidAv {
            fid: Fid {
                class: class::AV,
                context,
                ops: &FID_OPS,
            },
            ops: &OPS,
        },
        vector: Arc::default(),
    });
    Ok(Box::into_raw(object).cast())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: an open vector.
    unsafe {
        if of::<AvObject, _>(fid).vector.users.load(Acquire) > 0 {
            return err::BUSY;
        }
        free::<AvObject, _>(fid);
    }
    0
}

unsafe extern "C" fn insert(
    av: *mut FidAv,
    addresses: *const c_void,
    count: usize,
    numbers: *mut Addr,
    _flags: u64,
    _context: *mut c_void,
) -> c_int {
    // SAFETY: the vector is open; there are `count` addresses, and as many numbers or none.
    unsafe {
        let vector = &of::<AvObject, _>(av).vector;
        let addresses = addresses.cast::<Address>();
        let mut inserted = 0;
        for at in 0..count {
            let address = addresses.add(at).read_unaligned();
            let is_good = !record_of(&address).is_empty();
            let number = match is_good {
                true => vector.insert(address),
                false => {
                    host::warn(
                        host::VECTOR,
                        "an address that was inserted is none of linkx: all processes are to use \
                         the same provider, and hand on what fi_getname gives",
                    );
                    num::ADDR_NONE
                }
            };
            inserted += c_int::from(is_good);
            if !numbers.is_null() {
                *numbers.add(at) = number;
            }
        }
        inserted
    }
}

unsafe extern "C" fn insertsvc(
    _: *mut FidAv,
    _: *const c_char,
    _: *const c_char,
    _: *mut Addr,
    _: u64,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn insertsym(
    _: *mut FidAv,
    _: *const c_char,
    _: usize,
    _: *const c_char,
    _: usize,
    _: *mut Addr,
    _: u64,
    _: *mut c_void,
) -> c_int {
    err::NOSYS
}

unsafe extern "C" fn remove(av: *mut FidAv, numbers: *mut Addr, count: usize, _: u64) -> c_int {
    // SAFETY: the vector is open, and the caller has given `count` numbers.
    unsafe {
        let vector = &of::<AvObject, _>(av).vector;
        let all = (0..count).fold(true, |all, at| vector.remove(*numbers.add(at)) & all);
        if all { 0 } else { err::INVAL }
    }
}

unsafe extern "C" fn lookup(
    av: *mut FidAv,
    number: Addr,
    to: *mut c_void,
    len: *mut usize,
) -> c_int {
    // SAFETY: an open vector, and as much room as `len` says.
    unsafe {
        let Some(address) = of::<AvObject, _>(av).vector.lookup(number) else {
            return err::INVAL;
        };
        tell(&address, to, &mut *len)
    }
}

/// Hands an address out, as far as there is room, and tells how long it is; an error number if
/// there is too little room.
///
/// # Safety
/// There is as much room as `len` says.
pub unsafe fn tell(address: &Address, to: *mut c_void, len: &mut usize) -> c_int {
    let room = std::mem::replace(len, ADDRESS);
    let n = room.min(ADDRESS);
    if n > 0 {
        // SAFETY: as promised.
        unsafe {
            to.cast::<u8>()
                .copy_from_nonoverlapping(address.as_ptr(), n)
        };
    }
    if room < ADDRESS { err::TOOSMALL } else { 0 }
}

unsafe extern "C" fn straddr(
    _av: *mut FidAv,
    address: *const c_void,
    to: *mut c_char,
    len: *mut usize,
) -> *const c_char {
    // SAFETY: an address, and as much room as `len` says.
    unsafe {
        let address = address.cast::<Address>().read_unaligned();
        let digits = record_of(&address).iter().map(|it| format!("{it:02x}"));
        let text = format!("linkx://{}\0", digits.collect::<String>());
        let n = text.len().min(*len);
        if n > 0 {
            to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), n);
            *to.add(n - 1) = 0;
        }
        *len = text.len();
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_again() {
        let vector = Vector::default();
        let [one, two, three] = [1u8, 2, 3].map(|it| address_of(&[it; 40]).expect("it fits"));
        assert_eq!([vector.insert(one), vector.insert(two)], [0, 1]);
        assert!(vector.remove(0) && !vector.remove(0) && !vector.remove(9));
        assert_eq!(vector.insert(three), 0);
        assert_eq!(vector.lookup(0), Some(three));
        let changes = vector.changes_since(2);
        assert_eq!(changes, [Change::Removed(0), Change::Inserted(0, three)]);
        assert!(vector.has_changed_since(2) && !vector.has_changed_since(4));
    }

    #[test]
    fn addresses_are_records() {
        let record: Vec<u8> = (0..63).collect();
        let address = address_of(&record).expect("it fits");
        assert_eq!(record_of(&address), record);
        assert_eq!(address_of(&[0; 64]), None);
        assert!(record_of(&[255; ADDRESS]).is_empty());
    }
}
