//! Receiving: everything that has arrived over a connection is taken at once
//! and cut into frames. Only the beginning of a frame is kept; the bytes of a
//! read go where they belong.

use catena_base::PeerBytes;
use catena_fabric::Deliver;

use crate::end::End;
use crate::frame::{GOODBYE, HEAD, Head};
use crate::init::Tcp;
use crate::socket::is_lack;

/// Times that a connection is read in one poll, at most.
const READS: usize = 4;

/// What it means that no frame begins so.
#[cold]
fn no_frame(head: &[u8; HEAD]) -> End {
    match *head == GOODBYE {
        true => End::Left,
        false => End::Nonsense,
    }
}

impl Tcp {
    /// Takes what has arrived over connection `at`; how many packets were
    /// delivered.
    pub(crate) fn read<D: Deliver>(&mut self, at: usize, deliver: &mut D) -> usize {
        let mut count = 0;
        for _ in 0..READS {
            match self.read_once(at, deliver, &mut count) {
                Ok(true) => {}
                Ok(false) => break,
                Err(end) => {
                    self.ended(at, &end);
                    break;
                }
            }
        }
        self.counters.received += count as u64;
        if count > 0 && !self.closed.is_empty() {
            self.still_read(at);
        }
        count
    }

    /// Whether there may be more.
    #[inline]
    fn read_once<D: Deliver>(
        &mut self,
        at: usize,
        deliver: &mut D,
        count: &mut usize,
    ) -> Result<bool, End> {
        let Some(link) = &mut self.links[at] else {
            return Ok(false);
        };
        let mut room = link.partial.take().unwrap_or_else(|| self.rooms.take());
        let free = room.free();
        let fits = free.len();
        let more = match link.socket.receive(free) {
            Ok(0) => Err(link.deaf.take().map_or(End::Closed, End::Failed)),
            Ok(taken) => {
                room.add(taken);
                let used = self.cut(at, room.bytes(), deliver, count);
                used.map(|used| {
                    room.drop_front(used);
                    taken == fits
                })
            }
            Err(error) if is_lack(&error) => Ok(false),
            Err(error) => Err(End::Failed(error)),
        };
        match &mut self.links[at] {
            Some(link) if !room.bytes().is_empty() => link.partial = Some(room),
            _ => self.rooms.give_back(room),
        }
        more
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
        let peer = link.peer.expect("its other end is proven");
        let mut used = 0;
        while let Some(head) = whole[used..].first_chunk() {
            let head = Head::decode(head, self.config.packet).map_err(|_| no_frame(head))?;
            let rest = &whole[used + HEAD..];
            let Some(payload) = rest.get(..head.len) else {
                break;
            };
            deliver.deliver(peer, head.header, PeerBytes::from(payload));
            *count += 1;
            used += HEAD + head.len;
        }
        Ok(used)
    }
}
