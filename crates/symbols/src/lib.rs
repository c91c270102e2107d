//! Row 1: addresses of a process's code as places in its program, for a user: `solver.c:88`.
//!
//! A rank that hangs tells the addresses that its calls return to, or, when it is asked, its
//! registers and a part of its stack. Whoever looks at it makes places of them here: from its map
//! of memory, and from the files that it names. Nothing is read from the process itself.
//!
//! | file      | what                                                         |
//! |-----------|--------------------------------------------------------------|
//! | `symbols` | [`Symbols`]: files that were opened, answers that were found |
//! | `place`   | which of the frames is the program's, and how it is written  |
//! | `maps`    | which file lies at which address                             |
//! | `object`  | a file of code, and the one beside it with what was stripped |
//! | `elf`     | its sections, functions and notes                            |
//! | `units`   | which part of the debug information an address belongs to    |
//! | `lines`   | file, line and inlined functions of an address               |
//! | `unwind`  | the frames of a thread from its registers and its stack      |
//! | `variables` | variables of a function: where they are, and of what they are made |
//! | `names`   | names of functions as programmers write them                 |
//! | `bytes`   | files in pages, within bounds of memory and work             |
//!
//! # Bounds
//!
//! A program may have gigabytes of debug information, and files may be broken. So files are read in
//! pages of 16 KiB, as far as an answer needs them, and each question has a budget of bytes and of
//! steps. Beyond it the answer has fewer details: the function's name instead of the line, an
//! address instead of the name.
//!
//! # What is not found
//!
//! - Names and inlined functions in split debug information (`.dwo`), and in what dwz has moved to
//!   a file of its own; lines are found in both cases.
//! - Lines in sections that are compressed by zstd; those by zlib are read.
//! - Code that a program has made at run time: such frames are left out.
//!
//! # Examples
//! ```
//! use catena_symbols::{Maps, Symbols};
//!
//! fn place(pid: u32, frames: &[u64]) -> std::io::Result<String> {
//!     let maps = Maps::read(pid)?;
//!     let place = Symbols::new().place(&maps, frames, "");
//!     Ok(place.map_or("an unknown place".into(), |place| place.to_string()))
//! }
//! ```

#![forbid(unsafe_code)]

mod bytes;
mod elf;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod lines;
mod maps;
mod names;
mod object;
mod place;
mod symbols;
mod units;
mod unwind;
mod variables;

pub use maps::Maps;
pub use place::{Frame, Location, Source};
pub use symbols::Symbols;
pub use variables::{Home, Memory, Scalar, ScalarKind, Variable};
