//! Receiving: everything that has arrived over a connection is taken at once
//! and cut into frames. Only the beginning of a frame is kept; the bytes of a
//! read go where they belong.

use std::io;
use std::mem;

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Peer};

use crate::frame::{Ask, GREETING, HEAD, Head, What};
use crate::init::Tcp;
use crate::link::{Arriving, Stage};

/// Times that a connection is read in one poll, at most.
const READS: usize = 4;

/// Why a connection is of no more use.
#[derive(Debug)]
pub(crate) enum End {
    /// The other end has closed it.
    Closed,
    /// It has failed.
    Failed(io::Error),
    /// What has arrived is none of ours.
    Nonsense,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Closed => f.write_str("it closed its connection"),
            End::Failed(error) => write!(f, "its connection failed: {error}"),
            End::Nonsense => f.write_str("it sent what is no message of Catena's"),
        }
    }
}

impl Tcp {
    /// Takes what has arrived over connection `at`; how many packets were
    /// delivered.
    pub(crate) fn read<D: Deliver>(&mut self, at: usize, deliver: &mut D) -> usize {
        let mut room = mem::take(&mut self.room);
        let mut count = 0;
        for _ in 0..READS {
            match self.read_once(at, &mut room, deliver, &mut count) {
                Ok(true) => {}
                Ok(false) => break,
                Err(end) => {
                    self.ended(at, &end);
                    break;
                }
            }
        }
        self.room = room;
        self.counters.received += count as u64;
        count
    }

    /// Whether there may be more.
    fn read_once<D: Deliver>(
        &mut self,
        at: usize,
        room: &mut [u8],
        deliver: &mut D,
        count: &mut usize,
    ) -> Result<bool, End> {
        let Some(link) = &mut self.links[at] else {
            return Ok(false);
        };
        let kept = link.partial.len();
        let (arriving, fits) = match link.arriving {
            Some(it) => (it.left, it.left + room.len()),
            None => (0, room.len() - kept),
        };
        let taken = if let Some(it) = link.arriving {
            let get = self.gets.iter().find(|get| get.number == it.read);
            let into = get.expect("a read waits for its bytes").next();
            // SAFETY: lent to the read, as many bytes were asked for.
            unsafe { link.socket.receive_both(into, it.left, room) }
        } else {
            room[..kept].copy_from_slice(&link.partial);
            link.socket.receive(&mut room[kept..])
        };
        let mut taken = match taken {
            Ok(0) => return Err(End::Closed),
            Ok(taken) => taken,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(End::Failed(error)),
        };
        let more = taken == fits;
        if let Some(it) = link.arriving {
            let placed = taken.min(arriving);
            taken -= placed;
            let left = it.left - placed;
            link.arriving = (left > 0).then_some(Arriving { left, ..it });
            let get = self.gets.iter_mut().find(|get| get.number == it.read);
            get.expect("a read waits for its bytes").add(placed);
        }
        link.partial.clear();
        let whole = &room[..kept + taken];
        let used = self.cut(at, whole, deliver, count)?;
        if used < whole.len()
            && let Some(link) = &mut self.links[at]
        {
            link.partial.extend_from_slice(&whole[used..]);
        }
        Ok(more)
    }

    /// Cuts what has arrived into frames; how many bytes were used.
    fn cut<D: Deliver>(
        &mut self,
        at: usize,
        whole: &[u8],
        deliver: &mut D,
        count: &mut usize,
    ) -> Result<usize, End> {
        let link = self.links[at].as_ref().expect("just read");
        let mut used = 0;
        if link.stage != Stage::Open {
            if whole.len() < GREETING {
                return Ok(0);
            }
            self.greeted(at, &whole[..GREETING])?;
            used = GREETING;
        }
        let Some(peer) = self.links[at].as_ref().and_then(|link| link.peer) else {
            return Ok(whole.len());
        };
        while let Some(head) = whole[used..].first_chunk() {
            let head = Head::decode(head, self.config.packet).map_err(|_| End::Nonsense)?;
            let rest = &whole[used + HEAD..];
            if head.what == What::Bytes {
                used += HEAD + self.place(at, peer, &head, rest)?;
                continue;
            }
            let Some(payload) = rest.get(..head.len) else {
                break;
            };
            match head.what {
                What::Packet => {
                    deliver.deliver(peer, head.header, PeerBytes::from(payload));
                    *count += 1;
                }
                What::Ask => self.asked(at, peer, head.read(), Ask::decode(payload)),
                What::Bytes | What::Refuse => {
                    let get = self.gets.iter_mut().find(|get| get.number == head.read());
                    if let Some(get) = get.filter(|get| get.from == peer) {
                        (get.refused, get.awaited) = (true, 0);
                    }
                }
            }
            used += HEAD + head.len;
        }
        Ok(used)
    }

    /// Puts the bytes of a read where they belong, as many as are there; how
    /// many. The others are received there.
    fn place(&mut self, at: usize, peer: Peer, head: &Head, rest: &[u8]) -> Result<usize, End> {
        let mut gets = self.gets.iter_mut();
        let get = gets.find(|get| get.number == head.read() && get.from == peer);
        let get = get
            .filter(|get| head.len <= get.awaited)
            .ok_or(End::Nonsense)?;
        let here = rest.len().min(head.len);
        // SAFETY: lent to the read, as many bytes were asked for.
        unsafe { PeerBytes::from(&rest[..here]).copy_to(get.next()) };
        get.add(here);
        if here < head.len {
            let link = self.links[at].as_mut().expect("just read");
            link.arriving = Some(Arriving {
                read: head.read(),
                left: head.len - here,
            });
        }
        Ok(here)
    }
}
