//! How all members of a file learn of each other: rows of words, texts, and whether a call failed.
//!
//! A collective call whose arguments are bad at one member must not leave the others waiting. So
//! each member brings its result so far, good or bad, and all leave with the error of the lowest
//! that has one.

use std::sync::Arc;

use catena_abi::{Count, consts};
use catena_core::Process;
use catena_core::coll::Data;
use catena_core::comm::Comm;
use catena_objects::error::{Error, Kind, Result};

use crate::call::{CollectiveCall, at_once};

/// The kinds that members tell each other; one that is not here is told as `Other`.
const KINDS: [Kind; 30] = [
    Kind::Other,
    Kind::Access,
    Kind::Amode,
    Kind::BadFile,
    Kind::Conversion,
    Kind::FileExists,
    Kind::FileInUse,
    Kind::Io,
    Kind::NoSpace,
    Kind::NoSuchFile,
    Kind::Quota,
    Kind::ReadOnly,
    Kind::UnsupportedDatarep,
    Kind::Unsupported,
    Kind::Arg,
    Kind::Buffer,
    Kind::Count,
    Kind::Info,
    Kind::InfoValue,
    Kind::NoMem,
    Kind::NotSame,
    Kind::Type,
    Kind::Request,
    Kind::File,
    Kind::Comm,
    Kind::Intern,
    Kind::ValueTooLarge,
    Kind::ProcAborted,
    Kind::ProcFailed,
    Kind::Revoked,
];

/// A kind as a word that is not 0.
fn word(kind: Kind) -> u64 {
    match kind {
        Kind::Code(code) => 1 << 32 | u64::from(code as u32),
        kind => 1 + KINDS.iter().position(|it| *it == kind).unwrap_or(0) as u64,
    }
}

fn kind(word: u64) -> Kind {
    if word >> 32 != 0 {
        return Kind::Code(word as u32 as i32);
    }
    let known = KINDS.get((word as usize).wrapping_sub(1));
    known.copied().unwrap_or(Kind::Other)
}

/// Tells all members the text of one of them. Collective.
///
/// # Errors
/// `ProcAborted` if a member is gone, `NoMem`.
pub(crate) async fn text_from(crew: &CollectiveCall, root: u32, text: &str) -> Result<String> {
    if crew.comm.size() == 1 {
        return Ok(text.to_owned());
    }
    let prepare = |buf: *mut u8, count: usize, ty| {
        let data = Data {
            buf,
            count: count as Count,
            ty,
        };
        crew.caller().bcast(&crew.comm, data, root as i32)
    };
    let mut len = Box::new(text.len() as u64);
    let told = prepare((&raw mut *len).cast(), 1, consts::UINT64_T)?;
    crew.carry_out(told).await?;
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(*len as usize, 0);
    let told = prepare(bytes.as_mut_ptr(), bytes.len(), consts::BYTE)?;
    crew.carry_out(told).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What [`text_from`] does, in a call that blocks.
///
/// # Errors
/// As [`text_from`].
pub(crate) fn text_of(
    process: &Process,
    comm: &Arc<Comm>,
    root: u32,
    text: &str,
) -> Result<String> {
    at_once(text_from(
        &CollectiveCall::blocking(process, comm),
        root,
        text,
    ))
}

/// The results of all members, each with words for the others; the rows by rank if all are good.
/// Collective.
///
/// # Errors
/// That of the lowest member that has one, at all members alike: of the same kind, with its text
/// and its rank. As [`text_from`].
pub(crate) async fn agree_in<T, const N: usize>(
    crew: &CollectiveCall,
    own: Result<T>,
    words: [u64; N],
) -> Result<(T, Vec<[u64; N]>)> {
    let comm = &crew.comm;
    if comm.size() == 1 {
        return Ok((own?, vec![words]));
    }
    let failed = own.as_ref().err().map_or(0, |error| word(error.kind()));
    // One row of N + 1 words.
    let mut row = Vec::with_capacity(N + 1);
    row.push(failed);
    row.extend(words);
    let mut rows = vec![0u64; (N + 1) * comm.size() as usize];
    let data = |buf: *const u64| Data {
        buf: buf.cast_mut().cast(),
        count: (N + 1) as Count,
        ty: consts::UINT64_T,
    };
    let (send, recv) = (data(row.as_ptr()), data(rows.as_mut_ptr().cast_const()));
    let prepared = crew.caller().allgather(comm, send, recv)?;
    if let Err(error) = crew.carry_out(prepared).await {
        // What a failed operation left behind may still use them.
        std::mem::forget((row, rows));
        return Err(error);
    }
    if let Some(rank) = rows.chunks_exact(N + 1).position(|row| row[0] != 0) {
        let rank = rank as u32;
        let text = own.as_ref().err().map_or("", Error::text);
        let text = text_from(crew, rank, text).await?;
        let word = rows[(N + 1) * rank as usize];
        let text = match rank == comm.rank {
            true => text,
            false => format!("rank {rank}: {text}"),
        };
        return Err(Error::new(kind(word), text));
    }
    let rows = rows.chunks_exact(N + 1);
    let rows = rows.map(|row| std::array::from_fn(|i| row[i + 1]));
    let rows = rows.collect();
    Ok((own?, rows))
}

/// What [`agree_in`] does, in a call that blocks.
///
/// # Errors
/// As [`agree_in`].
pub(crate) fn agree<T, const N: usize>(
    process: &Process,
    comm: &Arc<Comm>,
    own: Result<T>,
    words: [u64; N],
) -> Result<(T, Vec<[u64; N]>)> {
    at_once(agree_in(
        &CollectiveCall::blocking(process, comm),
        own,
        words,
    ))
}

/// As [`agree_in`] without words.
///
/// # Errors
/// As [`agree_in`].
pub(crate) async fn all_well_in<T>(crew: &CollectiveCall, own: Result<T>) -> Result<T> {
    agree_in(crew, own, []).await.map(|(own, _)| own)
}

/// As [`agree`] without words.
///
/// # Errors
/// As [`agree`].
pub(crate) fn all_well<T>(process: &Process, comm: &Arc<Comm>, own: Result<T>) -> Result<T> {
    agree(process, comm, own, []).map(|(own, _)| own)
}

/// A number that has to be the same at all members, each of which brings its own. Collective.
///
/// # Errors
/// `NotSame` that says who said what; as [`agree`].
pub(crate) fn same(
    process: &Process,
    comm: &Arc<Comm>,
    own: Result<u64>,
    what: &str,
) -> Result<u64> {
    let value = *own.as_ref().unwrap_or(&0);
    let (own, rows) = agree(process, comm, own, [value])?;
    match rows.iter().position(|row| row[0] != rows[0][0]) {
        None => Ok(own),
        Some(rank) => {
            let text = format!(
                "{what} must be the same at all members: rank 0 has {}, rank {rank} {}",
                rows[0][0] as i64, rows[rank][0] as i64
            );
            Err(Error::new(Kind::NotSame, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_survive_the_way() {
        for kind_ in KINDS
            .into_iter()
            .chain([Kind::Code(0x4711), Kind::Code(-3)])
        {
            assert_eq!(kind(word(kind_)), kind_);
        }
        assert_eq!(kind(word(Kind::Win)), Kind::Other);
    }
}
