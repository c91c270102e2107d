//! What a process asks another one to do with its memory, as messages of a space of their own.
//!
//! ```text
//! 0   what (1), flags (1), type and operation of an atomic (1, 1), error of an answer (4)
//! 8   number of the operation at whoever asks
//! 16  key, address, length, remote CQ data (8 each)
//! 48  bytes that are written, operands, or what was read
//! ```

use std::ffi::c_int;

use crate::arithmetic;
use crate::memory::Regions;
use crate::sys::flag;

/// Bytes in front.
pub const HEAD: usize = 48;
/// What is read or written with the request or its answer; longer data go by themselves.
pub const ALONG: usize = 8192;
/// The tag of data that are written has this bit, and the number of the operation; that of data
/// that are read has the number alone.
pub const WRITES: u64 = 1 << 63;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// To write the bytes that follow.
    Write = 1,
    /// To write data that come by themselves.
    WriteLong = 2,
    /// To answer with bytes.
    Read = 3,
    /// To send data by themselves.
    ReadLong = 4,
    /// An atomic.
    Atomic = 5,
    /// It is done, or not.
    Answer = 6,
}

/// Flags.
pub const HAS_DATA: u8 = 1;
/// The operands are followed by what they are compared with.
pub const COMPARES: u8 = 2;
/// What was there is asked for.
pub const FETCHES: u8 = 4;

/// A request, or the answer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub what: What,
    pub flags: u8,
    /// Type and operation of an atomic.
    pub atomic: (u8, u8),
    /// Of an answer: how it failed, positive, or 0.
    pub error: i32,
    pub number: u64,
    pub key: u64,
    pub addr: u64,
    pub len: u64,
    pub data: u64,
}

impl Request {
    /// An answer to this one.
    pub fn answer(&self, error: i32) -> Request {
        Request {
            what: What::Answer,
            error,
            ..*self
        }
    }

    /// Appends its bytes.
    pub fn encode(&self, to: &mut Vec<u8>) {
        to.extend([self.what as u8, self.flags, self.atomic.0, self.atomic.1]);
        to.extend(self.error.to_le_bytes());
        for word in [self.number, self.key, self.addr, self.len, self.data] {
            to.extend(word.to_le_bytes());
        }
    }

    /// Reads what [`Request::encode`] wrote, and what follows; `None` if it is damaged.
    pub fn decode(bytes: &[u8]) -> Option<(Request, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let word = |at: usize| {
            let bytes = head[8 * at..].first_chunk().expect("within the head");
            u64::from_le_bytes(*bytes)
        };
        let what = match head[0] {
            1 => What::Write,
            2 => What::WriteLong,
            3 => What::Read,
            4 => What::ReadLong,
            5 => What::Atomic,
            6 => What::Answer,
            _ => return None,
        };
        let error = i32::from_le_bytes(*head[4..].first_chunk().expect("within the head"));
        let request = Request {
            what,
            flags: head[1],
            atomic: (head[2], head[3]),
            error,
            number: word(1),
            key: word(2),
            addr: word(3),
            len: word(4),
            data: word(5),
        };
        Some((request, rest))
    }

    /// The accesses that it needs.
    pub fn access(&self) -> u64 {
        match self.what {
            What::Read | What::ReadLong => flag::REMOTE_READ,
            What::Write | What::WriteLong | What::Answer => flag::REMOTE_WRITE,
            What::Atomic if self.flags & FETCHES != 0 => flag::REMOTE_READ | flag::REMOTE_WRITE,
            What::Atomic => flag::REMOTE_WRITE,
        }
    }
}

/// Carries out a request whose bytes are all here, and appends what is to be answered to `out`.
///
/// # Errors
/// An error number, positive; nothing was changed then.
pub fn perform(
    regions: &Regions,
    request: &Request,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), c_int> {
    let len = usize::try_from(request.len).map_err(|_| libc::EINVAL)?;
    let (memory, _hold) = regions.find(request.key, request.addr, len, request.access())?;
    match request.what {
        What::Write if bytes.len() == len => {
            let mut bytes = bytes;
            for run in memory {
                let (now, later) = bytes.split_at(run.iov_len);
                let to = run.iov_base.cast::<u8>();
                // SAFETY: the program lends its regions to its peers; `find` has checked the
                // bounds.
                unsafe { to.copy_from_nonoverlapping(now.as_ptr(), now.len()) };
                bytes = later;
            }
        }
        What::Read if len <= ALONG => {
            for run in memory {
                let at = out.len();
                out.resize(at + run.iov_len, 0);
                let from = run.iov_base.cast::<u8>();
                // SAFETY: as above.
                unsafe { from.copy_to_nonoverlapping(out[at..].as_mut_ptr(), run.iov_len) };
            }
        }
        What::Atomic if len <= arithmetic::MOST => {
            let atomic = (request.atomic.0.into(), request.atomic.1.into());
            let is_whole =
                |of: usize| arithmetic::size(atomic.0).is_some_and(|it| of.is_multiple_of(it));
            let compares = if request.flags & COMPARES != 0 {
                len
            } else {
                0
            };
            let has_operands = bytes.len() == len + compares;
            if !has_operands && (!bytes.is_empty() || !arithmetic::only_reads(atomic.1))
                || !memory.iter().all(|it| is_whole(it.iov_len))
            {
                return Err(libc::EINVAL);
            }
            let (mut operands, mut compare) = bytes.split_at(len.min(bytes.len()));
            let mut before = Vec::new();
            let _turn = regions.turn();
            for run in memory {
                let at = (run.iov_base.cast(), run.iov_len);
                // SAFETY: as above.
                unsafe { arithmetic::perform(atomic, at, operands, compare, &mut before) };
                operands = operands.get(run.iov_len..).unwrap_or_default();
                compare = compare.get(run.iov_len..).unwrap_or_default();
            }
            if request.flags & FETCHES != 0 {
                out.extend(before);
            }
        }
        _ => return Err(libc::EINVAL),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_journey() {
        let request = Request {
            what: What::Atomic,
            flags: COMPARES,
            atomic: (7, 12),
            error: -3,
            number: 1,
            key: u64::MAX,
            addr: 1 << 40,
            len: 8,
            data: 5,
        };
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        assert_eq!(bytes.len(), HEAD);
        bytes.extend(b"rest");
        assert_eq!(Request::decode(&bytes), Some((request, &b"rest"[..])));
        assert_eq!(Request::decode(&bytes[..HEAD - 1]), None);
        bytes[0] = 9;
        assert_eq!(Request::decode(&bytes), None);
    }
}
