//! What hints for a communicator lead to (MPI-5, chapter 7.4.4): its [`Wishes`].

use catena_datatype::TypeRef;
use catena_objects::error::Result;
use catena_objects::info::Info;

use super::communicator::Comm;
use crate::buffer::SendBuf;
use crate::compress::Wishes;
use crate::process::Process;

/// The wishes of a communicator that is made with these hints.
///
/// # Errors
/// See [`Wishes::with`].
pub fn wishes(process: &Process, hints: Option<&Info>) -> Result<Wishes> {
    let settings = Wishes::from_settings();
    let wishes = hints.map_or(Ok(settings), |it| settings.with(it))?;
    prepare(process, &wishes);
    Ok(wishes)
}

/// Has the process do what the wishes need.
pub(crate) fn prepare(process: &Process, wishes: &Wishes) {
    if !wishes.is_off() {
        process.look_at_types();
        process.link(|link| link.compress_messages());
    }
}

impl Comm {
    /// Follows the hints for a communicator that is there; what they do not name stays.
    ///
    /// # Errors
    /// See [`Wishes::with`].
    pub fn follow(&self, process: &Process, hints: &Info) -> Result<()> {
        let wishes = self.compress.get().with(hints)?;
        self.compress.set(wishes);
        prepare(process, &wishes);
        Ok(())
    }

    /// `count` elements of `ty` at `base`, as a message on this communicator.
    pub fn message(&self, base: *const u8, count: u64, ty: &TypeRef) -> SendBuf {
        match self.compress.get().numbers(count, ty) {
            Some(numbers) => SendBuf::compressible(base, count, ty, numbers),
            None => SendBuf::new(base, count, ty),
        }
    }
}
