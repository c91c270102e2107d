//! Datatypes: constructors and queries (MPI-5, chapters 5.1 and 19.1).

use std::ffi::{c_int, c_void};

use catena_abi::{Aint, Count, Datatype, consts};
use catena_core::enter_any;
use catena_datatype::{Combiner, Contents, Darray, Datatype as Layout, TypeError, TypeRef};
use catena_objects::{Error, Kind, Result, fail};

use crate::args::{self, array, array_mut, get, put};
use crate::entry::mpi_fn;

// What layers ask for, the engine understands.
const _: () = assert!(catena_abi::DARG_AS_SIZE == catena_datatype::DARG_AS_SIZE);

/// Sorts what the engine says into error classes.
pub(crate) fn explain(e: TypeError) -> Error {
    let kind = match e {
        TypeError::Negative { what, .. } if what.contains("count") || what.contains("length") => {
            Kind::Count
        }
        TypeError::Overflow { .. } => Kind::ValueTooLarge,
        TypeError::TooDeep => Kind::Type,
        TypeError::ShortBuffer { .. } | TypeError::Conversion { .. } => Kind::Truncate,
        _ => Kind::Arg,
    };
    Error::new(kind, e.to_string())
}

/// The layout behind a handle, to keep.
fn layout(ty: Datatype) -> Result<TypeRef> {
    enter_any().types.layout(ty).cloned()
}

/// Stores a new type; `N` is the type of counts of the function that makes it.
fn add<N>(made: Result<TypeRef, TypeError>, to: *mut Datatype) -> Result<()> {
    let mut ty = made.map_err(explain)?;
    if size_of::<N>() > size_of::<c_int>() {
        ty = Layout::large(ty);
    }
    put(to, enter_any().types.add(ty), "newtype")
}

/// An array of counts or displacements, widened.
fn longs<N: Copy + Into<i64>>(at: *const N, n: usize, name: &str) -> Result<Vec<i64>> {
    Ok(array(at, n, name)?.iter().map(|&x| x.into()).collect())
}

fn length<N: Copy + Into<i64>>(n: N) -> Result<usize> {
    Ok(args::count(n.into())? as usize)
}

/// Makes a type of blocks at byte displacements.
fn hindexed<N: Copy + Into<i64>>(
    count: N,
    lens: *const N,
    displs: *const Count,
    old: Datatype,
    new: *mut Datatype,
) -> Result<()> {
    let n = length(count)?;
    let lens = longs(lens, n, "array_of_blocklengths")?;
    let displs = array(displs, n, "array_of_displacements")?;
    add::<N>(Layout::hindexed(&lens, displs, &layout(old)?), new)
}

/// Makes a type of blocks of types at byte displacements.
fn structure<N: Copy + Into<i64>>(
    count: N,
    lens: *const N,
    displs: *const Count,
    types: *const Datatype,
    new: *mut Datatype,
) -> Result<()> {
    let n = length(count)?;
    let lens = longs(lens, n, "array_of_blocklengths")?;
    let displs = array(displs, n, "array_of_displacements")?;
    let types = array(types, n, "array_of_types")?;
    let types: Vec<TypeRef> = types.iter().map(|&t| layout(t)).collect::<Result<_>>()?;
    add::<N>(Layout::structure(&lens, displs, &types), new)
}

/// Makes a structure with markers at the bounds that are given; of the arrays there are `count`
/// entries.
pub(crate) fn marked_structure(
    count: c_int,
    (lens, displs, types): (*const c_int, *const Count, *const Datatype),
    (lb, ub): (Option<i64>, Option<i64>),
    new: *mut Datatype,
) -> Result<()> {
    let n = length(count)?;
    let lens = longs(lens, n, "array_of_blocklengths")?;
    let displs = array(displs, n, "array_of_displacements")?;
    let types = array(types, n, "array_of_types")?;
    let types: Vec<TypeRef> = types.iter().map(|&t| layout(t)).collect::<Result<_>>()?;
    let plain = Layout::structure(&lens, displs, &types).map_err(explain)?;
    add::<c_int>(Layout::marked(lb, ub, &plain), new)
}

/// Stores lower bound and extent.
fn put_extent(ty: Datatype, lb: *mut Count, extent: *mut Count) -> Result<()> {
    let objects = enter_any();
    let ty = objects.types.layout(ty)?;
    put(lb, ty.lb(), "lb")?;
    put(extent, ty.extent(), "extent")
}

/// Stores lower bound and extent of what is there.
fn put_true_extent(ty: Datatype, true_lb: *mut Count, true_extent: *mut Count) -> Result<()> {
    let objects = enter_any();
    let ty = objects.types.layout(ty)?;
    put(true_lb, ty.true_lb(), "true_lb")?;
    put(true_extent, ty.true_extent(), "true_extent")
}

// `MPI_Aint` and `MPI_Count` have 64 bits on every platform Catena runs on, so
// the displacements of both forms are read as `MPI_Count`.
const _: () = assert!(size_of::<Aint>() == size_of::<Count>());

mpi_fn! {
    fn MPI_Type_contiguous | MPI_Type_contiguous_c(count: Num, oldtype: Datatype,
        newtype: *mut Datatype) {
        add::<Num>(Layout::contiguous(count.into(), &layout(oldtype)?), newtype)
    }

    fn MPI_Type_vector | MPI_Type_vector_c(count: Num, blocklength: Num, stride: Num,
        oldtype: Datatype,
        newtype: *mut Datatype)
    {
        let old = layout(oldtype)?;
        let made = Layout::vector(count.into(), blocklength.into(), stride.into(), &old);
        add::<Num>(made, newtype)
    }

    fn MPI_Type_create_hvector | MPI_Type_create_hvector_c(count: Num, blocklength: Num,
        stride: Count,
        oldtype: Datatype, newtype: *mut Datatype)
    {
        let old = layout(oldtype)?;
        add::<Num>(Layout::hvector(count.into(), blocklength.into(), stride, &old), newtype)
    }

    fn MPI_Type_indexed | MPI_Type_indexed_c(count: Num, array_of_blocklengths: *const Num,
        array_of_displacements: *const Num, oldtype: Datatype, newtype: *mut Datatype)
    {
        let n = length(count)?;
        let lens = longs(array_of_blocklengths, n, "array_of_blocklengths")?;
        let displs = longs(array_of_displacements, n, "array_of_displacements")?;
        add::<Num>(Layout::indexed(&lens, &displs, &layout(oldtype)?), newtype)
    }

    fn MPI_Type_create_hindexed | MPI_Type_create_hindexed_c(count: Num,
        array_of_blocklengths: *const Num,
        array_of_displacements: *const Count, oldtype: Datatype, newtype: *mut Datatype)
    {
        hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype)
    }

    fn MPI_Type_create_indexed_block | MPI_Type_create_indexed_block_c(count: Num, blocklength: Num,
        array_of_displacements: *const Num, oldtype: Datatype, newtype: *mut Datatype)
    {
        let displs = longs(array_of_displacements, length(count)?, "array_of_displacements")?;
        add::<Num>(Layout::indexed_block(blocklength.into(), &displs, &layout(oldtype)?), newtype)
    }

    fn MPI_Type_create_hindexed_block | MPI_Type_create_hindexed_block_c(count: Num,
        blocklength: Num,
        array_of_displacements: *const Count, oldtype: Datatype, newtype: *mut Datatype)
    {
        let displs = array(array_of_displacements, length(count)?, "array_of_displacements")?;
        add::<Num>(Layout::hindexed_block(blocklength.into(), displs, &layout(oldtype)?), newtype)
    }

    fn MPI_Type_create_struct | MPI_Type_create_struct_c(count: Num,
        array_of_blocklengths: *const Num,
        array_of_displacements: *const Count, array_of_types: *const Datatype,
        newtype: *mut Datatype)
    {
        structure(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype)
    }

    fn MPI_Type_create_subarray | MPI_Type_create_subarray_c(ndims: c_int,
        array_of_sizes: *const Num,
        array_of_subsizes: *const Num, array_of_starts: *const Num, order: c_int,
        oldtype: Datatype, newtype: *mut Datatype)
    {
        let n = length(ndims)?;
        let sizes = longs(array_of_sizes, n, "array_of_sizes")?;
        let subsizes = longs(array_of_subsizes, n, "array_of_subsizes")?;
        let starts = longs(array_of_starts, n, "array_of_starts")?;
        let old = layout(oldtype)?;
        add::<Num>(Layout::subarray(&sizes, &subsizes, &starts, order, &old), newtype)
    }

    fn MPI_Type_create_darray | MPI_Type_create_darray_c(size: c_int, rank: c_int, ndims: c_int,
        array_of_gsizes: *const Num, array_of_distribs: *const c_int,
        array_of_dargs: *const c_int, array_of_psizes: *const c_int, order: c_int,
        oldtype: Datatype, newtype: *mut Datatype)
    {
        let n = length(ndims)?;
        let of = Darray {
            size,
            rank,
            gsizes: longs(array_of_gsizes, n, "array_of_gsizes")?,
            distribs: array(array_of_distribs, n, "array_of_distribs")?.to_vec(),
            dargs: array(array_of_dargs, n, "array_of_dargs")?.to_vec(),
            psizes: array(array_of_psizes, n, "array_of_psizes")?.to_vec(),
            order,
        };
        add::<Num>(Layout::darray(&of, &layout(oldtype)?), newtype)
    }

    fn MPI_Type_create_resized | MPI_Type_create_resized_c(oldtype: Datatype, lb: Count,
        extent: Count,
        newtype: *mut Datatype)
    {
        add::<Num>(Layout::resized(lb, extent, &layout(oldtype)?), newtype)
    }

    fn MPI_Type_create_f90_integer(r: c_int, newtype: *mut Datatype) {
        let made = Layout::f90_integer(r).map_err(explain)?;
        put(newtype, enter_any().types.predefined(made), "newtype")
    }

    fn MPI_Type_create_f90_real(p: c_int, r: c_int, newtype: *mut Datatype) {
        let made = Layout::f90_real(p, r).map_err(explain)?;
        put(newtype, enter_any().types.predefined(made), "newtype")
    }

    fn MPI_Type_create_f90_complex(p: c_int, r: c_int, newtype: *mut Datatype) {
        let made = Layout::f90_complex(p, r).map_err(explain)?;
        put(newtype, enter_any().types.predefined(made), "newtype")
    }

    fn MPI_Type_get_value_index(value_type: Datatype, index_type: Datatype,
        pair_type: *mut Datatype)
    {
        let made = Layout::value_index(&layout(value_type)?, &layout(index_type)?);
        put(pair_type, made.map_or(consts::DATATYPE_NULL, handle), "pair_type")
    }

    fn MPI_Type_dup(oldtype: Datatype, newtype: *mut Datatype) {
        let old = enter_any().types.object(oldtype)?;
        let attrs = old.attrs.copies(oldtype.0)?;
        let new = enter_any().types.add(Layout::dup(&old.ty));
        enter_any().types.object(new)?.attrs.take(attrs);
        put(newtype, new, "newtype")
    }

    fn MPI_Type_commit(datatype: *mut Datatype) {
        enter_any().types.layout(get(datatype, "datatype")?)?.commit();
        Ok(())
    }

    fn MPI_Type_free(datatype: *mut Datatype) {
        let handle = get(datatype, "datatype")?;
        let obj = enter_any().types.object(handle)?;
        if obj.ty.is_predefined() {
            let name = obj.name.borrow();
            fail!(Type, "{} is predefined and cannot be freed", String::from_utf8_lossy(&name));
        }
        obj.attrs.delete_all(handle.0)?;
        enter_any().types.free(handle);
        put(datatype, consts::DATATYPE_NULL, "datatype")
    }

    fn MPI_Type_size | MPI_Type_size_c(datatype: Datatype, size: *mut Num) {
        let bytes = enter_any().types.layout(datatype)?.size();
        put(size, Num::try_from(bytes).unwrap_or(consts::UNDEFINED.into()), "size")
    }

    fn MPI_Type_size_x(datatype: Datatype, size: *mut Count) {
        put(size, enter_any().types.layout(datatype)?.size() as Count, "size")
    }

    fn MPI_Type_get_extent | MPI_Type_get_extent_c(datatype: Datatype, lb: *mut Count,
        extent: *mut Count) {
        put_extent(datatype, lb, extent)
    }

    fn MPI_Type_get_extent_x(datatype: Datatype, lb: *mut Count, extent: *mut Count) {
        put_extent(datatype, lb, extent)
    }

    fn MPI_Type_get_true_extent | MPI_Type_get_true_extent_c(datatype: Datatype,
        true_lb: *mut Count,
        true_extent: *mut Count)
    {
        put_true_extent(datatype, true_lb, true_extent)
    }

    fn MPI_Type_get_true_extent_x(datatype: Datatype, true_lb: *mut Count,
        true_extent: *mut Count) {
        put_true_extent(datatype, true_lb, true_extent)
    }

    fn MPI_Type_get_name(datatype: Datatype, type_name: *mut std::ffi::c_char,
        resultlen: *mut c_int) {
        let size = consts::MAX_OBJECT_NAME as usize;
        if datatype == consts::DATATYPE_NULL {
            return args::put_string(type_name, size, resultlen, "MPI_DATATYPE_NULL");
        }
        let obj = enter_any().types.object(datatype)?;
        args::put_string(type_name, size, resultlen, obj.name.borrow().as_slice())
    }

    fn MPI_Type_set_name(datatype: Datatype, type_name: *const std::ffi::c_char) {
        let name = args::object_name(type_name, "type_name")?;
        let obj = enter_any().types.object(datatype)?;
        *obj.name.borrow_mut() = name;
        Ok(())
    }

    fn MPI_Type_get_envelope(datatype: Datatype, num_integers: *mut c_int,
        num_addresses: *mut c_int,
        num_datatypes: *mut c_int, combiner: *mut c_int)
    {
        let ty = layout(datatype)?;
        let e = ty.envelope();
        if e.counts > 0 {
            return Err(needs_large());
        }
        put(num_integers, e.integers as c_int, "num_integers")?;
        put(num_addresses, e.addresses as c_int, "num_addresses")?;
        put(num_datatypes, e.types as c_int, "num_datatypes")?;
        put(combiner, e.combiner as c_int, "combiner")
    }

    fn MPI_Type_get_envelope_c(datatype: Datatype, num_integers: *mut Count,
        num_addresses: *mut Count,
        num_large_counts: *mut Count, num_datatypes: *mut Count, combiner: *mut c_int)
    {
        let e = layout(datatype)?.envelope();
        put(num_integers, e.integers as Count, "num_integers")?;
        put(num_addresses, e.addresses as Count, "num_addresses")?;
        put(num_large_counts, e.counts as Count, "num_large_counts")?;
        put(num_datatypes, e.types as Count, "num_datatypes")?;
        put(combiner, e.combiner as c_int, "combiner")
    }

    fn MPI_Type_get_contents(datatype: Datatype, max_integers: c_int, max_addresses: c_int,
        max_datatypes: c_int, array_of_integers: *mut c_int, array_of_addresses: *mut Count,
        array_of_datatypes: *mut Datatype)
    {
        let c = contents(datatype)?;
        if !c.counts.is_empty() {
            return Err(needs_large());
        }
        fill(array_of_integers, max_integers.into(), &c.integers, "array_of_integers")?;
        fill(array_of_addresses, max_addresses.into(), &c.addresses, "array_of_addresses")?;
        fill_types(array_of_datatypes, max_datatypes.into(), c.types)
    }

    fn MPI_Type_get_contents_c(datatype: Datatype, max_integers: Count, max_addresses: Count,
        max_large_counts: Count, max_datatypes: Count, array_of_integers: *mut c_int,
        array_of_addresses: *mut Count, array_of_large_counts: *mut Count,
        array_of_datatypes: *mut Datatype)
    {
        let c = contents(datatype)?;
        fill(array_of_integers, max_integers, &c.integers, "array_of_integers")?;
        fill(array_of_addresses, max_addresses, &c.addresses, "array_of_addresses")?;
        fill(array_of_large_counts, max_large_counts, &c.counts, "array_of_large_counts")?;
        fill_types(array_of_datatypes, max_datatypes, c.types)
    }

    fn MPI_Type_match_size(typeclass: c_int, size: c_int, datatype: *mut Datatype) {
        let found = match (typeclass, size) {
            (consts::TYPECLASS_INTEGER, 1) => consts::INTEGER1,
            (consts::TYPECLASS_INTEGER, 2) => consts::INTEGER2,
            (consts::TYPECLASS_INTEGER, 4) => consts::INTEGER4,
            (consts::TYPECLASS_INTEGER, 8) => consts::INTEGER8,
            (consts::TYPECLASS_INTEGER, 16) => consts::INTEGER16,
            (consts::TYPECLASS_REAL, 2) => consts::REAL2,
            (consts::TYPECLASS_REAL, 4) => consts::REAL4,
            (consts::TYPECLASS_REAL, 8) => consts::REAL8,
            (consts::TYPECLASS_REAL, 16) => consts::REAL16,
            (consts::TYPECLASS_COMPLEX, 4) => consts::COMPLEX4,
            (consts::TYPECLASS_COMPLEX, 8) => consts::COMPLEX8,
            (consts::TYPECLASS_COMPLEX, 16) => consts::COMPLEX16,
            (consts::TYPECLASS_COMPLEX, 32) => consts::COMPLEX32,
            (consts::TYPECLASS_INTEGER | consts::TYPECLASS_REAL | consts::TYPECLASS_COMPLEX, _) => {
                fail!(Arg, "no type of this class has {size} bytes");
            }
            _ => fail!(Arg, "{typeclass} is not one of the MPI_TYPECLASS_ constants"),
        };
        layout(found)?;
        put(datatype, found, "datatype")
    }

    fn MPI_Get_address(location: *const c_void, address: *mut Aint) {
        put(address, location as Aint, "address")
    }

    fn MPI_Address(location: *const c_void, address: *mut Aint) {
        put(address, location as Aint, "address")
    }

    fn MPI_Type_extent(datatype: Datatype, extent: *mut Count) {
        put(extent, enter_any().types.layout(datatype)?.extent(), "extent")
    }

    fn MPI_Type_lb(datatype: Datatype, displacement: *mut Count) {
        put(displacement, enter_any().types.layout(datatype)?.lb(), "displacement")
    }

    fn MPI_Type_ub(datatype: Datatype, displacement: *mut Count) {
        put(displacement, enter_any().types.layout(datatype)?.ub(), "displacement")
    }

    fn MPI_Type_hvector(count: c_int, blocklength: c_int, stride: Count, oldtype: Datatype,
        newtype: *mut Datatype)
    {
        let old = layout(oldtype)?;
        add::<c_int>(Layout::hvector(count.into(), blocklength.into(), stride, &old), newtype)
    }

    fn MPI_Type_hindexed(count: c_int, array_of_blocklengths: *const c_int,
        array_of_displacements: *const Count, oldtype: Datatype, newtype: *mut Datatype)
    {
        hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype)
    }

    fn MPI_Type_struct(count: c_int, array_of_blocklengths: *const c_int,
        array_of_displacements: *const Count, array_of_types: *const Datatype,
        newtype: *mut Datatype)
    {
        structure(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype)
    }
}

fn contents(datatype: Datatype) -> Result<Contents> {
    let ty = layout(datatype)?;
    if ty.combiner() == Combiner::Named {
        fail!(Type, "a predefined datatype has no contents");
    }
    Ok(ty.contents())
}

fn needs_large() -> Error {
    Error::new(
        Kind::Type,
        "the datatype was made with large counts: use the form of this function that ends in _c",
    )
}

fn fill<T: Copy>(to: *mut T, room: Count, from: &[T], name: &str) -> Result<()> {
    if room < from.len() as Count {
        fail!(
            Arg,
            "{name} has room for {room}, but {} are needed",
            from.len()
        );
    }
    array_mut(to, from.len(), name)?.copy_from_slice(from);
    Ok(())
}

fn fill_types(to: *mut Datatype, room: Count, types: Vec<TypeRef>) -> Result<()> {
    let handles: Vec<Datatype> = types.into_iter().map(handle).collect();
    fill(to, room, &handles, "array_of_datatypes")
}

/// The handle of a predefined type, or a new one.
fn handle(ty: TypeRef) -> Datatype {
    match ty.is_predefined() {
        true => enter_any().types.predefined(ty),
        false => enter_any().types.add(ty),
    }
}
