//! How requests stand, and their completion (MPI-5, chapter 3.7.3).

use catena_abi::{self as abi, Status, consts};
use catena_link::ReqId;

use super::calls::placed;
use super::{
    Done, NOWHERE, NOWHERE_STATUS, RequestObject, SENT, State, as_transfer, bad_request, when,
};
use crate::process::Process;
use crate::trouble::is_interrupted;
use catena_objects::error::{Error, Result};

/// Takes the result of an object, whose errors belong to its place.
#[inline]
fn complete_object(process: &Process, object: &dyn RequestObject<Process>) -> Done {
    let mut done = object.complete(process);
    if let Some(error) = done.error.take() {
        done.error = Some(placed(error, object.place()));
    }
    done
}

impl Process {
    /// How a request stands. Does not progress.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    #[inline]
    pub fn state(&self, r: abi::Request) -> Result<State> {
        if let Some(id) = as_transfer(r) {
            return match r {
                SENT | NOWHERE => Ok(State::Complete),
                _ => self
                    .link(|link| match link.valid(id) {
                        false => Err(bad_request(r)),
                        true => Ok(when(link.is_done(id))),
                    })
                    .map(|state| match state {
                        // It cannot be waited for, which its completion says.
                        State::Pending if is_interrupted(self, id) => State::Complete,
                        state => state,
                    }),
            };
        }
        self.state_slow(r)
    }

    fn state_slow(&self, r: abi::Request) -> Result<State> {
        if r == consts::REQUEST_NULL {
            return Ok(State::Inactive);
        }
        // SAFETY: `state` neither calls the program back nor makes or frees a request.
        match unsafe { self.objects.requests.borrow(r.0) } {
            Some(object) => object.state(self),
            None => Err(bad_request(r)),
        }
    }

    /// Whether nothing is under way: `MPI_REQUEST_NULL`, or persistent and not
    /// started.
    #[inline]
    pub fn is_idle(&self, r: abi::Request) -> bool {
        as_transfer(r).is_none() && matches!(self.state_slow(r), Ok(State::Inactive))
    }

    /// Completes a request that is complete or inactive: frees it and sets the
    /// handle to `MPI_REQUEST_NULL`, or makes a persistent one inactive.
    #[inline]
    pub fn complete(&self, r: &mut abi::Request) -> Done {
        match as_transfer(*r) {
            Some(id) => {
                if self.is_troubled()
                    && let Some(error) = self.interruption_of(*r, id)
                {
                    return Done {
                        status: Status::empty(),
                        error: Some(error),
                    };
                }
                let was = std::mem::replace(r, consts::REQUEST_NULL);
                self.complete_transfer(was, id)
            }
            None => self.complete_slow(r),
        }
    }

    /// Why a receive cannot be waited for that is still under way, and stays so.
    #[cold]
    fn interruption_of(&self, r: abi::Request, id: ReqId) -> Option<Error> {
        if matches!(r, SENT | NOWHERE) {
            return None;
        }
        let cid = self.link(|link| link.is_under_way(id).then(|| link.cid(id)))?;
        let comm = self.comm_at(cid)?;
        Some(comm.interruption(self, true))
    }

    /// Completes a part of a call that ends with it: a receive that cannot be waited for is taken
    /// back.
    pub fn complete_whole(&self, r: &mut abi::Request) -> Done {
        let done = self.complete(r);
        let Some(id) = as_transfer(*r) else {
            return done;
        };
        self.link(|link| link.interrupt(id));
        self.complete(r)
    }

    #[inline]
    fn complete_transfer(&self, r: abi::Request, id: ReqId) -> Done {
        match r {
            SENT => Done::EMPTY,
            NOWHERE => Done {
                status: NOWHERE_STATUS,
                error: None,
            },
            _ => {
                let (cid, completion) = self.link(|link| (link.cid(id), link.take(id)));
                let mut done = Done::from(completion);
                if let Some(e) = done.error.take() {
                    done.error = Some(
                        match self.handle_of(cid).or_else(|| self.orphans.handle_of(cid)) {
                            Some(comm) => e.on(comm),
                            None => e,
                        },
                    );
                }
                done
            }
        }
    }

    fn complete_slow(&self, r: &mut abi::Request) -> Done {
        let requests = &self.objects.requests;
        // SAFETY: the borrow ends before anything else is called, unless it is of a transfer, which promises to touch no
        // request of the table.
        let borrowed = unsafe { requests.borrow(r.0) };
        if let Some(transfer) = borrowed.filter(|it| it.is_transfer()) {
            return complete_object(self, &**transfer);
        }
        let stays = borrowed.is_some_and(|it| it.is_persistent());
        let object = match stays {
            true => requests.get(r.0),
            false => requests.remove(r.0),
        };
        let Some(object) = object else {
            return Done::EMPTY;
        };
        if !stays {
            *r = consts::REQUEST_NULL;
        }
        let done = complete_object(self, &*object);
        if !stays {
            object.recycle(self);
        }
        done
    }

    /// The status of a complete request, which stays (`MPI_Request_get_status`).
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    pub fn peek(&self, r: abi::Request) -> Result<Done> {
        match as_transfer(r) {
            Some(_) if r == SENT => return Ok(Done::EMPTY),
            Some(_) if r == NOWHERE => {
                return Ok(Done {
                    status: NOWHERE_STATUS,
                    error: None,
                });
            }
            Some(id) => {
                if let Some(error) = self
                    .is_troubled()
                    .then(|| self.interruption_of(r, id))
                    .flatten()
                {
                    return Ok(Done {
                        status: Status::empty(),
                        error: Some(error),
                    });
                }
                return self.link(|link| match link.valid(id) {
                    false => Err(bad_request(r)),
                    true => Ok(link.peek(id).map_or(Done::EMPTY, Done::from)),
                });
            }
            None if r == consts::REQUEST_NULL => return Ok(Done::EMPTY),
            None => {}
        }
        self.request_object(r)?.peek(self)
    }

    /// `MPI_Wait`.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles; the operation's own error is in
    /// the result.
    pub fn wait(&self, r: &mut abi::Request) -> Result<Done> {
        self.block_on(*r)?;
        Ok(self.complete(r))
    }

    /// Progresses until a request is not pending; how it stands then.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles.
    #[inline]
    pub fn block_on(&self, r: abi::Request) -> Result<State> {
        let state = self.state(r)?;
        if state != State::Pending {
            return Ok(state);
        }
        match self.objects.requests.get(r.0) {
            // Looked up once.
            Some(object) => {
                self.block(|process| !matches!(object.state(process), Ok(State::Pending)));
            }
            None => self.block(|process| !matches!(process.state(r), Ok(State::Pending))),
        }
        Ok(State::Complete)
    }
}
