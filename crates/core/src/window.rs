//! Packed bytes of a device's buffer in host memory: parts of a message are far shorter than what
//! is worth a copy.

/// Most bytes of a window. To copy as many takes several times as long as to begin a copy.
pub(crate) const MOST: usize = 256 << 10;

/// Some packed bytes of a buffer: what was read ahead, or what is still to be written.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Where they begin in the packed buffer.
    pub from: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A copy of a buffer has read nothing and has nothing to write yet.
impl Clone for Window {
    fn clone(&self) -> Self {
        Window::default()
    }
}

impl Window {
    /// The `len` bytes from `from` on, if they are all here.
    pub fn part(&self, from: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(from.checked_sub(self.from)?).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }

    /// Room for `len` bytes from `from` on instead of what was here, unless there is too little
    /// memory.
    pub fn open(&mut self, from: u64, len: usize) -> Option<&mut [u8]> {
        self.bytes.clear();
        self.bytes.try_reserve_exact(len).ok()?;
        self.bytes.resize(len, 0);
        self.from = from;
        Some(&mut self.bytes)
    }

    /// Whether `len` bytes that begin at `at` follow those here, and there is room for them.
    pub fn takes(&self, at: u64, len: usize) -> bool {
        self.from + self.bytes.len() as u64 == at && self.bytes.len() + len <= MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_what_lies_in_it_and_takes_what_follows() {
        let mut window = Window::default();
        assert!(window.part(0, 1).is_none() && window.takes(0, MOST) && !window.takes(0, MOST + 1));
        window.open(10, 4).unwrap().copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(window.part(11, 3), Some(&[2, 3, 4][..]));
        assert!(window.part(9, 2).is_none() && window.part(12, 3).is_none());
        assert!(window.takes(14, 1) && !window.takes(13, 1));
        assert!(window.clone().bytes.is_empty());
    }
}
