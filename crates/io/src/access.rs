//! Reading and writing (MPI-5, chapter 14.4): from the arguments of a call to a transfer.

use catena_abi::{self as abi, Status};
use catena_base::clock;
use catena_core::Process;
use catena_core::buffer;
use catena_core::request::Done;
use catena_datatype::TypeRef;
use catena_objects::callback::unlocked;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::agent;
use crate::datarep::Elements;
use crate::driver::{Direction, Part, move_run};
use crate::failure::of_transfer;
use crate::file::File;
use crate::lock::RangeLock;
use crate::place::{FilePosition, Placed};
use crate::registry;
use crate::transfer::{self, Parts, STAGE, Transfer};
use crate::view::View;

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

/// Bytes from which each call is timed. Of shorter ones the first [`ALL`] are, and then each
/// [`TIMED`]th.
const LONG: usize = 64 << 10;
const ALL: u64 = 64;
const TIMED: u64 = 16;

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
        // Functions of the program may tell the size.
        let view = self.view.borrow().clone();
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
        if view.is_empty() && len != 0 {
            fail!(
                Arg,
                "the view of '{}' shows no bytes, as its filetype has none, and {len} are to be \
                 moved",
                self.name
            );
        }
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

    /// The place of an access in the stream; pointers are moved behind it. What else may fail comes
    /// before, or is followed by [`File::settle_pointer`].
    ///
    /// # Errors
    /// `Arg` for offsets that no file has; `Unsupported` for other than shared access to a
    /// sequential file. No pointer is moved then.
    pub(crate) fn place(
        &self,
        process: &Process,
        access: &Access<'_>,
        place: FilePosition,
    ) -> Result<Placed> {
        let placed = |from| Placed {
            place,
            from,
            len: access.len,
            in_memory: access.buffer.count.saturating_mul(access.buffer.ty.size()),
        };
        let from = match place {
            FilePosition::At(etypes) => {
                self.check_pointers()?;
                self.view.borrow().stream(etypes)?
            }
            FilePosition::Individual => {
                self.check_pointers()?;
                self.pointer.get()
            }
            FilePosition::Shared | FilePosition::Ordered => {
                self.take_shared(process, access.len)?
            }
        };
        let end = from.saturating_add(access.len);
        let allowed = {
            let view = self.view.borrow();
            match access.direction {
                _ if !view.reaches(end) => {
                    Err(too_much(access.buffer.count, access.buffer.ty.size()))
                }
                Direction::Write => view.check_written(from, end),
                Direction::Read => Ok(()),
            }
        };
        allowed.inspect_err(|_| self.settle_pointer(process, placed(from), 0))?;
        if place == FilePosition::Individual {
            self.pointer.set(end);
        }
        Ok(placed(from))
    }

    /// A call has failed that had moved so many bytes, counted in memory: its pointer goes behind
    /// the last etype of them, unless another call has moved it meanwhile. Members have moved that
    /// of an ordered call together, and it stays.
    #[cold]
    pub(crate) fn settle_pointer(&self, process: &Process, placed: Placed, moved: u64) {
        let Placed {
            place, from, len, ..
        } = placed;
        let view = self.view();
        let etypes = placed.to_file(moved) / view.unit();
        let (to, end) = (from + etypes * view.unit(), from + len);
        match place {
            FilePosition::At(_) | FilePosition::Ordered => {}
            FilePosition::Individual if self.pointer.get() == end => self.pointer.set(to),
            FilePosition::Individual => {}
            FilePosition::Shared => self.put_back_shared(process, end, end - to),
        }
    }

    /// The transfer of an access, whose place is not known yet.
    ///
    /// # Errors
    /// Those of conversion; `NoMem`.
    pub(crate) fn transfer(&self, process: &Process, access: &Access<'_>) -> Result<Transfer> {
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
            window: hints.window(access.direction),
            counters: self.counters.clone(),
            busy: self.under_way.clone(),
        };
        Transfer::new(process, access.direction, elements, access.len, parts)
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
        place: FilePosition,
        buffer: Buffer<'_>,
    ) -> Result<Transfer> {
        let access = self.check(direction, buffer)?;
        let mut transfer = self.transfer(process, &access)?;
        transfer.put_at(self.place(process, &access, place)?);
        Ok(transfer)
    }

    /// Where the bytes of a buffer lie, if one call of the system moves them and nothing else has
    /// to be done.
    #[inline]
    fn straight(&self, view: &View, buffer: Buffer<'_>) -> Option<Part> {
        let Buffer { base, count, ty } = buffer;
        let len = ty.size().checked_mul(count)?;
        let is_one = len != 0 && buffer::is_run(base, count, ty);
        let is_all = !self.atomic.get() && view.is_plain();
        (is_one && is_all).then_some(Part {
            base,
            len: usize::try_from(len).ok()?,
        })
    }

    /// Moves a run of memory to or from the file, and counts its bytes in `done`; other threads may
    /// call the library meanwhile if it `lets_go`.
    #[inline]
    fn move_straight(
        &self,
        direction: Direction,
        (run, at): (Part, u64),
        lets_go: bool,
        moved_bytes: &mut u64,
    ) -> Result<Status> {
        let counters = &*self.counters;
        // One of many short calls is timed and stands for them: looking at the clock would be a
        // tenth of each.
        let number = counters.add_alone(|it| &it.calls, 1);
        let stands_for = match number {
            _ if run.len >= LONG || number < ALL => 1,
            _ if number.is_multiple_of(TIMED) => TIMED,
            _ => 0,
        };
        let now = || if stands_for == 0 { 0 } else { clock::ticks() };
        let (begin, mut done) = (now(), 0);
        let mut move_all = || {
            // SAFETY: the program lends its memory, which is one run of as many bytes.
            unsafe { move_run(&*self.driver, direction, run, at, &mut done) }
        };
        let moved = match lets_go {
            true => unlocked(move_all),
            false => move_all(),
        };
        *moved_bytes = done;
        counters.add_alone(transfer::moved(direction), done);
        if stands_for != 0 {
            let ticks = now().wrapping_sub(begin);
            counters.add_alone(|it| &it.time, ticks * stands_for);
        }
        if let Err(failure) = moved {
            return Err(of_transfer(&self.name, direction, &failure, done));
        }
        let mut status = Status::empty();
        status.set_bytes(done);
        Ok(status)
    }

    /// A blocking independent call.
    ///
    /// # Errors
    /// The error of the arguments, if they are wrong, and what the system says.
    pub fn access(
        &self,
        process: &Process,
        direction: Direction,
        place: FilePosition,
        buffer: Buffer<'_>,
    ) -> Result<Status> {
        let access = self.check(direction, buffer)?;
        let view = self.view();
        if let Some(run) = self.straight(&view, buffer) {
            let placed = self.place(process, &access, place)?;
            let at = view.run(placed.from, access.len).at;
            let mut moved = 0;
            let done = self.move_straight(direction, (run, at), true, &mut moved);
            return done.inspect_err(|_| self.settle_pointer(process, placed, moved));
        }
        if view.datarep.is_external() && access.len > STAGE && buffer.count > 1 {
            return self.access_in_parts(process, &access, place);
        }
        let mut transfer = self.transfer(process, &access)?;
        let placed = self.place(process, &access, place)?;
        transfer.put_at(placed);
        let locked = self.lock_alone(process, &mut transfer);
        locked.inspect_err(|_| self.settle_pointer(process, placed, 0))?;
        unlocked(|| transfer.run());
        // The next MPI call may be far.
        agent::give_back(process);
        let done = transfer.finish(process);
        if done.error.is_some() {
            self.settle_pointer(process, placed, done.status.bytes());
        }
        done.into_result()
    }

    /// An access whose bytes are converted, some elements after the others, so that there is no
    /// copy of all of them. A value that the representation does not have ends it in front of some
    /// of the elements.
    fn access_in_parts(
        &self,
        process: &Process,
        access: &Access<'_>,
        place: FilePosition,
    ) -> Result<Status> {
        let Access {
            direction, buffer, ..
        } = *access;
        let each = access.len / buffer.count;
        let most = (STAGE / each).max(1);
        let placed = self.place(process, access, place)?;
        let locked = self.lock_of(process, placed, direction);
        let lock = locked.inspect_err(|_| self.settle_pointer(process, placed, 0))?;
        let held = unlocked(|| lock.as_ref().map(RangeLock::hold));
        let (mut first, mut moved, mut failed) = (0, 0, None);
        while first < buffer.count && failed.is_none() {
            let count = most.min(buffer.count - first);
            let skipped = (first as i64).wrapping_mul(buffer.ty.extent());
            let part = Access {
                direction,
                buffer: Buffer {
                    base: buffer.base.wrapping_offset(skipped as isize),
                    count,
                    ty: buffer.ty,
                },
                len: count * each,
            };
            let done = match self.transfer(process, &part) {
                Ok(mut transfer) => {
                    transfer.before = first * each;
                    transfer.put_at(Placed {
                        from: placed.from + first * each,
                        len: part.len,
                        in_memory: count.saturating_mul(buffer.ty.size()),
                        ..placed
                    });
                    unlocked(|| transfer.run());
                    transfer.finish(process)
                }
                Err(error) => Done {
                    status: Status::empty(),
                    error: Some(error),
                },
            };
            let bytes = done.status.bytes();
            moved += bytes;
            failed = done.error;
            first += count;
            if bytes < count * buffer.ty.size() {
                // The end of the file.
                break;
            }
        }
        drop(held);
        drop(lock);
        agent::give_back(process);
        if let Some(error) = failed {
            self.settle_pointer(process, placed, moved);
            return Err(error);
        }
        let mut status = Status::empty();
        status.set_bytes(moved);
        Ok(status)
    }

    /// A blocking independent call that is allowed and has nothing to do but to move one run of
    /// bytes.
    #[inline]
    fn access_straight(
        &self,
        direction: Direction,
        place: FilePosition,
        buffer: Buffer<'_>,
    ) -> Option<Result<Status>> {
        let view = self.view.borrow();
        let run = self.straight(&view, buffer)?;
        let from = match place {
            FilePosition::At(etypes) => view.place(etypes)?,
            FilePosition::Individual => self.pointer.get(),
            FilePosition::Shared | FilePosition::Ordered => return None,
        };
        let (len, unit) = (run.len as u64, view.unit());
        let end = from.checked_add(len)?;
        let is_allowed = match direction {
            Direction::Read => self.amode.reads(),
            Direction::Write => self.amode.writes(),
        };
        if !is_allowed
            || self.amode.is_sequential()
            || !view.reaches(end)
            || unit != 1 && !len.is_multiple_of(unit)
        {
            return None;
        }
        let at = view.run(from, len).at;
        let mut moved = 0;
        let done = self.move_straight(direction, (run, at), false, &mut moved);
        if place == FilePosition::Individual {
            // No other thread calls meanwhile.
            self.pointer.set(match &done {
                Ok(_) => end,
                Err(_) => from + moved / unit * unit,
            });
        }
        Some(done)
    }
}

/// What [`File::access`] does, for the calls that need no more than a call of the system: most do.
/// `None` for all others, also for those whose arguments are wrong. For a library that has no lock,
/// as the call does not let go of it.
#[inline]
pub fn straight(
    file: abi::File,
    direction: Direction,
    place: FilePosition,
    buffer: Buffer<'_>,
) -> Option<Result<Status>> {
    // SAFETY: bytes are moved, and nothing else is done meanwhile: no file is opened or closed, no
    // callback is called.
    let file = unsafe { registry::borrow(file) }?;
    file.access_straight(direction, place, buffer)
}

#[cold]
fn too_much(count: u64, size: u64) -> Error {
    let text =
        format!("{count} elements of {size} bytes reach beyond the longest file that there can be");
    Error::new(Kind::Count, text)
}
