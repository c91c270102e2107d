//! How ranks tell each other what they have done with each other's windows.

use std::ffi::c_int;

use catena_abi::{Comm, consts};

use crate::access::{Access, Act, RUNS, Span, Told};
use crate::{life, mpi, own, tell};

/// Most bytes of a place that are told.
const PLACE: usize = 120;

/// The numbers that all ranks of a communicator have for this one, which has these for them. Each
/// of them calls it.
///
/// # Errors
/// The code of the library, where they do not.
pub fn all_numbers(comm: Comm, own: &[i64]) -> Result<Vec<i64>, c_int> {
    let mut all = vec![0_i64; own.len()];
    let ty = consts::INT64_T;
    let code = mpi::Alltoall(
        own.as_ptr().cast(),
        1,
        ty,
        all.as_mut_ptr().cast(),
        1,
        ty,
        comm,
    );
    match code {
        0 => Ok(all),
        code => Err(code),
    }
}

/// The numbers of all ranks of a communicator, each of which calls it; none if they cannot be told.
pub fn numbers(comm: Comm, own: i64) -> Vec<i64> {
    all_numbers(comm, &vec![own; mpi::peers(comm)]).unwrap_or_default()
}

/// A communicator of the tool's own for the members of one; `None` where not all of them are ranks
/// of this job, as others may not be checked. All members call it.
pub fn comm(of: Comm) -> Option<Comm> {
    let mut own = consts::COMM_NULL;
    // Sessions alone have no world to compare with.
    let is_of_world = life::is_in_world() && mpi::is_of_world(of);
    // A duplicate would have the attributes, and call functions of the program to copy them.
    let mut group = consts::GROUP_NULL;
    let is_made = is_of_world
        && mpi::Comm_group(of, &mut group) == 0
        && mpi::Comm_create(of, group, &mut own) == 0;
    if group != consts::GROUP_NULL {
        mpi::Group_free(&mut group);
    }
    // Where ranks do not call the same, the tool tells it.
    let is_quiet = is_made && mpi::Comm_set_errhandler(own, consts::ERRORS_RETURN) == 0;
    if is_quiet {
        own::made(own);
    }
    is_quiet.then_some(own)
}

/// Gives back a communicator of the tool's own.
pub fn leave(mut own: Comm) {
    own::gone(own);
    mpi::Comm_free(&mut own);
}

/// Tells each target the accesses to it; the accesses to this rank. All ranks of the communicator
/// call it.
///
/// # Errors
/// The code of the library, where they do not.
pub fn accesses(comm: Comm, own: &[Access]) -> Result<Vec<Told>, c_int> {
    let size = mpi::peers(comm);
    let mut messages = vec![Vec::new(); size];
    for access in own {
        if let Some(message) = usize::try_from(access.target)
            .ok()
            .and_then(|it| messages.get_mut(it))
        {
            write(access, message);
        }
    }
    let counts: Vec<c_int> = messages.iter().map(|it| it.len() as c_int).collect();
    let mut theirs: Vec<c_int> = vec![0; size];
    let int = consts::INT;
    let code = mpi::Alltoall(
        counts.as_ptr().cast(),
        1,
        int,
        theirs.as_mut_ptr().cast(),
        1,
        int,
        comm,
    );
    if code != 0 {
        return Err(code);
    }
    let (places, _) = places_of(&counts);
    let (others, len) = places_of(&theirs);
    let mut bytes = messages.concat();
    bytes.push(0);
    // The address of nothing may be that of MPI_IN_PLACE.
    let mut got = vec![0_u8; len.max(1)];
    let byte = consts::BYTE;
    let code = mpi::Alltoallv(
        bytes.as_ptr().cast(),
        counts.as_ptr(),
        places.as_ptr(),
        byte,
        got.as_mut_ptr().cast(),
        theirs.as_ptr(),
        others.as_ptr(),
        byte,
        comm,
    );
    if code != 0 {
        return Err(code);
    }
    let mut all = Vec::new();
    for (origin, (&at, &len)) in others.iter().zip(&theirs).enumerate() {
        let bytes = &got[at as usize..(at + len) as usize];
        all.extend(told(origin as i32, bytes));
    }
    Ok(all)
}

/// Accesses as bytes.
pub fn written<'a>(accesses: impl Iterator<Item = &'a Access>) -> Vec<u8> {
    let mut bytes = Vec::new();
    accesses.for_each(|it| write(it, &mut bytes));
    bytes
}

/// The accesses of a rank that stand in these bytes.
pub fn told(origin: i32, mut bytes: &[u8]) -> Vec<Told> {
    std::iter::from_fn(|| read(origin, &mut bytes)).collect()
}

/// Where the message of each rank begins, and how long they are together.
fn places_of(counts: &[c_int]) -> (Vec<c_int>, usize) {
    let mut sum = 0;
    let places = counts.iter().map(|count| {
        let place = sum;
        sum += count;
        place
    });
    let places = places.collect();
    (places, sum as usize)
}

fn write(access: &Access, to: &mut Vec<u8>) {
    let act = match access.act {
        Act::Read => 0,
        Act::Write => 1,
        Act::Atomic => 2,
    };
    let place = tell::place_of(&access.site);
    let place = &place.as_bytes()[..place.len().min(PLACE)];
    let runs = match access.runs.len() {
        0..=RUNS => &access.runs[..],
        _ => &[],
    };
    to.extend([act, runs.len() as u8, place.len() as u8]);
    to.extend(access.displacement.to_le_bytes());
    for number in [access.span.clock, access.span.from, access.span.to] {
        to.extend(number.to_le_bytes());
    }
    for (begin, end) in runs {
        to.extend(begin.to_le_bytes());
        to.extend(end.to_le_bytes());
    }
    to.extend(place);
}

fn read(origin: i32, from: &mut &[u8]) -> Option<Told> {
    let (&[act, runs, place], rest) = from.split_first_chunk::<3>()?;
    *from = rest;
    let mut number = || {
        let (bytes, rest) = from.split_first_chunk::<8>()?;
        *from = rest;
        Some(i64::from_le_bytes(*bytes))
    };
    let displacement = number()?;
    let mut time = || Some(number()? as u64);
    let span = Span {
        clock: time()?,
        from: time()?,
        to: time()?,
    };
    let mut run = || Some((number()?, number()?));
    let runs = (0..runs).map(|_| run()).collect::<Option<Vec<_>>>()?;
    let (place, rest) = from.split_at_checked(place.into())?;
    *from = rest;
    Some(Told {
        origin,
        act: match act {
            0 => Act::Read,
            1 => Act::Write,
            _ => Act::Atomic,
        },
        displacement,
        runs,
        span,
        place: String::from_utf8_lossy(place).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Site;

    #[test]
    fn what_is_written_is_read() {
        let access = Access {
            target: 3,
            act: Act::Atomic,
            displacement: -5,
            runs: vec![(0, 8), (16, 24)],
            span: Span {
                clock: 7,
                from: 8,
                to: u64::MAX,
            },
            site: Site::in_full("MPI_Accumulate"),
        };
        let mut bytes = Vec::new();
        write(&access, &mut bytes);
        write(&access, &mut bytes);
        let mut rest = &bytes[..];
        let told = read(7, &mut rest).unwrap();
        assert_eq!(
            (told.origin, told.act, told.displacement),
            (7, Act::Atomic, -5)
        );
        assert_eq!((told.runs, told.span), (access.runs, access.span));
        assert!(told.place.starts_with("MPI_Accumulate"));
        assert!(read(7, &mut rest).is_some() && read(7, &mut rest).is_none());
        assert!(read(7, &mut &bytes[..20]).is_none(), "cut off");
    }
}
