//! Copies by the kernel into memory that may vanish: pages of a file that somebody cuts. A store
//! into such a page would end the process by a signal; the kernel's copy ends early.
//!
//! Bytes go into a pipe, and out of it to many places in one call. That is 12 ns for each piece on
//! an x86 of 2023, where a store takes 2 and a call to write a piece 300.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::calls::checked;

/// Places that one call fills.
const PIECES: usize = 1024;
/// Bytes that go into the pipe at once. A pipe may take fewer.
const BYTES: usize = 64 << 10;

/// Where bytes go, and how many.
pub(super) type Destination = (*mut u8, usize);

/// A pipe of this process with itself, empty between calls.
#[derive(Debug)]
pub struct Carrier {
    read: OwnedFd,
    write: OwnedFd,
    pieces: Vec<libc::iovec>,
}

impl Carrier {
    /// # Errors
    /// What the system says: there may be no descriptors left.
    pub fn new() -> io::Result<Self> {
        let mut both = [0; 2];
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: there is room for two descriptors.
        checked(unsafe { libc::pipe2(both.as_mut_ptr(), flags) })?;
        // SAFETY: they have just been made, for nobody else.
        let [read, write] = both.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        Ok(Carrier {
            read,
            write,
            pieces: Vec::with_capacity(PIECES),
        })
    }

    /// Copies the bytes from `from` on to places, in their order; how many before the first place
    /// that is not there. If that are not all, the pipe is not empty and not to be used again.
    ///
    /// # Safety
    /// There are as many bytes at `from` as the places have together, and nothing of the program
    /// lies at the places.
    pub(super) unsafe fn carry(
        &mut self,
        from: *const u8,
        places: impl Iterator<Item = Destination>,
    ) -> u64 {
        let mut places = places.peekable();
        let mut carried = 0;
        while places.peek().is_some() {
            let some = places.by_ref().take(PIECES);
            self.pieces.clear();
            self.pieces.extend(some.map(|(base, len)| libc::iovec {
                iov_base: base.cast(),
                iov_len: len,
            }));
            let want: usize = self.pieces.iter().map(|piece| piece.iov_len).sum();
            // SAFETY: the caller's promise.
            let done = unsafe { self.carry_some(from.wrapping_add(carried), want) };
            carried += done;
            if done != want {
                break;
            }
        }
        carried as u64
    }

    /// Fills the pieces with the `want` bytes at `from` that they have room for; how many they were
    /// given.
    ///
    /// # Safety
    /// As for [`Carrier::carry`].
    unsafe fn carry_some(&mut self, from: *const u8, want: usize) -> usize {
        let (mut done, mut first) = (0, 0);
        while done < want {
            let (at, len) = (from.wrapping_add(done), (want - done).min(BYTES));
            // SAFETY: the caller's promise.
            let put = again(|| unsafe { libc::write(self.write.as_raw_fd(), at.cast(), len) });
            let mut there = put;
            while there != 0 {
                let pieces = &self.pieces[first..];
                // SAFETY: the caller's promise; no more comes out than has been put in.
                let got = again(|| unsafe {
                    libc::readv(
                        self.read.as_raw_fd(),
                        pieces.as_ptr(),
                        pieces.len() as libc::c_int,
                    )
                });
                if got == 0 {
                    break;
                }
                there -= got;
                first = self.advance(first, got);
            }
            done += put - there;
            if put == 0 || there != 0 {
                break;
            }
        }
        done
    }

    /// Some bytes of the pieces from the `first` on have been filled; the first that has room left.
    fn advance(&mut self, mut first: usize, mut bytes: usize) -> usize {
        while bytes != 0 {
            let piece = &mut self.pieces[first];
            let now = bytes.min(piece.iov_len);
            piece.iov_base = piece.iov_base.wrapping_byte_add(now);
            piece.iov_len -= now;
            bytes -= now;
            first += usize::from(piece.iov_len == 0);
        }
        first
    }
}

/// The bytes that a call has moved, which is made again when a signal interrupts it; 0 if it fails.
fn again(mut call: impl FnMut() -> isize) -> usize {
    loop {
        let moved = call();
        if moved >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return usize::try_from(moved).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_reach_their_places() {
        let mut carrier = Carrier::new().unwrap();
        // Pieces of many lengths: more than a call takes, and one that is longer than what the pipe
        // holds.
        let lens: Vec<usize> = (0..3000)
            .map(|i| 1 + i * 7 % 90)
            .chain([300_000, 1])
            .collect();
        let all: usize = lens.iter().sum();
        let from: Vec<u8> = (0..all).map(|i| (i * 31 / 7) as u8).collect();
        let mut to = vec![0u8; 2 * all];
        let base = to.as_mut_ptr();
        let mut begins = Vec::new();
        let mut at = 0;
        for len in &lens {
            begins.push(at);
            at += 2 * len;
        }
        let places = begins
            .iter()
            .zip(&lens)
            .map(|(at, len)| (base.wrapping_add(*at), *len));
        // SAFETY: the places lie in `to`, and have as many bytes as `from`.
        assert_eq!(unsafe { carrier.carry(from.as_ptr(), places) }, all as u64);
        let mut next = 0;
        for (at, len) in begins.iter().zip(&lens) {
            assert_eq!(to[*at..at + len], from[next..next + len]);
            assert!(to[at + len..at + 2 * len].iter().all(|byte| *byte == 0));
            next += len;
        }
    }
}
