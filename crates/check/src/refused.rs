//! Calls that the library refuses, where the program is told by a code: the user hears of it once,
//! as programs seldom look.

use std::ffi::c_int;

use catena_abi::consts;

use crate::mpi;
use crate::site::Site;
use crate::tell::{Finding, Kind};

/// Classes of errors that wrong arguments have.
const WRONG: [c_int; 24] = [
    consts::ERR_BUFFER,
    consts::ERR_COUNT,
    consts::ERR_TYPE,
    consts::ERR_TAG,
    consts::ERR_COMM,
    consts::ERR_RANK,
    consts::ERR_REQUEST,
    consts::ERR_ROOT,
    consts::ERR_GROUP,
    consts::ERR_OP,
    consts::ERR_TOPOLOGY,
    consts::ERR_DIMS,
    consts::ERR_ARG,
    consts::ERR_TRUNCATE,
    consts::ERR_WIN,
    consts::ERR_BASE,
    consts::ERR_SIZE,
    consts::ERR_DISP,
    consts::ERR_LOCKTYPE,
    consts::ERR_ASSERT,
    consts::ERR_RMA_CONFLICT,
    consts::ERR_RMA_SYNC,
    consts::ERR_RMA_RANGE,
    consts::ERR_INFO,
];

/// What a call was refused for that has returned this code.
pub fn find(code: c_int, site: impl Fn() -> Site) -> Option<Finding> {
    let (class, text) = mpi::error(code)?;
    if !WRONG.contains(&class) {
        return None;
    }
    let finding = Finding::warning(
        Kind::Argument,
        site(),
        format!("the call was refused: {text}"),
    );
    Some(finding.remedy("correct the arguments, or look at the code that the call returns"))
}
