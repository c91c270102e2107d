//! Where the bytes of some elements lie, in a few bytes: gap and length of each run, and how often
//! the two repeat. Of a vector that is three numbers, however long it is.
//!
//! Numbers are in base 128, the lowest digit first, with the upper bit set in all but the last;
//! those of gaps have their sign in the lowest bit.

use catena_datatype::Datatype;

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for digit in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * digit);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Runs on their way into bytes.
#[derive(Debug, Default)]
struct Writer {
    /// Where the last run ends.
    end: i64,
    /// Gap and length of the last run, and how often they came.
    last: (i64, u64),
    times: u64,
}

impl Writer {
    fn run(&mut self, at: i64, len: u64, out: &mut Vec<u8>) {
        let gap = at - self.end;
        self.end = at + len as i64;
        if self.times != 0 && gap == 0 && self.times == 1 {
            self.last.1 += len;
        } else if self.times != 0 && (gap, len) == self.last {
            self.times += 1;
        } else {
            self.flush(out);
            (self.last, self.times) = ((gap, len), 1);
        }
    }

    fn flush(&self, out: &mut Vec<u8>) {
        if self.times != 0 {
            let (gap, len) = self.last;
            put((gap << 1 ^ gap >> 63) as u64, out);
            put(len, out);
            put(self.times, out);
        }
    }
}

/// Writes where packed bytes `[from, from + len)` of `count` elements lie, counted from the first
/// element's address.
pub(crate) fn write(ty: &Datatype, count: u64, (from, len): (u64, usize), out: &mut Vec<u8>) {
    let mut writer = Writer::default();
    ty.each_run(count, from, len, |at, len| {
        writer.run(at as i64, len as u64, out);
    });
    writer.flush(out);
}

/// Runs that somebody else has written.
#[derive(Clone, Debug)]
pub(crate) struct Runs<'a> {
    bytes: &'a [u8],
    end: i64,
    gap: i64,
    len: u64,
    times: u64,
}

impl<'a> Runs<'a> {
    pub fn read(bytes: &'a [u8]) -> Self {
        Runs {
            bytes,
            end: 0,
            gap: 0,
            len: 0,
            times: 0,
        }
    }

    /// One run at the first element's address.
    pub fn one(len: u64) -> Self {
        Runs {
            len,
            times: 1,
            ..Runs::read(&[])
        }
    }
}

impl Iterator for Runs<'_> {
    /// Place and length, or that the bytes make no sense.
    type Item = Option<(i64, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.times == 0 {
            if self.bytes.is_empty() {
                return None;
            }
            let mut read = || {
                let gap = get(&mut self.bytes)?;
                let gap = (gap >> 1) as i64 ^ -((gap & 1) as i64);
                let (len, times) = (get(&mut self.bytes)?, get(&mut self.bytes)?);
                (times != 0 && len != 0).then_some((gap, len, times))
            };
            let Some(read) = read() else {
                self.bytes = &[];
                return Some(None);
            };
            (self.gap, self.len, self.times) = read;
        }
        self.times -= 1;
        let at = self.end.checked_add(self.gap);
        let end = at.and_then(|at| at.checked_add(i64::try_from(self.len).ok()?));
        let (Some(at), Some(end)) = (at, end) else {
            (self.bytes, self.times) = (&[], 0);
            return Some(None);
        };
        self.end = end;
        Some(Some((at, self.len)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ty: &Datatype, count: u64, part: (u64, usize)) -> (usize, Vec<(i64, u64)>) {
        let mut bytes = Vec::new();
        write(ty, count, part, &mut bytes);
        let runs = Runs::read(&bytes).map(|run| run.expect("sense"));
        (bytes.len(), runs.collect())
    }

    /// Every byte of some runs.
    fn bytes(runs: impl IntoIterator<Item = (i64, u64)>) -> Vec<i64> {
        let each = |(at, len): (i64, u64)| at..at + len as i64;
        runs.into_iter().flat_map(each).collect()
    }

    #[test]
    fn all_types_come_back() {
        let int = Datatype::predefined(0x209).expect("MPI_INT");
        let column = Datatype::vector(500, 1, 4, int).unwrap();
        let back = Datatype::vector(5, 2, -4, int).unwrap();
        let some = Datatype::indexed(&[2, 1, 3, 0, 1], &[9, 3, 4, 2, 100], int).unwrap();
        for (ty, count) in [(int, 7), (&column, 3), (&back, 4), (&some, 3)] {
            let all = (ty.size() * count) as usize;
            for (from, len) in [(0, all), (2, all - 5), (all as u64 / 2, 3)] {
                let mut expected = Vec::new();
                ty.each_run(count, from, len, |at, len| {
                    expected.push((at as i64, len as u64));
                });
                assert_eq!(bytes(of(ty, count, (from, len)).1), bytes(expected));
            }
        }
        let (len, runs) = of(&column, 1, (0, 2000));
        assert!(len < 10 && runs.len() == 500, "{len} bytes");
        assert_eq!(of(int, 7, (0, 28)).1, [(0, 28)]);
    }

    #[test]
    fn nonsense_ends() {
        for bytes in [&[1u8][..], &[0x80; 12], &[2, 4, 0], &[2, 0, 4]] {
            assert_eq!(Runs::read(bytes).last(), Some(None));
        }
        let mut far = Vec::new();
        put(2, &mut far);
        put(i64::MAX as u64, &mut far);
        put(2, &mut far);
        assert_eq!(Runs::read(&far).last(), Some(None));
        assert_eq!(Runs::one(5).collect::<Vec<_>>(), [Some((0, 5))]);
    }
}
