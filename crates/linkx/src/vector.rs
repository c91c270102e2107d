//! Address vectors: who is known by which number, as a list of what was inserted and removed that
//! each endpoint carries out for itself.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};

use crate::events::{EqObject, Events};
use crate::host;
use crate::object::{NOTHING, begun, free, made, of};
use crate::queue::lock;
use crate::sys::{
    Addr, AvAttr, AvOps, EqEntry, EqErrEntry, Fid, FidAv, FidOps, class, err, flag, num,
};

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
    /// It is that address's from now on, and completions tell the last number of it.
    Inserted(Addr, Address, Addr),
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

    /// Inserts an address, of which completions tell `told`, or its number; its number.
    fn insert(&self, address: Address, told: Option<Addr>) -> Addr {
        let mut known = lock(&self.known);
        let at = match known.free.pop() {
            Some(at) => at,
            None => {
                known.now.push(None);
                known.now.len() - 1
            }
        };
        known.now[at] = Some(address);
        let addr = at as Addr;
        known
            .changes
            .push(Change::Inserted(addr, address, told.unwrap_or(addr)));
        self.changed.store(known.changes.len(), Release);
        addr
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
    /// Whether events tell that addresses were inserted, and where.
    is_async: bool,
    events: Mutex<Option<Arc<Events>>>,
    /// Whether the caller says what completions tell of addresses.
    has_ids: bool,
}

static FID_OPS: FidOps = FidOps {
    close,
    bind,
    ..NOTHING
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
    let mut flags = 0;
    // SAFETY: as promised.
    if let Some(attr) = unsafe { attr.as_mut() } {
        flags = attr.flags;
        let is_known = flags & !(flag::EVENT | flag::AV_USER_ID) == 0;
        if !attr.name.is_null() || !is_known || attr.rx_ctx_bits != 0 {
            host::warn(
                host::VECTOR,
                "address vectors with a name or receive contexts are not there: open one without",
            );
            return Err(err::NOSYS);
        }
        match attr.kind {
            0 => attr.kind = num::AV_TABLE,
            num::AV_MAP | num::AV_TABLE => {}
            _ => return Err(err::INVAL),
        }
    }
    Ok(made(AvObject {
        fid: FidAv {
            fid: begun(class::AV, context, &FID_OPS),
            ops: &OPS,
        },
        vector: Arc::default(),
        is_async: flags & flag::EVENT != 0,
        events: Mutex::default(),
        has_ids: flags & flag::AV_USER_ID != 0,
    }))
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

unsafe extern "C" fn bind(fid: *mut Fid, to: *mut Fid, _flags: u64) -> c_int {
    // SAFETY: an open vector, and an open object.
    unsafe {
        if (*to).class != class::EQ {
            return err::INVAL;
        }
        let events = Arc::clone(&of::<EqObject, _>(to).events);
        *lock(&of::<AvObject, _>(fid).events) = Some(events);
    }
    0
}

unsafe extern "C" fn insert(
    av: *mut FidAv,
    addresses: *const c_void,
    count: usize,
    numbers: *mut Addr,
    flags: u64,
    context: *mut c_void,
) -> c_int {
    // SAFETY: an open vector; so many addresses, and as many numbers unless there are none.
    unsafe {
        if addresses.is_null() && count > 0 {
            return err::INVAL;
        }
        let object = of::<AvObject, _>(av);
        let events = lock(&object.events).clone();
        if object.is_async && events.is_none() {
            return err::NOEQ;
        }
        // With this flag alone the context is room for an error number of each address.
        let errors = match flags & flag::SYNC_ERR {
            0 => None,
            _ => Some(context.cast::<c_int>()),
        };
        let has_ids = object.has_ids || flags & flag::AV_USER_ID != 0;
        let addresses = addresses.cast::<Address>();
        let mut inserted = 0;
        for at in 0..count {
            let address = addresses.add(at).read_unaligned();
            let is_good = !record_of(&address).is_empty();
            let told = (has_ids && !numbers.is_null()).then(|| *numbers.add(at));
            let number = match is_good {
                true => object.vector.insert(address, told),
                false => num::ADDR_NONE,
            };
            if !is_good {
                host::warn(
                    host::VECTOR,
                    "an address that was inserted is none of linkx: all processes are to use the \
                     same provider, and hand on what fi_getname gives",
                );
                if let Some(events) = &events {
                    events.push_error(EqErrEntry {
                        fid: av.cast(),
                        context,
                        data: at as u64,
                        err: libc::EINVAL,
                        prov_errno: libc::EINVAL,
                        err_data: std::ptr::null_mut(),
                        err_data_size: 0,
                    });
                }
            }
            if let Some(errors) = errors {
                *errors.add(at) = if is_good { 0 } else { libc::EINVAL };
            }
            inserted += c_int::from(is_good);
            if !numbers.is_null() {
                *numbers.add(at) = number;
            }
        }
        if let (true, Some(events)) = (object.is_async, &events) {
            let entry = EqEntry {
                fid: av.cast(),
                context,
                data: inserted as u64,
            };
            events.push(num::AV_COMPLETE, &entry);
            return 0;
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
        assert_eq!(
            [vector.insert(one, None), vector.insert(two, Some(9))],
            [0, 1]
        );
        assert!(vector.remove(0) && !vector.remove(0) && !vector.remove(9));
        assert_eq!(vector.insert(three, None), 0);
        assert_eq!(vector.lookup(0), Some(three));
        let changes = vector.changes_since(2);
        assert_eq!(changes, [Change::Removed(0), Change::Inserted(0, three, 0)]);
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
