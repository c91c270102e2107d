//! Row 10: `libmpi.so.40`: the binary interface of Open MPI 4 and 5 over Catena.
//!
//! Most of its functions are made by the build script; see `catena_layer` for what they do, and
//! `docs/decisions/0019-layers-over-one-core.md` for why.
//!
//! | module      | owns                                                              |
//! |-------------|-------------------------------------------------------------------|
//! | `object`    | the objects whose addresses are the predefined handles             |
//! | `handle`    | handles, which are addresses or numbers of Catena                  |
//! | `status`    | the status                                                        |
//! | `constants` | constants, from the table in `catena_foreign`                      |
//! | `interface` | how the interface differs                                          |
//! | `functions` | the functions of the standard                                      |
//! | `extra`     | what binaries ask for besides                                      |
//! | `integer`   | handles as integers, as Fortran has them                           |

mod constants;
mod extra;
mod functions;
mod handle;
mod integer;
mod interface;
mod object;
mod status;
