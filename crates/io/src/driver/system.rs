//! File systems of which more is known than that Linux reads and writes their files.
//!
//! | file system | what is done about it                                                                     |
//! |-------------|-------------------------------------------------------------------------------------------|
//! | Lustre      | a file that is made is laid out as `striping_factor` and `striping_unit` say, and these tell how it is |
//! | NFS         | a member that synchronizes forgets what it has cached, so it reads what others have written |
//! | local       | short pieces of an independent write are stored through a map                              |

use std::ffi::{CStr, c_int};
use std::io;
use std::mem::MaybeUninit;

/// Where a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// Lustre, with files in stripes.
    Lustre,
    /// The network file system, whose clients cache.
    Nfs,
    /// One of this host alone, all of whose processes see the same pages.
    Local,
    /// Any other one.
    Other,
}

impl FileSystem {
    /// What the number means by which Linux tells file systems (`statfs(2)`).
    pub fn from_magic(magic: u64) -> Self {
        match magic {
            0x0BD0_0BD0 => FileSystem::Lustre,
            0x6969 => FileSystem::Nfs,
            // tmpfs, ext2 to ext4, XFS, Btrfs, F2FS, overlays.
            0x0102_1994 | 0xEF53 | 0x5846_5342 | 0x9123_683E | 0xF2F5_2010 | 0x794C_7630 => {
                FileSystem::Local
            }
            _ => FileSystem::Other,
        }
    }

    /// Where an open file lies.
    pub fn of(fd: c_int) -> Self {
        let mut stat = MaybeUninit::<libc::statfs64>::uninit();
        // SAFETY: there is room for the answer, which the call fills if it gives 0.
        match unsafe { libc::fstatfs64(fd, stat.as_mut_ptr()) } {
            // SAFETY: as above.
            0 => Self::from_magic(unsafe { stat.assume_init() }.f_type as u64),
            _ => FileSystem::Other,
        }
    }

    /// Where a path leads, which has to be there.
    pub fn of_path(path: &CStr) -> Self {
        let mut stat = MaybeUninit::<libc::statfs64>::uninit();
        // SAFETY: the path ends with NUL; as in `of`.
        match unsafe { libc::statfs64(path.as_ptr(), stat.as_mut_ptr()) } {
            // SAFETY: as above.
            0 => Self::from_magic(unsafe { stat.assume_init() }.f_type as u64),
            _ => FileSystem::Other,
        }
    }
}

/// How Lustre lays a file out, as its attribute `lustre.lov` says (`struct lov_user_md_v1` of its
/// documentation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// Bytes of a stripe; 0 for what the file system thinks.
    pub unit: u32,
    /// On how many targets they lie; 0 for what the file system thinks.
    pub count: u16,
}

const ATTRIBUTE: &CStr = c"lustre.lov";
/// The layouts that have one kind of stripe, without and with the name of a pool.
const MAGIC_1: u32 = 0x0BD1_0BD0;
const MAGIC_3: u32 = 0x0BD3_0BD0;
/// Stripes in turn.
const RAID0: u32 = 1;
/// Bytes of the first form, with which the other one begins.
const BYTES: usize = 32;

impl Stripes {
    fn encode(self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        out[..4].copy_from_slice(&MAGIC_1.to_ne_bytes());
        out[4..8].copy_from_slice(&RAID0.to_ne_bytes());
        out[24..28].copy_from_slice(&self.unit.to_ne_bytes());
        out[28..30].copy_from_slice(&self.count.to_ne_bytes());
        // Any target may be the first.
        out[30..].copy_from_slice(&u16::MAX.to_ne_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..BYTES)?;
        let word = |at: usize| u32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        if ![MAGIC_1, MAGIC_3].contains(&word(0)) {
            // A layout that changes along the file has no one size.
            return None;
        }
        Some(Stripes {
            unit: word(24),
            count: u16::from_ne_bytes([bytes[28], bytes[29]]),
        })
    }

    /// Lays a file out that has no bytes and no layout yet.
    ///
    /// # Errors
    /// What the file system says, as of a unit that is no multiple of 64 KiB.
    pub fn set(self, fd: c_int) -> io::Result<()> {
        let bytes = self.encode();
        let (name, value) = (ATTRIBUTE.as_ptr(), bytes.as_ptr().cast());
        // SAFETY: the name ends with NUL, and the value is that long.
        match unsafe { libc::fsetxattr(fd, name, value, bytes.len(), 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// How a file is laid out, if it has one kind of stripes.
    pub fn of(fd: c_int) -> Option<Self> {
        let mut bytes = [0u8; 4096];
        let (name, room) = (ATTRIBUTE.as_ptr(), bytes.as_mut_ptr().cast());
        // SAFETY: the name ends with NUL, and there is that much room.
        let len = unsafe { libc::fgetxattr(fd, name, room, bytes.len()) };
        Self::decode(bytes.get(..usize::try_from(len).ok()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_told_by_their_numbers() {
        assert_eq!(FileSystem::from_magic(0x0BD0_0BD0), FileSystem::Lustre);
        assert_eq!(FileSystem::from_magic(0x6969), FileSystem::Nfs);
        // That of memory.
        assert_eq!(FileSystem::from_magic(0x0102_1994), FileSystem::Local);
        assert_eq!(FileSystem::of_path(c"/proc"), FileSystem::Other);
        assert_eq!(FileSystem::of(-1), FileSystem::Other);
    }

    #[test]
    fn stripes_survive_the_attribute() {
        let stripes = Stripes {
            unit: 4 << 20,
            count: 7,
        };
        let mut bytes = stripes.encode().to_vec();
        assert_eq!(bytes[30..], [0xff, 0xff]);
        assert_eq!(Stripes::decode(&bytes), Some(stripes));
        assert_eq!(Stripes::decode(&bytes[..31]), None);
        // With the name of a pool behind it.
        bytes[..4].copy_from_slice(&MAGIC_3.to_ne_bytes());
        bytes.extend(*b"pool            ");
        assert_eq!(Stripes::decode(&bytes), Some(stripes));
        // A layout that changes along the file.
        bytes[..4].copy_from_slice(&0x0BD6_0BD0u32.to_ne_bytes());
        assert_eq!(Stripes::decode(&bytes), None);
    }

    #[test]
    fn other_file_systems_refuse_stripes() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        let stripes = Stripes { unit: 0, count: 1 };
        assert!(stripes.set(fd).is_err());
        assert_eq!(Stripes::of(fd), None);
    }
}
