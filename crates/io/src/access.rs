//! Reading and writing (MPI-5, chapter 14.4): from the arguments of a call to a transfer.

use catena_abi::Status;
use catena_base::clock;
use catena_core::Process;
use catena_core::buffer::SendBuf;
use catena_datatype::TypeRef;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::datarep::Elements;
use crate::driver::{Direction, Part, move_run};
use crate::failure::of_transfer;
use crate::file::File;
use crate::hints::Choice;
use crate::transfer::{self, Parts, Transfer};

/// A buffer argument, checked.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'t> {
    /// Its address.
    pub base: *mut u8,
    /// Elements.
    pub count: u64,
    /// Their type.
    pub ty: &'t TypeRef,
}

/// Where in the view a call works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an offset, in etypes.
    At(i64),
    /// At the individual file pointer.
    Individual,
    /// At the shared file pointer.
    Shared,
}

/// A checked access without its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'t> {
    pub direction: Direction,
    pub buffer: Buffer<'t>,
    /// Bytes in the file.
    pub len: u64,
}

impl File {
    /// Checks whether the file can be used so, and how many of its bytes a buffer stands for.
    ///
    /// # Errors
    /// `ReadOnly`, `Access` for the wrong mode, `Type` for elements that are not etypes.
    pub(crate) fn check<'t>(&self, direction: Direction, buffer: Buffer<'t>) -> Result<Access<'t>> {
        match direction {
            Direction::Write if !self.amode.writes() => fail!(
                ReadOnly,
                "'{}' was opened with {}: it can only be read",
                self.name,
                self.amode
            ),
            Direction::Read if !self.amode.reads() => fail!(
                Access,
                "'{}' was opened with {}: it can only be written",
                self.name,
                self.amode
            ),
            _ => {}
        }
        let view = self.view.borrow();
        let size = match view.datarep.is_native() {
            true => buffer.ty.size(),
            false => view.datarep.in_file(buffer.ty)?.size(),
        };
        let Some(len) = size
            .checked_mul(buffer.count)
            .filter(|n| *n <= i64::MAX as u64)
        else {
            return Err(too_much(buffer.count, size));
        };
        if !len.is_multiple_of(view.unit()) {
            fail!(
                Type,
                "the data have {len} bytes in the file, which is no multiple of the etype's {}",
                view.unit()
            );
        }
        Ok(Access {
            direction,
            buffer,
            len,
        })
    }

    /// The place of an access in the stream; pointers are moved behind it.
    ///
    /// # Errors
    /// `Arg` for offsets that no file has; `Unsupported` for other than shared access to a sequential
    /// file.
    pub(crate) fn place(
        &self,
        process: &Process,
        access: &Access<'_>,
        place: Place,
    ) -> Result<u64> {
        let view = self.view();
        let from = match place {
            Place::At(etypes) => {
                self.check_pointers()?;
                view.stream(etypes)?
            }
            Place::Individual => {
                self.check_pointers()?;
                self.pointer.get()
            }
            Place::Shared => self.take_shared(process, access.len)?,
        };
        let end = from + access.len;
        if !view.reaches(end) {
            return Err(too_much(access.buffer.count, access.buffer.ty.size()));
        }
        if place == Place::Individual {
            self.pointer.set(end);
        }
        Ok(from)
    }

    /// The transfer of an access at a place in the stream.
    ///
    /// # Errors
    /// Those of conversion; `NoMem`.
    pub(crate) fn transfer(
        &self,
        process: &Process,
        access: &Access<'_>,
        from: u64,
    ) -> Result<Transfer> {
        let elements = Elements {
            base: access.buffer.base,
            count: access.buffer.count,
            ty: access.buffer.ty.clone(),
        };
        let hints = self.hints.borrow();
        let parts = Parts {
            driver: self.driver.clone(),
            name: self.name.clone(),
            view: self.view(),
            from,
            sieve: match hints.ds_read {
                Choice::Disable => 0,
                _ => hints.read_buffer_size,
            },
            counters: self.counters.clone(),
            busy: self.under_way.clone(),
        };
        let mut transfer = Transfer::new(process, access.direction, elements, access.len, parts)?;
        if self.atomic.get() && access.len != 0 {
            transfer.lock = Some(self.range_lock(process, from, access)?);
        }
        Ok(transfer)
    }

    /// Whether a collective call may begin.
    ///
    /// # Errors
    /// `Other` if a split one is under way.
    pub fn free(&self) -> Result<()> {
        self.check_no_split()
    }

    /// The transfer of a call.
    ///
    /// # Errors
    /// The error of the arguments, if they are wrong.
    pub fn prepare(
        &self,
        process: &Process,
        direction: Direction,
        place: Place,
        buffer: Buffer<'_>,
    ) -> Result<Transfer> {
        let access = self.check(direction, buffer)?;
        let from = self.place(process, &access, place)?;
        self.transfer(process, &access, from)
    }

    /// Moves one run of memory to or from one run of the file, where nothing else has to be done: most calls.
    fn straight(&self, access: &Access<'_>, from: u64) -> Option<Result<Status>> {
        let view = self.view.borrow();
        if self.atomic.get() || !view.is_plain() || access.len == 0 {
            return None;
        }
        let Buffer { base, count, ty } = access.buffer;
        let base = match SendBuf::new(base, count, ty) {
            SendBuf::Bytes(base, _) => base.cast_mut(),
            _ => return None,
        };
        let run = Part {
            base,
            len: access.len as usize,
        };
        let at = view.run(from, access.len).at;
        let (begin, mut done) = (clock::ticks(), 0);
        // SAFETY: the program lends its memory, which is one run of as many bytes as the access has.
        let moved = unsafe { move_run(&*self.driver, access.direction, run, at, &mut done) };
        transfer::count(&self.counters, access.direction, done, (1, begin));
        let mut status = Status::empty();
        status.set_bytes(done);
        let failure = moved.err();
        Some(failure.map_or(Ok(status), |failure| {
            Err(of_transfer(&self.name, access.direction, &failure, done))
        }))
    }

    /// A blocking independent call.
    ///
    /// # Errors
    /// The error of the arguments, if they are wrong, and what the system says.
    pub fn access(
        &self,
        process: &Process,
        direction: Direction,
        place: Place,
        buffer: Buffer<'_>,
    ) -> Result<Status> {
        let access = self.check(direction, buffer)?;
        let from = self.place(process, &access, place)?;
        if let Some(done) = self.straight(&access, from) {
            return done;
        }
        let mut transfer = self.transfer(process, &access, from)?;
        transfer.run();
        transfer.finish(process).into_result()
    }
}

#[cold]
fn too_much(count: u64, size: u64) -> Error {
    let text =
        format!("{count} elements of {size} bytes reach beyond the longest file that there can be");
    Error::new(Kind::Count, text)
}
