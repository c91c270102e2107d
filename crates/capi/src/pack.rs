//! Packing (MPI-5, chapters 5.2 and 5.3).

use std::ffi::{c_char, c_int, c_void};

use catena_abi::{Comm, Count, Datatype, consts};
use catena_core::buffer::{
    Typed, are_on_host, fetch, is_on_host, pack_across, store, unpack_across,
};
use catena_core::{enter, enter_any};
use catena_datatype::TypeRef;
use catena_objects::error::no_memory;
use catena_objects::{Error, Kind, Result, fail};

use crate::args::{self, array, array_mut, get, put, string};
use crate::datatype::explain;
use crate::entry::mpi_fn;

/// `count` elements of a committed type.
struct Elements {
    ty: TypeRef,
    count: u64,
    bytes: u64,
}

/// Elements that are in a buffer of the program's.
fn elements_at(buf: *const c_void, count: Count, datatype: Datatype) -> Result<Elements> {
    let elements = elements(count, datatype)?;
    args::buffer(buf, elements.count, &elements.ty)?;
    Ok(elements)
}

fn elements(count: Count, datatype: Datatype) -> Result<Elements> {
    let count = args::count(count)?;
    let ty = enter_any().types.committed(datatype)?.clone();
    match count.checked_mul(ty.size()) {
        Some(bytes) if bytes <= isize::MAX as u64 => Ok(Elements { ty, count, bytes }),
        _ => Err(too_many(count, &ty)),
    }
}

#[cold]
fn too_many(count: u64, ty: &TypeRef) -> Error {
    let text = format!("{count} elements of {} bytes are too many", ty.size());
    Error::new(Kind::Count, text)
}

/// Packed data: `size` bytes, of which those from `at` on are next.
#[derive(Clone, Copy)]
struct PackBuffer {
    at: Count,
    size: Count,
}

/// Packed bytes that are copied sooner than their type could be kept.
const SHORT: u64 = 4096;

/// Has elements of a committed type copied, given type, number and packed bytes; returns
/// where these end.
#[inline]
fn copied(
    comm: Comm,
    (buf, count, datatype): (*const c_void, Count, Datatype),
    room: PackBuffer,
    copy: impl FnOnce(&TypeRef, u64, usize) -> Result<()>,
) -> Result<Count> {
    let process = enter()?;
    process.comm_ref(comm)?;
    let count = args::count(count)?;
    let ty = process.objects.types.committed(datatype)?;
    args::buffer(buf, count, ty)?;
    let Some(bytes) = count.checked_mul(ty.size()) else {
        return Err(too_many(count, ty));
    };
    check_room(room.at, room.size, bytes)?;
    if bytes <= SHORT {
        copy(ty, count, bytes as usize)?;
    } else {
        // Other threads may call the library meanwhile.
        let ty = ty.clone();
        drop(process);
        copy(&ty, count, bytes as usize)?;
    }
    Ok(room.at + bytes as Count)
}

/// Bytes of host memory.
fn room_for(bytes: u64) -> Result<Vec<u8>> {
    let mut room = Vec::new();
    let reserved = room.try_reserve_exact(bytes as usize);
    reserved.map_err(|_| no_memory(bytes as usize))?;
    room.resize(bytes as usize, 0);
    Ok(room)
}

/// Checks that `need` bytes fit between `position` and `size`.
fn check_room(position: Count, size: Count, need: u64) -> Result<()> {
    if position < 0 || position > size {
        fail!(
            Arg,
            "the position is {position}, outside of a buffer of {size} bytes"
        );
    }
    if need > (size - position) as u64 {
        fail!(
            Truncate,
            "{need} bytes do not fit at position {position} of a buffer of {size}"
        );
    }
    Ok(())
}

fn check_datarep(datarep: *const c_char) -> Result<()> {
    match string(datarep, "datarep")? {
        "external32" => Ok(()),
        other => fail!(
            Arg,
            "the data representation is '{other}': only 'external32' exists"
        ),
    }
}

fn check_comm(comm: Comm) -> Result<()> {
    enter()?.comm_ref(comm).map(drop)
}

/// Stores a size or position.
fn advance<N: TryFrom<Count>>(to: *mut N, value: Count, name: &str) -> Result<()> {
    match N::try_from(value) {
        Ok(value) => put(to, value, name),
        Err(_) => fail!(
            ValueTooLarge,
            "the {name} {value} does not fit: use the form of this \
            function that ends in _c"
        ),
    }
}

mpi_fn! {
    fn MPI_Pack | MPI_Pack_c(inbuf: *const c_void, incount: Num, datatype: Datatype,
        outbuf: *mut c_void,
        outsize: Num, position: *mut Num, comm: Comm) on comm
    {
        let at: Count = get(position, "position")?.into();
        let room = PackBuffer { at, size: outsize.into() };
        let end = copied(comm, (inbuf, incount.into(), datatype), room, |ty, count, len| {
            let out = outbuf.cast::<u8>().wrapping_offset(at as isize);
            // SAFETY: the program passes `incount` elements and `outsize` bytes,
            // in which the result fits.
            unsafe {
                match are_on_host(inbuf.cast(), count, ty, out) {
                    true => ty.pack(inbuf.cast(), count, 0, out, len),
                    false => pack_across(inbuf.cast(), count, ty, out)?,
                }
            }
            Ok(())
        })?;
        advance(position, end, "position")
    }

    fn MPI_Unpack | MPI_Unpack_c(inbuf: *const c_void, insize: Num, position: *mut Num,
        outbuf: *mut c_void, outcount: Num, datatype: Datatype, comm: Comm) on comm
    {
        let at: Count = get(position, "position")?.into();
        let room = PackBuffer { at, size: insize.into() };
        let end = copied(comm, (outbuf, outcount.into(), datatype), room, |ty, count, len| {
            let from = inbuf.cast::<u8>().wrapping_offset(at as isize);
            // SAFETY: as in `Pack`.
            unsafe {
                match are_on_host(outbuf.cast(), count, ty, from) {
                    true => ty.unpack(outbuf.cast(), count, 0, from, len),
                    false => unpack_across(outbuf.cast(), count, ty, from)?,
                }
            }
            Ok(())
        })?;
        advance(position, end, "position")
    }

    fn MPI_Pack_size | MPI_Pack_size_c(incount: Num, datatype: Datatype, comm: Comm, size: *mut Num)
        on comm
    {
        check_comm(comm)?;
        let e = elements(incount.into(), datatype)?;
        put(size, Num::try_from(e.bytes).unwrap_or(consts::UNDEFINED.into()), "size")
    }

    fn MPI_Pack_external | MPI_Pack_external_c(datarep: *const c_char, inbuf: *const c_void,
        incount: Num,
        datatype: Datatype, outbuf: *mut c_void, outsize: Count, position: *mut Count)
    {
        check_datarep(datarep)?;
        let e = elements_at(inbuf, incount.into(), datatype)?;
        let need = e.ty.external_size(e.count).map_err(explain)?;
        let at = get(position, "position")?;
        check_room(at, outsize, need)?;
        let elements = Typed::new(inbuf.cast_mut().cast(), e.count, &e.ty);
        let convert = |out: &mut [u8]| {
            let packed = e.ty.to_external(e.count, out, |from, to| {
                // SAFETY: the program passes `incount` elements.
                unsafe { elements.pack(from, to.as_mut_ptr(), to.len()) }
            });
            packed.map_err(explain)
        };
        if need == 0 || is_on_host(outbuf.cast()) {
            let out = array_mut(outbuf.cast::<u8>(), outsize as usize, "outbuf")?;
            convert(&mut out[at as usize..])?;
        } else {
            let mut out = room_for(need)?;
            convert(&mut out)?;
            // SAFETY: the program passes `outsize` bytes.
            unsafe { store(outbuf.cast::<u8>().wrapping_offset(at as isize), &out) };
        }
        put(position, at + need as Count, "position")
    }

    fn MPI_Unpack_external | MPI_Unpack_external_c(datarep: *const c_char, inbuf: *const c_void,
        insize: Count, position: *mut Count, outbuf: *mut c_void, outcount: Num,
        datatype: Datatype)
    {
        check_datarep(datarep)?;
        let e = elements_at(outbuf, outcount.into(), datatype)?;
        let need = e.ty.external_size(e.count).map_err(explain)?;
        let at = get(position, "position")?;
        check_room(at, insize, need)?;
        let elements = Typed::new(outbuf.cast(), e.count, &e.ty);
        let convert = |from: &[u8]| {
            let unpacked = e.ty.from_external(e.count, from, |to, part| {
                // SAFETY: the program passes room for `outcount` elements.
                unsafe { elements.unpack(to, part.as_ptr(), part.len()) }
            });
            unpacked.map_err(explain)
        };
        if need == 0 || is_on_host(inbuf.cast()) {
            let from = array(inbuf.cast::<u8>(), insize as usize, "inbuf")?;
            convert(&from[at as usize..])?;
        } else {
            // SAFETY: the program passes `insize` bytes.
            let from = unsafe { fetch(inbuf.cast::<u8>().wrapping_offset(at as isize),
                need as usize)? };
            convert(&from)?;
        }
        put(position, at + need as Count, "position")
    }

    fn MPI_Pack_external_size | MPI_Pack_external_size_c(datarep: *const c_char, incount: Num,
        datatype: Datatype, size: *mut Count)
    {
        check_datarep(datarep)?;
        let e = elements(incount.into(), datatype)?;
        put(size, e.ty.external_size(e.count).map_err(explain)? as Count, "size")
    }
}

/// Both forms take the positions of `external32` as 64-bit numbers.
const _: () =
    assert!(size_of::<catena_abi::Aint>() == size_of::<Count>() && size_of::<c_int>() == 4);
