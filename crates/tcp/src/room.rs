//! Where what has arrived is cut into frames. A connection keeps its room while
//! a frame in it is not whole, so that nothing is copied.

/// Rooms kept for later, at most.
const SPARE: usize = 2;

/// Bytes that have arrived, and room for more.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    all: Box<[u8]>,
    /// What has arrived and was not used yet.
    from: usize,
    upto: usize,
    /// Room that there is always, bytes.
    least: usize,
}

impl ReceiveBuffer {
    fn new(least: usize) -> ReceiveBuffer {
        ReceiveBuffer {
            all: vec![0; 2 * least].into(),
            from: 0,
            upto: 0,
            least,
        }
    }

    /// Room for more.
    pub fn free(&mut self) -> &mut [u8] {
        if self.all.len() - self.upto < self.least {
            self.all.copy_within(self.from..self.upto, 0);
            (self.from, self.upto) = (0, self.upto - self.from);
        }
        &mut self.all[self.upto..]
    }

    /// So many bytes have arrived there.
    pub fn add(&mut self, len: usize) {
        self.upto += len;
    }

    /// What was not used yet.
    pub fn bytes(&self) -> &[u8] {
        &self.all[self.from..self.upto]
    }

    /// The first bytes were used.
    pub fn drop_front(&mut self, len: usize) {
        self.from += len;
        if self.from == self.upto {
            (self.from, self.upto) = (0, 0);
        }
    }
}

/// Rooms that nobody keeps.
#[derive(Debug)]
pub(crate) struct Rooms {
    spare: Vec<ReceiveBuffer>,
    least: usize,
}

impl Rooms {
    /// Of rooms with at least so many free bytes.
    pub fn new(least: usize) -> Rooms {
        Rooms {
            spare: Vec::new(),
            least,
        }
    }

    /// An empty one.
    #[inline]
    pub fn take(&mut self) -> ReceiveBuffer {
        let spare = self.spare.pop();
        spare.unwrap_or_else(|| ReceiveBuffer::new(self.least))
    }

    /// Takes one back, with whatever it has.
    #[inline]
    pub fn give_back(&mut self, mut room: ReceiveBuffer) {
        if self.spare.len() < SPARE {
            (room.from, room.upto) = (0, 0);
            self.spare.push(room);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_room_and_nothing_is_lost() {
        let mut rooms = Rooms::new(10);
        let mut room = rooms.take();
        let (mut next_in, mut next_out) = (0u8, 0u8);
        for _ in 0..100 {
            let free = room.free();
            assert!(free.len() >= 10);
            free[..7].iter_mut().for_each(|byte| {
                *byte = next_in;
                next_in = next_in.wrapping_add(1);
            });
            room.add(7);
            while room.bytes().len() >= 4 {
                assert!(
                    room.bytes()[..4]
                        .iter()
                        .eq(&[0, 1, 2, 3].map(|n| next_out.wrapping_add(n)))
                );
                room.drop_front(4);
                next_out = next_out.wrapping_add(4);
            }
        }
        rooms.give_back(room);
        assert!(rooms.take().bytes().is_empty());
    }
}
