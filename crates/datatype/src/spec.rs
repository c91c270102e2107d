//! How a type was made: the constructor and its arguments (MPI-5, chapter 5.1.13).

use std::mem;

/// The arguments of `MPI_Type_create_darray`, but for the element type. All
/// lists have one entry for each dimension.
#[derive(Clone, Debug)]
pub struct Darray {
    /// Number of processes.
    pub size: i32,
    /// The process whose part is described.
    pub rank: i32,
    /// Elements of the whole array.
    pub gsizes: Vec<i64>,
    /// Kinds of distribution, `MPI_DISTRIBUTE_...`.
    pub distribs: Vec<i32>,
    /// Block sizes, or `MPI_DISTRIBUTE_DFLT_DARG`.
    pub dargs: Vec<i32>,
    /// Processes of the grid.
    pub psizes: Vec<i32>,
    /// `MPI_ORDER_C` or `MPI_ORDER_FORTRAN`.
    pub order: i32,
}

/// The constructor of a type; the value is that of `MPI_COMBINER_...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(i32)]
pub enum Combiner {
    Named = 101,
    Dup = 102,
    Contiguous = 103,
    Vector = 104,
    Hvector = 105,
    Indexed = 106,
    Hindexed = 107,
    IndexedBlock = 108,
    HindexedBlock = 109,
    Struct = 110,
    Subarray = 111,
    Darray = 112,
    F90Real = 113,
    F90Complex = 114,
    F90Integer = 115,
    Resized = 116,
    ValueIndex = 117,
}

/// A constructor and its arguments, which may be types: `T`.
#[derive(Debug)]
pub(crate) enum Spec<T> {
    Named(u16),
    Dup(T),
    /// Everything whose arguments are plain counts and displacements.
    Plain {
        combiner: Combiner,
        /// Counts and lengths; for those without `h`, displacements too.
        counts: Vec<i64>,
        /// Displacements in bytes.
        addresses: Vec<i64>,
        types: Vec<T>,
    },
    Subarray {
        sizes: Vec<i64>,
        subsizes: Vec<i64>,
        starts: Vec<i64>,
        order: i32,
        ty: Vec<T>,
    },
    Darray(Box<Darray>, Vec<T>),
    F90(Combiner, Vec<i32>),
}

impl<T> Spec<T> {
    /// Lets go of the types.
    pub(crate) fn take_types(&mut self) -> Vec<T> {
        match self {
            Spec::Dup(_) => match mem::replace(self, Spec::Named(0)) {
                Spec::Dup(ty) => vec![ty],
                _ => Vec::new(),
            },
            Spec::Plain { types, .. } => mem::take(types),
            Spec::Subarray { ty, .. } | Spec::Darray(_, ty) => mem::take(ty),
            Spec::Named(_) | Spec::F90(..) => Vec::new(),
        }
    }
}
