//! When windows use the remote access of a network; see the crate of windows, which lies above this one.

use catena_settings::{Bytes, setting};

setting! {
    /// Whether puts and gets of windows use the remote access of networks that have it.
    ///
    /// Else messages carry them, as they do all that networks do not.
    pub static RMA_REMOTE: bool = true;
    scope: AllEqual,
    level: User,

    /// Smallest put or get that a network's remote access carries.
    ///
    /// Shorter ones go by messages, which many of them share.
    pub static RMA_REMOTE_MIN: Bytes = Bytes::kib(16);
    scope: Local,
    level: Tuner,
}
