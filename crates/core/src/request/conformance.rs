//! What every kind of request must keep to, for tests of the crates that have one.

use catena_abi::{self as abi, consts};
use catena_objects::Kind;

use super::State;
use super::calls::{cancel, free, start};
use super::complete::{peek, wait};
use super::standing::state;
use crate::process::Process;

/// A kind of request, for [`check`].
pub trait Sample {
    /// Makes a request: an inactive one if it is persistent, else one that is under way or
    /// complete.
    fn make(&mut self, process: &Process) -> abi::Request;

    /// Does what the request needs from outside to become complete: sends the message, for
    /// instance.
    fn feed(&mut self, _process: &Process, _request: abi::Request) {}
}

/// Takes requests of a kind through their lives: they are tested, waited for, looked at, started
/// again and freed in every state. See [`RequestObject`](super::RequestObject).
///
/// # Panics
/// If one does not behave as the trait says.
pub fn check(process: &Process, sample: &mut impl Sample) {
    let mut request = sample.make(process);
    if state(process, request).expect("a live request") == State::Inactive {
        check_persistent(process, sample, request);
    } else {
        assert_dead(
            start(process, request),
            "MPI_Start of one that is not persistent",
        );
        check_completion(process, sample, &mut request);
        assert_eq!(request, consts::REQUEST_NULL, "a complete request is gone");
    }
    check_free(process, sample);
}

/// From its start to its completion.
fn check_completion(process: &Process, sample: &mut impl Sample, request: &mut abi::Request) {
    let handle = *request;
    sample.feed(process, handle);
    process.block(
        |process, waits| crate::needs::describe_request(process, handle, waits),
        |process| state(process, handle).expect("a live request") != State::Pending,
    );
    for _ in 0..2 {
        let state = state(process, handle).expect("a live request");
        assert_eq!(
            state,
            State::Complete,
            "it stays complete until it is completed"
        );
        peek(process, handle).expect("the status of a live request");
        process.progress();
    }
    let seen = peek(process, handle).expect("the status of a live request");
    let done = wait(process, request).expect("a live request");
    assert_eq!(
        seen.error.is_some(),
        done.error.is_some(),
        "looking at the result and taking it tell the same"
    );
    if *request == consts::REQUEST_NULL {
        assert_dead(state(process, handle), "a completed request");
        assert_dead(peek(process, handle), "a completed request");
        assert_dead(cancel(process, handle), "a completed request");
    }
}

fn check_persistent(process: &Process, sample: &mut impl Sample, mut request: abi::Request) {
    let handle = request;
    let done = wait(process, &mut request).expect("an inactive request");
    assert!(done.error.is_none(), "nothing was under way");
    for _ in 0..3 {
        start(process, handle).expect("it is inactive");
        assert_dead(start(process, handle), "MPI_Start of an active request");
        check_completion(process, sample, &mut request);
        assert_eq!(request, handle, "a persistent request stays");
        let state = state(process, handle).expect("a live request");
        assert_eq!(state, State::Inactive, "it is complete");
    }
    free(process, &mut request).expect("a live request");
    assert_eq!(request, consts::REQUEST_NULL);
    assert_dead(state(process, handle), "a freed request");
}

/// Frees one that was fed before, and one that is fed afterwards.
fn check_free(process: &Process, sample: &mut impl Sample) {
    for early in [true, false] {
        let mut request = sample.make(process);
        let handle = request;
        if state(process, handle).expect("a live request") == State::Inactive {
            start(process, handle).expect("it is inactive");
        }
        if early {
            sample.feed(process, handle);
            process.block(
                |process, waits| crate::needs::describe_request(process, handle, waits),
                |process| state(process, handle).expect("it lives") != State::Pending,
            );
        }
        free(process, &mut request).expect("a live request");
        assert_eq!(request, consts::REQUEST_NULL);
        if !early {
            sample.feed(process, handle);
        }
        process.block(|_, _| {}, |process| process.link(|link| link.is_idle()));
        assert_dead(state(process, handle), "a freed request");
    }
}

fn assert_dead<T>(result: catena_objects::Result<T>, what: &str) {
    match result {
        Ok(_) => panic!("{what} is accepted"),
        Err(error) => assert_eq!(error.kind(), Kind::Request, "{what}: {error}"),
    }
}
