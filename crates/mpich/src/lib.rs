//! Row 10: `libmpi.so.12`: the binary interface of MPICH over Catena.
//!
//! Programs that were built with MPICH, Intel MPI, MVAPICH and their relatives load it under this
//! name, those of Debian as `libmpich.so.12`. Most of its functions are made by the build script;
//! see `catena_layer` for what they do, and `docs/decisions/0019-layers-over-one-core.md` for why.
//!
//! | module      | owns                                                              |
//! |-------------|-------------------------------------------------------------------|
//! | `handle`    | handles, which are ints, and the table of their generations        |
//! | `status`    | the status                                                        |
//! | `constants` | constants, from the table in `catena_foreign`                      |
//! | `interface` | how the interface differs                                          |
//! | `functions` | the functions of the standard                                      |
//! | `addresses` | addresses with a meaning                                           |
//! | `extra`     | what binaries ask for besides                                      |

mod addresses;
mod constants;
mod extra;
mod functions;
mod handle;
mod interface;
mod status;
