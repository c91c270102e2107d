//! How buffers with descriptors are handed over.

use crate::view::{FortranArg, Procedure};

/// How a buffer with a descriptor is handed over when it is no run of bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// Its count and its type become one of a type that describes the section.
    Type,
    /// A copy is, which is written back.
    Copy,
    /// Its count and its type become one of a type that describes a partition; partitions that lie
    /// differently are an error.
    Partitions,
    /// Its elements' type gets the stride of the section as its extent; where the section has more
    /// than one stride, a copy is handed over that is written back when the request is complete.
    Stride,
    /// A copy is, which is written back when the request is complete.
    Later,
    /// By its address alone.
    Address,
}

/// That of an argument.
pub(super) fn way(p: &Procedure, arg: &FortranArg) -> Passing {
    let single = |name: &&str| p.arg(name).is_some_and(|a| !a.array);
    let reduces = p.chapter == "coll" && p.arg("op").is_some();
    let typed = arg.of.len() == 2 && arg.of.iter().all(&single);
    let one_type = arg.of.last().is_some_and(single);
    if arg.of.len() == 1 || (arg.of.is_empty() && p.goes_on) {
        Passing::Address
    } else if typed && arg.length.is_none() && !reduces {
        Passing::Type
    } else if !p.goes_on {
        Passing::Copy
    } else if p.arg("partitions").is_some() {
        // The program fills the partitions after the start: a copy would come too early.
        Passing::Partitions
    } else if one_type && !reduces {
        Passing::Stride
    } else {
        Passing::Later
    }
}
