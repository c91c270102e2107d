//! Views: which bytes of a file a process sees, and in which order (MPI-5, chapter 14.3).
//!
//! Everything here counts in three units. A program names *etypes*; they become bytes of the **stream**, the
//! bytes of the filetype one after the other as they are packed; and these lie at **offsets** of the file.

use std::sync::Arc;

use catena_datatype::{Datatype, TypeRef};
use catena_objects::error::Result;
use catena_objects::fail;

use crate::datarep::Datarep;

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
    /// The filetype as it lies in the file: that of the view, unless its values take other sizes there.
    layout: TypeRef,
    /// Bytes of an etype in the file.
    unit: u64,
    /// The first place in the stream that has no offset in a file.
    limit: u64,
    is_ordered: bool,
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
        }
    }

    /// A view as `MPI_File_set_view` asks for it, of a file that may be written or not.
    ///
    /// # Errors
    /// `Arg` for a negative displacement; `Type` for a filetype that is not made of etypes; `Io` for one with
    /// places before its beginning, with places that decrease, or that overlap where they may be written; those of
    /// the representation.
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
        if etype.size() == 0 || filetype.size() == 0 {
            fail!(
                Type,
                "the {} has no bytes",
                if etype.size() == 0 {
                    "etype"
                } else {
                    "filetype"
                }
            );
        }
        if !filetype.size().is_multiple_of(etype.size()) {
            fail!(
                Type,
                "the filetype has {} bytes, which is no multiple of the etype's {}: a filetype is made \
                of etypes and gaps",
                filetype.size(),
                etype.size()
            );
        }
        let layout = datarep.in_file(filetype)?;
        let unit = datarep.in_file(etype)?.size();
        check_places(&layout, is_written)?;
        let is_apart = is_written || check_places(&layout, true).is_ok();
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
        })
    }

    /// Bytes of an etype in the file.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Whether the stream is one run of the file.
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// Whether the stream is one run of the file, and its bytes are those of memory.
    pub fn is_plain(&self) -> bool {
        self.is_contiguous() && self.datarep.is_native()
    }

    /// The run that bytes of the stream are in a view that [is contiguous](View::is_contiguous).
    pub fn run(&self, from: u64, len: u64) -> Run {
        let at = self.disp.wrapping_add_signed(self.layout.true_lb()) + from;
        Run { at, len }
    }

    /// Whether each byte of the stream lies behind the one before.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Where in the stream `etypes` begin.
    ///
    /// # Errors
    /// `Arg` for a negative number, and where no file has an offset for it.
    pub fn stream(&self, etypes: i64) -> Result<u64> {
        let Ok(n) = u64::try_from(etypes) else {
            fail!(Arg, "the offset is {etypes}: it must not be negative");
        };
        match n.checked_mul(self.unit) {
            Some(at) if self.reaches(at) => Ok(at),
            _ => fail!(
                Arg,
                "the offset {etypes} lies beyond the longest file that there can be"
            ),
        }
    }

    /// Whether a place in the stream has an offset in a file.
    #[inline]
    pub fn reaches(&self, at: u64) -> bool {
        at < self.limit
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

    /// Calls `each` with lists of runs that stand for bytes `[from, from + len)` of the stream, in their
    /// order, joined where one follows the other; each list with its bytes. It ends early when `each` says
    /// false.
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

/// Places of a filetype neither decrease nor lie before its beginning, and overlap only where they are not
/// written (MPI-5, chapter 14.1.1).
fn check_places(layout: &TypeRef, is_written: bool) -> Result<()> {
    if layout.is_contiguous() && layout.true_lb() >= 0 {
        return Ok(());
    }
    let (mut last, mut bad) = (0, None);
    let size = usize::try_from(layout.size()).unwrap_or(usize::MAX);
    layout.each_run(1, 0, size, |at, len| {
        if (at as i64) < last && bad.is_none() {
            bad = Some((at as i64, last));
        }
        last = at as i64;
        if is_written {
            last += len as i64;
        }
    });
    match bad {
        None => Ok(()),
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
    fn offsets_beyond_every_file_are_refused() {
        let view = View::of_bytes();
        assert!(view.stream(i64::MAX - 1).is_ok());
        let ints = View::new(0, &int(), &int(), Datarep::native(), true).unwrap();
        assert!(ints.stream(i64::MAX / 2).is_err() && ints.stream(-1).is_err());
    }
}
