//! Completions on their way into their users' sinks.

use super::Endpoint;
use crate::key::MatchKey;
use crate::net::Net;
use crate::request::Fate;
use crate::types::{Completion, ReqId};

/// A request with a word of its user's that is complete, on its way into a sink: see
/// [`Endpoint::completions`].
///
/// # Examples
/// A completion queue, into which all requests go:
/// ```
/// use catena_link::{Completed, Completion, Endpoint, MatchKey, Net};
///
/// fn drain<N: Net, K: MatchKey>(link: &mut Endpoint<N, K>, queue: &mut Vec<(u64, Completion<K::Tag>)>) {
///     link.completions(|done: Completed<'_, N, K>| {
///         let word = done.word();
///         queue.extend(done.take().map(|completion| (word, completion)));
///     });
/// }
/// ```
#[derive(Debug)]
pub struct Completed<'a, N: Net, K: MatchKey> {
    word: u64,
    id: ReqId,
    endpoint: &'a mut Endpoint<N, K>,
}

impl<N: Net, K: MatchKey> Completed<'_, N, K> {
    /// Its word.
    #[inline]
    pub fn word(&self) -> u64 {
        self.word
    }

    /// Which request it is.
    #[inline]
    pub fn id(&self) -> ReqId {
        self.id
    }

    /// Frees it and tells how it ended; `None` if somebody has done that before.
    #[inline]
    pub fn take(self) -> Option<Completion<K::Tag>> {
        let is_there = self.endpoint.valid(self.id);
        is_there.then(|| self.endpoint.take(self.id))
    }
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Has a request enter the completions with a word of its user's, once it is complete: see
    /// [`Endpoint::completions`].
    #[inline]
    pub fn set_word(&mut self, id: ReqId, word: u64) {
        if self.is_done(id) {
            return self.engine.completions.push_back((word, id));
        }
        let request = self.engine.requests.get_mut(id.index);
        (request.fate, request.rare.word) = (Fate::Queued, word);
    }

    /// Hands the requests with a word that have become complete since the last call to a sink, in
    /// the order in which they did. One whose result somebody has taken before is among them all
    /// the same.
    ///
    /// # Examples
    /// See [`Completed`].
    pub fn completions(&mut self, mut sink: impl FnMut(Completed<'_, N, K>)) {
        while let Some(done) = self.next_completion() {
            sink(done);
        }
    }

    /// The first of the [completions](Endpoint::completions) that wait, for sinks that use the
    /// endpoint.
    #[inline]
    pub fn next_completion(&mut self) -> Option<Completed<'_, N, K>> {
        let (word, id) = self.engine.completions.pop_front()?;
        Some(Completed {
            word,
            id,
            endpoint: self,
        })
    }

    /// Whether some completions wait for a sink.
    #[inline]
    pub fn has_completions(&self) -> bool {
        !self.engine.completions.is_empty()
    }
}
