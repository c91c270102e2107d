//! Row 1: the kinds of memory that a program's buffer may lie in.
//!
//! An address alone does not say whether a processor may read it: libraries of
//! accelerators hand out addresses of device memory, too. [`kind`] tells where an
//! address lies, and [`Copies`] between such memory and the host's.
//! Anything else, reduction kernels among it, works on host memory alone and must be given a copy
//! of what lies elsewhere.
//!
//! A kind other than [`Kind::Host`] needs a [`Device`], which is registered once and
//! from then on knows its addresses. On a host without devices nobody registers one, and
//! a program pays one load of [`is_host_only`], which callers join to a condition that
//! they test anyway; see [`kind`] for an example. Where there is one, [`is_surely_host`] tells of
//! most memory of the host that no device has to be asked for.
//!
//! A process [exports](Device::export) memory of a device, and another one on its host
//! [opens](Device::import) it: that is how a long message between such memory goes as one copy.
//! Else it is staged: messages part by part, collectives before and after their schedule. So rings,
//! single copies of the kernel and reductions meet host memory alone. Of a window there its owner
//! carries out what others ask for.

mod certain;
mod copies;
mod device;
mod kinds;
mod ranges;
mod registry;
#[cfg(any(test, feature = "stand-in"))]
#[doc(hidden)]
pub mod stand_in;

pub use copies::{Copies, Marked};
pub use device::{Copy, CopyError, Device, Direction, Exported, HANDLE, Handle, Mark, Queue, Rows};
pub use kinds::{Kind, Kinds, Unsupported};
pub use registry::{
    device, has, is_host_only, is_surely_host, kind, kind_now, kinds, look_closely,
    may_have_devices, register,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_joined_as_far_as_they_lie_alike() {
        let joined = |runs: &[(isize, usize)]| {
            let mut rows = Rows::one(4);
            let joins: Vec<bool> = runs.iter().map(|&(at, len)| rows.join(at, len)).collect();
            (rows, joins)
        };
        let rows = |count, stride| Rows {
            len: 4,
            count,
            stride,
        };
        assert_eq!(joined(&[(8, 4), (16, 4)]), (rows(3, 8), vec![true; 2]));
        assert_eq!(joined(&[(4, 4), (8, 4)]).0.one_run(), Some(12));
        // Another distance, another length, one that comes before, one that overlaps, one too far
        // away.
        assert_eq!(
            joined(&[(8, 4), (17, 4), (16, 3)]),
            (rows(2, 8), vec![true, false, false])
        );
        let apart = [(-8, 4), (3, 4), (Rows::LONGEST as isize + 1, 4)];
        assert_eq!(joined(&apart), (Rows::one(4), vec![false; 3]));
        assert_eq!((rows(3, 8).one_run(), rows(3, 8).bytes()), (None, 12));
    }

    #[test]
    fn without_a_device_all_memory_is_the_hosts() {
        assert_eq!(kind([1u8].as_ptr()), Kind::Host);
        assert!(!has(Kind::Cuda));
    }

    #[test]
    fn a_copy_of_a_kind_without_a_device_names_it() {
        let refused = Copies::of(Kind::Cuda).expect_err("there is none");
        assert_eq!(refused, Unsupported(Kind::Cuda));
        assert_eq!(
            Unsupported(Kind::LevelZero).to_string(),
            "Level Zero memory is not supported"
        );
    }

    #[test]
    fn a_device_knows_its_addresses_and_copies_them() {
        let mut bytes = [5u8, 6, 7];
        let far = stand_in::lend(Kind::Rocm, &mut bytes);
        assert!(!is_host_only() && kinds().has(Kind::Rocm));
        assert_eq!(kind(far), Kind::Rocm);
        assert_eq!(kind(bytes.as_ptr()), Kind::Host);
        let mut copy = [0u8; 3];
        let ends = Rows {
            len: 1,
            count: 2,
            stride: 2,
        };
        let mut copies = Copies::of(Kind::Rocm).expect("it is registered");
        let write = |to| Copy {
            to,
            from: [8u8, 9].as_ptr(),
            rows: ends,
            direction: Direction::ToDevice,
        };
        let read = Copy {
            to: copy.as_mut_ptr(),
            from: far,
            rows: Rows::one(3),
            direction: Direction::ToHost,
        };
        // SAFETY: both have three bytes.
        unsafe {
            assert_eq!(copies.begin(&write(far)), Ok(()));
            assert_eq!(copies.begin(&read), Ok(()));
        }
        let marked = copies.mark().expect("it marks");
        assert_eq!(
            [marked.has_passed(), marked.has_passed()],
            [Ok(false), Ok(true)]
        );
        assert_eq!(copy, [8, 6, 9]);

        // What was the device's and is the host's now; nobody else's memory ever is.
        bytes = [0; 3];
        let at = bytes.as_mut_ptr();
        let mut copies = Copies::of(Kind::Rocm).expect("it is registered");
        // SAFETY: three bytes.
        let refused = unsafe { copies.begin_on_device(&write(at)) };
        assert_eq!((refused, bytes), (Err(CopyError::NotThere), [0; 3]));
        let mut copies = Copies::of(Kind::Rocm).expect("it is registered");
        // SAFETY: three bytes.
        unsafe { assert_eq!(copies.begin(&write(bytes.as_mut_ptr())), Ok(())) };
        assert_eq!((copies.wait(), bytes), (Ok(()), [8, 0, 9]));
    }
}
