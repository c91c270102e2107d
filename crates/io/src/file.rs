//! An open file (MPI-5, chapter 14.2): what all its members share, and where this one is in it.
//!
//! Everything here is touched under the library's lock; transfers that other threads carry out have
//! what they need themselves ([`crate::transfer::Transfer`]).

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use catena_abi as abi;
use catena_core::Process;
use catena_core::comm::Comm;
use catena_objects::callback::unlocked;
use catena_objects::errhandler::{ErrhandlerRef, HasErrhandler};
use catena_objects::error::{Error, Result};
use catena_objects::fail;
use catena_objects::info::Info;

use crate::agree;
use crate::amode::Amode;
use crate::collective::buffers::Buffers;
use crate::counters::FileCounters;
use crate::datarep::Datarep;
use crate::driver::Driver;
use crate::failure::of_open_file;
use crate::hints::Hints;
use crate::nodes::Nodes;
use crate::operation::Queue;
use crate::shared::Shared;
use crate::split::Split;
use crate::view::View;

/// A file that this process has opened together with others.
pub struct File {
    /// Its handle.
    pub handle: Cell<abi::File>,
    /// Its members, in a context of their own.
    pub comm: Arc<Comm>,
    /// Its name, as this process gave it.
    pub name: Arc<str>,
    /// Where it was when it was opened.
    pub(crate) path: Box<Path>,
    /// How it was opened.
    pub amode: Amode,
    /// What moves bytes.
    pub driver: Arc<dyn Driver>,
    /// Hints.
    pub hints: RefCell<Hints>,
    /// What this process sees of it.
    pub view: RefCell<Arc<View>>,
    /// The individual file pointer, as a place in the stream of the view.
    pub pointer: Cell<u64>,
    /// Whether conflicting accesses of members are atomic.
    pub atomic: Cell<bool>,
    /// Error handler.
    pub errhandler: RefCell<ErrhandlerRef>,
    /// What was done with it.
    pub(crate) counters: Arc<FileCounters>,
    /// What the members share.
    pub(crate) shared: Arc<Shared>,
    /// On which nodes they are; nothing if they do not agree on that.
    pub(crate) nodes: Option<Arc<Nodes>>,
    /// Collective operations that were started. Every other collective call waits for them first.
    pub(crate) operations: Arc<Queue>,
    /// Where collective calls exchange bytes, once one has.
    pub(crate) buffers: Cell<Option<Buffers>>,
    /// The split collective operation that is under way.
    pub(crate) split: RefCell<Option<Split>>,
    /// Transfers of this process that are not complete yet.
    pub(crate) under_way: Arc<()>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("name", &self.name)
            .field("amode", &self.amode)
            .finish_non_exhaustive()
    }
}

impl HasErrhandler for File {
    fn errhandler(&self) -> &RefCell<ErrhandlerRef> {
        &self.errhandler
    }

    fn called(&self) -> String {
        format!("file '{}'", self.name)
    }
}

impl File {
    /// An error of a system call on it.
    pub(crate) fn failed(&self, doing: &str, error: &std::io::Error) -> Error {
        of_open_file(&self.name, doing, error)
    }

    /// The view.
    pub fn view(&self) -> Arc<View> {
        self.view.borrow().clone()
    }

    /// Transfers of this process that are not complete yet.
    pub(crate) fn is_busy(&self) -> bool {
        Arc::strong_count(&self.under_way) > 1
    }

    /// `MPI_File_get_size`: bytes of the file.
    ///
    /// # Errors
    /// What the system says.
    pub fn size(&self) -> Result<u64> {
        let size = self.driver.size();
        size.map_err(|e| self.failed("cannot tell the size of", &e))
    }

    /// The number of bytes that a call gives for the whole file.
    fn bytes(&self, size: i64) -> Result<u64> {
        match u64::try_from(size) {
            Ok(size) => Ok(size),
            Err(_) => fail!(Arg, "the size is {size}: it must not be negative"),
        }
    }

    fn check_writable(&self) -> Result<()> {
        if !self.amode.writes() {
            fail!(
                ReadOnly,
                "'{}' was opened with {}: it can only be read",
                self.name,
                self.amode
            );
        }
        Ok(())
    }

    /// `MPI_File_set_size`: collective.
    ///
    /// # Errors
    /// `Arg` for a negative size, `NotSame`, `ReadOnly`, what the system says; at all members
    /// alike.
    pub fn set_size(&self, process: &Process, size: i64) -> Result<()> {
        self.resize(process, size, "cannot set the size of", |bytes| {
            self.driver.set_size(bytes)
        })
    }

    /// `MPI_File_preallocate`: collective.
    ///
    /// # Errors
    /// As [`File::set_size`].
    pub fn preallocate(&self, process: &Process, size: i64) -> Result<()> {
        self.resize(process, size, "cannot provide room for", |bytes| {
            self.driver.allocate(bytes)
        })
    }

    fn resize(
        &self,
        process: &Process,
        size: i64,
        doing: &str,
        work: impl FnOnce(u64) -> std::io::Result<()>,
    ) -> Result<()> {
        let own = self.bytes(size).and_then(|bytes| {
            self.check_writable()?;
            self.check_no_split()?;
            Ok(bytes)
        });
        self.operations.settle(process);
        let bytes = agree::same(process, &self.comm, own, "the size")?;
        let done = match self.comm.rank {
            0 => unlocked(|| work(bytes)).map_err(|e| self.failed(doing, &e)),
            _ => Ok(()),
        };
        agree::all_well(process, &self.comm, done)
    }

    /// `MPI_File_sync`: collective. What this process has written is on the storage, and what
    /// others have synchronized before is visible.
    ///
    /// # Errors
    /// `Request` while a transfer is under way; what the system says; at all members alike.
    pub fn sync(&self, process: &Process) -> Result<()> {
        let own = self.check_idle("MPI_File_sync").and_then(|()| {
            let synced = unlocked(|| {
                if self.amode.writes() {
                    self.driver.sync()?;
                }
                self.driver.refresh()
            });
            synced.map_err(|e| self.failed("cannot synchronize", &e))
        });
        self.operations.settle(process);
        agree::all_well(process, &self.comm, own)
    }

    /// Nothing of this process is under way on the file.
    pub(crate) fn check_idle(&self, call: &str) -> Result<()> {
        self.check_no_split()?;
        if self.is_busy() {
            fail!(
                Request,
                "transfers of '{}' are under way: complete their requests before {call}",
                self.name
            );
        }
        Ok(())
    }

    pub(crate) fn check_no_split(&self) -> Result<()> {
        if let Some(split) = &*self.split.borrow() {
            fail!(
                Other,
                "{}_begin of '{}' has not been ended: call {0}_end first",
                split.call(),
                self.name
            );
        }
        Ok(())
    }

    /// `MPI_File_set_atomicity`: collective.
    ///
    /// # Errors
    /// `NotSame`.
    pub fn set_atomicity(&self, process: &Process, flag: bool) -> Result<()> {
        let own = self.check_no_split().map(|()| flag.into());
        self.operations.settle(process);
        let flag = agree::same(process, &self.comm, own, "the flag")?;
        self.atomic.set(flag != 0);
        if flag != 0 {
            self.shared.serve_always(process, &self.comm);
        }
        Ok(())
    }

    /// `MPI_File_set_info`: collective. Some hints only matter when a file is opened.
    ///
    /// # Errors
    /// `InfoValue`, at all members alike.
    pub fn set_info(&self, process: &Process, info: Result<Arc<Info>>) -> Result<()> {
        let new = info.and_then(|info| self.hints.borrow().with(&info));
        self.operations.settle(process);
        let new = agree::all_well(process, &self.comm, new)?;
        self.hints.replace(new);
        Ok(())
    }

    /// `MPI_File_set_view`: collective. Individual and shared pointers go to the beginning of the
    /// view. That of a sequential file begins where the shared pointer is, whatever its
    /// displacement says.
    ///
    /// # Errors
    /// Those of [`View::new`]; `NotSame` for other representations or extents of etypes;
    /// `Unsupported` for a displacement of a sequential file that is not the current one; at all
    /// members alike.
    pub fn set_view(
        &self,
        process: &Process,
        wanted: Result<(View, Option<Arc<Info>>)>,
    ) -> Result<()> {
        let wanted = wanted.and_then(|(view, info)| {
            self.check_no_split()?;
            let hints = match info {
                Some(info) => self.hints.borrow().with(&info)?,
                None => self.hints.borrow().clone(),
            };
            Ok((view, hints))
        });
        self.operations.settle(process);
        // Who comes last sees where it is, as in an ordered call.
        let current = match self.amode.is_sequential() {
            true => self.shared_offset(process),
            false => Ok(0),
        };
        let (wanted, current) = match current {
            Ok(current) => (wanted, current as u64),
            Err(error) => (wanted.and(Err(error)), 0),
        };
        let words = wanted.as_ref().map_or([0; 3], |(view, _)| {
            let name = view.datarep.name().bytes();
            let hash = name.fold(0u64, |hash, byte| {
                hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
            });
            [view.unit(), hash, current]
        });
        let ((view, hints), rows) = agree::agree(process, &self.comm, wanted, words)?;
        if let Some(rank) = rows.iter().position(|row| row[..2] != rows[0][..2]) {
            let what = match rows[rank][0] == rows[0][0] {
                true => "data representation".to_owned(),
                false => format!(
                    "extent of the etype in the file ({} and {} bytes)",
                    rows[0][0], rows[rank][0]
                ),
            };
            fail!(NotSame, "ranks 0 and {rank} differ in the {what}");
        }
        let view = match self.amode.is_sequential() {
            true => view.at(rows.iter().map(|row| row[2]).max().unwrap_or(0)),
            false => view,
        };
        self.hints.replace(hints);
        self.view.replace(Arc::new(view));
        self.pointer.set(0);
        self.reset_shared(process)
    }

    /// The bytes of a type in this file, from its beginning to where the next one would begin.
    ///
    /// # Errors
    /// Those of the representation.
    pub fn type_extent(&self, ty: &catena_datatype::TypeRef) -> Result<i64> {
        let datarep: &Datarep = &self.view.borrow().datarep;
        Ok(datarep.in_file(ty)?.extent())
    }
}
