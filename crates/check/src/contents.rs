//! What derived datatypes were made of.

use std::ffi::c_int;

use catena_abi::{Aint, Count, Datatype, consts};

use crate::mpi;

/// Handles below are predefined.
pub const PREDEFINED: usize = 0x1000;

/// Most numbers, distances or types that a type is looked at for which was made of them.
const MOST: i64 = 4096;

/// Most types that lie in each other.
pub const DEEPEST: u32 = 12;

/// What a type was made of, in the order of the standard.
pub struct Contents {
    pub combiner: c_int,
    integers: Vec<c_int>,
    addresses: Vec<Aint>,
    counts: Vec<Count>,
    pub types: Vec<Datatype>,
}

impl Contents {
    pub fn of(ty: Datatype) -> Option<Contents> {
        let (mut i, mut a, mut c, mut t, mut combiner) = (0, 0, 0, 0, 0);
        let code = mpi::Type_get_envelope_c(ty, &mut i, &mut a, &mut c, &mut t, &mut combiner);
        let most = [i, a, c, t].into_iter().max()?;
        if code != 0 || combiner == consts::COMBINER_NAMED || most > MOST {
            return None;
        }
        let len = |n: Count| usize::try_from(n).unwrap_or(0);
        let mut contents = Contents {
            combiner,
            integers: vec![0; len(i)],
            addresses: vec![0; len(a)],
            counts: vec![0; len(c)],
            types: vec![consts::DATATYPE_NULL; len(t)],
        };
        let code = mpi::Type_get_contents_c(
            ty,
            i,
            a,
            c,
            t,
            contents.integers.as_mut_ptr(),
            contents.addresses.as_mut_ptr(),
            contents.counts.as_mut_ptr(),
            contents.types.as_mut_ptr(),
        );
        (code == 0).then_some(contents)
    }

    /// The numbers that are integers in the form for small counts, and counts in the other one.
    pub fn numbers(&self) -> Vec<i64> {
        match self.counts.is_empty() {
            true => self.integers.iter().map(|&it| it.into()).collect(),
            false => self.counts.clone(),
        }
    }

    /// Distances in bytes.
    pub fn distances(&self, numbers: &[i64], from: usize) -> Vec<i64> {
        match self.addresses.is_empty() {
            true => numbers.get(from..).unwrap_or_default().to_vec(),
            false => self.addresses.iter().map(|&it| it as i64).collect(),
        }
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        // The handles of derived types are the asker's own.
        for ty in &mut self.types {
            if ty.0 >= PREDEFINED {
                mpi::Type_free(ty);
            }
        }
    }
}

/// Whether numbers of a type whose handle is good may lie upon each other, as far as its kind
/// tells.
pub fn may_be_doubled(ty: Datatype) -> bool {
    may_be_doubled_in(ty, DEEPEST)
}

fn may_be_doubled_in(ty: Datatype, deepest: u32) -> bool {
    if ty.0 < PREDEFINED {
        return false;
    }
    let (Some(contents), Some(deepest)) = (Contents::of(ty), deepest.checked_sub(1)) else {
        return true;
    };
    match (contents.combiner, contents.types.first()) {
        (
            consts::COMBINER_DUP
            | consts::COMBINER_CONTIGUOUS
            | consts::COMBINER_SUBARRAY
            | consts::COMBINER_DARRAY,
            Some(&old),
        ) => may_be_doubled_in(old, deepest),
        _ => true,
    }
}
