//! Opening, closing and deleting files (MPI-5, chapter 14.2).
//!
//! Nobody opens it before all have come: one of them may just have made, renamed or deleted a file
//! of that name. The lowest member makes the file if it is to be made, and the others open what is
//! there then. A name is looked up from the working folder when the file is opened, and never again
//! from another one. All tell each other the outcome, so a call that fails at one fails at all, in
//! the same way.

use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_core::Process;
use catena_core::comm::Comm;
use catena_objects::callback::unlocked;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::info::Info;

use crate::agree;
use crate::amode::Amode;
use crate::collective::choice;
use crate::counters;
use crate::driver::{Deferred, Driver, Faulty, Posix, REPLACED, Stripes};
use crate::failure::{OPENING, of_system};
use crate::file::File;
use crate::hint_file;
use crate::hints::Hints;
use crate::registry;
use crate::shared::Shared;
use crate::unseen;
use crate::view::View;

/// File systems that ROMIO's programs name in front of a path; the system knows itself what a path
/// is on.
const PREFIXES: [&str; 6] = ["ufs:", "nfs:", "lustre:", "gpfs:", "panfs:", "xfs:"];

/// The checked arguments of a call that opens a file.
#[derive(Debug)]
pub struct Plan {
    /// The name, without a prefix of ROMIO's.
    pub name: String,
    /// Where that is, whatever becomes of the working folder.
    path: PathBuf,
    /// How it is opened.
    pub amode: Amode,
    /// Hints.
    pub hints: Hints,
}

/// The path of a file that a program names.
///
/// # Errors
/// `BadFile` for no name.
pub fn path(name: &str) -> Result<String> {
    let bare = PREFIXES.iter().find_map(|it| name.strip_prefix(it));
    let path = bare.unwrap_or(name);
    if path.is_empty() {
        fail!(BadFile, "the file name is empty");
    }
    Ok(path.to_owned())
}

impl Plan {
    /// Checks the arguments.
    ///
    /// # Errors
    /// `Amode`, `BadFile`, `InfoValue`.
    pub fn new(name: &str, amode: i32, info: Option<&Info>) -> Result<Plan> {
        let amode = Amode::new(amode)?;
        let mut hints = Hints::default();
        for info in hint_file::hints()?.as_deref().into_iter().chain(info) {
            hints = hints.with(info)?;
        }
        let name = path(name)?;
        let path = std::path::absolute(&name);
        let path = path.map_err(|error| of_system(&name, "cannot find", &error))?;
        Ok(Plan {
            name,
            path,
            amode,
            hints,
        })
    }

    /// The path as the system takes it.
    fn path(&self) -> CString {
        CString::new(self.path.as_os_str().as_bytes()).expect("it came from C")
    }

    fn failed(&self, error: &io::Error) -> Error {
        of_system(&self.name, OPENING, error)
    }

    /// Opens a file that has to be there.
    fn open(&self) -> Result<Arc<dyn Driver>> {
        let (path, flags) = (self.path(), self.amode.flags());
        let file = unlocked(|| Posix::open(&path, flags, 0));
        Ok(self.driver(file.map_err(|e| self.failed(&e))?))
    }

    /// Opens the file for all, and makes it if it is to be made; whether it was.
    fn open_first(&self) -> Result<(Arc<dyn Driver>, bool)> {
        if !self.amode.creates() {
            return Ok((self.open()?, false));
        }
        let (flags, mode) = (self.amode.flags(), self.hints.permissions);
        let stripes = Stripes {
            unit: u32::try_from(self.hints.striping_unit).unwrap_or(0),
            count: u16::try_from(self.hints.striping_factor).unwrap_or(u16::MAX),
        };
        let path = self.path();
        let new = unlocked(|| Posix::create(&path, flags, mode, stripes));
        match new {
            Ok(file) => return Ok((self.driver(file), true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(self.failed(&error)),
        }
        if self.amode.is_exclusive() {
            let text = format!(
                "'{}' exists, and MPI_MODE_EXCL asks for a new file",
                self.name
            );
            return Err(Error::new(Kind::FileExists, text));
        }
        // Somebody may delete it meanwhile.
        let old = unlocked(|| Posix::open(&path, flags | libc::O_CREAT, mode));
        Ok((self.driver(old.map_err(|e| self.failed(&e))?), false))
    }

    /// How long the file is, if it is for those that append, and its number in the file system.
    fn size_and_number(&self, file: &dyn Driver) -> Result<[u64; 2]> {
        let size = match self.amode.appends() {
            true => file.size().map_err(|error| self.failed(&error))?,
            false => 0,
        };
        let identity = file.identity().map_err(|error| self.failed(&error))?;
        Ok([size, identity.1])
    }

    fn driver(&self, file: impl Driver + 'static) -> Arc<dyn Driver> {
        match self.hints.faults.is_empty() {
            true => Arc::new(file),
            false => Arc::new(Faulty::new(file, self.hints.faults.clone())),
        }
    }

    /// A path as a number that is the same for the same path.
    fn hash(&self) -> u64 {
        let bytes = self.path.as_os_str().as_bytes().iter();
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
    }
}

/// Opens a file. Collective over `comm`.
///
/// # Errors
/// That of the plan, what the system says, `NotSame` if members disagree, `Comm` for an
/// intercommunicator; all at all members alike, and on `MPI_FILE_NULL`.
pub fn open(process: &Process, comm: &Arc<Comm>, plan: Result<Plan>) -> Result<abi::File> {
    registry::register(&process.objects.errhandlers);
    if comm.is_inter() {
        fail!(Comm, "a file needs an intracommunicator");
    }
    let (plan, opened) = open_all(process, comm, plan)?;
    let made = opened.made;
    let built = build(process, comm, &plan, opened);
    if built.is_err() && made {
        unlink(&plan.path).ok();
    }
    let file = built?;
    let handle = registry::insert(&file);
    counters::open(handle, file.counters.clone());
    Ok(handle)
}

/// A file that all members have opened.
struct Opened {
    driver: Arc<dyn Driver>,
    /// Whether this member has made it.
    made: bool,
    /// How long the lowest has found it, before anybody can have written: where those begin that
    /// append.
    size: u64,
}

/// Opens it at all members.
fn open_all(process: &Process, comm: &Arc<Comm>, plan: Result<Plan>) -> Result<(Plan, Opened)> {
    let words = plan
        .as_ref()
        .map_or([0; 2], |plan| [plan.amode.bits() as u64, plan.hash()]);
    let (plan, rows) = agree::agree(process, comm, plan, words)?;
    if let Some(rank) = rows.iter().position(|row| row[0] != rows[0][0]) {
        let mode = |rank: usize| Amode::told(rows[rank][0] as i32);
        let text = format!(
            "all members must open a file in the same mode: rank 0 has {}, rank {rank} {}",
            mode(0),
            mode(rank)
        );
        return Err(Error::new(Kind::NotSame, text));
    }
    let mut first = None;
    if plan.amode.creates() {
        let own = match comm.rank {
            0 => plan.open_first().map(Some),
            _ => Ok(None),
        };
        first = agree::all_well(process, comm, own)?;
    }
    let made = first.as_ref().is_some_and(|(_, made)| *made);
    let undo = |error: Error| {
        if made {
            unlink(&plan.path).ok();
        }
        error
    };
    // Names may differ; the file may not. Devices have other numbers on other hosts.
    let other_name = rows.iter().position(|row| row[1] != rows[0][1]);
    let may_defer = comm.rank != 0 && plan.hints.no_independent && other_name.is_none();
    let driver = match first {
        Some((driver, _)) => Ok(Some(driver)),
        // It is opened when it is used first, as the hints say that this is for others.
        None if may_defer => Ok(None),
        None => plan.open().map(Some),
    };
    let driver = driver.and_then(|driver| {
        let [size, number] = match (comm.rank, &driver) {
            (0, Some(driver)) => plan.size_and_number(&**driver)?,
            _ => [0; 2],
        };
        Ok((driver, size, number))
    });
    let file = match &driver {
        Ok((Some(driver), ..)) if other_name.is_some() => driver.identity().map_or(0, |it| it.1),
        _ => 0,
    };
    let (size, number) = driver.as_ref().map_or((0, 0), |it| (it.1, it.2));
    let agreed = agree::agree(process, comm, driver, [file, size, number]);
    let agreed = agreed.and_then(|((driver, ..), files)| {
        let [_, size, number] = files[0];
        let deferred = || Deferred::new(plan.path(), plan.amode.flags(), number);
        let driver = driver.unwrap_or_else(|| plan.driver(deferred()));
        match files.iter().position(|row| row[0] != files[0][0]) {
            None => Ok(Opened { driver, made, size }),
            Some(_) => fail!(NotSame, "all members must open the same file"),
        }
    });
    match (agreed, other_name) {
        (Ok(opened), _) => Ok((plan, opened)),
        (Err(error), None) => Err(undo(error)),
        (Err(error), Some(rank)) => {
            let theirs = agree::text_of(process, comm, 0, &plan.name)?;
            let other = agree::text_of(process, comm, rank as u32, &plan.name)?;
            let text = format!(
                "{}; rank 0 opens '{theirs}', rank {rank} '{other}'",
                error.text()
            );
            Err(undo(error.reworded(error.kind(), text)))
        }
    }
}

/// Makes the object of an open file.
fn build(process: &Process, comm: &Arc<Comm>, plan: &Plan, opened: Opened) -> Result<Arc<File>> {
    let Opened { driver, size, .. } = opened;
    let own = comm.split(process, 0, comm.rank as i32)?;
    let comm = process.comm(own.expect("a color that is not negative"))?;
    let (shared, nodes) = match Shared::open(process, &comm) {
        Ok(opened) => opened,
        Err(error) => {
            comm.free(process)?;
            return Err(error);
        }
    };
    let mut hints = plan.hints.clone();
    hints.cb_nodes = choice::aggregators(&hints, comm.size(), nodes.as_ref()) as u32;
    if let Some(stripes) = driver.stripes() {
        hints.striping_unit = stripes.unit.into();
        hints.striping_factor = stripes.count.into();
    }
    let file = File {
        handle: Cell::new(consts::FILE_NULL),
        comm,
        name: plan.name.as_str().into(),
        path: plan.path.as_path().into(),
        amode: plan.amode,
        driver,
        hints: RefCell::new(hints),
        view: RefCell::new(Arc::new(View::of_bytes())),
        pointer: Cell::new(0),
        atomic: Cell::new(false),
        errhandler: RefCell::new(registry::initial(&process.objects.errhandlers)),
        counters: Arc::default(),
        shared,
        nodes: nodes.map(Arc::new),
        buffers: Cell::new(None),
        operations: Arc::default(),
        split: RefCell::new(None),
        under_way: Arc::new(()),
    };
    if plan.amode.appends() {
        file.pointer.set(size);
        file.shared.begin_at(size);
    }
    Ok(Arc::new(file))
}

/// `MPI_File_close`: collective.
///
/// # Errors
/// `Request` or `Other` while something of a member is under way, at all members alike: the file
/// stays open. What the system says to one of them of closing or deleting it: then it is closed.
pub fn close(process: &Process, file: &Arc<File>) -> Result<()> {
    unseen::tell(process, file.handle.get());
    let own = file.check_idle("MPI_File_close");
    file.operations.settle(process);
    agree::all_well(process, &file.comm, own)?;
    registry::remove(file);
    counters::close(file.handle.get());
    let deleted = match file.comm.rank == 0 && file.amode.deletes_on_close() {
        true => delete_opened(file),
        false => Ok(()),
    };
    let closed = unlocked(|| file.driver.close());
    let closed = closed.map_err(|error| file.failed("cannot close", &error));
    let ended = closed.and(deleted);
    let ended = match file.amode.writes() || file.amode.deletes_on_close() {
        true => agree::all_well(process, &file.comm, ended),
        // What was only read is there whatever the system says.
        false => Ok(()),
    };
    if let Some(buffers) = file.buffers.take() {
        buffers.close(process);
    }
    file.shared.close(process);
    file.comm.clone().free(process)?;
    ended.map_err(|error| error.on(consts::FILE_NULL))
}

/// `MPI_File_delete`: local.
///
/// # Errors
/// What the system says, on `MPI_FILE_NULL`.
pub fn delete(name: &str) -> Result<()> {
    let path = path(name)?;
    unlink(path.as_ref()).map_err(|error| of_system(&path, "cannot delete", &error))
}

/// Deletes a file that is open, and nothing that has taken its name meanwhile.
fn delete_opened(file: &File) -> Result<()> {
    let failed = |error: io::Error| of_system(&file.name, "cannot delete", &error);
    let now = std::fs::metadata(&file.path).map_err(failed)?;
    if file.driver.identity().map_err(failed)? != (now.dev(), now.ino()) {
        fail!(NoSuchFile, "cannot delete '{}': {REPLACED}", file.name);
    }
    unlink(&file.path).map_err(failed)
}

fn unlink(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}
