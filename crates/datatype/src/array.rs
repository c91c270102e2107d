//! Parts of arrays: subarrays and distributed arrays (MPI-5, chapters 5.1.3
//! and 5.1.4).

use crate::body::{Body, Joiner};
use crate::construct::wide;
use crate::datatype::{Datatype, TypeRef};
use crate::error::{Result, TypeError, fit, natural};
use crate::spec::{Darray, Spec};

/// `MPI_ORDER_C`: the last dimension varies fastest.
pub const ORDER_C: i32 = 0xC;
/// `MPI_ORDER_FORTRAN`: the first dimension varies fastest.
pub const ORDER_FORTRAN: i32 = 0xF;
/// `MPI_DISTRIBUTE_NONE`: a dimension that is not distributed.
pub const DISTRIBUTE_NONE: i32 = 16;
/// `MPI_DISTRIBUTE_BLOCK`: one block for each process.
pub const DISTRIBUTE_BLOCK: i32 = 17;
/// `MPI_DISTRIBUTE_CYCLIC`: blocks dealt out in turn.
pub const DISTRIBUTE_CYCLIC: i32 = 18;
/// `MPI_DISTRIBUTE_DFLT_DARG`: the block size that follows from the rest.
pub const DISTRIBUTE_DFLT_DARG: i32 = 19;
/// The block size that is the number of [`DISTRIBUTE_DFLT_DARG`], which interfaces with another
/// number for that can ask for.
pub const DARG_AS_SIZE: i32 = i32::MIN / 2 + DISTRIBUTE_DFLT_DARG;

/// The dimensions, the one that varies fastest first.
fn fastest_first(dims: usize, order: i32) -> Result<Vec<usize>> {
    match order {
        ORDER_C => Ok((0..dims).rev().collect()),
        ORDER_FORTRAN => Ok((0..dims).collect()),
        other => Err(TypeError::Order(other)),
    }
}

/// Checks the length of a list.
fn dims(what: &'static str, expected: usize, got: usize) -> Result<()> {
    match expected == got {
        true => Ok(()),
        false => Err(TypeError::Lengths {
            what,
            expected,
            got,
        }),
    }
}

/// Checks a length that must not be zero.
fn positive(value: i64, what: &'static str) -> Result<i64> {
    match value {
        1.. => Ok(value),
        _ => Err(TypeError::NotPositive { what, value }),
    }
}

/// Bytes of `count` times `unit`.
fn times(unit: i64, count: i64) -> Result<i64> {
    fit(i128::from(unit) * i128::from(count), "extent of the array")
}

impl Datatype {
    /// `MPI_Type_create_subarray`.
    ///
    /// # Errors
    /// `Lengths`, `NotPositive`, `Subarray`, `Order`, `Overflow`.
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: i32,
        ty: &TypeRef,
    ) -> Result<TypeRef> {
        let n = sizes.len();
        positive(n as i64, "number of dimensions")?;
        dims("sizes of the part", n, subsizes.len())?;
        dims("starts", n, starts.len())?;
        let mut body = ty.body.clone();
        let mut stride = ty.extent();
        for dim in fastest_first(n, order)? {
            let (size, subsize, start) = (sizes[dim], subsizes[dim], starts[dim]);
            positive(size, "size of a dimension")?;
            positive(subsize, "size of a part")?;
            if subsize > size || start < 0 || start > size - subsize {
                return Err(TypeError::Subarray {
                    dim,
                    start,
                    subsize,
                    size,
                });
            }
            body = body
                .repeat(subsize as u64, stride)?
                .shift(times(stride, start)?)?;
            stride = times(stride, size)?;
        }
        let spec = Spec::Subarray {
            sizes: sizes.to_vec(),
            subsizes: subsizes.to_vec(),
            starts: starts.to_vec(),
            order,
            ty: vec![ty.clone()],
        };
        let large = wide(sizes);
        let made = Datatype::make(body.mark(0, stride), spec)?;
        Ok(if large { Datatype::large(made) } else { made })
    }

    /// `MPI_Type_create_darray`. The places of the grid are numbered like
    /// those of a Cartesian communicator: the last dimension varies fastest.
    ///
    /// # Errors
    /// `Lengths`, `NotPositive`, `Rank`, `Grid`, `Distribution`,
    /// `DistributionArgument`, `Undistributed`, `Order`, `Overflow`.
    pub fn darray(of: &Darray, ty: &TypeRef) -> Result<TypeRef> {
        let n = of.gsizes.len();
        positive(n as i64, "number of dimensions")?;
        dims("distributions", n, of.distribs.len())?;
        dims("distribution arguments", n, of.dargs.len())?;
        dims("sizes of the grid", n, of.psizes.len())?;
        let places = coordinates(of)?;
        let mut body = ty.body.clone();
        let mut stride = ty.extent();
        for dim in fastest_first(n, of.order)? {
            positive(of.gsizes[dim], "size of a dimension")?;
            body = distribute(&body, of, dim, places[dim], stride)?;
            stride = times(stride, of.gsizes[dim])?;
        }
        let large = wide(&of.gsizes);
        let spec = Spec::Darray(Box::new(of.clone()), vec![ty.clone()]);
        let made = Datatype::make(body.mark(0, stride), spec)?;
        Ok(if large { Datatype::large(made) } else { made })
    }
}

/// Where in the grid the process is.
fn coordinates(of: &Darray) -> Result<Vec<i64>> {
    let (size, rank) = (i64::from(of.size), i64::from(of.rank));
    positive(size, "number of processes")?;
    if rank < 0 || rank >= size {
        return Err(TypeError::Rank { rank, size });
    }
    let mut places = 1i64;
    for p in &of.psizes {
        let p = positive(i64::from(*p), "size of the grid")?;
        places = places.saturating_mul(p);
    }
    if places != size {
        return Err(TypeError::Grid { places, size });
    }
    let mut rest = rank;
    let mut coordinates = vec![0; of.psizes.len()];
    for (c, p) in coordinates.iter_mut().zip(&of.psizes).rev() {
        *c = rest % i64::from(*p);
        rest /= i64::from(*p);
    }
    Ok(coordinates)
}

/// The part along one dimension of the process at `place`.
fn distribute(body: &Body, of: &Darray, dim: usize, place: i64, stride: i64) -> Result<Body> {
    let (all, processes) = (of.gsizes[dim], i64::from(of.psizes[dim]));
    let block = |default: i64| match of.dargs[dim] {
        DISTRIBUTE_DFLT_DARG => Ok(default),
        DARG_AS_SIZE => Ok(i64::from(DISTRIBUTE_DFLT_DARG)),
        value @ 1.. => Ok(i64::from(value)),
        value => Err(TypeError::DistributionArgument { dim, value }),
    };
    match of.distribs[dim] {
        DISTRIBUTE_NONE if processes != 1 => Err(TypeError::Undistributed { dim, processes }),
        DISTRIBUTE_NONE => body.repeat(natural(all, "size of a dimension")?, stride),
        DISTRIBUTE_BLOCK => {
            let block = block((all - 1) / processes + 1)?;
            if i128::from(block) * i128::from(processes) < i128::from(all) {
                let value = of.dargs[dim];
                return Err(TypeError::DistributionArgument { dim, value });
            }
            let start = block.saturating_mul(place).min(all);
            let mine = (all - start).min(block);
            body.repeat(mine as u64, stride)?
                .shift(times(stride, start)?)
        }
        DISTRIBUTE_CYCLIC => {
            let block = block(1)?;
            let cycle = block.saturating_mul(processes);
            let start = block.saturating_mul(place).min(all);
            let mut cycles = (all - start) / cycle;
            let mut rest = ((all - start) % cycle).min(block);
            if rest == block {
                (cycles, rest) = (cycles + 1, 0);
            }
            let mut both = Joiner::default();
            if cycles > 0 {
                let skip = if cycles > 1 { times(stride, cycle)? } else { 0 };
                let blocks = body.repeat(block as u64, stride)?;
                both.add(blocks.repeat(cycles as u64, skip)?)?;
            }
            if rest > 0 {
                let at = times(stride, cycles * cycle)?;
                both.add(body.repeat(rest as u64, stride)?.shift(at)?)?;
            }
            both.finish()?.shift(times(stride, start)?)
        }
        value => Err(TypeError::Distribution { dim, value }),
    }
}
