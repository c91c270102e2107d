//! Incoming rings.

use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use catena_base::ring::{Consumer, RawArea, Stop};
use catena_fabric::{Deliver, PeerLost};

use crate::addr::RingHead;
use crate::init::Shm;
use crate::inlet::Inlet;

impl Shm {
    /// Takes what has arrived.
    #[inline(always)]
    pub(crate) fn drain<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let mut count = 0;
        let mut at = 0;
        while at < self.inlets.len() {
            let (taken, stop) = self.inlets[at].drain(deliver);
            count += taken;
            match stop {
                None => at += 1,
                // Handled rings are drained again, or removed.
                Some(stop) => self.handle(at, stop, deliver),
            }
        }
        count
    }

    /// Attaches a data area or provides more of it, or gives a ring up.
    #[cold]
    #[inline(never)]
    fn handle<D: Deliver>(&mut self, at: usize, stop: Stop, deliver: &mut D) {
        let cause = match stop {
            Stop::Absent(end) => match self.extend_inlet(at, end) {
                Some(()) => return,
                None => "shared memory is damaged: a ring's data area cannot be used".to_string(),
            },
            Stop::Corrupt(corrupt) => corrupt.to_string(),
        };
        let inlet = self.inlets.remove(at);
        deliver.lost(self.peer_states[inlet.number as usize].lose(cause));
    }

    /// Provides the data area up to byte `end`, or attaches it if `end` is 0.
    fn extend_inlet(&mut self, at: usize, end: usize) -> Option<()> {
        let inlet = &mut self.inlets[at];
        let geometry = self.segment.layout.geometry;
        let size = match self.peer_states[inlet.number as usize].home.segment {
            0 => geometry.data,
            _ => geometry.guest_data(),
        };
        if end > 0 {
            let most = geometry.most_present(end).min(size);
            let (area, span) = ((inlet.rx.data(), most), (inlet.rx.present(), end));
            let extended = self.segment.extend("a peer's ring", area, span);
            inlet.rx.extend_data(extended.ok()?);
            return Some(());
        }
        // SAFETY: in the mapping; atomics only.
        let offset = unsafe { &*inlet.head }.tail.data_at.load(Acquire);
        let data = self.segment.range(offset, size, 64)?;
        // SAFETY: memory of this size, in the arena. If the peer lied about
        // whose it is, other packets of its own or others' are garbled, which
        // their readers check like anything a peer wrote.
        unsafe {
            let cells = inlet
                .head
                .cast::<u8>()
                .cast_mut()
                .add(size_of::<RingHead>());
            inlet
                .rx
                .attach_data(RawArea::new(cells, inlet.head.cast(), data), size);
        }
        Some(())
    }

    /// Looks for new rings.
    #[cold]
    #[inline(never)]
    pub(crate) fn accept<D: Deliver>(&mut self, deliver: &mut D) {
        self.seen = self.own().epoch.load(Acquire);
        let notices = self.own().who.notices.load(Relaxed);
        if notices != self.notices.0 {
            self.notices = (notices, true);
        }
        if self.notices.1 {
            // Not silent until it is taken.
            self.seen = self.seen.wrapping_sub(1);
        }
        for sender in 0..self.segment.layout.ranks {
            let offset = self.segment.inbox(self.me, sender).load(Acquire);
            let known = self.peer_states[sender as usize].heard;
            if offset == 0 || known {
                continue;
            }
            self.open_inlet(sender, offset, deliver);
        }
        self.accept_guests(deliver);
    }

    /// Listens to the ring at `offset`, into which the peer with number `sender` writes.
    pub(crate) fn open_inlet<D: Deliver>(&mut self, sender: u32, offset: u64, deliver: &mut D) {
        self.peer_states[sender as usize].heard = true;
        match self.inlet(sender, offset) {
            Some(inlet) => {
                self.peer_states[sender as usize].inbound = Some(inlet.head);
                self.inlets.push(inlet);
                let (at, early) = (self.inlets.len() - 1, self.config.early);
                // What the sender has not announced yet is attached with the first packet there.
                if early > 0 && self.extend_inlet(at, 0).is_some() {
                    let _ = self.extend_inlet(at, early);
                }
            }
            None => {
                let cause = format!("shared memory is damaged: its ring is at {offset:#x}");
                let lost: PeerLost = self.peer_states[sender as usize].lose(cause);
                deliver.lost(lost);
            }
        }
    }

    /// The receiving end of the ring at `offset`, if there can be one.
    fn inlet(&self, sender: u32, offset: u64) -> Option<Inlet> {
        let geometry = self.segment.layout.geometry;
        let head = self
            .segment
            .range_present(offset, geometry.ring_bytes(), 256)?;
        // SAFETY: memory of this size and alignment, in the arena; see
        // `extend_inlet` for peers that lie.
        let rx = unsafe {
            let cells = head.add(size_of::<RingHead>());
            Consumer::new(
                RawArea::new(cells, head.cast(), ptr::null_mut()),
                geometry.cells,
            )
        };
        Some(Inlet {
            rx,
            head: head.cast(),
            block: self.peer_states[sender as usize].block(),
            told: 0,
            peer: self.peer_states[sender as usize].peer,
            number: sender,
        })
    }
}
