//! What is told of how a type was made: `MPI_Type_get_envelope`, `MPI_Type_get_contents`
//! (MPI-5, chapter 5.1.13).

use std::sync::Arc;

use crate::datatype::{Datatype, TypeRef};
use crate::spec::Spec;

pub use crate::spec::{Combiner, Darray};

/// The arguments of a constructor, in the order that the standard lays down.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Arguments of type `int`.
    pub integers: Vec<i32>,
    /// Arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// Arguments of type `MPI_Count`; only types made by the `_c` form of a
    /// constructor have any.
    pub counts: Vec<i64>,
    /// Types.
    pub types: Vec<TypeRef>,
}

/// What [`Contents`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The constructor.
    pub combiner: Combiner,
    /// Number of integers.
    pub integers: usize,
    /// Number of addresses.
    pub addresses: usize,
    /// Number of large counts.
    pub counts: usize,
    /// Number of types.
    pub types: usize,
}

/// Narrows arguments that were checked to fit.
fn narrow(values: &[i64]) -> impl Iterator<Item = i32> {
    values.iter().map(|x| *x as i32)
}

impl Datatype {
    /// Marks a new type as made by the `_c` form of its constructor, so that
    /// its contents are given as large counts. Does nothing once it is shared.
    pub fn large(mut ty: TypeRef) -> TypeRef {
        if let Some(ty) = Arc::get_mut(&mut ty)
            && !matches!(ty.spec, Spec::Named(_) | Spec::Dup(_) | Spec::F90(..))
            && ty.combiner() != Combiner::ValueIndex
        {
            ty.large = true;
        }
        ty
    }

    /// The handle of a predefined type that has a name.
    pub fn code(&self) -> Option<u16> {
        match self.spec {
            Spec::Named(code) => Some(code),
            _ => None,
        }
    }

    /// Whether it is predefined, with or without a name: such a type must not
    /// be freed.
    pub fn is_predefined(&self) -> bool {
        matches!(
            self.combiner(),
            Combiner::Named
                | Combiner::F90Real
                | Combiner::F90Complex
                | Combiner::F90Integer
                | Combiner::ValueIndex
        )
    }

    /// Whether both are predefined without a name, and were asked for alike:
    /// then one of them is enough.
    pub fn is_same_unnamed(&self, other: &Datatype) -> bool {
        let asked = |ty: &Datatype| {
            let c = ty.contents();
            let codes: Vec<_> = c.types.iter().map(|ty| ty.code()).collect();
            (ty.combiner(), c.integers, codes)
        };
        let unnamed = |ty: &Datatype| ty.is_predefined() && ty.code().is_none();
        unnamed(self) && unnamed(other) && asked(self) == asked(other)
    }

    /// Whether its contents are given as large counts.
    pub fn is_large(&self) -> bool {
        self.large
    }

    /// The constructor.
    pub fn combiner(&self) -> Combiner {
        match &self.spec {
            Spec::Named(_) => Combiner::Named,
            Spec::Dup(_) => Combiner::Dup,
            Spec::Plain { combiner, .. } | Spec::F90(combiner, _) => *combiner,
            Spec::Subarray { .. } => Combiner::Subarray,
            Spec::Darray(..) => Combiner::Darray,
        }
    }

    /// How many arguments the constructor had.
    pub fn envelope(&self) -> Envelope {
        let mut e = Envelope {
            combiner: self.combiner(),
            integers: 0,
            addresses: 0,
            counts: 0,
            types: 0,
        };
        match &self.spec {
            Spec::Named(_) => {}
            Spec::Dup(_) => e.types = 1,
            Spec::Plain {
                counts,
                addresses,
                types,
                ..
            } => {
                e.types = types.len();
                if self.large {
                    e.counts = counts.len() + addresses.len();
                } else {
                    (e.integers, e.addresses) = (counts.len(), addresses.len());
                }
            }
            Spec::Subarray { sizes, .. } => {
                e.types = 1;
                (e.integers, e.counts) = match self.large {
                    true => (2, 3 * sizes.len()),
                    false => (3 * sizes.len() + 2, 0),
                };
            }
            Spec::Darray(d, _) => {
                let dims = d.gsizes.len();
                e.types = 1;
                (e.integers, e.counts) = match self.large {
                    true => (3 * dims + 4, dims),
                    false => (4 * dims + 4, 0),
                };
            }
            Spec::F90(_, args) => e.integers = args.len(),
        }
        e
    }

    /// The arguments of the constructor. A type with a name has none.
    pub fn contents(&self) -> Contents {
        let mut c = Contents::default();
        match &self.spec {
            Spec::Named(_) => {}
            Spec::Dup(ty) => c.types.push(ty.clone()),
            Spec::Plain {
                counts,
                addresses,
                types,
                ..
            } => {
                c.types.clone_from(types);
                if self.large {
                    c.counts.extend(counts.iter().chain(addresses));
                } else {
                    c.integers.extend(narrow(counts));
                    c.addresses.clone_from(addresses);
                }
            }
            Spec::Subarray {
                sizes,
                subsizes,
                starts,
                order,
                ty,
            } => {
                c.types.clone_from(ty);
                c.integers.push(sizes.len() as i32);
                for list in [sizes, subsizes, starts] {
                    match self.large {
                        true => c.counts.extend(list),
                        false => c.integers.extend(narrow(list)),
                    }
                }
                c.integers.push(*order);
            }
            Spec::Darray(d, ty) => {
                c.types.clone_from(ty);
                c.integers.extend([d.size, d.rank, d.gsizes.len() as i32]);
                match self.large {
                    true => c.counts.clone_from(&d.gsizes),
                    false => c.integers.extend(narrow(&d.gsizes)),
                }
                for list in [&d.distribs, &d.dargs, &d.psizes] {
                    c.integers.extend(list);
                }
                c.integers.push(d.order);
            }
            Spec::F90(_, args) => c.integers.clone_from(args),
        }
        c
    }
}
