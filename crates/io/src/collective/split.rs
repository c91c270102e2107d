//! Split collective calls: one starts an operation, another waits for its end.

use catena_core::request::RequestObject;
use std::sync::Arc;

use catena_abi::Status;
use catena_core::Process;
use catena_objects::error::Result;
use catena_objects::fail;

use crate::collective::way;
use crate::driver::Direction;
use crate::file::File;
use crate::split::{Call, Form, Split};
use crate::transfer::Transfer;

impl File {
    /// Begins an operation with a transfer that is made only if none is under way. Collective.
    ///
    /// # Errors
    /// `Other` if one is; those of the transfer. The others learn of it when they end theirs.
    pub fn begin(
        self: &Arc<Self>,
        process: &Process,
        (form, direction): (Form, Direction),
        base: *mut u8,
        own: impl FnOnce() -> Result<Transfer>,
    ) -> Result<()> {
        let own = self.check_no_split().and_then(|()| own());
        let operation = way::begin(process, self, own)?;
        self.split.replace(Some(Split {
            form,
            direction,
            base,
            operation,
        }));
        Ok(())
    }

    /// Ends the operation that was begun with this buffer: waits until it is over. Collective.
    ///
    /// # Errors
    /// `Other` if no operation was begun, or one of another kind; `Buffer` if it was begun with
    /// another buffer; else what the operation itself gives, see [`crate::collective::run`].
    pub fn end(
        &self,
        process: &Process,
        (form, direction): (Form, Direction),
        base: *const u8,
    ) -> Result<Status> {
        let call = Call(form, direction);
        let operation = match &*self.split.borrow() {
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
            Some(it) => it.operation.clone(),
        };
        process.block(
            |process, waits| operation.describe(process, waits),
            |_| operation.is_done(),
        );
        self.split.replace(None);
        operation.take().into_result()
    }
}
