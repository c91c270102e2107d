//! Row 0: messages made shorter before they cross a network, and restored behind it.
//!
//! A message is cut into **pieces** of up to [`PIECE`] bytes. [`Encoder::encode`] makes each piece
//! shorter by one of the [`Codec`]s, and [`Decoder::decode`] restores it, either bit by bit or
//! within the [`Bound`] that the program has given. Pieces know nothing of each other, so one can
//! be sent while the next one is encoded.
//!
//! | file      | what                                                              |
//! |-----------|-------------------------------------------------------------------|
//! | `piece`   | a piece: its head, and the codec that its bytes go through        |
//! | `element` | what a message consists of, and how exact it has to arrive        |
//! | `blocks`  | codec of numbers: differences of neighbours, in as few bits       |
//! | `mapping` | floating-point numbers as integers, exactly or within a bound     |
//! | `word`    | words of 32 and 64 bits: 256 of them in `width` bits each         |
//! | `planes`  | codec of other data: bytes of one place together, then LZ4        |
//! | `choice`  | which codec messages go through, by what they took                |
//! | `cursor`  | reads and writes of bytes that may end                            |
//!
//! Bytes that are decoded come from another process and are trusted in nothing: whatever they are,
//! `decode` either fills the piece or tells that they are no piece.
//!
//! # Examples
//!
//! ```
//! use catena_compress::{Bound, Codec, Decoder, Element, Encoder};
//!
//! let field: Vec<u8> = (0..65_536).flat_map(|i| (f64::from(i) * 1e-3).sin().to_le_bytes()).collect();
//! let mut short = vec![0; field.len() + catena_compress::HEAD];
//! let bound = Bound::Relative(1e-4);
//! let len = Encoder::new().encode(Codec::Blocks, Element::F64, bound, &field, &mut short)?;
//! assert!(len < field.len() / 8);
//!
//! let mut restored = vec![0; field.len()];
//! Decoder::new().decode(&short[..len], &mut restored)?;
//! # Ok::<(), catena_compress::Error>(())
//! ```

#![forbid(unsafe_code)]

mod blocks;
mod choice;
mod cursor;
mod element;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod mapping;
mod piece;
mod planes;
mod word;

pub use choice::Choice;
pub use element::{Bound, Element};
pub use piece::{Codec, Decoder, Encoder, Error, HEAD, PIECE, length};
