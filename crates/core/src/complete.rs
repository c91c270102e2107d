//! How requests stand, and their completion (MPI-5, chapter 3.7.3).

use std::cell::Cell;
use std::sync::Arc;

use catena_abi::{self as abi, Status, consts};
use catena_link::ReqId;

use crate::process::Process;
use crate::request::{
    Done, NOWHERE, NOWHERE_STATUS, Operation, RequestObj, SENT, State, as_transfer, bad_request,
    callback_failed, query,
};
use catena_objects::error::Result;

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
                _ => self.link(|link| match link.valid(id) {
                    false => Err(bad_request(r)),
                    true => Ok(when(link.is_done(id))),
                }),
            };
        }
        self.state_slow(r)
    }

    fn state_slow(&self, r: abi::Request) -> Result<State> {
        if r == consts::REQUEST_NULL {
            return Ok(State::Inactive);
        }
        self.state_of(&*self.request_obj(r)?)
    }

    fn state_of(&self, obj: &RequestObj) -> Result<State> {
        match obj {
            RequestObj::Persistent(p) => match (p.active.get(), &p.what) {
                (None, _) => Ok(State::Inactive),
                (Some(_), Operation::Collective(run)) => self.state_of(run),
                (Some(inner), _) => self.state(inner),
            },
            // It is in use while a user operation of its own asks.
            RequestObj::Collective(run) => Ok(when(run.try_borrow().is_ok_and(|r| r.is_done()))),
            RequestObj::Making(making) => Ok(when(making.borrow().is_done())),
            RequestObj::Generalized(g) => Ok(when(g.done.get())),
            RequestObj::Pair(p) => {
                let pending = |r: &Cell<abi::Request>| -> Result<bool> {
                    Ok(self.state(r.get())? == State::Pending)
                };
                Ok(when(!pending(&p.recv)? && !pending(&p.send)?))
            }
            RequestObj::Flush { holder, until } => {
                Ok(when(self.is_flushed(holder.slot(self), *until)))
            }
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
                let was = std::mem::replace(r, consts::REQUEST_NULL);
                self.complete_transfer(was, id)
            }
            None => self.complete_slow(r),
        }
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
                    done.error = Some(match self.handle_of(cid) {
                        Some(comm) => e.on(comm),
                        None => e,
                    });
                }
                done
            }
        }
    }

    fn complete_slow(&self, r: &mut abi::Request) -> Done {
        let Some(obj) = self.objects.requests.get(r.0) else {
            return Done::EMPTY;
        };
        match &*obj {
            RequestObj::Persistent(p) => match (p.active.take(), &p.what) {
                (None, _) => Done::EMPTY,
                (Some(_), Operation::Collective(obj)) => Done {
                    status: Status::empty(),
                    error: obj.run().borrow_mut().take_error(),
                },
                (Some(mut inner), _) => self.complete(&mut inner),
            },
            RequestObj::Collective(run) => {
                self.objects.requests.remove(r.0);
                *r = consts::REQUEST_NULL;
                let error = run.borrow_mut().take_error();
                self.keep_run(obj);
                Done {
                    status: Status::empty(),
                    error,
                }
            }
            RequestObj::Making(making) => {
                self.objects.requests.remove(r.0);
                *r = consts::REQUEST_NULL;
                Done {
                    status: Status::empty(),
                    error: making.borrow_mut().take_error(),
                }
            }
            RequestObj::Generalized(g) => {
                let mut done = query(g);
                self.objects.requests.remove(r.0);
                *r = consts::REQUEST_NULL;
                let code = g.call_free();
                if code != 0 && done.error.is_none() {
                    done.error = Some(callback_failed("free", code));
                }
                done
            }
            RequestObj::Pair(p) => {
                self.objects.requests.remove(r.0);
                *r = consts::REQUEST_NULL;
                let mut done = self.complete(&mut p.recv.get());
                let sent = self.complete(&mut p.send.get());
                done.error = done.error.or(sent.error);
                done
            }
            RequestObj::Flush { .. } => {
                self.objects.requests.remove(r.0);
                *r = consts::REQUEST_NULL;
                Done::EMPTY
            }
        }
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
                return self.link(|link| match link.valid(id) {
                    false => Err(bad_request(r)),
                    true => Ok(link.peek(id).map_or(Done::EMPTY, Done::from)),
                });
            }
            None if r == consts::REQUEST_NULL => return Ok(Done::EMPTY),
            None => {}
        }
        match &*self.request_obj(r)? {
            RequestObj::Persistent(p) => p.active.get().map_or(Ok(Done::EMPTY), |i| self.peek(i)),
            RequestObj::Collective(_) | RequestObj::Making(_) | RequestObj::Flush { .. } => {
                Ok(Done::EMPTY)
            }
            RequestObj::Generalized(g) => Ok(query(g)),
            RequestObj::Pair(p) => self.peek(p.recv.get()),
        }
    }

    /// `MPI_Wait`.
    ///
    /// # Errors
    /// `Request` for freed and made-up handles; the operation's own error is in
    /// the result.
    pub fn wait(&self, r: &mut abi::Request) -> Result<Done> {
        if self.state(*r)? == State::Pending {
            let waiting = *r;
            match self.under_way(waiting) {
                Some(obj) => {
                    self.block(|process| !matches!(process.state_of(&obj), Ok(State::Pending)))
                }
                None => self.block(|process| !matches!(process.state(waiting), Ok(State::Pending))),
            }
        }
        Ok(self.complete(r))
    }

    /// The object that tells how a request stands, so that it is looked up once.
    fn under_way(&self, r: abi::Request) -> Option<Arc<RequestObj>> {
        let obj = self.objects.requests.get(r.0)?;
        match &*obj {
            RequestObj::Persistent(p) => match (p.active.get(), &p.what) {
                (Some(_), Operation::Collective(run)) => Some(run.clone()),
                _ => Some(obj),
            },
            _ => Some(obj),
        }
    }
}

fn when(done: bool) -> State {
    if done {
        State::Complete
    } else {
        State::Pending
    }
}
