//! Control variables (MPI-5, 15.3.6): the settings.

use catena_core::life;
use catena_core::process::was_running;
use catena_settings::{Change, Plain, Setting};

use crate::catalog::{Cvar, catalog};
use crate::handles::CvarHandle;
use crate::state::{decode, encode, state};
use crate::{Error, Result};

/// Least room for a text, with its NUL.
const TEXT: usize = 1024;

/// Makes a handle; how many elements of its type a value has.
///
/// # Errors
/// `InvalidIndex`.
pub fn open(index: usize) -> Result<(usize, usize)> {
    let mut state = state()?;
    let variable = catalog().cvars.get(index).ok_or(Error::InvalidIndex)?;
    let count = match variable.setting.0.plain() {
        Plain::Text(text) => TEXT.max(text.len() + 1),
        _ => 1,
    };
    let handle = CvarHandle {
        variable: index,
        count,
    };
    Ok((encode(state.cvars.insert(handle)), count))
}

/// Frees a handle.
///
/// # Errors
/// `InvalidHandle`.
pub fn close(handle: usize) -> Result<()> {
    let freed = state()?.cvars.remove(decode(handle));
    freed.map(drop).ok_or(Error::InvalidHandle)
}

/// The variable behind a handle, and the elements of its value.
///
/// # Errors
/// `InvalidHandle`.
pub fn variable(handle: usize) -> Result<(&'static Cvar, usize)> {
    let state = state()?;
    let handle = state
        .cvars
        .get(decode(handle))
        .ok_or(Error::InvalidHandle)?;
    Ok((&catalog().cvars[handle.variable], handle.count))
}

impl Cvar {
    /// The value that is in force.
    pub fn read(&self) -> Plain<'static> {
        self.setting.0.plain()
    }

    /// Gives it another value.
    ///
    /// # Errors
    /// `CvarSetNever` if it was read already for good, `CvarSetNotNow` while
    /// MPI is being initialised, `Invalid` for a value that it cannot have.
    pub fn write(&self, value: Plain<'_>) -> Result<()> {
        let setting: &dyn Setting = self.setting.0;
        if setting.change() == Change::BeforeInit {
            if was_running() {
                return Err(Error::CvarSetNever);
            }
            if life::is_starting() {
                return Err(Error::CvarSetNotNow);
            }
        }
        setting.set_plain(value).map_err(|_| Error::Invalid)
    }
}
