//! What a process tells the others of how it is reached: an address record.
//!
//! ```text
//! 0   version (1 byte)
//! 1   entries: kind (1), length of the body (2), body
//! ```
//!
//! | kind | entry     | body                                                      |
//! |------|-----------|-----------------------------------------------------------|
//! | 0    | setting   | value of `CATENA_LINK`, if it has one: for messages       |
//! | 1    | `shm`     | none: the node's segment is attached                      |
//! | 125  | sum       | of all that stands before it (8), behind the address: see below |
//! | 126  | address   | of a process that is alone: see below                     |
//! | others | a network of the [list](crate::list) | what is spoken there (8), the address of the end |
//!
//! The address of a process that is alone in its job has its name (job 8, rank 4), what those have
//! in common that can share memory with it (16), where its segment of shared memory is (process 4,
//! descriptor 4, number of the file 8, which is 0 without one), and the name of its host. Its
//! record comes to others in whichever way their program carries it, and libraries read beyond the
//! end of an address that was damaged there, so a sum stands at its end. It is no secret: who can
//! make up records is trusted with that.
//!
//! Where a network has [probe ports](catena_fabric::Rail::PROBE_PORT), the length of the address of
//! one (1) and that address stand in front of the address of the end.
//!
//! A process that has little room for an address gets the **short form** of the record of a process
//! that is alone ([`Record::encode_short`]), which says nothing that only messages need:
//!
//! ```text
//! 0   version + 128 (1 byte)
//! 1   job (8), what those have in common that can share memory with it (8)
//! 17  process, descriptor + 1 or 0 without a segment, number of the file: 7 bits to a byte, the low
//!     ones first, 128 added to all bytes of a number but its last
//! ..  ends of networks: kind (1), length of what follows (1), what is spoken (8), address
//! ..  sum of all that stands before it, folded (4)
//! ```
//!
//! Networks stand in the order of the chain; each has an entry for its first
//! rail, and one with 128 added to the kind for every other. Numbers are
//! little-endian. Entries of other kinds are networks that this version does not
//! know: passed over.

use catena_fabric::ProcessName;

/// Changes whenever the meaning of a byte changes.
const VERSION: u8 = 4;
/// Added to the version of the short form.
const SHORT: u8 = 0x80;
/// Longest value of `CATENA_LINK` that is told, bytes.
const SETTING_MAX: usize = 200;

/// Kinds of entries.
pub(crate) mod kind {
    pub const SETTING: u8 = 0;
    pub const SHM: u8 = 1;
    pub const SUM: u8 = 125;
    pub const ADDRESS: u8 = 126;
    /// Of a network that has rails in front of this one.
    pub const RAIL: u8 = 0x80;
}

/// An end of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Of its entry.
    pub kind: u8,
    /// What is spoken there: ends of one kind with the same number understand
    /// each other.
    pub protocol: u64,
    /// At most 65,527 bytes.
    pub address: Vec<u8>,
}

impl End {
    /// Whether it and `other` understand each other.
    fn speaks_with(&self, other: &End) -> bool {
        (self.kind, self.protocol) == (other.kind, other.protocol)
    }
}

/// An address record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Value of `CATENA_LINK`; empty if it has none.
    pub setting: String,
    pub shm: bool,
    /// Networks with their rails, of which each has at least one.
    pub ends: Vec<Vec<End>>,
    /// Of a process that is alone in its job.
    pub address: Option<Address>,
}

/// Where a process is that is alone in its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub name: ProcessName,
    /// What those have in common that can share memory with it.
    pub realm: u128,
    pub segment: Option<SegmentAt>,
    /// The name of its host, for messages.
    pub host: String,
}

/// Where a segment is: an open file of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentAt {
    pub process: u32,
    pub descriptor: u32,
    /// The number of the file.
    pub file: u64,
}

impl SegmentAt {
    /// As two words, the last of which is not 0.
    pub fn words(self) -> [u64; 2] {
        let at = u64::from(self.process) << 32 | u64::from(self.descriptor);
        [at, self.file]
    }

    /// What two words say.
    pub fn of_words([at, file]: [u64; 2]) -> SegmentAt {
        SegmentAt {
            process: (at >> 32) as u32,
            descriptor: at as u32,
            file,
        }
    }
}

impl Address {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = self.name.job.to_le_bytes().to_vec();
        bytes.extend(self.name.rank.to_le_bytes());
        bytes.extend(self.realm.to_le_bytes());
        let (process, descriptor, file) = match self.segment {
            Some(it) => (it.process, it.descriptor, it.file),
            None => (0, 0, 0),
        };
        bytes.extend(process.to_le_bytes());
        bytes.extend(descriptor.to_le_bytes());
        bytes.extend(file.to_le_bytes());
        let host = &self.host.as_bytes()[..self.host.len().min(SETTING_MAX)];
        bytes.extend(host);
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Address> {
        let (job, rest) = bytes.split_first_chunk()?;
        let (rank, rest) = rest.split_first_chunk()?;
        let (realm, rest) = rest.split_first_chunk()?;
        let (process, rest) = rest.split_first_chunk()?;
        let (descriptor, rest) = rest.split_first_chunk()?;
        let (file, host) = rest.split_first_chunk()?;
        let segment = SegmentAt {
            process: u32::from_le_bytes(*process),
            descriptor: u32::from_le_bytes(*descriptor),
            file: u64::from_le_bytes(*file),
        };
        Some(Address {
            name: ProcessName {
                job: u64::from_le_bytes(*job),
                rank: u32::from_le_bytes(*rank),
            },
            realm: u128::from_le_bytes(*realm),
            segment: (segment.file > 0).then_some(segment),
            host: String::from_utf8_lossy(host).into_owned(),
        })
    }
}

/// Appends a number of the short form.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number of the short form from the front; `None` if it does not end.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

impl Record {
    /// The bytes; `None` if an address is too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![VERSION];
        let mut entry = |kind, parts: &[&[u8]]| {
            let len = parts.iter().map(|part| part.len()).sum::<usize>();
            bytes.push(kind);
            bytes.extend(u16::try_from(len).ok()?.to_le_bytes());
            parts.iter().for_each(|part| bytes.extend(*part));
            Some(())
        };
        if !self.setting.is_empty() {
            let told = self.setting.len().min(SETTING_MAX);
            entry(kind::SETTING, &[&self.setting.as_bytes()[..told]])?;
        }
        if self.shm {
            entry(kind::SHM, &[])?;
        }
        if let Some(address) = &self.address {
            entry(kind::ADDRESS, &[&address.encode()])?;
        }
        for rails in &self.ends {
            for (number, end) in rails.iter().enumerate() {
                let rail = if number > 0 { kind::RAIL } else { 0 };
                let protocol = end.protocol.to_le_bytes();
                entry(end.kind | rail, &[&protocol, &end.address])?;
            }
        }
        if self.address.is_some() {
            let sum = sum(&bytes).to_le_bytes();
            bytes.extend([kind::SUM, sum.len() as u8, 0]);
            bytes.extend(sum);
        }
        Some(bytes)
    }

    /// The bytes of the short form; `None` if an address is too long, or it is in a job.
    pub fn encode_short(&self) -> Option<Vec<u8>> {
        let at = self.address.as_ref()?;
        let mut bytes = vec![VERSION | SHORT];
        bytes.extend(at.name.job.to_le_bytes());
        bytes.extend((at.realm as u64).to_le_bytes());
        let (process, descriptor, file) = match at.segment {
            Some(it) => (it.process, u64::from(it.descriptor) + 1, it.file),
            None => (0, 0, 0),
        };
        for number in [process.into(), descriptor, file] {
            put_number(&mut bytes, number);
        }
        for rails in &self.ends {
            for (number, end) in rails.iter().enumerate() {
                let rail = if number > 0 { kind::RAIL } else { 0 };
                let len = u8::try_from(end.address.len() + size_of::<u64>()).ok()?;
                bytes.extend([end.kind | rail, len]);
                bytes.extend(end.protocol.to_le_bytes());
                bytes.extend(&end.address);
            }
        }
        let sum = short_sum(&bytes).to_le_bytes();
        bytes.extend(sum);
        Some(bytes)
    }

    fn decode_short(bytes: &[u8]) -> Option<Record> {
        let (job, rest) = bytes.split_first_chunk()?;
        let (realm, mut rest) = rest.split_first_chunk()?;
        let mut number = || take_number(&mut rest);
        let (process, descriptor, file) = (number()?, number()?, number()?);
        let segment = match descriptor.checked_sub(1) {
            Some(descriptor) => Some(SegmentAt {
                process: process.try_into().ok()?,
                descriptor: descriptor.try_into().ok()?,
                file,
            }),
            None => None,
        };
        let mut record = Record {
            shm: segment.is_some(),
            address: Some(Address {
                name: ProcessName {
                    job: u64::from_le_bytes(*job),
                    rank: 0,
                },
                realm: u64::from_le_bytes(*realm).into(),
                segment,
                host: String::new(),
            }),
            ..Record::default()
        };
        while let [kind, len, after @ ..] = rest {
            let (body, next) = after.split_at_checked(usize::from(*len))?;
            record.add_end(*kind, body)?;
            rest = next;
        }
        rest.is_empty().then_some(record)
    }

    /// Takes in an end of a network from an entry of that kind.
    fn add_end(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        let (protocol, address) = body.split_first_chunk()?;
        let end = End {
            kind: kind & !kind::RAIL,
            protocol: u64::from_le_bytes(*protocol),
            address: address.to_vec(),
        };
        if kind & kind::RAIL == 0 {
            self.ends.push(vec![end]);
        } else {
            self.ends.last_mut()?.push(end);
        }
        Some(())
    }

    /// Reads what [`Record::encode`] or [`Record::encode_short`] wrote, of this version.
    pub fn decode(bytes: &[u8]) -> Option<Record> {
        let (&version, mut rest) = bytes.split_first()?;
        if version == VERSION | SHORT {
            let (body, told) = rest.split_last_chunk()?;
            let before = &bytes[..bytes.len() - size_of::<u32>()];
            let is_sound = u32::from_le_bytes(*told) == short_sum(before);
            return is_sound.then(|| Record::decode_short(body))?;
        }
        if version != VERSION {
            return None;
        }
        let mut record = Record::default();
        let mut is_whole = false;
        while let [kind, low, high, after @ ..] = rest {
            let len = usize::from(u16::from_le_bytes([*low, *high]));
            let (body, next) = after.split_at_checked(len)?;
            match *kind {
                kind::SETTING => record.setting = String::from_utf8_lossy(body).into_owned(),
                kind::SHM => record.shm = true,
                kind::ADDRESS => record.address = Some(Address::decode(body)?),
                kind::SUM => {
                    let before = &bytes[..bytes.len() - rest.len()];
                    is_whole = next.is_empty() && *body == sum(before).to_le_bytes();
                }
                kind => record.add_end(kind, body)?,
            }
            rest = next;
        }
        let is_sound = record.address.is_none() || is_whole;
        (rest.is_empty() && is_sound).then_some(record)
    }

    /// The network that joins this process and another: its numbers in the two
    /// records. Both ends find the same one: the first of the chain of the
    /// `first` of them that the other has, too.
    pub fn common(&self, other: &Record, first: bool) -> Option<(usize, usize)> {
        let (leader, follower) = if first { (self, other) } else { (other, self) };
        let (leads, follows) = leader.ends.iter().enumerate().find_map(|(at, rails)| {
            let same = |it: &Vec<End>| it[0].speaks_with(&rails[0]);
            Some((at, follower.ends.iter().position(same)?))
        })?;
        Some(if first {
            (leads, follows)
        } else {
            (follows, leads)
        })
    }
}

/// As [`sum`], for the short form.
fn short_sum(bytes: &[u8]) -> u32 {
    let sum = sum(bytes);
    (sum ^ sum >> 32) as u32
}

/// What tells bytes from those that have been damaged: FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of some network.
    const OFI: u8 = 2;

    fn end(kind: u8, protocol: u64, address: usize) -> End {
        End {
            kind,
            protocol,
            address: (0..address).map(|at| at as u8).collect(),
        }
    }

    fn record(address: usize) -> Record {
        Record {
            setting: "shm+ofi:tcp".to_string(),
            shm: true,
            ends: vec![vec![end(OFI, 25 << 32 | 1, address)]],
            address: None,
        }
    }

    #[test]
    fn records_survive_the_journey_and_are_short() {
        let mut two = record(16);
        two.ends[0].push(end(OFI, 7, 16));
        two.ends.push(vec![end(OFI, 7, 3000)]);
        let segment = Some(SegmentAt {
            process: 70_000,
            descriptor: 9,
            file: 1 << 40,
        });
        let alone = |segment| Record {
            address: Some(Address {
                name: ProcessName {
                    job: 1 << 63,
                    rank: 3,
                },
                realm: u128::MAX - 5,
                segment,
                host: "node".to_string(),
            }),
            ..record(16)
        };
        let all = [
            Record::default(),
            record(16),
            record(28),
            two,
            alone(None),
            alone(segment),
        ];
        for record in all {
            let bytes = record.encode().expect("short enough");
            assert_eq!(Record::decode(&bytes), Some(record));
        }
        // An address of IPv6.
        assert!(record(28).encode().is_some_and(|bytes| bytes.len() <= 64));
        assert_eq!(record(65_528).encode(), None);
        let long = Record {
            setting: "é".repeat(300),
            ..record(16)
        };
        let told = long.encode().and_then(|bytes| Record::decode(&bytes));
        assert!(told.is_some_and(|it| it.ends == long.ends && it.setting.len() <= SETTING_MAX + 2));
    }

    #[test]
    fn the_short_form_says_what_reaching_needs() {
        let segment = Some(SegmentAt {
            process: 4_194_304,
            descriptor: 300,
            file: u64::MAX,
        });
        for segment in [segment, None] {
            let mut short = Record {
                setting: String::new(),
                shm: segment.is_some(),
                address: Some(Address {
                    name: ProcessName { job: 77, rank: 0 },
                    realm: u64::MAX.into(),
                    segment,
                    host: String::new(),
                }),
                ..record(16)
            };
            let bytes = short.encode_short().expect("it is alone");
            assert!(bytes.len() <= 64, "{}", bytes.len());
            assert_eq!(Record::decode(&bytes).as_ref(), Some(&short));
            for cut in 0..bytes.len() {
                assert_eq!(Record::decode(&bytes[..cut]), None);
            }
            for at in 0..8 * bytes.len() {
                let mut other = bytes.clone();
                other[at / 8] ^= 1 << (at % 8);
                let read = Record::decode(&other);
                assert!(read.is_none_or(|it| it.address.is_none()), "bit {at}");
            }
            short.ends[0].push(end(OFI, 7, 16));
            let two = short.encode_short().expect("it is alone");
            assert_eq!(Record::decode(&two), Some(short));
        }
        assert_eq!(record(16).encode_short(), None);
    }

    #[test]
    fn unknown_routes_are_kept_and_damage_is_noticed() {
        let bytes = record(16).encode().expect("short enough");
        let mut longer = bytes.clone();
        longer.extend([77, 9, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5]);
        let ends = Record::decode(&longer).map(|it| it.ends.len());
        assert_eq!(ends, Some(2));
        // A rail of no network.
        assert_eq!(
            Record::decode(&[VERSION, 130, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            None
        );
        let whole = [0, 1, 15, 18, bytes.len()];
        for cut in 0..=bytes.len() {
            let read = Record::decode(&bytes[..cut]);
            assert_eq!(read.is_some(), whole[1..].contains(&cut), "{cut}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                let _ = Record::decode(&other);
            }
        }
        let mut other = bytes;
        other[0] = VERSION + 1;
        assert_eq!(Record::decode(&other), None);
    }

    #[test]
    fn no_damage_to_the_record_of_one_that_is_alone_goes_unnoticed() {
        let name = ProcessName { job: 5, rank: 0 };
        let alone = Record {
            address: Some(Address {
                name,
                realm: 7,
                segment: None,
                host: "node".to_string(),
            }),
            ..record(16)
        };
        let bytes = alone.encode().expect("short enough");
        assert_eq!(Record::decode(&bytes), Some(alone));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                let read = Record::decode(&other);
                // What is no address of a process that is alone adds nobody.
                assert!(read.is_none_or(|it| it.address.is_none()), "{at}, {bit}");
            }
            assert_eq!(
                Record::decode(&bytes[..at]).filter(|it| it.address.is_some()),
                None
            );
        }
        let twice = [&bytes[..], &bytes[bytes.len() - 11..]].concat();
        assert_eq!(Record::decode(&twice), None);
    }

    #[test]
    fn both_ends_choose_the_same_network() {
        let chain = |protocols: &[u64]| Record {
            ends: protocols.iter().map(|&it| vec![end(OFI, it, 1)]).collect(),
            ..Record::default()
        };
        for (mine, yours, found) in [
            (&[1][..], &[1][..], Some((0, 0))),
            (&[1, 2], &[2, 1], Some((0, 1))),
            (&[1, 2], &[3, 2], Some((1, 1))),
            (&[1, 2], &[3], None),
            (&[], &[3], None),
        ] {
            let (mine, yours) = (chain(mine), chain(yours));
            assert_eq!(mine.common(&yours, true), found);
            let turned = found.map(|(mine, yours)| (yours, mine));
            assert_eq!(yours.common(&mine, false), turned);
        }
    }
}
