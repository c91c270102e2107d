//! Asking for the records of peers, and connecting to them.

use std::fmt::Write;

use catena_fabric::{Deliver, Peer, PeerLost};

use super::{Networks, with_host};
use crate::record::{End, Record};
use crate::ways::Via;

/// Records asked for in one poll, at most.
const QUESTIONS: usize = 8;

impl Networks {
    /// Asks for the records that are wanted, and learns of those that have come.
    #[cold]
    #[inline(never)]
    pub(super) fn ask<D: Deliver>(&mut self, deliver: &mut D) {
        for _ in 0..self.ways.wanted().min(QUESTIONS) {
            let Some(peer) = self.ways.next() else {
                return;
            };
            // One of another job that is not known any more has ended: if it died, its launcher
            // tells.
            let judges = self.exchange.judges_ends();
            let (met, is_over) = match self.exchange.ask(peer) {
                Ok(None) => continue,
                Ok(Some(record)) if record.is_empty() && judges => {
                    (Err("its job has ended".to_string()), true)
                }
                Ok(Some(record)) => (self.meet(peer, &record), false),
                Err(error) => (Err(error), judges),
            };
            let via = met.unwrap_or_else(|cause| {
                let lost = with_host(&*self.exchange, PeerLost { peer, cause });
                self.lost.insert(peer, lost.cause.clone());
                match is_over || self.receipts.has_left(peer) {
                    true => deliver.ended(lost),
                    false => deliver.lost(lost),
                }
                self.receipts.lose(peer);
                Via::Nowhere
            });
            self.ways.settle(via);
        }
    }

    /// Learns how one process is reached, from its record.
    fn meet(&mut self, peer: Peer, record: &[u8]) -> Result<Via, String> {
        let theirs = Record::decode(record).ok_or("it runs another version of Catena")?;
        let ours = &self.record;
        if self.local.contains(&peer) {
            if ours.shm != theirs.shm {
                return Err(format!(
                    "the two share a node, and only one of them uses shared memory: {}; give the \
                     ranks of a node the same value",
                    self.settings(peer, &theirs)
                ));
            }
            if ours.shm {
                return Ok(Via::Nowhere);
            }
        }
        self.connect(peer, &theirs, self.me < peer)
    }

    /// Connects to one process over the network that joins the two; `leads`: this process has the
    /// say which that is.
    pub(super) fn connect(
        &mut self,
        peer: Peer,
        theirs: &Record,
        leads: bool,
    ) -> Result<Via, String> {
        let Some((at, their)) = self.record.common(theirs, leads) else {
            return Err(format!(
                "no network joins the two: {}; name one that both have, of the same version of \
                 Catena and of the network's library",
                self.settings(peer, theirs)
            ));
        };
        self.members[at].rails.connect(peer, &theirs.ends[their])?;
        self.ways.set_number_there(peer, their);
        if let Some(report) = &mut self.report {
            report.met(peer);
        }
        Ok(Via::Network(at as u8))
    }

    /// What this process and another one say of themselves, for a message.
    fn settings(&self, peer: Peer, theirs: &Record) -> String {
        let mut text = String::new();
        for (Peer(rank), record) in [(self.me, &self.record), (peer, theirs)] {
            let separator = if text.is_empty() { "" } else { ", " };
            let _ = match record.setting.as_str() {
                "" => write!(text, "{separator}rank {rank} has no CATENA_LINK"),
                value => write!(text, "{separator}rank {rank} has CATENA_LINK={value}"),
            };
            let name = |end: &End| {
                self.members
                    .iter()
                    .find_map(|it| it.rails.protocol_name(end))
            };
            let spoken: Vec<String> = record
                .ends
                .iter()
                .filter_map(|rails| name(&rails[0]))
                .collect();
            if !spoken.is_empty() {
                let _ = write!(text, " ({})", spoken.join(", "));
            }
        }
        text
    }
}
