//! What programs have open: handles of variables, and sessions.

use std::collections::BTreeSet;

use catena_base::slab::Key;
use catena_core::observe;
use catena_core::variables::{Pvar, Source};

use crate::facts::{Bound, Value};
use crate::pvars;
use crate::{Class, Error, Result};

/// A control variable that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CvarHandle {
    pub variable: usize,
    pub count: usize,
}

/// A performance experiment session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub handles: BTreeSet<Key>,
}

/// A performance variable in a session.
#[derive(Debug)]
pub(crate) struct PvarHandle {
    pub session: Key,
    pub variable: &'static Pvar,
    pub bound: Option<Bound>,
    pub running: bool,
    /// Sums: what was counted in earlier runs. Peaks: the highest so far.
    pub value: u64,
    /// Sums: where the library's count stood when it was started.
    pub base: u64,
}

/// What the library says now; 0 before `MPI_Init`.
pub(crate) fn look(variable: &Pvar, bound: Option<Bound>) -> Result<u64> {
    let Some(process) = observe() else {
        return match bound {
            Some(_) => Err(Error::InvalidHandle),
            None => Ok(0),
        };
    };
    match &variable.source {
        Source::State => Ok(0),
        Source::Process(read) => Ok(read(&process)),
        Source::Peak { now, .. } => Ok(now(&process)),
        Source::Object { kind, read } => match bound {
            Some((of, handle)) if of == *kind => read(&process, handle).ok_or(Error::InvalidHandle),
            _ => Err(Error::InvalidHandle),
        },
    }
}

impl PvarHandle {
    pub fn now(&self) -> Result<u64> {
        look(self.variable, self.bound)
    }

    pub fn is_continuous(&self) -> bool {
        self.variable.class.is_present()
    }

    pub fn start(&mut self) -> Result<()> {
        let now = self.now()?;
        if self.variable.class.is_sum() {
            self.base = now;
        } else {
            self.value = self.value.max(now);
        }
        self.running = true;
        Ok(())
    }

    pub fn stop(&mut self) -> Result<()> {
        self.value = self.raw()?;
        self.running = false;
        Ok(())
    }

    /// The value as a number.
    pub fn raw(&self) -> Result<u64> {
        match self.variable.class {
            class if class.is_present() => self.now(),
            class if class.is_sum() && self.running => {
                Ok(self.value.wrapping_add(self.now()?.wrapping_sub(self.base)))
            }
            _ => Ok(self.value),
        }
    }

    pub fn read(&self) -> Result<Value> {
        Ok(match self.variable.class {
            Class::State => Value::Int(pvars::state()),
            Class::Timer => Value::Real(self.raw()? as f64 / 1e9),
            _ => Value::Long(self.raw()?),
        })
    }

    pub fn set(&mut self, value: u64) -> Result<()> {
        self.base = if self.variable.class.is_sum() {
            self.now()?
        } else {
            0
        };
        self.value = value;
        Ok(())
    }

    /// To its starting value.
    pub fn reset(&mut self) -> Result<()> {
        let start = if self.variable.class.is_sum() {
            0
        } else {
            self.now()?
        };
        self.set(start)
    }
}
