//! Numbers and texts as bytes: little-endian, texts behind their length.

use std::fmt;

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what a host tells of its calls cannot be read: it may be of another version")
    }
}

impl std::error::Error for Malformed {}

#[derive(Debug, Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn u32(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    /// As many items as there are, behind their number.
    pub fn all<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.u32(items.len() as u32);
        items.iter().for_each(|item| write(self, item));
    }
}

#[derive(Debug)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, left) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = left;
        Ok(*taken)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.u32()? as usize;
        let (taken, left) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = left;
        Ok(taken)
    }

    /// A text, in which control characters become question marks: a user reads it.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let text = String::from_utf8_lossy(self.bytes()?);
        Ok(text.replace(char::is_control, "?"))
    }

    /// Items behind their number. Nothing is allocated for what is not there.
    pub fn all<T>(
        &mut self,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32()?;
        (0..count).map(|_| read(self)).collect()
    }
}
