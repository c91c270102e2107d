//! One-sided communication with members whose memory is not reached from here: they are on another
//! host, or the kernel lets nobody at it. The origin sends records, and the target carries them
//! out.
//!
//! | module     | what                                                                   |
//! |------------|------------------------------------------------------------------------|
//! | `stream`   | bytes in order, over packets that come in any                          |
//! | `runs`     | where the bytes of a datatype lie, in a few bytes                      |
//! | `record`   | what origin and target tell each other                                 |
//! | `codes`    | operations and kinds of elements, as records name them                 |
//! | `job`      | what is to leave to a peer: records, and long operations cut into some |
//! | `exchange` | the streams of this process, and the operations that wait for answers  |
//! | `carry`    | what progress does for them                                            |
//! | `at_once`  | packets that are dealt with before they are copied                     |
//! | `target`   | records carried out, under the lock of the elements                    |
//! | `locks`    | the target's lock, held for origins elsewhere                          |
//! | `gate`     | the gate of locks, kept for members elsewhere                          |
//! | `origin`   | operations that are started here                                       |
//! | `epochs`   | flushes, locks, posts and meetings by messages                         |
//! | `state`    | what a window keeps of them                                            |
//! | `ready`    | windows that progress has to look at                                   |
//! | `token`    | requests of operations                                                 |
//!
//! Each pair of processes has a stream in each direction for all windows. Its records are carried
//! out in order, so a flush is one record behind the others and one answer, and what tells of the
//! end of an epoch comes after the operations of the epoch. Only answers leave before requests that
//! wait: see `job`. Records gather until there is a packet full of them, or the process makes
//! progress.

mod at_once;
pub(crate) mod carry;
pub(crate) mod codes;
pub(crate) mod epochs;
pub(crate) mod exchange;
pub(crate) mod gate;
pub(crate) mod job;
pub(crate) mod locks;
pub(crate) mod origin;
mod ready;
pub(crate) mod record;
pub(crate) mod runs;
#[cfg(test)]
mod sim;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod token;
