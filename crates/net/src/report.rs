//! What each rank says of its networks: `CATENA_LINK_REPORT`.

use catena_fabric::Peer;
use catena_settings::setting;

use crate::exchange::Exchange;

setting! {
    /// Whether each rank says on its standard error which networks it has opened,
    /// through which interfaces and why not through others, and how it reaches
    /// each rank when it first does.
    pub static LINK_REPORT: bool = false;
    scope: Local,
    level: User,
}

/// What is still to be said.
#[derive(Debug)]
pub struct Report {
    /// Peers that are known and not reached yet.
    unsaid: Vec<Peer>,
}

impl Report {
    /// A report, if [`LINK_REPORT`] asks for one.
    pub fn wanted() -> Option<Report> {
        LINK_REPORT.get().then_some(Report { unsaid: Vec::new() })
    }

    /// Process `me` on `host` has opened a network.
    pub fn opened(&self, Peer(me): Peer, host: &str, about: &str) {
        catena_base::tell!("catena: rank {me} on {host}: {about}");
    }

    /// It is known over which network a peer is reached.
    pub fn met(&mut self, peer: Peer) {
        self.unsaid.push(peer);
    }

    /// Whether there is nothing to be said until another peer is met.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.unsaid.is_empty()
    }

    /// Says how process `me` reaches those that `way` knows a way to by now.
    #[cold]
    pub fn say(
        &mut self,
        Peer(me): Peer,
        exchange: &dyn Exchange,
        way: impl Fn(Peer) -> Option<String>,
    ) {
        self.unsaid.retain(|&peer| {
            let Some(way) = way(peer) else {
                return true;
            };
            let (Peer(rank), host) = (peer, exchange.host_of(peer));
            catena_base::tell!("catena: rank {me} reaches rank {rank} on {host}: {way}");
            false
        });
    }
}
