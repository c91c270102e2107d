//! Two processes, played by one: messages, and a table of address records that both hold.
#![allow(dead_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::PipeReader;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;

use catena_base::PeerBytes;
use catena_fabric::{Buf, LocalPeer, Peer};
use catena_fabric_tests::until;
use catena_link::{Cid, Endpoint, Mode, Plane, ReqId, Selector, Sent, Sink, Source, TagSelector};
use catena_net::{Chain, Exchange, Networks, PeerTable, Routes};
use catena_proof::Secret;
use catena_shm::Shm;

pub const BOTH: [Peer; 2] = [Peer(0), Peer(1)];

/// A message that is sent from where it lies.
#[derive(Clone, Debug)]
pub struct Message(pub Rc<[u8]>);

impl Source for Message {
    type Part<'a> = &'a [u8];

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn part(&self, from: u64, len: usize) -> &[u8] {
        &self.0[from as usize..][..len]
    }

    fn run(&self) -> Option<Buf> {
        Some(Buf::from(&*self.0))
    }
}

/// Room for a message, shared with the test.
#[derive(Clone, Debug)]
pub struct Buffer(pub Rc<RefCell<Box<[u8]>>>);

impl Sink for Buffer {
    fn capacity(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        bytes.read(&mut self.0.borrow_mut()[at as usize..][..bytes.len()]);
    }

    fn run(&mut self) -> Option<Buf> {
        Some(Buf::from(&mut **self.0.borrow_mut()))
    }
}

/// A message of `len` bytes, whose values do not repeat soon.
pub fn message(len: usize) -> Message {
    let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + (at >> 9)) as u8).collect();
    Message(bytes.into())
}

/// Room for a message of `len` bytes.
pub fn room(len: usize) -> Buffer {
    Buffer(Rc::new(RefCell::new(vec![0; len].into())))
}

/// Messages of that process with that tag.
pub fn exactly(source: Peer, tag: u64) -> TagSelector {
    TagSelector {
        source: Some(source),
        tag,
        ignore: 0,
    }
}

/// The table of records, and who has begun the fence.
#[derive(Debug, Default)]
pub struct Table {
    pub records: HashMap<Peer, Vec<u8>>,
    pub leaving: Vec<Peer>,
    /// What can be read once the launcher tells of a death, if it tells of deaths.
    pub launcher: Option<PipeReader>,
}

/// Routes that are tried here.
pub type Ways = Routes<Message, Buffer>;

/// One process's view of the table.
#[derive(Debug)]
pub struct InProcess {
    pub me: Peer,
    pub table: Rc<RefCell<Table>>,
}

impl Exchange for InProcess {
    fn host_of(&self, process: Peer) -> String {
        format!("host{}", process.0)
    }

    fn node_of(&self, process: Peer) -> u32 {
        process.0
    }

    fn publish(&mut self, record: &[u8]) -> Result<(), String> {
        let records = &mut self.table.borrow_mut().records;
        assert!(records.insert(self.me, record.to_vec()).is_none());
        Ok(())
    }

    fn ask(&mut self, process: Peer) -> Result<Option<Vec<u8>>, String> {
        Ok(self.table.borrow().records.get(&process).cloned())
    }

    fn descriptor(&self) -> Option<RawFd> {
        let table = self.table.borrow();
        table.launcher.as_ref().map(AsRawFd::as_raw_fd)
    }

    fn tells_of_deaths(&self) -> bool {
        self.table.borrow().launcher.is_some()
    }

    fn begin_fence(&mut self) -> Result<(), String> {
        self.table.borrow_mut().leaving.push(self.me);
        Ok(())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        Ok(self.table.borrow().leaving.len() == 2)
    }
}

/// Two processes on a host each, over the networks of a chain; an error if they cannot be opened.
pub fn over_network(chain: &str, table: &Rc<RefCell<Table>>) -> Result<[Ways; 2], String> {
    let open = |me| -> Result<Ways, String> {
        let chain = Chain::parse(chain)?;
        let place = LocalPeer {
            me,
            processes: 2,
            job: 7,
        };
        let secret = Secret::from_bytes([7; 32]);
        let exchange = Box::new(InProcess {
            me,
            table: Rc::clone(table),
        });
        let networks = Networks::open(&chain, place, &[me], Some(&secret), exchange)?;
        assert!(networks.is_some(), "it is needed");
        Ok(Routes::new(
            me,
            PeerTable::new(7, [0, 1]),
            &[me],
            None,
            networks,
        ))
    };
    Ok([open(BOTH[0])?, open(BOTH[1])?])
}

/// Two processes on one host, through shared memory.
pub fn through_shared_memory() -> [Ways; 2] {
    let all = Shm::group(&BOTH, catena_shm::Config::tiny()).expect("a small segment");
    let mut all = all.into_iter();
    BOTH.map(|me| {
        let shm = all.next().expect("one for each");
        Routes::new(me, PeerTable::new(7, [0, 0]), &BOTH, Some(shm), None)
    })
}

/// A matching engine over routes that are tried here.
pub type Link = Endpoint<Ways>;

/// A matching engine over the routes of a process, with one communicator of both.
fn link(me: Peer, routes: Ways) -> Link {
    let mut link = Endpoint::new(routes);
    link.open(Cid(0), me.0, BOTH.map(|peer| (peer, Cid(0))).to_vec());
    link
}

/// As many engines over the routes of two processes.
pub fn links([one, two]: [Ways; 2]) -> [Link; 2] {
    [link(BOTH[0], one), link(BOTH[1], two)]
}

/// Begins to send `message` to rank `to`.
pub fn send(link: &mut Link, to: u32, message: &Message) -> Option<ReqId> {
    match link.send(Cid(0), Plane::User, to, 1, Mode::Standard, message.clone()) {
        Sent::Done => None,
        Sent::Pending(request) => Some(request),
    }
}

/// Sends messages of many lengths between two processes, and from each to itself.
pub fn exchange_messages(links: &mut [Link; 2]) {
    for len in [0, 8, 3000, 1 << 20] {
        for (from, to) in [(0, 1), (1, 0), (1, 1)] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + (at >> 9)) as u8).collect();
            let (message, room) = (
                Message(bytes.into()),
                Buffer(Rc::new(RefCell::new(vec![0; len].into()))),
            );
            let selector = Selector {
                source: from as i32,
                tag: 1,
            };
            let received = links[to].recv(Cid(0), Plane::User, selector, room.clone());
            let sent = send(&mut links[from], to as u32, &message);
            until(|| {
                links.iter_mut().for_each(|link| _ = link.progress());
                links[to].is_done(received) && sent.is_none_or(|it| links[from].is_done(it))
            });
            assert_eq!(links[to].take(received).error, None);
            assert!(sent.is_none_or(|it| links[from].take(it).error.is_none()));
            assert!(**room.0.borrow() == *message.0, "{len} bytes to {to}");
        }
    }
}
