//! The steps that wrote and that read the bytes of a buffer last.

use std::collections::BTreeMap;

use crate::schedule::NONE;

#[derive(Clone, Debug)]
struct Segment {
    end: usize,
    /// Last step that wrote all of it, or [`NONE`].
    writer: u32,
    /// Steps that read it since.
    readers: Vec<u32>,
}

/// Disjoint segments of one buffer, keyed by their first byte. Bytes that no
/// step has touched are in no segment.
#[derive(Debug, Default)]
pub(crate) struct Track {
    segments: BTreeMap<usize, Segment>,
}

impl Track {
    /// Cuts the segment that contains `at` in its inside, if there is one.
    fn cut(&mut self, at: usize) {
        if let Some((_, seg)) = self.segments.range_mut(..at).next_back()
            && at < seg.end
        {
            let mut right = seg.clone();
            right.end = seg.end;
            seg.end = at;
            self.segments.insert(at, right);
        }
    }

    /// `step` reads `[lo, hi)`: it waits for the writers.
    ///
    /// Cost: O(log segments) for each segment touched.
    pub(crate) fn read(&mut self, lo: usize, hi: usize, step: u32, waits_for: &mut Vec<u32>) {
        if lo >= hi {
            return;
        }
        self.cut(lo);
        self.cut(hi);
        let mut gaps = Vec::new();
        let mut at = lo;
        for (&start, seg) in self.segments.range_mut(lo..hi) {
            if at < start {
                gaps.push((at, start));
            }
            if seg.writer != NONE {
                waits_for.push(seg.writer);
            }
            if seg.readers.last() != Some(&step) {
                seg.readers.push(step);
            }
            at = seg.end;
        }
        if at < hi {
            gaps.push((at, hi));
        }
        for (start, end) in gaps {
            self.segments.insert(
                start,
                Segment {
                    end,
                    writer: NONE,
                    readers: vec![step],
                },
            );
        }
    }

    /// `step` writes `[lo, hi)`: it waits for the readers, or for the writer
    /// where nobody has read since.
    pub(crate) fn write(&mut self, lo: usize, hi: usize, step: u32, waits_for: &mut Vec<u32>) {
        if lo >= hi {
            return;
        }
        self.cut(lo);
        self.cut(hi);
        let mut starts = Vec::new();
        for (&start, seg) in self.segments.range_mut(lo..hi) {
            if seg.readers.is_empty() {
                waits_for.push(seg.writer);
            } else {
                waits_for.append(&mut seg.readers);
            }
            if start == lo {
                seg.writer = step;
                seg.end = hi;
            } else {
                starts.push(start);
            }
        }
        for start in starts {
            self.segments.remove(&start);
        }
        self.segments.entry(lo).or_insert(Segment {
            end: hi,
            writer: step,
            readers: Vec::new(),
        });
    }
}
