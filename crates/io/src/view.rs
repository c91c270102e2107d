//! Views: which bytes of a file a process sees, and in which order (MPI-5, chapter 14.3).
//!
//! Everything here counts in three units. A program names *etypes*; they become bytes of the
//! **stream**, the bytes of the filetype one after the other as they are packed; and these lie at
//! **offsets** of the file.

use std::sync::Arc;

use catena_datatype::{Datatype, TypeRef};
use catena_objects::error::Result;
use catena_objects::fail;

use crate::datarep::Datarep;
use crate::driver::Part;

/// Bytes of the stream whose runs are listed at once.
const WINDOW: u64 = 512 << 10;

/// A view of a file; immutable.
#[derive(Clone, Debug)]
pub struct View {
    /// Bytes of the file before it.
    pub disp: u64,
    /// The unit of offsets and positions.
    pub etype: TypeRef,
    /// What repeats in the file.
    pub filetype: TypeRef,
    /// How values are represented in the file.
    pub datarep: Arc<Datarep>,
    /// The filetype as it lies in the file: that of the view, unless its values take other sizes
    /// there.
    layout: TypeRef,
    /// Bytes of an etype in the file.
    unit: u64,
    /// The first place in the stream that has no offset in a file.
    limit: u64,
    is_ordered: bool,
    /// Whether a filetype has bytes of those that follow it, in a file that may be written.
    is_written_over: bool,
    spread: Spread,
    /// Whether the filetype has no bytes: a member that has no part of a distributed array.
    is_empty: bool,
}

/// How the runs of a view lie that is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Bytes of the longest run.
    pub run: u64,
    /// Bytes of the widest gap between two runs.
    pub gap: u64,
}

/// A run of bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it begins in the file.
    pub at: u64,
    /// Its bytes.
    pub len: u64,
}

impl View {
    /// All bytes of the file.
    pub fn of_bytes() -> Self {
        let byte = Datatype::predefined(catena_abi::consts::BYTE.0 as u16).expect("MPI_BYTE");
        View {
            disp: 0,
            etype: byte.clone(),
            filetype: byte.clone(),
            datarep: Datarep::native(),
            layout: byte.clone(),
            unit: 1,
            limit: limit(0, byte),
            is_ordered: true,
            is_written_over: false,
            spread: Spread::default(),
            is_empty: false,
        }
    }

    /// A view as `MPI_File_set_view` asks for it, of a file that may be written or not.
    ///
    /// # Errors
    /// `Arg` for a negative displacement; `Type` for a filetype that is not made of etypes; `Io`
    /// for one with places before its beginning, with places that decrease, or that overlap where
    /// they may be written; those of the representation.
    pub fn new(
        disp: i64,
        etype: &TypeRef,
        filetype: &TypeRef,
        datarep: Arc<Datarep>,
        is_written: bool,
    ) -> Result<Self> {
        let Ok(disp) = u64::try_from(disp) else {
            fail!(Arg, "the displacement is {disp}: it must not be negative");
        };
        if etype.size() == 0 {
            fail!(Type, "the etype has no bytes");
        }
        if filetype.size() == 0 {
            return Ok(View {
                disp,
                unit: datarep.in_file(etype)?.size(),
                etype: etype.clone(),
                filetype: filetype.clone(),
                datarep,
                // Nothing is read or written anywhere, so no place of the stream has to have an
                // offset.
                limit: 1 << 62,
                is_empty: true,
                ..View::of_bytes()
            });
        }
        if !filetype.size().is_multiple_of(etype.size()) {
            fail!(
                Type,
                "the filetype has {} bytes, which is no multiple of the etype's {}: a filetype is \
                 made of etypes and gaps",
                filetype.size(),
                etype.size()
            );
        }
        let layout = datarep.in_file(filetype)?;
        let unit = datarep.in_file(etype)?.size();
        let spread = check_places(&layout, is_written)?;
        let is_apart = is_written || check_places(&layout, true).is_ok();
        let is_written_over = is_written && !tiles_are_apart(&layout);
        let is_ordered = is_apart && layout.extent() >= layout.true_extent();
        Ok(View {
            disp,
            etype: etype.clone(),
            filetype: filetype.clone(),
            datarep,
            limit: limit(disp, &layout),
            layout,
            unit,
            is_ordered,
            is_written_over,
            spread,
            is_empty: false,
        })
    }

    /// This view at another displacement.
    pub fn at(self, disp: u64) -> Self {
        let limit = match self.is_empty {
            true => self.limit,
            false => limit(disp, &self.layout),
        };
        View {
            disp,
            limit,
            ..self
        }
    }

    /// Whether it shows nothing of the file.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Bytes of an etype in the file.
    #[inline]
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Whether the stream is one run of the file.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// Whether the stream is one run of the file, and its bytes are those of memory.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_contiguous() && self.datarep.is_native() && !self.is_empty
    }

    /// The run that bytes of the stream are in a view that [is contiguous](View::is_contiguous).
    #[inline]
    pub fn run(&self, from: u64, len: u64) -> Run {
        let at = self.disp.wrapping_add_signed(self.layout.true_lb()) + from;
        Run { at, len }
    }

    /// Whether each byte of the stream lies behind the one before.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// How its runs lie if it [is ordered](View::is_ordered); nothing if [it is
    /// contiguous](View::is_contiguous).
    pub fn spread(&self) -> Spread {
        self.spread
    }

    /// Where in the stream `etypes` begin.
    ///
    /// # Errors
    /// `Arg` for a negative number, and where no file has an offset for it.
    pub fn stream(&self, etypes: i64) -> Result<u64> {
        match self.place(etypes) {
            Some(at) => Ok(at),
            None if etypes < 0 => fail!(Arg, "the offset is {etypes}: it must not be negative"),
            None => fail!(
                Arg,
                "the offset {etypes} lies beyond the longest file that there can be"
            ),
        }
    }

    /// Where in the stream `etypes` begin, if a file has an offset for it.
    #[inline]
    pub fn place(&self, etypes: i64) -> Option<u64> {
        let at = u64::try_from(etypes).ok()?.checked_mul(self.unit)?;
        self.reaches(at).then_some(at)
    }

    /// Whether a place in the stream has an offset in a file.
    #[inline]
    pub fn reaches(&self, at: u64) -> bool {
        at < self.limit
    }

    /// A write writes no byte of the file twice: programs describe all that they write by one
    /// filetype, whose extent may be less than that, and use no further one.
    ///
    /// # Errors
    /// `Io` if it goes over several filetypes that have bytes in common.
    #[inline]
    pub fn check_written(&self, from: u64, end: u64) -> Result<()> {
        match self.is_written_over {
            true => self.check_one_tile(from, end),
            false => Ok(()),
        }
    }

    #[cold]
    fn check_one_tile(&self, from: u64, end: u64) -> Result<()> {
        if end <= from || from / self.layout.size() == (end - 1) / self.layout.size() {
            return Ok(());
        }
        fail!(
            Io,
            "the filetype has bytes of those that follow it, as its extent is {} and its bytes \
             span {}: no write may go beyond one of them",
            self.layout.extent(),
            self.layout.true_extent()
        )
    }

    /// Where in the file a place in the stream lies.
    pub fn offset(&self, stream: u64) -> u64 {
        let mut at = 0;
        self.layout
            .each_run(self.tiles(stream + 1), stream, 1, |place, _| {
                at = place as i64;
            });
        self.disp.wrapping_add_signed(at)
    }

    /// How many times the filetype is repeated up to a place in the stream.
    fn tiles(&self, end: u64) -> u64 {
        end.div_ceil(self.layout.size())
    }

    /// The first place in the stream, at an etype, that lies at or behind an offset of the file.
    pub fn end(&self, size: u64) -> u64 {
        let Some(rest) = size.checked_sub(self.disp) else {
            return 0;
        };
        if self.is_empty {
            return 0;
        }
        let mut low = 0;
        let mut high = 1;
        // Offsets grow with places, so they are searched.
        while self.reaches(high * self.unit) && self.offset(high * self.unit) < size {
            low = high;
            high *= 2;
        }
        if rest == 0 || self.offset(0) >= size {
            return 0;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.reaches(middle * self.unit) && self.offset(middle * self.unit) < size {
                low = middle;
            } else {
                high = middle;
            }
        }
        high * self.unit
    }

    /// How many of the bytes `[from, from + len)` of the stream lie in front of an offset of the
    /// file, in a view that [is ordered](View::is_ordered). Cost: O(log len) times that of
    /// [`View::offset`].
    pub fn before(&self, from: u64, len: u64, offset: u64) -> u64 {
        let is_before = |bytes: u64| self.offset(from + bytes - 1) < offset;
        if len == 0 || is_before(len) {
            return len;
        }
        // The first `low` bytes lie in front, and not the first `high`.
        let (mut low, mut high) = (0, len);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match is_before(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }

    /// Copies bytes `[from, from + len)` of the stream to `out`, from an image of the file whose
    /// first byte is the one at offset `begin`.
    ///
    /// # Safety
    /// The image has all these bytes, `out` has room for them, and they do not overlap.
    pub unsafe fn gather(&self, from: u64, (image, begin): (*const u8, u64), out: Part) {
        let origin = image.wrapping_add(self.disp.wrapping_sub(begin) as usize);
        let count = self.tiles(from + out.len as u64);
        // SAFETY: the caller's promise; an origin outside the image is only counted from.
        unsafe { self.layout.pack(origin, count, from, out.base, out.len) };
    }

    /// Calls `each` with lists of runs that stand for bytes `[from, from + len)` of the stream, in
    /// their order, joined where one follows the other; each list with its bytes. It ends early
    /// when `each` says false.
    pub fn windows(&self, from: u64, len: u64, mut each: impl FnMut(&[Run], u64) -> bool) {
        let mut runs: Vec<Run> = Vec::new();
        if self.is_contiguous() {
            if len != 0 {
                each(&[self.run(from, len)], len);
            }
            return;
        }
        let (mut from, end) = (from, from + len);
        while from < end {
            let now = (end - from).min(WINDOW);
            runs.clear();
            self.layout
                .each_run(self.tiles(from + now), from, now as usize, |place, len| {
                    let at = self.disp.wrapping_add_signed(place as i64);
                    match runs.last_mut() {
                        Some(last) if last.at + last.len == at => last.len += len as u64,
                        _ => runs.push(Run {
                            at,
                            len: len as u64,
                        }),
                    }
                });
            if !each(&runs, now) {
                return;
            }
            from += now;
        }
    }
}

/// The first place in the stream of a filetype that lies behind the longest file that there can be.
fn limit(disp: u64, layout: &TypeRef) -> u64 {
    let extent = layout
        .extent()
        .unsigned_abs()
        .max(layout.ub().unsigned_abs());
    let extent = extent.max((layout.true_lb() + layout.true_extent()).unsigned_abs());
    let tiles = (i64::MAX as u64).saturating_sub(disp) / extent.max(1);
    tiles.saturating_mul(layout.size())
}

/// Places of a filetype neither decrease nor lie before its beginning, and overlap only where they
/// are not written (MPI-5, chapter 14.1.1); how its runs lie if that is so.
fn check_places(layout: &TypeRef, is_written: bool) -> Result<Spread> {
    let mut spread = Spread::default();
    if layout.is_contiguous() && layout.true_lb() >= 0 {
        return Ok(spread);
    }
    let (mut last, mut bad) = (0, None);
    let size = usize::try_from(layout.size()).unwrap_or(usize::MAX);
    // The first byte of the run that grows, and the one behind it.
    let (mut begin, mut end) = (layout.true_lb(), layout.true_lb());
    layout.each_run(1, 0, size, |at, len| {
        let at = at as i64;
        if at < last && bad.is_none() {
            bad = Some((at, last));
        }
        last = at;
        if is_written {
            last += len as i64;
        }
        if at != end {
            spread.gap = spread.gap.max(at.saturating_sub(end).max(0) as u64);
            begin = at;
        }
        end = at.wrapping_add(len as i64);
        spread.run = spread.run.max(end.wrapping_sub(begin) as u64);
    });
    let next = layout.extent().saturating_add(layout.true_lb());
    spread.gap = spread.gap.max(next.saturating_sub(end).max(0) as u64);
    match bad {
        None => Ok(spread),
        Some((at, 0)) => fail!(
            Io,
            "the filetype has bytes at {at}: displacements must not be negative"
        ),
        Some((at, before)) => fail!(
            Io,
            "the filetype has bytes at {at} after those at {before}: displacements must not \
            decrease, nor overlap in a file that may be written"
        ),
    }
}

/// Whether a filetype has no bytes of those that follow it in the file.
///
/// Cost: nothing where each begins behind the one before it; else O(n log n) for n runs.
fn tiles_are_apart(layout: &TypeRef) -> bool {
    let extent = layout.extent();
    if extent <= 0 {
        return false;
    }
    if extent as u64 >= layout.true_extent().unsigned_abs() {
        return true;
    }
    // Two bytes are one in the file if they are a multiple of the extent apart. A run that goes
    // over such a place is two.
    let mut runs: Vec<(i64, i64)> = Vec::new();
    let size = usize::try_from(layout.size()).unwrap_or(usize::MAX);
    layout.each_run(1, 0, size, |at, len| {
        let (begin, len) = ((at as i64).rem_euclid(extent), len as i64);
        let end = begin.saturating_add(len);
        runs.push((begin, end.min(extent)));
        if end > extent {
            runs.push((0, end - extent));
        }
    });
    runs.sort_unstable();
    runs.windows(2).all(|two| two[0].1 <= two[1].0) && runs.iter().all(|run| run.1 <= extent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int() -> TypeRef {
        Datatype::predefined(0x209).expect("MPI_INT").clone()
    }

    fn runs(view: &View, from: u64, len: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        view.windows(from, len, |runs, _| {
            all.extend(runs.iter().map(|run| (run.at, run.len)));
            true
        });
        all
    }

    #[test]
    fn a_strided_view_maps_both_ways() {
        // Two of four ints, from the second on, behind 100 bytes.
        let pair = Datatype::contiguous(2, &int()).unwrap();
        let ty = Datatype::hindexed(&[1], &[4], &pair).unwrap();
        let ty = Datatype::resized(0, 16, &ty).unwrap();
        let view = View::new(100, &int(), &ty, Datarep::native(), true).unwrap();
        assert_eq!(view.unit(), 4);
        assert_eq!(view.offset(0), 104);
        assert_eq!(view.offset(4), 108);
        assert_eq!(view.offset(8), 120);
        assert_eq!(runs(&view, 4, 12), [(108, 4), (120, 8)]);
        // A file of so many bytes ends before so many ints.
        for (size, ints) in [
            (0, 0),
            (104, 0),
            (105, 1),
            (108, 1),
            (112, 2),
            (120, 2),
            (121, 3),
        ] {
            assert_eq!(view.end(size), ints * 4, "{size}");
        }
    }

    #[test]
    fn runs_that_touch_are_one() {
        let ty = Datatype::indexed(&[1, 1, 2], &[0, 1, 5], &int()).unwrap();
        let view = View::new(0, &int(), &ty, Datarep::native(), true).unwrap();
        assert_eq!(runs(&view, 0, 32), [(0, 8), (20, 16), (48, 8)][..].to_vec());
    }

    #[test]
    fn how_far_runs_are_apart() {
        let spread = |ty: &TypeRef| {
            let view = View::new(8, &int(), ty, Datarep::native(), false).unwrap();
            let Spread { run, gap } = view.spread();
            (run, gap)
        };
        let places = Datatype::indexed(&[1, 1, 2], &[0, 1, 5], &int()).unwrap();
        assert_eq!(spread(&int()), (0, 0));
        assert_eq!(spread(&places), (8, 12));
        // The last gap is that in front of the next one.
        assert_eq!(spread(&Datatype::resized(0, 60, &places).unwrap()), (8, 32));
    }

    #[test]
    fn bytes_in_front_of_an_offset_are_counted() {
        // Two of five bytes, from the third on.
        let byte = View::of_bytes().etype;
        let pair = Datatype::indexed(&[2], &[1], &byte).unwrap();
        let ty = Datatype::resized(0, 5, &pair).unwrap();
        let view = View::new(2, &byte, &ty, Datarep::native(), true).unwrap();
        for (offset, bytes) in [(0, 0), (3, 0), (4, 1), (5, 2), (8, 2), (10, 4), (99, 5)] {
            assert_eq!(view.before(0, 5, offset), bytes, "{offset}");
        }
        assert_eq!(view.before(3, 4, 10), 1);
        assert_eq!(view.before(3, 0, 10), 0);
    }

    #[test]
    fn bytes_are_taken_out_of_an_image_of_the_file() {
        let places = Datatype::indexed(&[1, 1, 2], &[0, 1, 5], &int()).unwrap();
        let view = View::new(100, &int(), &places, Datarep::native(), true).unwrap();
        let image: Vec<u8> = (104..160).collect();
        let mut out = [0u8; 22];
        let room = Part {
            base: out.as_mut_ptr(),
            len: out.len(),
        };
        // SAFETY: the image has the bytes of the file up to 160.
        unsafe { view.gather(6, (image.as_ptr(), 104), room) };
        let mut at = 0;
        view.windows(6, 22, |runs, _| {
            for run in runs {
                for i in 0..run.len {
                    assert_eq!(u64::from(out[at]), run.at + i);
                    at += 1;
                }
            }
            true
        });
        assert_eq!(at, out.len());
    }

    #[test]
    fn bad_filetypes_are_refused() {
        let double = Datatype::predefined(0x211);
        let back = Datatype::indexed(&[1, 1], &[3, 0], &int()).unwrap();
        let before = Datatype::hindexed(&[1], &[-4], &int()).unwrap();
        let twice = Datatype::indexed(&[3, 1], &[0, 1], &int()).unwrap();
        assert!(View::new(0, &int(), &twice, Datarep::native(), false).is_ok());
        for ty in [back, before, twice] {
            assert!(View::new(0, &int(), &ty, Datarep::native(), true).is_err());
        }
        assert!(View::new(-1, &int(), &int(), Datarep::native(), true).is_err());
        let short = Datatype::predefined(0x207);
        for odd in [double, short].into_iter().flatten() {
            let three = Datatype::contiguous(3, &int()).unwrap();
            let fits = three.size().is_multiple_of(odd.size());
            let made = View::new(0, odd, &three, Datarep::native(), true);
            assert_eq!(made.is_ok(), fits);
        }
    }

    #[test]
    fn a_view_may_show_nothing() {
        let none = Datatype::contiguous(0, &int()).unwrap();
        let view = View::new(8, &int(), &none, Datarep::native(), true).unwrap();
        assert!(view.is_empty() && !view.is_plain());
        assert_eq!((view.unit(), view.end(100)), (4, 0));
        assert!(view.stream(0).is_ok() && view.stream(5).is_ok() && view.stream(-1).is_err());
        assert!(View::new(0, &none, &int(), Datarep::native(), true).is_err());
    }

    #[test]
    fn offsets_beyond_every_file_are_refused() {
        let view = View::of_bytes();
        assert!(view.stream(i64::MAX - 1).is_ok());
        let ints = View::new(0, &int(), &int(), Datarep::native(), true).unwrap();
        assert!(ints.stream(i64::MAX / 2).is_err() && ints.stream(-1).is_err());
    }
}
