//! Completion of several requests (MPI-5, chapter 3.7.5): which of them are
//! done. Completing them, and what becomes of their statuses, is up to the
//! caller. After a round of progress that moved nothing they stand as before, so
//! they are not looked at again: programs poll many requests between short
//! pieces of work.

use catena_hang::WaitsFor;
use std::ffi::c_int;

use catena_abi::{Request, consts};

use super::{NOWHERE, SENT, State, as_transfer, bad_request};
use crate::process::Process;
use catena_objects::error::{Error, Result};

/// Where the first complete request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All are null or inactive.
    Inactive,
    /// None is complete.
    Pending,
    /// This one is complete.
    At(usize),
}

#[cold]
fn at(index: usize, e: &Error) -> Error {
    e.reworded(
        e.kind(),
        format!("array_of_requests[{index}]: {}", e.text()),
    )
}

/// The number of requests that a call looks at for each round of progress.
const LOOKED_AT: usize = 256;

/// One of them is to complete.
fn any_of(requests: &[Request]) -> impl Fn(&Process, &mut WaitsFor) {
    |process, waits| {
        waits.any = true;
        process.describe_requests(requests, waits);
    }
}

impl Process {
    /// Makes as much progress as it costs to look at `requests` requests: one round completes few of them, and a look at all
    /// of them after each round would cost more than what is moved.
    fn move_many(&self, requests: usize) {
        for _ in 0..requests / LOOKED_AT {
            if !self.progress() {
                return;
            }
        }
    }

    /// How a request stands after at most one round of progress (`MPI_Test`).
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    #[inline]
    pub fn poll(&self, r: Request) -> Result<State> {
        match self.state(r)? {
            State::Pending if self.progress() => self.state(r),
            state => Ok(state),
        }
    }

    /// Checks that each handle is that of a request, or null, before any of them is used.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    #[inline]
    pub fn check_all(&self, requests: &[Request]) -> Result<()> {
        for (i, &r) in requests.iter().enumerate() {
            if !self.is_request(r) {
                return Err(at(i, &bad_request(r)));
            }
        }
        Ok(())
    }

    /// Whether a handle is that of a request, or null.
    #[inline]
    fn is_request(&self, r: Request) -> bool {
        match as_transfer(r) {
            Some(id) => self.link(|link| link.valid(id)) || matches!(r, SENT | NOWHERE),
            None => {
                // SAFETY: the borrow ends at once.
                r == consts::REQUEST_NULL || unsafe { self.objects.requests.borrow(r.0) }.is_some()
            }
        }
    }

    /// `MPI_Startall`. Nothing is started if one of them cannot be, but for those in front of one that stands there twice.
    ///
    /// # Errors
    /// `Request` if one is not persistent or active already, and for freed and made-up handles.
    pub fn start_all(&self, requests: &[Request]) -> Result<()> {
        // One alone says so itself when it is started.
        if requests.len() > 1 {
            for (i, &r) in requests.iter().enumerate() {
                self.check_startable(r).map_err(|e| at(i, &e))?;
            }
        }
        for (i, &r) in requests.iter().enumerate() {
            self.start(r).map_err(|e| at(i, &e))?;
        }
        Ok(())
    }

    /// Whether none is pending after at most one round of progress.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    pub fn poll_all(&self, requests: &[Request]) -> Result<bool> {
        let mut progressed = false;
        for (i, &r) in requests.iter().enumerate() {
            let mut state = self.state(r).map_err(|e| at(i, &e))?;
            if state == State::Pending && !progressed {
                progressed = true;
                if self.progress() {
                    state = self.state(r).map_err(|e| at(i, &e))?;
                }
            }
            if state == State::Pending {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks for a complete one, without progress.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    pub fn first_complete(&self, requests: &[Request]) -> Result<Among> {
        let mut found = Among::Inactive;
        for (i, &r) in requests.iter().enumerate() {
            match self.state(r).map_err(|e| at(i, &e))? {
                State::Complete => return Ok(Among::At(i)),
                State::Pending => found = Among::Pending,
                State::Inactive => {}
            }
        }
        Ok(found)
    }

    /// Looks for a complete one, after at most one round of progress.
    ///
    /// # Errors
    /// As [`Process::first_complete`].
    pub fn poll_any(&self, requests: &[Request]) -> Result<Among> {
        match self.first_complete(requests)? {
            Among::Pending if self.progress() => self.first_complete(requests),
            found => Ok(found),
        }
    }

    /// Waits for a complete one; never `Pending`.
    ///
    /// # Errors
    /// As [`Process::first_complete`].
    pub fn wait_any(&self, requests: &[Request]) -> Result<Among> {
        let mut found = self.first_complete(requests);
        if matches!(found, Ok(Among::Pending)) {
            self.block(any_of(requests), |process| {
                found = process.first_complete(requests);
                !matches!(found, Ok(Among::Pending))
            });
        }
        found
    }

    /// Stores the indices of all complete ones, without progress, and returns
    /// their number; `None` if all are null or inactive. `indices` is as long
    /// as `requests`.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    pub fn all_complete(
        &self,
        requests: &[Request],
        indices: &mut [c_int],
    ) -> Result<Option<usize>> {
        let (mut n, mut active) = (0, false);
        for (i, &r) in requests.iter().enumerate() {
            let state = self.state(r).map_err(|e| at(i, &e))?;
            active |= state != State::Inactive;
            if state == State::Complete {
                indices[n] = i as c_int;
                n += 1;
            }
        }
        Ok(active.then_some(n))
    }

    /// Stores the indices of all complete ones as [`Process::all_complete`] does, after at most one
    /// round of progress.
    ///
    /// # Errors
    /// As [`Process::all_complete`].
    pub fn poll_some(&self, requests: &[Request], indices: &mut [c_int]) -> Result<Option<usize>> {
        match self.all_complete(requests, indices)? {
            Some(0) if self.progress() => {
                self.move_many(requests.len());
                self.all_complete(requests, indices)
            }
            found => Ok(found),
        }
    }

    /// Waits until there is a complete one at least, and stores the indices of all.
    ///
    /// # Errors
    /// As [`Process::all_complete`].
    pub fn wait_some(&self, requests: &[Request], indices: &mut [c_int]) -> Result<Option<usize>> {
        let mut found = self.all_complete(requests, indices);
        if matches!(found, Ok(Some(0))) {
            self.block(any_of(requests), |process| {
                found = process.all_complete(requests, indices);
                !matches!(found, Ok(Some(0)))
            });
            if matches!(found, Ok(Some(_))) && requests.len() >= LOOKED_AT {
                self.move_many(requests.len());
                found = self.all_complete(requests, indices);
            }
        }
        found
    }
}
