//! Individual file pointers, and what places of a view mean (MPI-5, chapters 14.4.3 and 14.4.2).

use std::ffi::c_int;

use catena_abi::consts;
use catena_objects::error::Result;
use catena_objects::fail;

use crate::file::File;

impl File {
    /// `MPI_File_seek`.
    ///
    /// # Errors
    /// `Arg` for an unknown `whence`, and for places before the beginning of the view.
    pub fn seek(&self, offset: i64, whence: c_int) -> Result<()> {
        self.check_pointers()?;
        let to = self.target(offset, whence, self.pointer.get())?;
        self.pointer.set(to);
        Ok(())
    }

    /// Where in the stream a seek leads.
    ///
    /// # Errors
    /// As [`File::seek`].
    pub(crate) fn target(&self, offset: i64, whence: c_int, now: u64) -> Result<u64> {
        let view = self.view();
        let from = match whence {
            consts::SEEK_SET => 0,
            consts::SEEK_CUR => now,
            consts::SEEK_END => view.end(self.size()?),
            _ => fail!(
                Arg,
                "whence is {whence}: it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END"
            ),
        };
        let from = (from / view.unit()) as i64;
        match from.checked_add(offset) {
            Some(to @ 0..) => view.stream(to),
            _ => fail!(
                Arg,
                "the offset {offset} from {from} leads before the beginning of the view"
            ),
        }
    }

    /// `MPI_File_get_position`: in etypes.
    ///
    /// # Errors
    /// `Unsupported` for a sequential file.
    pub fn position(&self) -> Result<i64> {
        self.check_pointers()?;
        Ok((self.pointer.get() / self.view().unit()) as i64)
    }

    /// `MPI_File_get_byte_offset`: where in the file an etype of the view begins.
    ///
    /// # Errors
    /// `Arg` for a negative offset, `Unsupported` for a sequential file.
    pub fn byte_offset(&self, offset: i64) -> Result<i64> {
        self.check_pointers()?;
        let view = self.view();
        Ok(view.offset(view.stream(offset)?) as i64)
    }

    /// Only the shared pointer works in a sequential file.
    pub(crate) fn check_pointers(&self) -> Result<()> {
        if self.amode.is_sequential() {
            fail!(
                Unsupported,
                "'{}' was opened with {}: it is used by the shared file pointer only",
                self.name,
                self.amode
            );
        }
        Ok(())
    }
}
