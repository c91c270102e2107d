//! Two processes exchange tagged messages through shared memory, over TCP, libfabric (`ofi`) or UCX
//! (`ucx`), and part: without MPI, and without a launcher.
//!
//! ```text
//! cargo run -p catena-net --example tagged_messages -- shm+tcp
//! ```
//!
//! starts the other process itself, and gives it the secret and an address on a line of its
//! standard input; what carries these few hundred bytes is up to the program. In two terminals, or
//! on two hosts with the chain `tcp`:
//!
//! ```text
//! mkfifo there back
//! tagged_messages tcp there back                      # the first
//! tagged_messages second tcp < there > back           # the second
//! ```

use std::cell::RefCell;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::rc::Rc;

use catena_base::PeerBytes;
use catena_fabric::Peer;
use catena_link::{Endpoint, Mode, Sent, Sink, Source, TagKey, TagSelector};
use catena_net::{Chain, Routes};
use catena_proof::Secret;

type Link = Endpoint<Routes<Message, Buffer>, TagKey>;
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What is sent: it is lent to the link until it has left.
#[derive(Debug)]
struct Message(Vec<u8>);

impl Source for Message {
    type Part<'a> = &'a [u8];

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn part(&self, from: u64, len: usize) -> &[u8] {
        &self.0[from as usize..][..len]
    }
}

/// Where a message is received.
#[derive(Clone, Debug)]
struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Sink for Buffer {
    fn capacity(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        bytes.read(&mut self.0.borrow_mut()[at as usize..][..bytes.len()]);
    }
}

/// Lengths of the messages.
const LENS: [usize; 3] = [5, 5000, 1 << 20];
/// Their tags are these and their numbers, there and back.
const THERE: u64 = 0x100;
const BACK: u64 = 0x200;

/// Moves messages until `done`, and looks whether the other process is still there.
fn until(link: &mut Link, mut done: impl FnMut(&mut Link) -> bool) {
    while !done(link) {
        link.progress();
        for lost in link.net().ended_neighbours() {
            link.peer_ended(lost);
        }
    }
}

/// Sends bytes, and waits until they have left.
fn send(link: &mut Link, to: Peer, tag: u64, bytes: Vec<u8>) {
    if let Sent::Pending(request) = link.send_tagged(to, tag, Mode::Standard, Message(bytes)) {
        until(link, |link| link.is_done(request));
        link.take(request);
    }
}

/// Receives a message whose tag is `tag` but for the low byte: its tag and its bytes.
fn receive(link: &mut Link, from: Peer, tag: u64) -> Result<(u64, Vec<u8>)> {
    let room = Buffer(Rc::new(RefCell::new(vec![0; 1 << 20])));
    let selector = TagSelector {
        source: Some(from),
        tag,
        ignore: 0xff,
    };
    let request = link.recv_tagged(selector, room.clone());
    until(link, |link| link.is_done(request));
    let received = link.take(request);
    match received.error {
        Some(error) => Err(format!("{error:?}").into()),
        None => Ok((
            received.tag,
            room.0.borrow()[..received.len as usize].to_vec(),
        )),
    }
}

/// An endpoint of this process, and what others are to be told of it.
fn open(chain: &str, secret: &Secret) -> Result<(Link, String)> {
    let routes = Routes::alone(&Chain::parse(chain)?, Some(secret))?;
    let address = routes.address().ok_or("it is in no job")?;
    let hex = address.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((Link::tagged(routes), hex))
}

/// Adds the process that has told this of itself.
fn add(link: &mut Link, hex: &str) -> Result<Peer> {
    let digits = hex.trim().as_bytes().chunks(2);
    let address = digits.map(|two| Ok(u8::from_str_radix(std::str::from_utf8(two)?, 16)?));
    let peer = link
        .net()
        .add_peer(&address.collect::<Result<Vec<u8>>>()?)?;
    link.add_peer(peer);
    Ok(peer)
}

/// Sends messages to the other process, which returns them.
fn first(chain: &str, mut there: impl Write, back: impl Read) -> Result<()> {
    let secret = Secret::random()?;
    let (mut link, address) = open(chain, &secret)?;
    writeln!(there, "{} {address}", secret.to_hex())?;
    let mut line = String::new();
    BufReader::new(back).read_line(&mut line)?;
    let peer = add(&mut link, &line)?;
    for (number, len) in (0..).zip(LENS) {
        let message: Vec<u8> = (0..len).map(|at| (at * 7 + (at >> 9)) as u8).collect();
        send(&mut link, peer, THERE + number, message.clone());
        let (tag, came) = receive(&mut link, peer, BACK)?;
        assert!(tag == BACK + number && came == message, "{len} bytes");
    }
    let route = link.net().route(peer);
    println!("{} messages came back: {route:?}", LENS.len());
    // The other one is told; the number may be another process's when it is next added.
    link.remove_peer(peer);
    link.net().remove_peer(peer)?;
    until(&mut link, |link| link.net().is_delivered(false));
    Ok(())
}

/// Returns what the first process sends.
fn second(chain: &str) -> Result<()> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let (secret, of_first) = line.split_once(' ').ok_or("no address")?;
    let (mut link, address) = open(chain, &Secret::from_hex(secret).ok_or("no secret")?)?;
    println!("{address}");
    let peer = add(&mut link, of_first)?;
    for _ in LENS {
        let (tag, message) = receive(&mut link, peer, THERE)?;
        send(&mut link, peer, tag - THERE + BACK, message);
    }
    until(&mut link, |link| link.net().is_delivered(false));
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["second", chain] => second(chain),
        [chain, there, back] => first(chain, File::create(there)?, File::open(back)?),
        [chain] => {
            let mut other = Command::new(std::env::current_exe()?);
            let other = other.args(["second", chain]).stdin(Stdio::piped());
            let mut other = other.stdout(Stdio::piped()).spawn()?;
            let pipes = other.stdin.take().zip(other.stdout.take());
            let (there, back) = pipes.ok_or("no pipes")?;
            first(chain, there, back)?;
            let ended = other.wait()?;
            ended.success().then_some(()).ok_or("it failed".into())
        }
        _ => Err("usage: tagged_messages CHAIN [FIFO-THERE FIFO-BACK]".into()),
    }
}
