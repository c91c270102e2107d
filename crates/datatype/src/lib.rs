//! Row 2: datatypes (MPI-5, chapter 5), packing, and the kernels of the predefined
//! reduction operations (chapter 6.9.2).
//!
//! | module       | what lives there                                       |
//! |--------------|--------------------------------------------------------|
//! | `basic`      | basic elements                                         |
//! | `predefined` | the types with a name, by handle                       |
//! | `body`       | what a type describes: repeat, shift, join; bounds     |
//! | `layout`     | where the bytes lie; packing and unpacking             |
//! | `signature`  | what the packed bytes mean                             |
//! | `kinds`      | that as a number, to be compared                       |
//! | `construct`  | the constructors                                       |
//! | `array`      | subarrays and distributed arrays                       |
//! | `spec`       | how a type was made                                    |
//! | `contents`   | what is told of that                                   |
//! | `external`   | `external32`                                           |
//! | `reduce`     | reduction kernels                                      |
//! | `processor`  | what the processor has                                 |
//!
//! Read `body` first, then `layout`, which all packing goes through.
//!
//! A type is immutable, so it is shared freely. Bytes of packed data are
//! addressed by their offset: any range can be packed or unpacked at a cost
//! that does not depend on where it starts.

mod array;
mod basic;
mod body;
mod construct;
mod contents;
mod datatype;
mod error;
mod external;
mod kinds;
mod layout;
mod predefined;
mod processor;
mod reduce;
mod signature;
mod spec;

pub use array::*;
pub use basic::{Basic, Scalar};
pub use contents::{Combiner, Contents, Darray, Envelope};
pub use datatype::{Datatype, TypeRef};
pub use error::{Result, TypeError};
pub use kinds::{Fingerprint, Kinds};
pub use predefined::FortranSizes;
pub use reduce::{
    Booleans, OpKind, Reduce, Reduce3, booleans, reduce3, reducer, reducer_in_memory, set_booleans,
};
