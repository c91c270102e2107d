//! One program for each way of a collective, in one file for those that are alike.

pub(crate) mod barrier;
pub(crate) mod exchange;
pub(crate) mod neighbors;
pub(crate) mod pieces;
pub(crate) mod reduce;
pub(crate) mod rooted;
pub(crate) mod rows;
pub(crate) mod scan;
