//! Split collective calls: the one that begins does the work, and keeps the status for the one that ends it.

use catena_abi::Status;
use catena_core::Process;
use catena_objects::error::Result;
use catena_objects::fail;

use crate::collective::way::run;
use crate::driver::Direction;
use crate::file::File;
use crate::split::{Call, Form, Split};
use crate::transfer::Transfer;

impl File {
    /// Begins an operation with a transfer that is made only if none is under way. Collective.
    ///
    /// # Errors
    /// `Other` if one is; those of the transfer.
    pub fn begin(
        &self,
        process: &Process,
        (form, direction): (Form, Direction),
        base: *mut u8,
        own: impl FnOnce() -> Result<Transfer>,
    ) -> Result<()> {
        let own = self.check_no_split().and_then(|()| own());
        let status = run(process, self, own)?;
        self.split.replace(Some(Split {
            form,
            direction,
            base,
            status,
        }));
        Ok(())
    }

    /// Ends the operation that was begun with this buffer.
    ///
    /// # Errors
    /// `Other` if none was, or another one; `Buffer` for another buffer.
    pub fn end(&self, form: Form, direction: Direction, base: *const u8) -> Result<Status> {
        let mut split = self.split.borrow_mut();
        let call = Call(form, direction);
        match &*split {
            None => fail!(Other, "{call}_begin has not been called before {call}_end"),
            Some(it) if (it.form, it.direction) != (form, direction) => {
                fail!(
                    Other,
                    "{call}_end was called, but it is {}_begin that has not been ended",
                    it.call()
                )
            }
            Some(it) if it.base.cast_const() != base => fail!(
                Buffer,
                "{call}_end has another buffer than {call}_begin had"
            ),
            Some(it) => {
                let status = it.status;
                *split = None;
                Ok(status)
            }
        }
    }
}
