//! Row 9: the C interface of MPI: one file per chapter of the standard, a few lines
//! per function. Everything else is in `core`.
//!
//! Below this crate a failure is an enum with what is known about it. Here it becomes an error
//! class and a text with function, argument and value, and goes to the error handler of the object
//! of the call (`errors`). Nothing panics across the C boundary. `entry` says how a function is
//! written.

mod abi;
mod added;
mod args;
mod attr;
mod buffer;
mod checked;
mod coll;
mod comm;
mod convert;
mod datatype;
mod device;
mod dynamic;
mod entry;
mod env;
mod errhandler;
mod error_codes;
mod errors;
mod export;
mod extension;
mod file;
mod file_access;
mod fortran_binding;
mod ft;
mod grequest;
mod group;
mod hooks;
mod info;
mod interpreter;
mod layers;
mod memory;
mod missing;
mod neighbor;
mod notify;
mod op;
mod p2p;
mod pack;
mod partitioned;
mod request;
mod rma;
mod session;
mod status;
mod tool;
mod topology;
mod traced;
mod window;
