//! A naive model of types: the type map itself, entry by entry.

#![allow(dead_code, reason = "every test uses some of it")]

use catena_datatype::{
    Basic, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE, Darray,
    Datatype, ORDER_C, ORDER_FORTRAN, TypeRef,
};
use proptest::prelude::*;

/// One of MPI_CHAR, SHORT, INT, DOUBLE, LONG_DOUBLE, C_DOUBLE_COMPLEX,
/// DOUBLE_INT, SHORT_INT, 2INT, BYTE.
const LEAVES: &[u16] = &[
    0x243, 0x208, 0x209, 0x214, 0x220, 0x216, 0x229, 0x22c, 0x22b, 0x247,
];

/// How to make a type.
#[derive(Clone, Debug)]
pub enum Recipe {
    Leaf(u16),
    Dup(Box<Recipe>),
    Contiguous(i64, Box<Recipe>),
    Vector(i64, i64, i64, Box<Recipe>),
    Hvector(i64, i64, i64, Box<Recipe>),
    Indexed(Vec<(i64, i64)>, Box<Recipe>),
    Hindexed(Vec<(i64, i64)>, Box<Recipe>),
    IndexedBlock(i64, Vec<i64>, Box<Recipe>),
    HindexedBlock(i64, Vec<i64>, Box<Recipe>),
    Struct(Vec<(i64, i64, Recipe)>),
    Resized(i64, i64, Box<Recipe>),
    Subarray(Vec<(i64, i64, i64)>, i32, Box<Recipe>),
    Darray(Darray, Box<Recipe>),
}

/// Every nesting of every constructor, with small numbers.
pub fn recipes() -> impl Strategy<Value = Recipe> {
    let leaf = prop::sample::select(LEAVES).prop_map(Recipe::Leaf);
    leaf.prop_recursive(5, 24, 3, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let blocks = prop::collection::vec((0i64..4, -4i64..9), 0..5);
        let places = prop::collection::vec(-4i64..9, 0..5);
        let parts = prop::collection::vec((0i64..3, -40i64..90, inner), 0..4);
        prop_oneof![
            one.clone().prop_map(Recipe::Dup),
            (0i64..5, one.clone()).prop_map(|(n, t)| Recipe::Contiguous(n, t)),
            (0i64..5, 0i64..4, -3i64..6, one.clone())
                .prop_map(|(n, b, s, t)| Recipe::Vector(n, b, s, t)),
            (0i64..5, 0i64..4, -40i64..60, one.clone())
                .prop_map(|(n, b, s, t)| Recipe::Hvector(n, b, s, t)),
            (blocks.clone(), one.clone()).prop_map(|(b, t)| Recipe::Indexed(b, t)),
            (blocks, one.clone()).prop_map(|(b, t)| Recipe::Hindexed(b, t)),
            (0i64..4, places.clone(), one.clone())
                .prop_map(|(n, p, t)| Recipe::IndexedBlock(n, p, t)),
            (0i64..4, places, one.clone()).prop_map(|(n, p, t)| Recipe::HindexedBlock(n, p, t)),
            parts.prop_map(Recipe::Struct),
            (-20i64..20, -10i64..60, one.clone()).prop_map(|(l, e, t)| Recipe::Resized(l, e, t)),
            (subarrays(), orders(), one.clone()).prop_map(|(d, o, t)| Recipe::Subarray(d, o, t)),
            (darrays(), one).prop_map(|(d, t)| Recipe::Darray(d, t)),
        ]
    })
}

fn orders() -> impl Strategy<Value = i32> + Clone {
    prop::sample::select(&[ORDER_C, ORDER_FORTRAN][..])
}

/// Size, size of the part, start.
fn subarrays() -> impl Strategy<Value = Vec<(i64, i64, i64)>> {
    let dim = (1i64..5).prop_flat_map(|size| {
        (1..=size).prop_flat_map(move |part| (Just(size), Just(part), 0..=size - part))
    });
    prop::collection::vec(dim, 1..4)
}

pub fn darrays() -> impl Strategy<Value = Darray> {
    let dim = (1i64..8, 1i32..4, 0..5u8, 1i32..4).prop_map(|(size, processes, kind, arg)| {
        let enough = (size as i32 - 1) / processes + arg;
        match kind {
            0 => (size, 1, DISTRIBUTE_NONE, DISTRIBUTE_DFLT_DARG),
            1 => (size, processes, DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG),
            2 => (size, processes, DISTRIBUTE_BLOCK, enough),
            3 => (size, processes, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG),
            _ => (size, processes, DISTRIBUTE_CYCLIC, arg),
        }
    });
    (prop::collection::vec(dim, 1..4), orders(), any::<u16>()).prop_map(|(dims, order, rank)| {
        let size = dims.iter().map(|d| d.1).product::<i32>();
        Darray {
            size,
            rank: i32::from(rank) % size,
            gsizes: dims.iter().map(|d| d.0).collect(),
            psizes: dims.iter().map(|d| d.1).collect(),
            distribs: dims.iter().map(|d| d.2).collect(),
            dargs: dims.iter().map(|d| d.3).collect(),
            order,
        }
    })
}

impl Recipe {
    /// The type.
    pub fn make(&self) -> TypeRef {
        let lens = |b: &[(i64, i64)]| b.iter().map(|x| x.0).collect::<Vec<_>>();
        let places = |b: &[(i64, i64)]| b.iter().map(|x| x.1).collect::<Vec<_>>();
        let made = match self {
            Recipe::Leaf(code) => return Datatype::predefined(*code).unwrap().clone(),
            Recipe::Dup(t) => Ok(Datatype::dup(&t.make())),
            Recipe::Contiguous(n, t) => Datatype::contiguous(*n, &t.make()),
            Recipe::Vector(n, b, s, t) => Datatype::vector(*n, *b, *s, &t.make()),
            Recipe::Hvector(n, b, s, t) => Datatype::hvector(*n, *b, *s, &t.make()),
            Recipe::Indexed(b, t) => Datatype::indexed(&lens(b), &places(b), &t.make()),
            Recipe::Hindexed(b, t) => Datatype::hindexed(&lens(b), &places(b), &t.make()),
            Recipe::IndexedBlock(n, p, t) => Datatype::indexed_block(*n, p, &t.make()),
            Recipe::HindexedBlock(n, p, t) => Datatype::hindexed_block(*n, p, &t.make()),
            Recipe::Struct(parts) => {
                let lens: Vec<_> = parts.iter().map(|x| x.0).collect();
                let places: Vec<_> = parts.iter().map(|x| x.1).collect();
                let types: Vec<_> = parts.iter().map(|x| x.2.make()).collect();
                Datatype::structure(&lens, &places, &types)
            }
            Recipe::Resized(lb, extent, t) => Datatype::resized(*lb, *extent, &t.make()),
            Recipe::Subarray(dims, order, t) => {
                let list = |f: fn(&(i64, i64, i64)) -> i64| dims.iter().map(f).collect::<Vec<_>>();
                let (sizes, parts, starts) = (list(|d| d.0), list(|d| d.1), list(|d| d.2));
                Datatype::subarray(&sizes, &parts, &starts, *order, &t.make())
            }
            Recipe::Darray(d, t) => Datatype::darray(d, &t.make()),
        };
        made.unwrap_or_else(|e| panic!("{self:?}: {e}"))
    }

    /// The type map.
    pub fn model(&self) -> Model {
        self.open_model().closed()
    }

    /// The type map, with the bounds of all parts.
    fn open_model(&self) -> Model {
        match self {
            Recipe::Leaf(code) => Model::leaf(*code),
            Recipe::Dup(t) => t.model(),
            Recipe::Contiguous(n, t) => t.model().block(*n),
            Recipe::Vector(n, b, s, t) => {
                let t = t.model();
                let stride = s * t.extent();
                t.block(*b).at((0..*n).map(|i| i * stride))
            }
            Recipe::Hvector(n, b, s, t) => t.model().block(*b).at((0..*n).map(|i| i * s)),
            Recipe::Indexed(b, t) => {
                let t = t.model();
                let e = t.extent();
                Model::join(b.iter().map(|(n, at)| t.block(*n).at([at * e])))
            }
            Recipe::Hindexed(b, t) => {
                let t = t.model();
                Model::join(b.iter().map(|(n, at)| t.block(*n).at([*at])))
            }
            Recipe::IndexedBlock(n, p, t) => {
                let t = t.model();
                let e = t.extent();
                t.block(*n).at(p.iter().map(|at| at * e))
            }
            Recipe::HindexedBlock(n, p, t) => t.model().block(*n).at(p.iter().copied()),
            Recipe::Struct(parts) => {
                Model::join(parts.iter().map(|(n, at, t)| t.model().block(*n).at([*at])))
            }
            Recipe::Resized(lb, extent, t) => Model {
                marks: vec![(*lb, lb + extent)],
                ..t.model()
            },
            Recipe::Subarray(dims, order, t) => {
                let sizes: Vec<_> = dims.iter().map(|d| d.0).collect();
                t.model().array(&sizes, *order, |index| {
                    let inside = |(i, d): (&i64, &(i64, i64, i64))| (d.2..d.2 + d.1).contains(i);
                    index.iter().zip(dims).all(inside)
                })
            }
            Recipe::Darray(d, t) => t.model().array(&d.gsizes, d.order, |index| owns(d, index)),
        }
    }
}

/// Whether the element with that index belongs to the process.
fn owns(d: &Darray, index: &[i64]) -> bool {
    let mut rank = d.rank;
    let mut coordinates = vec![0; d.psizes.len()];
    for dim in (0..d.psizes.len()).rev() {
        coordinates[dim] = i64::from(rank % d.psizes[dim]);
        rank /= d.psizes[dim];
    }
    (0..index.len()).all(|dim| {
        let processes = i64::from(d.psizes[dim]);
        let default = match d.distribs[dim] {
            DISTRIBUTE_CYCLIC => 1,
            _ => (d.gsizes[dim] + processes - 1) / processes,
        };
        let block = match d.dargs[dim] {
            DISTRIBUTE_DFLT_DARG => default,
            arg => i64::from(arg),
        };
        match d.distribs[dim] {
            DISTRIBUTE_NONE => true,
            DISTRIBUTE_BLOCK => index[dim] / block == coordinates[dim],
            _ => index[dim] / block % processes == coordinates[dim],
        }
    })
}

/// A type map, the bounds of its parts, and the places of all markers of bounds.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub map: Vec<(Basic, i64)>,
    parts: Vec<(i64, i64)>,
    marks: Vec<(i64, i64)>,
}

/// Where the bytes of an entry lie, in packing order.
fn bytes_of((basic, at): (Basic, i64)) -> Vec<i64> {
    match basic {
        Basic::Scalar(s) => (at..at + i64::from(s.size())).collect(),
        Basic::Pair(v, i) => {
            let index = at + i64::from(v.size().next_multiple_of(i.align()));
            let value = at..at + i64::from(v.size());
            value.chain(index..index + i64::from(i.size())).collect()
        }
    }
}

impl Model {
    fn leaf(code: u16) -> Self {
        let basic = Datatype::predefined(code).unwrap().basic().unwrap();
        let end = bytes_of((basic, 0)).into_iter().max().unwrap() + 1;
        Model {
            map: vec![(basic, 0)],
            parts: vec![(0, end)],
            marks: vec![],
        }
    }

    fn join(parts: impl IntoIterator<Item = Model>) -> Self {
        let mut all = Model::default();
        for part in parts {
            all.map.extend(part.map);
            all.parts.extend(part.parts);
            all.marks.extend(part.marks);
        }
        all
    }

    fn at(&self, places: impl IntoIterator<Item = i64>) -> Self {
        Model::join(places.into_iter().map(|by| Model {
            map: self.map.iter().map(|(b, at)| (*b, at + by)).collect(),
            parts: self.parts.iter().map(|p| (p.0 + by, p.1 + by)).collect(),
            marks: self.marks.iter().map(|m| (m.0 + by, m.1 + by)).collect(),
        }))
    }

    /// This type as a part of others.
    fn closed(mut self) -> Self {
        if !self.parts.is_empty() {
            self.parts = vec![(self.lb(), self.lb() + self.extent())];
        }
        self
    }

    fn block(&self, len: i64) -> Self {
        self.at((0..len).map(|i| i * self.extent()))
    }

    /// The elements of an array that `member` chooses.
    fn array(&self, sizes: &[i64], order: i32, member: impl Fn(&[i64]) -> bool) -> Self {
        let total: i64 = sizes.iter().product();
        let dims: Vec<usize> = match order {
            ORDER_C => (0..sizes.len()).rev().collect(),
            _ => (0..sizes.len()).collect(),
        };
        let chosen = (0..total).filter(|linear| {
            let mut rest = *linear;
            let mut index = vec![0; sizes.len()];
            for dim in &dims {
                index[*dim] = rest % sizes[*dim];
                rest /= sizes[*dim];
            }
            member(&index)
        });
        let mut all = self.at(chosen.map(|linear| linear * self.extent()));
        all.marks = vec![(0, total * self.extent())];
        all
    }

    /// Places of all bytes, in packing order.
    pub fn bytes(&self) -> Vec<i64> {
        self.map.iter().flat_map(|entry| bytes_of(*entry)).collect()
    }

    pub fn lb(&self) -> i64 {
        match self.marks.iter().map(|m| m.0).min() {
            Some(lb) => lb,
            None => self.parts.iter().map(|p| p.0).min().unwrap_or(0),
        }
    }

    pub fn extent(&self) -> i64 {
        if let Some(ub) = self.marks.iter().map(|m| m.1).max() {
            return ub - self.lb();
        }
        let end = self.parts.iter().map(|p| p.1).max().unwrap_or(0);
        let align = self.map.iter().map(|(b, _)| i64::from(b.align())).max();
        let (extent, align) = (end - self.lb(), align.unwrap_or(1));
        (extent + align - 1) / align * align
    }

    pub fn true_bounds(&self) -> (i64, i64) {
        let bytes = self.bytes();
        match (bytes.iter().min(), bytes.iter().max()) {
            (Some(low), Some(high)) => (*low, high + 1 - low),
            _ => (0, 0),
        }
    }

    /// Places of the bytes of `count` elements.
    pub fn bytes_of_count(&self, count: u64) -> Vec<i64> {
        let (one, extent) = (self.bytes(), self.extent());
        let places = |i: u64| one.iter().map(move |at| at + i as i64 * extent);
        (0..count).flat_map(places).collect()
    }
}

/// Memory in which offsets below zero make sense.
pub struct Memory {
    pub bytes: Vec<u8>,
    pub origin: i64,
}

impl Memory {
    /// Holds all the places, and a margin; filled with a pattern.
    pub fn around(places: &[i64], seed: u8) -> Self {
        let low = places.iter().min().copied().unwrap_or(0).min(0) - 64;
        let high = places.iter().max().copied().unwrap_or(0).max(0) + 64;
        let pattern = |i: i64| (i as u8).wrapping_mul(151).wrapping_add(seed) ^ (i >> 8) as u8;
        Memory {
            bytes: (0..high - low).map(pattern).collect(),
            origin: -low,
        }
    }

    pub fn base(&mut self) -> *mut u8 {
        self.bytes
            .as_mut_ptr()
            .wrapping_offset(self.origin as isize)
    }

    pub fn get(&self, at: i64) -> u8 {
        self.bytes[(self.origin + at) as usize]
    }

    pub fn set(&mut self, at: i64, value: u8) {
        self.bytes[(self.origin + at) as usize] = value;
    }
}
