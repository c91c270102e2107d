//! What a wait is for, as it is told to those who look at a job that hangs: see `catena_hang`.
//!
//! All of it is called in waits that last, and only then.

use catena_abi as abi;
use catena_fabric::Peer;
use catena_hang::{Envelope, Member, Names, Need, WaitsFor, What};
use catena_link::{Awaited, Cid, Context, Needs, Plane, ReqId, Selector};

use crate::coll::ends::Key;
use crate::comm::Comm;
use crate::process::Process;
use crate::request::{State, as_transfer, state};

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

/// The process that a peer is; `None` if it is not known any more.
fn member(process: &Process, peer: Peer) -> Option<Member> {
    let name = process.link(|link| link.net().peers().name(peer))?;
    Some(Member {
        job: name.job,
        rank: name.rank,
    })
}

/// Adds those who can do what is needed, as far as they are known.
pub fn add(process: &Process, need: &mut Need, peers: impl IntoIterator<Item = Peer>) {
    for peer in peers {
        match member(process, peer) {
            Some(member) => need.add(member),
            None => need.open = true,
        }
    }
}

/// What ranks of a context of a communicator are to do.
pub fn of(
    process: &Process,
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
            process.link(|link| link.peer_in(context, rank))
        })
        .collect();
    need.open = peers.contains(&None);
    add(process, &mut need, peers.into_iter().flatten());
    need
}

/// What a rank of a context is to do.
pub(crate) fn of_rank(process: &Process, what: What, cid: Cid, rank: u32) -> Need {
    let mut need = Need::new(what);
    need.about = about(process, cid);
    let context = Context::new(cid, Plane::User);
    match process.link(|link| link.peer_in(context, rank)) {
        Some(peer) => add(process, &mut need, [peer]),
        None => need.open = true,
    }
    need
}

/// The members of a communicator as the job counts them, in its own order: `ranks 1 and 5`; `None`
/// if that is how it counts them itself, or it is one between two groups.
pub fn members_in_words(process: &Process, comm: &Comm) -> Option<String> {
    let need = of_all(process, What::Other, comm);
    let &[(first, _), ..] = &need.of[..] else {
        return None;
    };
    let is_as_the_job = first.rank == 0 && need.of.len() == 1;
    let is_told = !is_as_the_job && comm.remote.is_none();
    is_told.then(|| Names::of_job(first.job).all(need.members()))
}

/// Which one something is that several members have, by its number at the first of them: alike for
/// all of them, and another one than that of each other thing of its kind.
pub fn which(process: &Process, first: Peer, number: u32) -> u64 {
    let own = |it: Member| it.job ^ u64::from(it.rank) << 32;
    member(process, first).map_or(0, own) ^ u64::from(number)
}

/// What all members of a communicator are to do together.
pub fn of_all(process: &Process, what: What, comm: &Comm) -> Need {
    let mut need = Need::new(what);
    need.about = comm.told_name();
    need.together = true;
    // Of two groups each begins with its own.
    if comm.remote.is_none() {
        let first = process.link(|link| link.members(comm.cid).next());
        need.which = first.map_or(0, |(peer, cid)| which(process, peer, cid.0));
    }
    let remote = comm.remote.iter().flat_map(|it| it.group.members());
    add(process, &mut need, comm.group.members().chain(remote));
    need
}

/// What is needed of those, of whom nothing else is known.
pub fn awaited_ones(process: &Process, what: What, awaited: &Awaited, waits: &mut WaitsFor) {
    for (peers, any) in [(&awaited.named, false), (&awaited.any, true)] {
        if !peers.is_empty() {
            let mut need = Need::new(what);
            need.any = any;
            add(process, &mut need, peers.iter().copied());
            waits.needs.push(need);
        }
    }
}

fn about(process: &Process, cid: Cid) -> String {
    process
        .comms
        .at(cid)
        .map_or(String::new(), |comm| comm.told_name())
}

/// A message that fits.
pub(crate) fn message(process: &Process, context: Context, selector: Selector) -> Need {
    let Selector { source, tag } = selector;
    let mut need = Need::new(What::Message);
    need.about = about(process, context.cid());
    need.tag = (tag != abi::consts::ANY_TAG).then_some(tag);
    let peers: Vec<Peer> = match source {
        abi::consts::ANY_SOURCE => {
            need.any = true;
            process.link(|link| link.peers_in(context).collect())
        }
        source => {
            let peer = process.link(|link| link.peer_in(context, source as u32));
            peer.into_iter().collect()
        }
    };
    add(process, &mut need, peers);
    if context.plane() == Plane::User {
        let is_from = |it: &catena_link::Envelope| need.any || it.source == source as u32;
        need.unexpected = process.link(|link| {
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

/// What a transfer of the library itself waits for, if it is under way. It does not end, though it
/// be in vain.
pub(crate) fn describe_inner_transfer(process: &Process, id: ReqId, waits: &mut WaitsFor) {
    let before = waits.needs.len();
    describe_transfer(process, id, waits);
    waits.needs[before..]
        .iter_mut()
        .for_each(|it| it.key = None);
}

/// What a transfer waits for, if it is under way.
pub(crate) fn describe_transfer(process: &Process, id: ReqId, waits: &mut WaitsFor) {
    let Some(needs) = process.link(|link| link.needs(id)) else {
        return;
    };
    let mut need = match needs {
        Needs::Message { context, selector } => message(process, context, selector),
        Needs::Receive {
            context,
            peer,
            tag,
            bytes,
            ..
        } => Need {
            about: about(process, context.cid()),
            tag: Some(tag),
            bytes,
            ..from_peer(process, What::Receive, peer)
        },
        Needs::Rest {
            context,
            peer,
            bytes,
        } => Need {
            about: about(process, context.cid()),
            bytes,
            // It moves as long as the other one is in MPI at all.
            open: true,
            ..from_peer(process, What::Rest, peer)
        },
    };
    need.key = Some(Key::Request(id).to_words());
    waits.needs.push(need);
}

fn from_peer(process: &Process, what: What, peer: Peer) -> Need {
    let mut need = Need::new(what);
    add(process, &mut need, [peer]);
    need
}

/// What a request waits for, if it is pending.
pub fn describe_request(process: &Process, r: abi::Request, waits: &mut WaitsFor) {
    if !matches!(state(process, r), Ok(State::Pending)) {
        return;
    }
    if let Some(id) = as_transfer(r) {
        return describe_transfer(process, id, waits);
    }
    let Some(object) = process.objects.requests.get(r.0) else {
        return;
    };
    let before = waits.needs.len();
    object.describe(process, waits);
    if waits.needs.len() > before {
        return;
    }
    let mut awaited = Awaited::default();
    object.awaits(process, &mut awaited);
    awaited_ones(process, What::Other, &awaited, waits);
    if waits.needs.len() == before {
        let mut need = Need::new(What::Other);
        need.open = true;
        waits.needs.push(need);
    }
}

/// What the pending ones of some requests wait for.
pub(crate) fn describe_requests(
    process: &Process,
    requests: &[abi::Request],
    waits: &mut WaitsFor,
) {
    requests
        .iter()
        .for_each(|&r| describe_request(process, r, waits));
}

/// The launcher is to answer.
pub(crate) fn answer_of_launcher(_: &Process, waits: &mut WaitsFor) {
    waits.needs.push(open(What::Launcher, ""));
}

/// Something that nobody of the job is known to have to do.
pub fn open(what: What, about: &str) -> Need {
    let mut need = Need::new(what);
    need.open = true;
    need.about = about.to_string();
    need
}
