//! Registering memory of a device, and reading it at a peer; see [`device`](crate::device).

use catena_base::PeerBytes;
use catena_fabric::{Buf, Deliver, OpId, Peer, RemoteKey, RmaError, Started};
use catena_memory::{self as memory, Copies, Copy, CopyError, Direction, Rows};

use crate::device::{
    COPIES, Export, Pending, RECORD, Record, TAG_BITS, is_device, refused, surplus,
};
use crate::init::Shm;
use crate::segment::{DEVICE, SEGMENT};

impl Shm {
    /// Whether what is registered under a key is memory of another kind than the host's.
    pub fn is_elsewhere(remote: RemoteKey) -> bool {
        is_device(remote.key)
    }

    /// Closes memory of peers' devices that is kept open for what comes next, as nothing does.
    pub fn close_devices(&mut self) {
        self.devices.close_unused();
    }

    /// Registers memory of a device, for being read.
    #[cold]
    pub(crate) fn export(&mut self, buf: Buf) -> Option<RemoteKey> {
        let exported = memory::device(buf.kind).ok()?.export(buf.at)?;
        self.devices.clock += 1;
        let (now, found) = (self.devices.clock, &mut self.devices.exports);
        let known = found
            .iter_mut()
            .find(|it| it.record.id == exported.id && it.record.kind == buf.kind);
        let export = match known {
            Some(known) => known,
            None => {
                self.forget_freed();
                let record = Record {
                    kind: buf.kind,
                    id: exported.id,
                    len: exported.len,
                    handle: exported.handle,
                };
                let at = self.region_alloc(RECORD, usize::MAX)?;
                let to = self.region(at, RECORD)?;
                // SAFETY: a region of our own of that length, which nobody was told of yet.
                unsafe { to.copy_from_nonoverlapping(record.encode().as_ptr(), RECORD) };
                self.devices.exports.push(Export {
                    record,
                    at,
                    memory: buf.at,
                    users: 0,
                    used: now,
                });
                self.devices.exports.last_mut()?
            }
        };
        export.users += 1;
        export.used = now;
        Some(RemoteKey {
            addr: exported.offset,
            key: export.at << TAG_BITS | DEVICE,
        })
    }

    /// Takes the records of allocations away that the program has freed.
    fn forget_freed(&mut self) {
        let is_freed = |it: &mut Export| {
            let is_there = |device: &dyn memory::Device| device.is_still(it.memory, it.record.id);
            it.users == 0 && !memory::device(it.record.kind).is_ok_and(is_there)
        };
        let freed: Vec<Export> = self.devices.exports.extract_if(.., is_freed).collect();
        for export in freed {
            self.end_record(export.at);
        }
    }

    /// Gives the place of a record back, in which nobody finds it any more.
    fn end_record(&mut self, at: u64) {
        if let Some(to) = self.region(at, RECORD) {
            // SAFETY: a region of our own of that length.
            unsafe { to.write_bytes(0, RECORD) };
        }
        self.region_free(at, RECORD);
    }

    /// The record at a place of a peer.
    fn record(&self, peer: Peer, place: u64) -> Result<Record, RmaError> {
        let place = RemoteKey {
            addr: place,
            key: SEGMENT,
        };
        let at = self.in_segment(peer, place, RECORD, 64)?;
        let mut bytes = [0; RECORD];
        // SAFETY: in the mapping.
        unsafe { PeerBytes::new(at, RECORD) }.read(&mut bytes);
        Record::decode(&bytes).ok_or(RmaError::NoRegion)
    }

    /// Ends what [`Shm::export`] began.
    #[cold]
    pub(crate) fn end_export(&mut self, remote: RemoteKey) {
        let at = remote.key >> TAG_BITS;
        let exports = &mut self.devices.exports;
        let Some(export) = exports.iter_mut().find(|it| it.at == at) else {
            return;
        };
        export.users = export.users.saturating_sub(1);
        if let Some(at) = surplus(exports, |it| (it.users, it.used)) {
            let ended = exports.swap_remove(at);
            self.end_record(ended.at);
        }
    }

    /// Starts to read memory of a peer's device.
    ///
    /// # Safety
    /// As [`Rma::get`](catena_fabric::Rma::get).
    #[cold]
    pub(crate) unsafe fn get_from_device(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let place = target.key >> TAG_BITS;
        let record = self.record(peer, place)?;
        let end = target.addr.checked_add(into.len as u64);
        if end.is_none_or(|end| end > record.len) {
            return Err(RmaError::OutOfBounds);
        }
        if !into.kind.is_host() && into.kind != record.kind {
            return Err(RmaError::Memory(into.kind));
        }
        let number = self.number(peer) as u32;
        let base = match self.devices.opened(number, &record) {
            Some(base) => base,
            None => {
                let mut devices = std::mem::take(&mut self.devices);
                devices.close_freed(number, |place| self.record(peer, place).ok());
                self.devices = devices;
                self.devices.open(number, (&record, place), into.at)?
            }
        };
        let copy = Copy {
            to: into.at,
            from: base.wrapping_add(target.addr as usize),
            rows: Rows::one(into.len),
            direction: match into.kind.is_host() {
                true => Direction::ToHost,
                false => Direction::Within,
            },
        };
        let begin = || {
            let unsupported = |_| CopyError::NotThere;
            let mut copies = Copies::of(record.kind).map_err(unsupported)?;
            // SAFETY: the caller's promise; what is open has as many bytes.
            unsafe { copies.begin_on_device(&copy)? };
            copies.mark()
        };
        let marked = begin().map_err(|error| refused(&error))?;
        if let Some(import) = self.devices.import(number, &record) {
            import.users += 1;
        }
        self.devices.pending.push(Pending {
            op,
            number,
            record,
            marked,
        });
        if self.devices.pending.len() == 1 {
            self.cold.push(COPIES);
        }
        self.counters.reads += 1;
        self.counters.read_bytes += into.len as u64;
        Ok(Started::UnderWay)
    }

    /// Tells of the copies that have been made; whether none is left.
    #[cold]
    pub(crate) fn end_copies<D: Deliver>(&mut self, deliver: &mut D) -> bool {
        let devices = &mut self.devices;
        let mut at = 0;
        while let Some(pending) = devices.pending.get(at) {
            let result = match pending.marked.has_passed() {
                Ok(false) => {
                    at += 1;
                    continue;
                }
                Ok(true) => Ok(0),
                Err(error) => Err(refused(&error)),
            };
            let ended = devices.pending.remove(at);
            if let Some(import) = devices.import(ended.number, &ended.record) {
                import.users -= 1;
            }
            deliver.completed(ended.op, result);
        }
        devices.close_surplus();
        devices.pending.is_empty()
    }
}
