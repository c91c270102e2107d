//! What a process tells the others of how it is reached: an address record.
//!
//! ```text
//! 0   version (1 byte)
//! 1   entries, one per route: kind (1), length of the body (1), body
//! ```
//!
//! | kind | route | body                                                      |
//! |------|-------|-----------------------------------------------------------|
//! | 1    | `shm` | none: the node's segment is attached                      |
//! | 2    | `ofi` | protocol (4), its version (4), address of the endpoint    |
//!
//! Numbers are little-endian. Entries of other kinds are passed over.

/// Changes whenever the meaning of a byte changes.
const VERSION: u8 = 1;
const SHM: u8 = 1;
const OFI: u8 = 2;

/// Where an endpoint of libfabric is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub protocol: u32,
    pub version: u32,
    /// At most 247 bytes.
    pub address: Vec<u8>,
}

/// An address record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub shm: bool,
    pub ofi: Option<Endpoint>,
}

impl Record {
    /// The bytes; `None` if an address is too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![VERSION];
        let mut entry = |kind, body: &[u8]| {
            bytes.extend([kind, u8::try_from(body.len()).ok()?]);
            bytes.extend(body);
            Some(())
        };
        if self.shm {
            entry(SHM, &[])?;
        }
        if let Some(endpoint) = &self.ofi {
            let mut body = endpoint.protocol.to_le_bytes().to_vec();
            body.extend(endpoint.version.to_le_bytes());
            body.extend(&endpoint.address);
            entry(OFI, &body)?;
        }
        Some(bytes)
    }

    /// Reads what [`Record::encode`] wrote, of this version.
    pub fn decode(bytes: &[u8]) -> Option<Record> {
        let (&version, mut rest) = bytes.split_first()?;
        if version != VERSION {
            return None;
        }
        let mut record = Record::default();
        while let [kind, len, after @ ..] = rest {
            let (body, next) = after.split_at_checked(usize::from(*len))?;
            match *kind {
                SHM => record.shm = true,
                OFI => {
                    let (protocol, body) = body.split_first_chunk()?;
                    let (version, address) = body.split_first_chunk()?;
                    record.ofi = Some(Endpoint {
                        protocol: u32::from_le_bytes(*protocol),
                        version: u32::from_le_bytes(*version),
                        address: address.to_vec(),
                    });
                }
                _ => {}
            }
            rest = next;
        }
        rest.is_empty().then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(address: usize) -> Record {
        Record {
            shm: true,
            ofi: Some(Endpoint {
                protocol: 25,
                version: 1,
                address: (0..address as u8).collect(),
            }),
        }
    }

    #[test]
    fn records_survive_the_journey_and_are_short() {
        for record in [Record::default(), record(16), record(28)] {
            let bytes = record.encode().expect("short enough");
            assert_eq!(Record::decode(&bytes), Some(record));
        }
        // An address of IPv6.
        assert!(record(28).encode().is_some_and(|bytes| bytes.len() <= 64));
        assert_eq!(record(248).encode(), None);
    }

    #[test]
    fn unknown_routes_are_passed_over_and_damage_is_noticed() {
        let bytes = record(16).encode().expect("short enough");
        let mut longer = bytes.clone();
        longer.extend([77, 2, 0, 0]);
        assert_eq!(Record::decode(&longer), Some(record(16)));
        for cut in [0, 2, 4, 10, bytes.len() - 1] {
            assert_eq!(Record::decode(&bytes[..cut]), None, "{cut}");
        }
        let mut other = bytes;
        other[0] = VERSION + 1;
        assert_eq!(Record::decode(&other), None);
    }
}
