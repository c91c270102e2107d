//! Programs of a command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use catena_boot::wire::{Malformed, Reader, Writer};
use catena_settings::PREFIX;

use crate::strings::{read_string, read_strings, read_vars, write_strings, write_vars};

/// One program of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct App {
    /// Number of ranks, if given.
    pub count: Option<u32>,
    /// Program as the user wrote it.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables for its ranks.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory, if given.
    pub wdir: Option<PathBuf>,
    /// Where it is looked for first: folders with colons between them.
    pub path: Option<OsString>,
    /// Which of the launcher's variables its ranks have.
    pub inherit: Inherit,
}

/// Which of the launcher's variables the ranks of a program have. Settings of Catena they have in
/// any case, as mpirun follows them, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inherit {
    /// All.
    #[default]
    All,
    /// These.
    Only(Vec<OsString>),
}

impl Inherit {
    /// Whether the variable of this name is one.
    pub fn has(&self, name: &OsStr) -> bool {
        match self {
            Inherit::All => true,
            Inherit::Only(names) => {
                name.as_bytes().starts_with(PREFIX.as_bytes()) || names.iter().any(|of| of == name)
            }
        }
    }
}

impl App {
    /// As [`App::read`] reads it, which has a number of ranks.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.u32(self.count.unwrap_or(1));
        w.bytes(self.program.as_bytes());
        write_strings(w, &self.args);
        write_vars(w, &self.env);
        let wdir = self.wdir.as_ref().map(|dir| dir.as_os_str().to_os_string());
        write_strings(w, wdir.as_slice());
        write_strings(w, self.path.as_slice());
        match &self.inherit {
            Inherit::All => w.u32(0),
            Inherit::Only(names) => {
                w.u32(1);
                write_strings(w, names);
            }
        }
    }

    /// Reads what [`App::write`] wrote: 20 bytes at least.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<App, Malformed> {
        Ok(App {
            count: Some(r.u32()?),
            program: read_string(r)?,
            args: read_strings(r)?,
            env: read_vars(r)?,
            wdir: read_strings(r)?.pop().map(Into::into),
            path: read_strings(r)?.pop(),
            inherit: match r.u32()? {
                0 => Inherit::All,
                _ => Inherit::Only(read_strings(r)?),
            },
        })
    }
}
