//! Strings that may be longer here than in the interface.

use std::ffi::{c_char, c_int};
use std::ptr;

/// Room for a string of the library, `N` characters with the final zero.
#[derive(Debug)]
pub struct Text<const N: usize> {
    to: *mut c_char,
    text: [c_char; N],
}

impl<const N: usize> Text<N> {
    /// For the string at `to`, which may be null.
    pub fn new(to: *mut c_char) -> Self {
        // No call stores a string of one character whose bits are all set.
        let mut text = [0; N];
        text[0] = UNWRITTEN;
        Text { to, text }
    }

    /// Where the call is to store it.
    pub fn place(&mut self) -> *mut c_char {
        if self.to.is_null() {
            return ptr::null_mut();
        }
        self.text.as_mut_ptr()
    }

    /// Stores as much as fits into `size` characters with the final zero, and its length unless
    /// `len` is null.
    ///
    /// # Safety
    /// What `new` was given has room for `size`, `len` is null or writable.
    pub unsafe fn finish(&self, size: usize, len: *mut c_int) {
        if self.text[0] == UNWRITTEN && self.text[1] == 0 {
            return;
        }
        let end = self.text.iter().position(|&c| c == 0).unwrap_or(N);
        let fits = fitting(&self.text[..end], size - 1);
        // SAFETY: the call was given a place, so `to` is not null; the caller's promise.
        unsafe {
            ptr::copy_nonoverlapping(self.text.as_ptr(), self.to, fits);
            *self.to.add(fits) = 0;
            if !len.is_null() {
                *len = fits as c_int;
            }
        }
    }
}

/// What is there before a call stores anything; no text in UTF-8 begins so.
const UNWRITTEN: c_char = !0;

/// As much of `text` as `most` characters hold, without half a character of UTF-8 at the end.
fn fitting(text: &[c_char], most: usize) -> usize {
    let mut n = text.len().min(most);
    if n < text.len() {
        while n > 0 && text[n] as u8 & 0xc0 == 0x80 {
            n -= 1;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &[u8], size: usize) -> (Vec<u8>, c_int) {
        let (mut to, mut len) = (vec![0x55_u8; size + 4], -7);
        let mut room = Text::<64>::new(to.as_mut_ptr().cast());
        // SAFETY: both are long enough.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr().cast(), room.place(), text.len());
            *room.place().add(text.len()) = 0;
            room.finish(size, &raw mut len);
        }
        assert_eq!(to[size..], [0x55; 4], "written past the end");
        to.truncate(len as usize + 1);
        (to, len)
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        assert_eq!(given(b"catena", 20), (b"catena\0".to_vec(), 6));
        assert_eq!(given(b"catena", 5), (b"cate\0".to_vec(), 4));
        assert_eq!(given("naïve".as_bytes(), 4), (b"na\0".to_vec(), 2));
        assert_eq!(
            given("naïve".as_bytes(), 5),
            ("naï\0".as_bytes().to_vec(), 4)
        );
        assert_eq!(given(b"", 1), (b"\0".to_vec(), 0));
    }

    #[test]
    fn what_was_not_stored_is_not_given() {
        let (mut to, mut len) = ([7 as c_char; 4], 9);
        // SAFETY: both are long enough.
        unsafe { Text::<64>::new(to.as_mut_ptr()).finish(4, &raw mut len) };
        assert_eq!((to, len), ([7; 4], 9));
    }
}
