//! What a wait is for, as it is told to those who look at a job that hangs: see `catena_hang`.
//!
//! All of it is called in waits that last, and only then.

use catena_abi as abi;
use catena_fabric::Peer;
use catena_hang::{Envelope, Member, Need, WaitsFor, What};
use catena_link::{Awaited, Cid, Context, Needs, Plane, ReqId, Selector};

use crate::comm::Comm;
use crate::process::Process;
use crate::request::{State, as_transfer};

/// Messages without a receive that are told of each need.
const UNEXPECTED: usize = 4;

impl Comm {
    /// Its name, as the program or MPI calls it.
    pub fn told_name(&self) -> String {
        match self.name.borrow().as_slice() {
            [] => match self.handle.get() {
                abi::consts::COMM_WORLD => "MPI_COMM_WORLD".to_string(),
                abi::consts::COMM_SELF => "MPI_COMM_SELF".to_string(),
                _ => format!("a communicator of {} ranks", self.peers),
            },
            name => String::from_utf8_lossy(name).into_owned(),
        }
    }
}

impl Process {
    /// The process that a peer is; `None` if it is not known any more.
    fn member(&self, peer: Peer) -> Option<Member> {
        let name = self.link(|link| link.net().peers().name(peer))?;
        Some(Member {
            job: name.job,
            rank: name.rank,
        })
    }

    /// Adds those who can do what is needed, as far as they are known.
    pub fn add_to_need(&self, need: &mut Need, peers: impl IntoIterator<Item = Peer>) {
        for peer in peers {
            match self.member(peer) {
                Some(member) => need.add(member),
                None => need.open = true,
            }
        }
    }

    /// What ranks of a context of a communicator are to do.
    pub fn need_of(
        &self,
        what: What,
        comm: &Comm,
        ranks: impl IntoIterator<Item = (Cid, u32)>,
    ) -> Need {
        let mut need = Need::new(what);
        need.about = comm.told_name();
        let peers: Vec<_> = ranks
            .into_iter()
            .map(|(cid, rank)| {
                let context = Context::new(cid, Plane::User);
                self.link(|link| link.peer_in(context, rank))
            })
            .collect();
        need.open = peers.contains(&None);
        self.add_to_need(&mut need, peers.into_iter().flatten());
        need
    }

    /// What a rank of a context is to do.
    pub(crate) fn need_in(&self, what: What, cid: Cid, rank: u32) -> Need {
        let mut need = Need::new(what);
        need.about = self.about(cid);
        let context = Context::new(cid, Plane::User);
        match self.link(|link| link.peer_in(context, rank)) {
            Some(peer) => self.add_to_need(&mut need, [peer]),
            None => need.open = true,
        }
        need
    }

    /// What all members of a communicator are to do together.
    pub fn need_all(&self, what: What, comm: &Comm) -> Need {
        let mut need = Need::new(what);
        need.about = comm.told_name();
        need.together = true;
        let remote = comm.remote.iter().flat_map(|it| it.group.members());
        self.add_to_need(&mut need, comm.group.members().chain(remote));
        need
    }

    /// What is needed of those, of whom nothing else is known.
    pub fn need_awaited(&self, what: What, awaited: &Awaited, waits: &mut WaitsFor) {
        for (peers, any) in [(&awaited.named, false), (&awaited.any, true)] {
            if !peers.is_empty() {
                let mut need = Need::new(what);
                need.any = any;
                self.add_to_need(&mut need, peers.iter().copied());
                waits.needs.push(need);
            }
        }
    }

    fn about(&self, cid: Cid) -> String {
        self.comm_at(cid)
            .map_or(String::new(), |comm| comm.told_name())
    }

    /// A message that fits.
    pub(crate) fn need_message(&self, context: Context, selector: Selector) -> Need {
        let Selector { source, tag } = selector;
        let mut need = Need::new(What::Message);
        need.about = self.about(context.cid());
        need.tag = (tag != abi::consts::ANY_TAG).then_some(tag);
        let peers: Vec<Peer> = match source {
            abi::consts::ANY_SOURCE => {
                need.any = true;
                self.link(|link| link.peers_in(context).collect())
            }
            source => {
                let peer = self.link(|link| link.peer_in(context, source as u32));
                peer.into_iter().collect()
            }
        };
        self.add_to_need(&mut need, peers);
        if context.plane() == Plane::User {
            let is_from = |it: &catena_link::Envelope| need.any || it.source == source as u32;
            need.unexpected = self.link(|link| {
                let kept = link.kept(context.cid(), Plane::User).filter(is_from);
                let told = kept.take(UNEXPECTED).map(|it| Envelope {
                    source: it.source,
                    tag: it.tag,
                    bytes: it.len,
                });
                told.collect()
            });
        }
        need
    }

    /// What a transfer waits for, if it is under way.
    pub(crate) fn describe_transfer(&self, id: ReqId, waits: &mut WaitsFor) {
        let Some(needs) = self.link(|link| link.needs(id)) else {
            return;
        };
        let need = match needs {
            Needs::Message { context, selector } => self.need_message(context, selector),
            Needs::Receive {
                context,
                peer,
                tag,
                bytes,
            } => Need {
                about: self.about(context.cid()),
                tag: Some(tag),
                bytes,
                ..self.need_from(What::Receive, peer)
            },
            Needs::Rest {
                context,
                peer,
                bytes,
            } => Need {
                about: self.about(context.cid()),
                bytes,
                // It moves as long as the other one is in MPI at all.
                open: true,
                ..self.need_from(What::Rest, peer)
            },
        };
        waits.needs.push(need);
    }

    fn need_from(&self, what: What, peer: Peer) -> Need {
        let mut need = Need::new(what);
        self.add_to_need(&mut need, [peer]);
        need
    }

    /// What a request waits for, if it is pending.
    pub fn describe_request(&self, r: abi::Request, waits: &mut WaitsFor) {
        if !matches!(self.state(r), Ok(State::Pending)) {
            return;
        }
        if let Some(id) = as_transfer(r) {
            return self.describe_transfer(id, waits);
        }
        let Ok(object) = self.request_object(r) else {
            return;
        };
        let before = waits.needs.len();
        object.describe(self, waits);
        if waits.needs.len() > before {
            return;
        }
        let mut awaited = Awaited::default();
        object.awaits(self, &mut awaited);
        self.need_awaited(What::Other, &awaited, waits);
        if waits.needs.len() == before {
            let mut need = Need::new(What::Other);
            need.open = true;
            waits.needs.push(need);
        }
    }

    /// What the pending ones of some requests wait for.
    pub(crate) fn describe_requests(&self, requests: &[abi::Request], waits: &mut WaitsFor) {
        requests
            .iter()
            .for_each(|&r| self.describe_request(r, waits));
    }
}

/// The launcher is to answer.
pub(crate) fn answer_of_launcher(_: &Process, waits: &mut WaitsFor) {
    waits.needs.push(open_need(What::Launcher, ""));
}

/// Something that nobody of the job is known to have to do.
pub fn open_need(what: What, about: &str) -> Need {
    let mut need = Need::new(what);
    need.open = true;
    need.about = about.to_string();
    need
}
