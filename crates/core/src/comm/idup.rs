//! `MPI_Comm_idup` (MPI-5, chapter 7.4.2): an agreement that `progress` moves
//! on.

use crate::compress::Wishes;
use crate::needs;
use catena_hang::{WaitsFor, What};
use std::cell::RefCell;
use std::sync::Arc;

use catena_abi::{self as abi, Status};

use super::agreement::Agreement;
use super::create::{Ready, ready, row};
use super::{Comm, Inherited};
use crate::process::Process;
use crate::request::{self, Done, RequestObject, State, when};
use catena_objects::error::{Error, Result};
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

/// A duplicate on its way.
#[derive(Debug)]
struct Making {
    parent: Arc<Comm>,
    /// Taken when the request becomes complete.
    agreement: Option<(Agreement, Ready<Inherited>)>,
    /// Where the program wants the handle; it lends the place until then.
    newcomm: *mut abi::Comm,
    error: Option<Error>,
}

impl Making {
    /// Does what can be done now; true if it is complete.
    fn advance(&mut self, process: &Process) -> bool {
        // It stays where it is as long as it is under way: it is looked at very often.
        if let Some((agreement, _)) = &mut self.agreement
            && !agreement.advance(process)
        {
            return false;
        }
        let Some((agreement, ready)) = self.agreement.take() else {
            return true;
        };
        // An error of this process was returned when the call was made.
        let Ok((inherited, numbers)) = ready else {
            return true;
        };
        match agreement.finish() {
            Ok(told) => {
                let new = self.parent.duplicate(process, numbers, &told, inherited);
                // SAFETY: checked not to be null; the program lends the place
                // until the request is complete.
                unsafe { self.newcomm.write(new) };
            }
            Err(e) => {
                self.parent.note_no_agreement(process, &e);
                self.error = Some(e.on(self.parent.handle.get()));
            }
        }
        true
    }
}

/// The request of it.
#[derive(Debug)]
struct Duplication {
    /// In use while it advances.
    making: RefCell<Making>,
}

impl RequestObject<Process> for Duplication {
    fn state(&self, process: &Process) -> Result<State> {
        let making = self.making.try_borrow_mut();
        Ok(when(making.is_ok_and(|mut it| it.advance(process))))
    }

    fn complete(&self, _: &Process) -> Done {
        Done {
            status: Status::empty(),
            error: self.making.borrow_mut().error.take(),
        }
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        fail!(Request, "a collective operation cannot be cancelled")
    }

    fn place(&self) -> Option<ErrorPlace> {
        let making = self.making.try_borrow().ok()?;
        Some(making.parent.handle.get().into())
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        let before = waits.needs.len();
        if let Ok(making) = self.making.try_borrow() {
            match &making.agreement {
                Some((agreement, _)) => agreement.describe(process, waits),
                None => waits
                    .needs
                    .push(needs::of_all(process, What::Agreement, &making.parent)),
            }
        }
        // Others carry it on while they wait in other calls.
        let own = waits.needs.iter_mut().skip(before);
        own.for_each(|need| need.open = true);
    }

    fn waits_for_control(&self) -> bool {
        let making = self.making.try_borrow();
        making.is_ok_and(|it| match &it.agreement {
            Some((agreement, _)) => agreement.waits_for_control(),
            None => false,
        })
    }

    fn advance(&self, process: &Process) -> bool {
        let making = self.making.try_borrow_mut();
        making.is_ok_and(|mut it| it.advance(process))
    }
}

impl Comm {
    /// `MPI_Comm_idup`, `MPI_Comm_idup_with_info`: collective over this communicator.
    /// Attributes are copied, and everything else is as, when it is called.
    /// When the request is complete the new handle is at `newcomm`.
    ///
    /// # Errors
    /// What an attribute's copy callback returns. If the call failed at another
    /// member, that comes with the completion.
    ///
    /// # Safety
    /// `newcomm` must be valid for a write until the request is complete.
    pub unsafe fn idup(
        self: &Arc<Self>,
        process: &Process,
        hints: Result<Option<Wishes>>,
        newcomm: *mut abi::Comm,
    ) -> Result<abi::Request> {
        let ready = ready(
            process,
            Inherited::of_duplicate(self, hints),
            self.is_inter(),
        );
        let failed = ready.as_ref().err().cloned();
        let agreement = self.begin_accord(process, &row([], &ready));
        let mut making = Making {
            parent: self.clone(),
            agreement: Some((agreement, ready)),
            newcomm,
            error: None,
        };
        let done = making.advance(process);
        let request = Arc::new(Duplication {
            making: RefCell::new(making),
        });
        if !done {
            request::carry_on(process, request.clone());
        }
        match failed {
            None => Ok(request::add(process, request)),
            Some(error) => Err(error),
        }
    }
}
