//! The constructors (MPI-5, chapter 5.1.2).
//!
//! Counts and displacements are 64 bits wide; for the `_c` forms, wrap the
//! result in [`Datatype::large`]. All cost O(blocks given), whatever the
//! number of elements.

use std::sync::Arc;

use crate::basic::{Basic, Scalar};
use crate::body::{Body, Joiner, Part};
use crate::datatype::{Datatype, TypeRef};
use crate::error::{Result, TypeError, fit, natural};
use crate::predefined::named_pair;
use crate::reduce::{OpKind, reducer};
use crate::spec::{Combiner, Spec};

/// Multiples of an extent.
fn scaled(value: i64, extent: i64) -> Result<i64> {
    fit(i128::from(value) * i128::from(extent), "displacement")
}

/// Checks that two arrays are of one length.
fn same(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(TypeError::Lengths {
        what,
        expected,
        got,
    })
}

/// Whether contents can only be given as large counts.
pub(crate) fn wide(counts: &[i64]) -> bool {
    counts.iter().any(|x| i32::try_from(*x).is_err())
}

/// `first`, and behind it all lists.
fn counted(lists: &[&[i64]], first: &[i64]) -> Vec<i64> {
    let mut all = first.to_vec();
    lists.iter().for_each(|list| all.extend_from_slice(list));
    all
}

impl Datatype {
    /// `MPI_Type_dup`; the copy is committed if the original is.
    pub fn dup(ty: &TypeRef) -> TypeRef {
        let bounds = (ty.lb(), ty.ub());
        let copy = Datatype::measured(ty.body.clone(), Spec::Dup(ty.clone()), bounds);
        if ty.is_committed() {
            copy.commit();
        }
        Arc::new(copy)
    }

    /// `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// `Negative`, `Overflow`.
    pub fn contiguous(count: i64, ty: &TypeRef) -> Result<TypeRef> {
        let body = ty.body.repeat(natural(count, "count")?, ty.extent())?;
        plain(Combiner::Contiguous, body, vec![count], vec![], ty)
    }

    /// `MPI_Type_vector`: `stride` in elements.
    ///
    /// # Errors
    /// `Negative`, `Overflow`.
    pub fn vector(count: i64, blocklength: i64, stride: i64, ty: &TypeRef) -> Result<TypeRef> {
        let body = blocks(count, blocklength, ty, |extent| scaled(stride, extent))?;
        let counts = vec![count, blocklength, stride];
        plain(Combiner::Vector, body, counts, vec![], ty)
    }

    /// `MPI_Type_create_hvector`: `stride` in bytes.
    ///
    /// # Errors
    /// `Negative`, `Overflow`.
    pub fn hvector(count: i64, blocklength: i64, stride: i64, ty: &TypeRef) -> Result<TypeRef> {
        let body = blocks(count, blocklength, ty, |_| Ok(stride))?;
        let counts = vec![count, blocklength];
        plain(Combiner::Hvector, body, counts, vec![stride], ty)
    }

    /// `MPI_Type_indexed`: displacements in elements.
    ///
    /// # Errors
    /// `Negative`, `Overflow`, `Lengths`, `TooDeep`.
    pub fn indexed(lens: &[i64], displacements: &[i64], ty: &TypeRef) -> Result<TypeRef> {
        let body = indexed(lens.iter().copied(), displacements, ty.extent(), ty)?;
        let counts = counted(&[lens, displacements], &[lens.len() as i64]);
        plain(Combiner::Indexed, body, counts, vec![], ty)
    }

    /// `MPI_Type_create_hindexed`: displacements in bytes.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    pub fn hindexed(lens: &[i64], displacements: &[i64], ty: &TypeRef) -> Result<TypeRef> {
        let body = indexed(lens.iter().copied(), displacements, 1, ty)?;
        let counts = counted(&[lens], &[lens.len() as i64]);
        let addresses = displacements.to_vec();
        plain(Combiner::Hindexed, body, counts, addresses, ty)
    }

    /// `MPI_Type_create_indexed_block`: displacements in elements.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    pub fn indexed_block(len: i64, displacements: &[i64], ty: &TypeRef) -> Result<TypeRef> {
        let n = displacements.len();
        natural(len, "block length")?;
        let body = indexed(std::iter::repeat_n(len, n), displacements, ty.extent(), ty)?;
        let counts = counted(&[displacements], &[n as i64, len]);
        plain(Combiner::IndexedBlock, body, counts, vec![], ty)
    }

    /// `MPI_Type_create_hindexed_block`: displacements in bytes.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    pub fn hindexed_block(len: i64, displacements: &[i64], ty: &TypeRef) -> Result<TypeRef> {
        let n = displacements.len();
        natural(len, "block length")?;
        let body = indexed(std::iter::repeat_n(len, n), displacements, 1, ty)?;
        let (counts, addresses) = (vec![n as i64, len], displacements.to_vec());
        plain(Combiner::HindexedBlock, body, counts, addresses, ty)
    }

    /// `MPI_Type_create_struct`: displacements in bytes.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    pub fn structure(lens: &[i64], displacements: &[i64], types: &[TypeRef]) -> Result<TypeRef> {
        same("displacements", lens.len(), displacements.len())?;
        same("types", lens.len(), types.len())?;
        let mut all = Joiner::default();
        for ((len, at), ty) in lens.iter().zip(displacements).zip(types) {
            let len = natural(*len, "block length")?;
            all.push(&mut Part::new(&ty.body, ty.extent()), len, *at)?;
        }
        let spec = Spec::Plain {
            combiner: Combiner::Struct,
            counts: counted(&[lens], &[lens.len() as i64]),
            addresses: displacements.to_vec(),
            types: types.to_vec(),
        };
        let made = Datatype::make(all.finish()?, spec)?;
        Ok(if wide(lens) {
            Datatype::large(made)
        } else {
            made
        })
    }

    /// `MPI_Type_create_resized`.
    ///
    /// # Errors
    /// `Overflow`.
    pub fn resized(lb: i64, extent: i64, ty: &TypeRef) -> Result<TypeRef> {
        let ub = fit(i128::from(lb) + i128::from(extent), "upper bound")?;
        let body = ty.body.clone().mark(lb, ub);
        plain(Combiner::Resized, body, vec![], vec![lb, extent], ty)
    }

    /// A type with a marker at its lower bound, at its upper one, or at both, as a structure had
    /// them with `MPI_LB` and `MPI_UB` before MPI 3.0; markers of its parts count, too. A bound
    /// without one stays where it is, but becomes a marker.
    ///
    /// # Errors
    /// `Overflow`.
    pub fn marked(lb: Option<i64>, ub: Option<i64>, ty: &TypeRef) -> Result<TypeRef> {
        let (low, high) = ty.body.bounds()?;
        let parts = ty.body.marks();
        let lb = lb.map_or(low, |at| parts.map_or(at, |(low, _)| low.min(at)));
        let ub = ub.map_or(high, |at| parts.map_or(at, |(_, high)| high.max(at)));
        let extent = fit(i128::from(ub) - i128::from(lb), "extent")?;
        Datatype::resized(lb, extent, ty)
    }

    /// `MPI_Type_get_value_index`: the predefined pair of a value and an
    /// index; none where the operations on such a pair are not supported.
    pub fn value_index(value: &TypeRef, index: &TypeRef) -> Option<TypeRef> {
        if let Some(named) = named_pair(value.code()?, index.code()?) {
            return Some(named.clone());
        }
        let (Some(Basic::Scalar(v)), Some(Basic::Scalar(i))) = (value.basic(), index.basic())
        else {
            return None;
        };
        if matches!(i, Scalar::Float32 | Scalar::Float64) {
            return None;
        }
        let basic = Basic::Pair(v, i);
        reducer(OpKind::MinLoc, basic)?;
        let types = vec![value.clone(), index.clone()];
        let spec = Spec::Plain {
            combiner: Combiner::ValueIndex,
            counts: vec![],
            addresses: vec![],
            types,
        };
        let pair = Datatype::make(Body::basic(basic), spec).ok()?;
        pair.commit();
        Some(pair)
    }

    /// `MPI_Type_create_f90_integer`: at least `range` decimal digits.
    ///
    /// # Errors
    /// `Kind` if there is no such kind.
    pub fn f90_integer(range: i32) -> Result<TypeRef> {
        let kind = match range {
            ..=2 => Scalar::Int8,
            3..=4 => Scalar::Int16,
            5..=9 => Scalar::Int32,
            10..=18 => Scalar::Int64,
            19..=38 => Scalar::Int128,
            _ => {
                return Err(TypeError::Kind {
                    precision: 0,
                    range,
                });
            }
        };
        fortran(kind, Combiner::F90Integer, vec![range])
    }

    /// `MPI_Type_create_f90_real`: at least `precision` decimal digits and an
    /// exponent range of `range`, which may be `MPI_UNDEFINED` (negative).
    ///
    /// # Errors
    /// `Kind` if there is no such kind.
    pub fn f90_real(precision: i32, range: i32) -> Result<TypeRef> {
        let (kind, _) = real_kind(precision, range)?;
        fortran(kind, Combiner::F90Real, vec![precision, range])
    }

    /// `MPI_Type_create_f90_complex`: see [`Datatype::f90_real`].
    ///
    /// # Errors
    /// `Kind` if there is no such kind.
    pub fn f90_complex(precision: i32, range: i32) -> Result<TypeRef> {
        let (_, kind) = real_kind(precision, range)?;
        fortran(kind, Combiner::F90Complex, vec![precision, range])
    }
}

/// The Fortran real and complex kinds with that precision and range.
fn real_kind(precision: i32, range: i32) -> Result<(Scalar, Scalar)> {
    match (precision, range) {
        (..=6, ..=37) => Ok((Scalar::Float32, Scalar::ComplexFloat32)),
        (..=15, ..=307) => Ok((Scalar::Float64, Scalar::ComplexFloat64)),
        (..=18, ..=4931) => Ok((Scalar::LongDouble, Scalar::ComplexLongDouble)),
        (..=33, ..=4931) => Ok((Scalar::Float128, Scalar::ComplexFloat128)),
        _ => Err(TypeError::Kind { precision, range }),
    }
}

/// A predefined type without a name.
fn fortran(kind: Scalar, combiner: Combiner, args: Vec<i32>) -> Result<TypeRef> {
    let ty = Datatype::make(Body::basic(kind.into()), Spec::F90(combiner, args))?;
    ty.commit();
    Ok(ty)
}

/// A type made of one other.
fn plain(
    combiner: Combiner,
    body: Body,
    counts: Vec<i64>,
    addresses: Vec<i64>,
    ty: &TypeRef,
) -> Result<TypeRef> {
    let large = wide(&counts);
    let spec = Spec::Plain {
        combiner,
        counts,
        addresses,
        types: vec![ty.clone()],
    };
    let made = Datatype::make(body, spec)?;
    Ok(if large { Datatype::large(made) } else { made })
}

/// The body of a vector.
fn blocks(
    count: i64,
    len: i64,
    ty: &TypeRef,
    stride: impl FnOnce(i64) -> Result<i64>,
) -> Result<Body> {
    let (count, len) = (natural(count, "count")?, natural(len, "block length")?);
    let stride = stride(ty.extent())?;
    ty.body.repeat(len, ty.extent())?.repeat(count, stride)
}

/// The body of an indexed type; `unit` is what displacements are counted in.
fn indexed(
    lens: impl ExactSizeIterator<Item = i64>,
    displacements: &[i64],
    unit: i64,
    ty: &TypeRef,
) -> Result<Body> {
    same("displacements", lens.len(), displacements.len())?;
    let mut all = Joiner::default();
    let mut part = Part::new(&ty.body, ty.extent());
    for (len, at) in lens.zip(displacements) {
        let len = natural(len, "block length")?;
        all.push(&mut part, len, scaled(*at, unit)?)?;
    }
    all.finish()
}
