//! The C interface of MPI: one file per chapter of the standard, a few lines
//! per function (see docs/architecture.md). Everything else is in `core`.

mod abi;
mod added;
mod args;
mod attr;
mod buffer;
mod coll;
mod comm;
mod convert;
mod datatype;
mod dynamic;
mod entry;
mod env;
mod errhandler;
mod error_codes;
mod errors;
mod export;
mod grequest;
mod group;
mod hooks;
mod info;
mod layers;
mod memory;
mod missing;
mod neighbor;
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
mod window;
