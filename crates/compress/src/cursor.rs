//! Reads and writes of bytes that may end before they are through.

/// Writes into a slice; `None` where it is full.
pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        Writer { bytes, at: 0 }
    }

    /// Bytes that were written.
    pub(crate) fn len(&self) -> usize {
        self.at
    }

    /// Room for `len` bytes, which the caller fills.
    pub(crate) fn room(&mut self, len: usize) -> Option<&mut [u8]> {
        let room = self.bytes.get_mut(self.at..)?.get_mut(..len)?;
        self.at += len;
        Some(room)
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.room(bytes.len())?.copy_from_slice(bytes);
        Some(())
    }

    /// A number in 1 to 10 bytes of 7 bits each, the lowest ones first.
    pub(crate) fn varint(&mut self, mut value: u64) -> Option<()> {
        while value >= 0x80 {
            self.put(&[value as u8 | 0x80])?;
            value >>= 7;
        }
        self.put(&[value as u8])
    }
}

/// Reads from a slice; `None` where it ends.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (now, later) = self.bytes.split_at_checked(len)?;
        self.bytes = later;
        Some(now)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (now, later) = self.bytes.split_first_chunk()?;
        self.bytes = later;
        Some(*now)
    }

    /// Reverts [`Writer::varint`]; bits beyond the 64th are none.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
