//! The type itself: its measures, and packing.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::basic::Basic;
use crate::body::Body;
use crate::error::{Result, TypeError};
use crate::kinds::{Elements, Fingerprint, Kinds};
use crate::layout::{Node, Pack, Unpack, pieces, walk};
use crate::spec::Spec;

/// A type, shared by everything that uses it.
pub type TypeRef = Arc<Datatype>;

/// A datatype of MPI (MPI-5, chapter 5): which bytes, relative to an address,
/// make up an element, in which order they are packed, and what they mean.
///
/// Immutable, but for the mark that it was committed.
///
/// # Examples
/// Every other one of four numbers:
/// ```
/// use catena_datatype::Datatype;
///
/// let int = Datatype::predefined(0x209).expect("MPI_INT");
/// let column = Datatype::vector(2, 1, 2, int)?;
/// assert_eq!((column.size(), column.extent()), (8, 12));
/// let (numbers, mut packed) = ([1_i32, 2, 3, 4], [0_u8; 8]);
/// // SAFETY: one column is within `numbers`, and its eight bytes fit into `packed`.
/// unsafe { column.pack(numbers.as_ptr().cast(), 1, 0, packed.as_mut_ptr(), packed.len()) };
/// assert_eq!(packed, [1, 0, 0, 0, 3, 0, 0, 0]);
/// # Ok::<(), catena_datatype::TypeError>(())
/// ```
pub struct Datatype {
    size: u64,
    extent: i64,
    contiguous: bool,
    committed: AtomicBool,
    pub(crate) large: bool,
    kinds: Kinds,
    lb: i64,
    true_lb: i64,
    true_extent: i64,
    pub(crate) body: Body,
    pub(crate) spec: Spec<TypeRef>,
}

impl Datatype {
    /// Measures a body whose bounds are known to fit.
    pub(crate) fn measured(body: Body, spec: Spec<TypeRef>, (lb, ub): (i64, i64)) -> Self {
        let (low, high) = body.bytes.unwrap_or((0, 0));
        let extent = ub - lb;
        let run = matches!(body.layout.node, Node::Run(_)) && body.layout.at == 0;
        Datatype {
            size: body.size,
            extent,
            contiguous: body.size == 0 || (run && body.size as i64 == extent),
            committed: AtomicBool::new(false),
            large: false,
            kinds: body.signature.kinds().kinds(),
            lb,
            true_lb: low,
            true_extent: high - low,
            body,
            spec,
        }
    }

    /// A type that was made as `spec` says.
    ///
    /// # Errors
    /// `Overflow` of extent or true extent.
    pub(crate) fn make(body: Body, spec: Spec<TypeRef>) -> Result<TypeRef> {
        let bounds = body.bounds()?;
        if let Some((low, high)) = body.bytes
            && high.checked_sub(low).is_none()
        {
            return Err(TypeError::Overflow {
                what: "true extent",
            });
        }
        let body = body.close(bounds);
        Ok(Arc::new(Datatype::measured(body, spec, bounds)))
    }

    /// Bytes of an element in packed data.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Lower bound in bytes.
    #[inline]
    pub fn lb(&self) -> i64 {
        self.lb
    }

    /// Distance between elements that follow each other.
    #[inline]
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Upper bound in bytes.
    #[inline]
    pub fn ub(&self) -> i64 {
        self.lb + self.extent
    }

    /// Where the first byte in memory lies; 0 if there is none.
    #[inline]
    pub fn true_lb(&self) -> i64 {
        self.true_lb
    }

    /// From the first byte in memory to the end of the last one.
    #[inline]
    pub fn true_extent(&self) -> i64 {
        self.true_extent
    }

    /// What addresses of elements should be multiples of.
    #[inline]
    pub fn align(&self) -> u32 {
        self.body.align
    }

    /// Whether any number of elements is one run of bytes that starts at the
    /// address of the first (or no bytes at all).
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// The kind of all basic elements, if there is only one.
    #[inline]
    pub fn basic(&self) -> Option<Basic> {
        self.body.signature.basic()
    }

    /// What kinds of basic elements it has, whatever their number.
    #[inline(always)]
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// What the basic elements are within the first `bytes` packed bytes of a row of elements of
    /// this type; none if that ends inside of a basic element, or the type is empty.
    ///
    /// Cost: parts of the type, and the logarithm of `bytes`.
    pub fn fingerprint(&self, bytes: u64) -> Option<Fingerprint> {
        let signature = &self.body.signature;
        let (whole, rest) = match self.size {
            0 if bytes != 0 => return None,
            0 => return Some(Fingerprint::ANY),
            size => (bytes / size, bytes % size),
        };
        let rest = match rest {
            0 => Elements::EMPTY,
            rest => signature.kinds_in(rest)?,
        };
        let all = signature.kinds().repeat(whole).then(rest);
        Some(all.fingerprint())
    }

    /// Number of basic elements, as `MPI_Get_elements` counts them: a value
    /// with an index counts as two.
    pub fn elements(&self) -> u64 {
        self.body.signature.elements()
    }

    /// Number of basic elements in `bytes` packed bytes of elements of this
    /// type; none if that is not a whole number, or the type is empty.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let rest = self.body.signature.elements_in(bytes % self.size)?;
        (bytes / self.size)
            .checked_mul(self.elements())?
            .checked_add(rest)
    }

    /// Packed bytes of the first `elements` basic elements of a row of
    /// elements of this type: the inverse of [`Datatype::elements_in`]. None
    /// if the type is empty, or that is beyond 64 bits.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        let all = self.elements();
        if all == 0 {
            return (elements == 0).then_some(0);
        }
        let rest = self.body.signature.bytes_of(elements % all);
        (elements / all).checked_mul(self.size)?.checked_add(rest)
    }

    /// Calls `f` with kind and number of the basic elements of one element,
    /// in packing order.
    pub fn each_basic(&self, mut f: impl FnMut(Basic, u64)) {
        let all = self.body.signature.each(&mut |basic, n| {
            f(basic, n);
            Ok::<(), std::convert::Infallible>(())
        });
        match all {
            Ok(()) => {}
        }
    }

    /// Allows use in communication.
    pub fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    /// Whether it was committed.
    #[inline]
    pub fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    /// Copies bytes `[from, from + len)` of the packed form of `count`
    /// elements at `base` to `out`.
    ///
    /// Cost: O(len), plus O(height · log parts) to find `from`; no allocation.
    ///
    /// # Safety
    /// All bytes that the range stands for are valid around `base`, `out` is
    /// valid for `len` bytes, and they do not overlap. The range is within
    /// `count * size` bytes.
    #[inline]
    pub unsafe fn pack(&self, base: *const u8, count: u64, from: u64, out: *mut u8, len: usize) {
        debug_assert!(
            u128::from(from) + len as u128 <= u128::from(count) * u128::from(self.size),
            "range beyond the packed elements"
        );
        if len == 0 {
            return;
        }
        // SAFETY: the caller's promise; packing only reads at `base`.
        unsafe {
            if self.contiguous {
                let base = base.wrapping_add(from as usize);
                return std::ptr::copy_nonoverlapping(base, out, len);
            }
            let base = base.cast_mut();
            walk::<Pack>(&self.body.layout, self.extent, count, base, from, out, len);
        }
    }

    /// Copies `len` bytes at `inp`, which are bytes `[from, from + len)` of
    /// the packed form of `count` elements, to where they belong around
    /// `base`.
    ///
    /// Cost: as [`Datatype::pack`].
    ///
    /// # Safety
    /// As [`Datatype::pack`], with `inp` for `out`, and bytes around `base`
    /// that may be written.
    #[inline]
    pub unsafe fn unpack(&self, base: *mut u8, count: u64, from: u64, inp: *const u8, len: usize) {
        debug_assert!(
            u128::from(from) + len as u128 <= u128::from(count) * u128::from(self.size),
            "range beyond the packed elements"
        );
        if len == 0 {
            return;
        }
        // SAFETY: the caller's promise; unpacking only reads at `inp`.
        unsafe {
            if self.contiguous {
                let base = base.wrapping_add(from as usize);
                return std::ptr::copy_nonoverlapping(inp, base, len);
            }
            let inp = inp.cast_mut();
            walk::<Unpack>(&self.body.layout, self.extent, count, base, from, inp, len);
        }
    }

    /// Calls `each` with place and length of every run of bytes that bytes
    /// `[from, from + len)` of the packed form of `count` elements come from, in
    /// packing order. Places count from the address of the first element. For
    /// memory that [`Datatype::pack`] cannot read.
    pub fn each_run(&self, count: u64, from: u64, len: usize, mut each: impl FnMut(isize, usize)) {
        if self.is_contiguous() {
            return each(from as isize, len);
        }
        let mut tell = |at: i64, len| each(at as isize, len);
        pieces(
            &self.body.layout,
            (self.extent, count),
            (from, len),
            &mut tell,
        );
    }
}

impl fmt::Debug for Datatype {
    /// Briefly: what a type is made of may occur in it any number of times.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Datatype")
            .field("combiner", &self.combiner())
            .field("size", &self.size)
            .field("lb", &self.lb)
            .field("extent", &self.extent)
            .finish_non_exhaustive()
    }
}

impl Drop for Datatype {
    /// Types hold those they were made of; a long chain must not end in deep
    /// recursion.
    fn drop(&mut self) {
        let mut rest = self.spec.take_types();
        while let Some(ty) = rest.pop() {
            if let Some(mut ty) = Arc::into_inner(ty) {
                rest.append(&mut ty.spec.take_types());
                drop(mem::replace(&mut ty.spec, Spec::Named(0)));
            }
        }
    }
}
