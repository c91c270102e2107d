//! Memory that is attached to dynamic windows, where networks reach it (decision 29).
//!
//! Only the target knows what is attached. An origin that has a long operation on memory of which
//! it knows nothing asks for it (`Where`), and goes on by messages; the answer (`Here`) has the
//! whole region that lies there, and its keys. So the first operation never waits. The target
//! registers a region when it is first asked for it.
//!
//! Before it withdraws one that is detached it has all who were told forget it (`Forget`), and
//! waits until they have: so nobody has keys of memory that is not attached any more. Answers and
//! what makes them out of date come in one stream, in order.

use catena_core::Process;
use catena_fabric::Peer;
use catena_net::RegionKeys;

use crate::exposed::{Area, Exposed, NetworkPath, Shown};
use crate::message::exchange::{self, Exchange};
use crate::message::record::{self, Head, Trouble, What};
use crate::settings::RMA_REMOTE;
use crate::window::{Flavor, Window};

impl Window {
    /// Asks what a target has attached at an address, if a network reads or writes memory there,
    /// and nothing is asked.
    pub(crate) fn ask_where(&self, process: &Process, rank: u32, addr: u64) {
        let (far, peer) = (self.far(rank), self.group.member(rank as usize));
        if self.flavor != Flavor::Dynamic || far.asks.get() || !RMA_REMOTE.get() {
            return;
        }
        let can = process.link(|link| Some(link.net().reach(peer)?.operations));
        if !can.is_some_and(|can| can.put || can.get) {
            return;
        }
        far.asks.set(true);
        let head = Head::new(What::Where, self.number_at(rank));
        exchange::with(|exchange| {
            exchange.request(peer, head, |out| {
                out.extend_from_slice(&addr.to_ne_bytes());
            });
        });
    }

    /// Tells an origin what is attached at an address.
    pub(crate) fn tell_where(
        &self,
        process: &Process,
        exchange: &mut Exchange,
        from: Peer,
        mut body: &[u8],
    ) -> Result<(), Trouble> {
        let rank = self.group.rank_of(from).ok_or(Trouble::Sense)?;
        let addr = record::number(&mut body).ok_or(Trouble::Sense)?;
        let found = self.attached.borrow().around(addr);
        let mut keys = Vec::new();
        if let Some(region) = found {
            let mut all = self.shown.borrow_mut();
            let shown = all.entry(region.addr).or_insert_with(|| {
                let at = std::ptr::with_exposed_provenance_mut(region.addr as usize);
                Shown {
                    exposed: match region.card.kind().is_host() {
                        true => Exposed::new(process, (at, region.len)),
                        false => Exposed::default(),
                    },
                    known_by: Vec::new(),
                }
            });
            keys = shown.exposed.keys();
            if !shown.known_by.contains(&from) {
                shown.known_by.push(from);
            }
        }
        let head = Head::new(What::Here, self.number_at(rank));
        exchange.reply(from, head, |_, out| {
            if let Some(region) = found {
                out.extend_from_slice(&region.addr.to_ne_bytes());
                out.extend_from_slice(&region.len.to_ne_bytes());
                out.extend_from_slice(&keys);
            }
        });
        Ok(())
    }

    /// Learns what a target has attached where this process has asked. Nothing is the target's to
    /// complain about, when it carries the operation out.
    pub(crate) fn learn_where(&self, from: Peer, mut body: &[u8]) -> Result<(), Trouble> {
        let rank = self.group.rank_of(from).ok_or(Trouble::Sense)?;
        let far = self.far(rank);
        far.asks.set(false);
        let (Some(addr), Some(len)) = (record::number(&mut body), record::number(&mut body)) else {
            return Ok(());
        };
        let keys = RegionKeys::decode(body).and_then(|it| it.of_networks());
        let way = keys.map_or(NetworkPath::None, NetworkPath::Keys);
        let mut areas = far.areas.borrow_mut();
        let at = areas.partition_point(|it| it.addr < addr);
        if areas.get(at).is_none_or(|it| it.addr != addr) {
            areas.insert(at, Area { addr, len, way });
        }
        Ok(())
    }

    /// Forgets what a target is about to detach.
    pub(crate) fn forget(&self, from: Peer, mut body: &[u8]) -> Result<(), Trouble> {
        let rank = self.group.rank_of(from).ok_or(Trouble::Sense)?;
        let addr = record::number(&mut body).ok_or(Trouble::Sense)?;
        let mut areas = self.far(rank).areas.borrow_mut();
        if let Ok(at) = areas.binary_search_by_key(&addr, |it| it.addr) {
            areas.remove(at);
        }
        Ok(())
    }

    /// Has all who know a region that was detached forget it; networks reach it no more.
    pub(crate) fn hide(&self, process: &Process, addr: u64) {
        let shown = self.shown.borrow_mut().remove(&addr);
        let Some(shown) = shown else {
            return;
        };
        let ranks = shown
            .known_by
            .iter()
            .filter_map(|it| self.group.rank_of(*it));
        let ask = |rank| {
            let answer = self.ask(rank, What::Forget, (0, 0), Some(addr));
            (rank, answer)
        };
        let asked: Vec<_> = ranks.map(ask).collect();
        for (rank, answer) in asked {
            // Whoever is gone knows nothing.
            let _ = self.await_answer(process, rank, &answer);
        }
        shown.exposed.withdraw(process);
    }

    /// Networks reach no memory of this process any more: the window is about to go.
    pub(crate) fn hide_all(&self, process: &Process) {
        self.exposed.withdraw(process);
        for shown in self.shown.take().into_values() {
            shown.exposed.withdraw(process);
        }
    }
}
