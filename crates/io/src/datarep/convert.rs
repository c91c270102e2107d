//! Conversion between memory and the bytes of a file.

use std::ffi::{c_int, c_void};

use catena_abi::{Datatype as Handle, Offset};
use catena_core::buffer::Typed;
use catena_datatype::{TypeError, TypeRef};
use catena_objects::datatype::Datatypes;
use catena_objects::error::{Error, Kind, Result, no_memory};

use super::{Conversion, Datarep, Format, Registered};

/// Elements in memory, of a call that outlives the conversion.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    /// Where the first is.
    pub base: *mut u8,
    /// How many.
    pub count: u64,
    /// Their type.
    pub ty: TypeRef,
}

/// Bytes of memory, zero.
///
/// # Errors
/// `NoMem`.
pub(crate) fn zeroed(len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| no_memory(len))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// The elements as bytes of a file, in which they take `len`.
///
/// # Errors
/// `Conversion` for a value that the representation does not have; `NoMem`; what the program's
/// function returns.
pub(crate) fn to_file(
    datarep: &Datarep,
    types: &Datatypes,
    from: &Elements,
    len: u64,
) -> Result<Vec<u8>> {
    let mut bytes = zeroed(len)?;
    match &datarep.way {
        Format::Registered(functions) if !functions.write.is_null() => {
            functions.call(
                functions.write,
                types,
                from,
                from.count,
                &mut bytes,
                "write",
            )?;
        }
        Format::External32 => {
            let elements = Typed::new(from.base, from.count, &from.ty);
            let packed = from.ty.to_external(from.count, &mut bytes, |at, part| {
                // SAFETY: the program passes that many elements.
                unsafe { elements.pack(at, part.as_mut_ptr(), part.len()) }
            });
            packed.map_err(|error| refused(&error))?;
        }
        Format::Native | Format::Registered(_) => {
            let all = bytes.len().min((from.count * from.ty.size()) as usize);
            let elements = Typed::new(from.base, from.count, &from.ty);
            // SAFETY: as above.
            unsafe { elements.pack(0, bytes.as_mut_ptr(), all) };
        }
    }
    Ok(bytes)
}

/// Stores the elements that `bytes` of a file stand for, of all of which there would be `len`; how
/// many bytes in memory that are.
///
/// # Errors
/// As [`to_file`].
pub(crate) fn from_file(
    datarep: &Datarep,
    types: &Datatypes,
    to: &Elements,
    (bytes, len): (&mut [u8], u64),
) -> Result<u64> {
    let each = len.checked_div(to.count).unwrap_or(0).max(1);
    let whole = bytes.len() as u64 / each;
    match &datarep.way {
        Format::Registered(functions) if !functions.read.is_null() => {
            functions.call(functions.read, types, to, whole, bytes, "read")?;
            Ok(whole * to.ty.size())
        }
        Format::External32 => {
            let (all, rest) = bytes.split_at((whole * each) as usize);
            unpack_external(to.base, (whole, &to.ty), all)?;
            Ok(whole * to.ty.size() + part_of_external(to, whole, rest)?)
        }
        Format::Native | Format::Registered(_) => {
            let n = bytes.len();
            // SAFETY: the program passes room for all of them.
            unsafe { Typed::new(to.base, to.count, &to.ty).unpack(0, bytes.as_ptr(), n) };
            Ok(n as u64)
        }
    }
}

/// Stores the beginning of an element: the file ends within it.
fn part_of_external(to: &Elements, index: u64, bytes: &[u8]) -> Result<u64> {
    if bytes.is_empty() {
        return Ok(0);
    }
    let at = (index as isize).wrapping_mul(to.ty.extent() as isize);
    let base = to.base.wrapping_offset(at);
    let size = to.ty.external_size(1).map_err(|e| refused(&e))?;
    let mut whole = zeroed(size)?;
    let (mut basics, mut external, mut native) = (Vec::new(), 0, 0);
    to.ty.each_basic(|basic, n| basics.push((basic, n)));
    'all: for (basic, n) in basics {
        for _ in 0..n {
            let next = external + u64::from(basic.external_size());
            if next > bytes.len() as u64 {
                break 'all;
            }
            external = next;
            native += u64::from(basic.size());
        }
    }
    // What the file does not have stays as it is in memory.
    let mut before = zeroed(to.ty.size())?;
    let all = before.len();
    let element = Typed::new(base, 1, &to.ty);
    // SAFETY: the program passes room for the element.
    unsafe { element.pack(0, before.as_mut_ptr(), all) };
    whole[..external as usize].copy_from_slice(&bytes[..external as usize]);
    unpack_external(base, (1, &to.ty), &whole)?;
    let rest = &before[native as usize..];
    // SAFETY: as above.
    unsafe { element.unpack(native, rest.as_ptr(), rest.len()) };
    Ok(native)
}

/// Converts bytes of `external32` to elements at `base`, for which the program passes room.
fn unpack_external(base: *mut u8, (count, ty): (u64, &TypeRef), bytes: &[u8]) -> Result<()> {
    let elements = Typed::new(base, count, ty);
    let unpacked = ty.from_external(count, bytes, |to, part| {
        // SAFETY: the program passes room for all of them.
        unsafe { elements.unpack(to, part.as_ptr(), part.len()) }
    });
    unpacked.map(drop).map_err(|error| refused(&error))
}

#[cold]
fn refused(error: &TypeError) -> Error {
    Error::new(Kind::Conversion, format!("external32: {error}"))
}

impl Registered {
    /// Calls a function of the program for `count` elements, in pieces that its counts can say.
    fn call(
        &self,
        function: Conversion,
        types: &Datatypes,
        of: &Elements,
        count: u64,
        bytes: &mut [u8],
        name: &str,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let file = bytes.as_mut_ptr().cast::<c_void>();
        let known = of.ty.code().map(|code| Handle(code.into()));
        let handle = known.unwrap_or_else(|| types.add(of.ty.clone()));
        let mut code = 0;
        let mut at = 0;
        while at < count && code == 0 {
            let now = (count - at).min(c_int::MAX as u64);
            let (base, place) = (of.base.cast::<c_void>(), at as Offset);
            // Both sides have room for the elements from that position on, of which they are told
            // the beginning.
            code = match function {
                Conversion::Int(f) => f.call(|f| {
                    let f = f?;
                    // SAFETY: the program registered the function for this state and such elements.
                    Some(unsafe { f(base, handle, now as c_int, file, place, self.extra_state) })
                }),
                Conversion::Count(f) => f.call(|f| {
                    let f = f?;
                    // SAFETY: as above.
                    Some(unsafe { f(base, handle, now as i64, file, place, self.extra_state) })
                }),
            }
            .unwrap_or(0);
            at += now;
        }
        if known.is_none() {
            types.table.remove(handle.0);
        }
        if code != 0 {
            let text =
                format!("the {name} conversion function of the representation returned {code}");
            return Err(Error::new(Kind::Code(code), text));
        }
        Ok(())
    }
}
