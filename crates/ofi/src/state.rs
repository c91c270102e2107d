//! What an endpoint keeps of the processes that it sends to and of its buffers.

use catena_fabric::frame::Sign;
use catena_ofi_sys::consts;

/// Longest frame that is injected, bytes.
pub(crate) const INJECT_MAX: usize = 256;

/// Frames injected in a row.
pub(crate) const WINDOW: u32 = 64;

/// A process as its sender sees it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Its address in the vector, or `ADDR_NOTAVAIL`.
    pub(crate) address: u64,
    /// What frames to it bear by which it knows this process.
    pub(crate) sign: Sign,
    /// Frames injected since the last counted one.
    pub(crate) injected: u32,
    /// Whether a counted frame is under way.
    pub(crate) counted: bool,
    /// Buffers that frames to it occupy.
    pub(crate) buffers: u32,
}

impl Target {
    /// One that cannot be reached yet: it takes nothing.
    pub(crate) fn unknown() -> Target {
        Target {
            address: consts::ADDR_NOTAVAIL,
            sign: Sign::from_bits(0),
            injected: WINDOW,
            counted: true,
            buffers: u32::MAX,
        }
    }

    /// One that is reached at that address, and knows this process by that sign.
    pub(crate) fn at(address: u64, sign: Sign) -> Target {
        Target {
            address,
            sign,
            injected: 0,
            counted: false,
            buffers: 0,
        }
    }

    /// Buffers that frames to it occupy when it is lost.
    pub(crate) fn lost_buffers(&self) -> usize {
        if self.is_known() {
            self.buffers as usize
        } else {
            0
        }
    }

    /// Whether it is known how to reach it.
    pub(crate) fn is_known(&self) -> bool {
        self.address != consts::ADDR_NOTAVAIL
    }
}

/// A buffer that a frame is sent from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub(crate) to: u32,
    pub(crate) counted: bool,
}

/// The buffers that frames are sent from.
#[derive(Debug)]
pub(crate) struct Sends {
    pub(crate) slots: Vec<Slot>,
    pub(crate) free: Vec<u32>,
    /// How many the provider still has of those to peers that are lost.
    pub(crate) lost: usize,
    /// Length of a buffer, bytes.
    pub(crate) stride: usize,
}

impl Sends {
    pub(crate) fn new(count: usize, stride: usize) -> Sends {
        Sends {
            slots: vec![Slot::default(); count],
            free: (0..count as u32).collect(),
            lost: 0,
            stride,
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }
}

/// How far a posted buffer is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// Bytes that have arrived.
    pub(crate) arrived: usize,
    /// Where the last message ends, of those that have arrived.
    pub(crate) end: usize,
    /// The provider puts no more messages into it.
    pub(crate) closed: bool,
    /// A message has failed, of a length that nobody knows. None is arriving in parts where a
    /// buffer takes many.
    pub(crate) failed: bool,
}

impl Use {
    /// A message has arrived.
    pub(crate) fn add(&mut self, offset: usize, len: usize) {
        self.arrived += len;
        self.end = self.end.max(offset.saturating_add(len));
    }

    /// Whether nothing will arrive in it any more.
    pub(crate) fn is_over(self) -> bool {
        self.closed && (self.failed || self.arrived >= self.end)
    }
}

/// The buffers that messages arrive in.
#[derive(Debug)]
pub(crate) struct Receives {
    /// Where the first begins in the memory.
    pub(crate) base: usize,
    /// Length of each, bytes.
    pub(crate) len: usize,
    /// Whether each takes many messages.
    pub(crate) many: bool,
    pub(crate) uses: Vec<Use>,
    /// Those that the provider did not take yet.
    pub(crate) waiting: Vec<usize>,
}
