//! Row 9: what the layers that offer other binary interfaces over Catena have in common.
//!
//! A layer is a library with the name and the symbols of another MPI. Each of its functions
//! translates its arguments into those of the standard's binary interface, calls Catena, and
//! translates what comes back; all layers of a process stand on the same Catena. The functions
//! are made by `catena_foreign` from the table of the standard; what they call is here, generic
//! over the trait [`Abi`], which says how an interface differs.
//!
//! | module      | translates                                                            |
//! |-------------|-----------------------------------------------------------------------|
//! | `handle`    | handles                                                               |
//! | `place`     | handles behind pointers and in arrays                                  |
//! | `layout`    | the layout of a status                                                |
//! | `status`    | statuses, single ones and in arrays                                    |
//! | `number`    | ranks, tags, named constants, attribute keys, addresses with a meaning |
//! | `code`      | error codes and classes                                                |
//! | `text`      | strings that are longer here than there                                |
//! | `callback`  | calls of the program's functions                                       |
//! | `pending`   | handles that are written when a request is complete                    |
//! | `own`       | functions that do more than translate                                  |
//! | `extra`     | what both libraries have besides the standard                          |
//! | `core`      | the functions of Catena that layers call                               |
//!
//! Nothing is written behind a pointer of the program that the library has not written: what it
//! is given in its place begins with a value that no call stores.
//!
//! A layer lies beside `libmpi_abi.so.1`, finds it there before any other of that name
//! (`DT_RPATH`), and calls it under private names, so a process may use several interfaces and has
//! one MPI. A function that the standard adds needs nothing here. For the launcher, which offers
//! each folder to the programs that want it, `lib/catena/mpich` and `lib/catena/openmpi` have links
//! to the layers. `docs/book/abis.md` says what is there of the names of other MPIs.
//!
//! MPI's classes in C++ are a library beside each layer (`cxx`, made by
//! `scripts/build/cxx-library`). Programs have most of them compiled in; the library has the
//! objects, with tables of functions in the order of that MPI's headers, and the callbacks
//! (`docs/decisions/0049-classes-without-a-library-of-classes.md`).

mod abi;
pub mod callback;
pub mod code;
pub mod core;
mod export;
pub mod extra;
pub mod handle;
pub mod layout;
pub mod number;
pub mod own;
pub mod pending;
pub mod place;
pub mod status;
pub mod text;

pub use abi::{Abi, Families, Pair, SplitBy};

/// Says that what stands beside it is rare: the compiler moves it out of the way, but calls
/// nothing, for which it would have to keep the arguments of the function.
#[inline]
#[cold]
pub fn rarely() {}
