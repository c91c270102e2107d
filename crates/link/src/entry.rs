//! How entries are linked with their neighbours: see `matching`.

/// An entry's place in an index or a list of entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link<K> {
    pub key: K,
    /// Neighbours in the queue.
    pub prev: u32,
    pub next: u32,
    /// Heads only: head of the next queue in the bucket.
    pub(crate) chain: u32,
    /// Heads only: last entry of the queue.
    pub(crate) tail: u32,
}
