//! Many runs of bytes of a neighbour's memory by one call of the kernel.

use std::io;

use crate::Neighbour;

/// Bytes of a neighbour that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Their address there.
    pub addr: u64,
    /// How many.
    pub len: usize,
}

impl Run {
    /// Runs that the kernel takes at a time (`IOV_MAX`).
    pub const MOST: usize = 1024;
}

fn vector(addr: u64, len: usize) -> libc::iovec {
    libc::iovec {
        iov_base: addr as *mut libc::c_void,
        iov_len: len,
    }
}

/// Moves runs by calls that move some of the bytes of some runs, given which ones and how many
/// bytes were moved before.
fn in_calls(
    runs: &[Run],
    mut some: impl FnMut(&[libc::iovec], usize) -> io::Result<usize>,
) -> io::Result<()> {
    let mut moved = 0;
    let mut remote = [vector(0, 0); Run::MOST];
    for part in runs.chunks(Run::MOST) {
        for (to, run) in remote.iter_mut().zip(part) {
            *to = vector(run.addr, run.len);
        }
        let mut left = &mut remote[..part.len()];
        while let Some(first) = left.iter().position(|it| it.iov_len != 0) {
            left = &mut left[first..];
            let mut now = match some(left, moved) {
                // It ends early where memory ends.
                Ok(0) => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
                Ok(now) => now,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            moved += now;
            for it in &mut *left {
                let of_it = now.min(it.iov_len);
                *it = vector(it.iov_base as u64 + of_it as u64, it.iov_len - of_it);
                now -= of_it;
                if now == 0 {
                    break;
                }
            }
        }
    }
    Ok(())
}

impl Neighbour {
    /// Reads runs of its memory, one behind the other, to `into`.
    ///
    /// # Errors
    /// As [`Neighbour::read`].
    ///
    /// # Safety
    /// `into` must be valid for the bytes of all runs.
    pub unsafe fn read_runs(&self, runs: &[Run], into: *mut u8) -> io::Result<()> {
        in_calls(runs, |remote, moved| {
            let len = remote.iter().map(|it| it.iov_len).sum();
            let local = vector(into.wrapping_add(moved).addr() as u64, len);
            let (many, pid) = (remote.len() as libc::c_ulong, self.pid());
            // SAFETY: the caller vouches for `into`; the kernel checks the rest.
            match unsafe { libc::process_vm_readv(pid, &local, 1, remote.as_ptr(), many, 0) } {
                -1 => Err(io::Error::last_os_error()),
                n => Ok(n as usize),
            }
        })
    }

    /// Writes what lies one behind the other at `from` to runs of its memory.
    ///
    /// # Errors
    /// As [`Neighbour::read`].
    ///
    /// # Safety
    /// `from` must be valid for the bytes of all runs, and the process must let those change.
    pub unsafe fn write_runs(&self, runs: &[Run], from: *const u8) -> io::Result<()> {
        in_calls(runs, |remote, moved| {
            let len = remote.iter().map(|it| it.iov_len).sum();
            let local = vector(from.wrapping_add(moved).addr() as u64, len);
            let (many, pid) = (remote.len() as libc::c_ulong, self.pid());
            // SAFETY: the caller vouches for both.
            match unsafe { libc::process_vm_writev(pid, &local, 1, remote.as_ptr(), many, 0) } {
                -1 => Err(io::Error::last_os_error()),
                n => Ok(n as usize),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each call moves at most seven bytes, so runs are cut everywhere.
    #[test]
    fn what_a_call_leaves_the_next_one_moves() {
        let memory: Vec<u8> = (0..=255).cycle().take(40_000).collect();
        let runs: Vec<Run> = (0..3000)
            .map(|i| Run {
                addr: i * 13,
                len: (i % 11) as usize,
            })
            .collect();
        let mut got = Vec::new();
        in_calls(&runs, |remote, moved| {
            assert_eq!(moved, got.len());
            let mut now = 0;
            for it in remote {
                let some = it.iov_len.min(7 - now);
                let from = it.iov_base as usize;
                got.extend_from_slice(&memory[from..from + some]);
                now += some;
            }
            Ok(now)
        })
        .unwrap();
        let expected: Vec<u8> = runs
            .iter()
            .flat_map(|run| memory[run.addr as usize..][..run.len].to_vec())
            .collect();
        assert_eq!(got, expected);
        assert!(in_calls(&runs, |_, _| Ok(0)).is_err());
    }
}
