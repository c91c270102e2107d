//! Row 4: the objects of MPI that are data: they know nothing of progress, of
//! requests, or of what the process is doing.
//!
//! Read `error` first, which everything else returns, then `table`, by which a
//! handle leads to its object. Each of the other modules is one kind of object,
//! with the table that holds those of the process. `core` puts these tables
//! together with those of communicators, requests, messages and sessions.
//!
//! | module       | owns                                                       |
//! |--------------|------------------------------------------------------------|
//! | `error_place`      | the object that an error belongs to                        |
//! | `error`      | what can go wrong: a kind, a text, and a place             |
//! | `table`      | handles, and tables of objects by handle                   |
//! | `callback`   | functions of the program's, and how they are called        |
//! | `attr`       | attributes that programs attach to objects, and their keys |
//! | `datatype`   | datatypes by their handles, their names and attributes     |
//! | `errhandler` | error handlers                                             |
//! | `group`      | groups of processes                                        |
//! | `members`    | how a group keeps its members                              |
//! | `info`       | info objects                                               |
//! | `op`         | reduction operations                                       |
//! | `room`       | memory that operations need                                |
//! | `state`      | what functions of the program are given with each call     |

#![allow(
    clippy::arc_with_non_send_sync,
    reason = "objects are shared under the library's lock, which the compiler cannot see"
)]

pub mod attr;
pub mod callback;
pub mod datatype;
pub mod errhandler;
pub mod error;
pub mod error_place;
pub mod group;
pub mod info;
mod members;
pub mod op;
pub mod room;
pub mod state;
pub mod table;

pub use error::{Error, Kind, Result};
