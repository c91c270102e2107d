//! What can be wrong with the description of a type.

use std::fmt;

/// Why a type cannot be made, or its elements cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// An argument must not be negative.
    Negative {
        /// Which argument.
        what: &'static str,
        /// What was given.
        value: i64,
    },
    /// An argument must be at least one.
    NotPositive {
        /// Which argument.
        what: &'static str,
        /// What was given.
        value: i64,
    },
    /// Arrays that belong together differ in length.
    Lengths {
        /// Which argument.
        what: &'static str,
        /// Entries expected.
        expected: usize,
        /// Entries given.
        got: usize,
    },
    /// Sizes or displacements do not fit into 63 bits.
    Overflow {
        /// Which quantity.
        what: &'static str,
    },
    /// Neither `MPI_ORDER_C` nor `MPI_ORDER_FORTRAN`.
    Order(i32),
    /// A subarray reaches beyond its array.
    Subarray {
        /// Dimension.
        dim: usize,
        /// First index of the part.
        start: i64,
        /// Length of the part.
        subsize: i64,
        /// Length of the array.
        size: i64,
    },
    /// Not a kind of distribution.
    Distribution {
        /// Dimension.
        dim: usize,
        /// What was given.
        value: i32,
    },
    /// A distribution argument that is not positive, or blocks too small to
    /// hold the array.
    DistributionArgument {
        /// Dimension.
        dim: usize,
        /// What was given.
        value: i32,
    },
    /// A dimension that is not distributed, over more than one process.
    Undistributed {
        /// Dimension.
        dim: usize,
        /// Processes along it.
        processes: i64,
    },
    /// The grid of processes does not have as many places as given.
    Grid {
        /// Places in the grid.
        places: i64,
        /// Number of processes given.
        size: i64,
    },
    /// A rank outside of the grid of processes.
    Rank {
        /// What was given.
        rank: i64,
        /// Number of processes.
        size: i64,
    },
    /// No Fortran kind has this precision and range.
    Kind {
        /// Decimal digits.
        precision: i32,
        /// Decimal exponent range.
        range: i32,
    },
    /// Hundreds of structures inside each other, with too many parts to be
    /// laid out flat.
    TooDeep,
    /// A value does not fit into the canonical form of `external32`.
    Conversion {
        /// Position of the element in the packed elements.
        element: u64,
    },
    /// A packed buffer ends too early.
    ShortBuffer {
        /// Bytes needed.
        need: u64,
        /// Bytes there are.
        have: u64,
    },
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TypeError::Negative { what, value } => {
                write!(f, "the {what} is {value}: it must not be negative")
            }
            TypeError::NotPositive { what, value } => {
                write!(f, "the {what} is {value}: it must be positive")
            }
            TypeError::Lengths {
                what,
                expected,
                got,
            } => write!(f, "{got} {what} were given, but {expected} are needed"),
            TypeError::Overflow { what } => write!(f, "the {what} does not fit into 63 bits"),
            TypeError::Order(value) => write!(
                f,
                "the order is {value}: it must be MPI_ORDER_C or MPI_ORDER_FORTRAN"
            ),
            TypeError::Subarray {
                dim,
                start,
                subsize,
                size,
            } => write!(
                f,
                "the subarray has {subsize} elements from {start} in dimension {dim}, which has \
                 only {size}"
            ),
            TypeError::Distribution { dim, value } => write!(
                f,
                "the distribution of dimension {dim} is {value}: it must be \
                 MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE"
            ),
            TypeError::DistributionArgument { dim, value } => write!(
                f,
                "the distribution argument of dimension {dim} is {value}: it must be \
                 positive, and blocks large enough for the array"
            ),
            TypeError::Undistributed { dim, processes } => write!(
                f,
                "dimension {dim} is not distributed (MPI_DISTRIBUTE_NONE), but has {processes} \
                 processes: it must have one"
            ),
            TypeError::Grid { places, size } => write!(
                f,
                "the grid has {places} places, but there are {size} processes"
            ),
            TypeError::Rank { rank, size } => {
                write!(f, "the rank is {rank}, but there are {size} processes")
            }
            TypeError::Kind { precision, range } => write!(
                f,
                "no Fortran kind has {precision} digits and a decimal exponent range of {range}"
            ),
            TypeError::TooDeep => {
                write!(f, "the type is nested too deeply; make it of fewer levels")
            }
            TypeError::Conversion { element } => write!(
                f,
                "basic element {element} does not fit into its external32 form"
            ),
            TypeError::ShortBuffer { need, have } => write!(
                f,
                "the packed buffer has {have} bytes left, but {need} are needed"
            ),
        }
    }
}

impl std::error::Error for TypeError {}

/// The result of making or converting types.
pub type Result<T> = std::result::Result<T, TypeError>;

/// Narrows a computed quantity to what MPI can report.
pub(crate) fn fit(value: i128, what: &'static str) -> Result<i64> {
    i64::try_from(value).map_err(|_| TypeError::Overflow { what })
}

/// Checks a count or length.
pub(crate) fn natural(value: i64, what: &'static str) -> Result<u64> {
    u64::try_from(value).map_err(|_| TypeError::Negative { what, value })
}
