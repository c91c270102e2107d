//! Which way bytes go.

/// Which way bytes go.
pub(crate) trait Direction {
    /// Whether it is to the user's layout.
    const WRITES: bool;

    /// Where to, and where from.
    #[inline(always)]
    fn sides<T>(user: T, packed: T) -> (T, T) {
        match Self::WRITES {
            true => (user, packed),
            false => (packed, user),
        }
    }
}

/// From the user's layout to packed bytes.
pub(crate) struct Pack;

/// From packed bytes to the user's layout.
pub(crate) struct Unpack;

impl Direction for Pack {
    const WRITES: bool = false;
}

impl Direction for Unpack {
    const WRITES: bool = true;
}
