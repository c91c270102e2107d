//! The receiver's side of one matched message that is not there as a whole.

use super::ProtoError;
use crate::wire::Wanted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recv {
    /// The rest of an eager message is on its way.
    Assembling,
    /// An announced message is matched; how it moves is not decided.
    Starting,
    /// We read it out of the sender's memory; the bytes below `at` are there.
    Getting { at: u64, upto: u64 },
    /// We read parts of it out of the sender's memory, and the sender writes
    /// others into ours.
    Sharing,
    /// The sender streams it.
    Streaming,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecvEvent {
    /// Nothing of the message fits: none of it is wanted.
    WantNothing,
    /// The route reads remote memory, and `upto` bytes are wanted.
    ChooseGet { upto: u64 },
    /// The route reads and writes remote memory.
    ChooseShare,
    /// It does neither.
    ChooseStream { upto: u64 },
    /// That many more bytes were read.
    Got(u64),
    /// The route cannot read that memory after all.
    Unable,
    /// The route cannot copy a shared message after all; what is missing.
    Refused(Wanted),
    /// A fragment or a part was placed; whether it was the last one.
    Placed { whole: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecvAction {
    None,
    /// Begin to read.
    Get,
    /// Ask the sender for these bytes.
    Cts(Wanted),
    /// The request is done; the sender does not know.
    CompleteAndFin,
    /// The request is done, and the sender knows all it needs.
    Complete,
}

impl Recv {
    pub fn step(&mut self, event: RecvEvent) -> Result<RecvAction, ProtoError> {
        use RecvEvent as E;
        let (next, action) = match (*self, event) {
            (Recv::Starting, E::WantNothing) => (*self, RecvAction::CompleteAndFin),
            (Recv::Starting, E::ChooseGet { upto }) => {
                (Recv::Getting { at: 0, upto }, RecvAction::Get)
            }
            (Recv::Starting, E::ChooseStream { upto }) => {
                (Recv::Streaming, RecvAction::Cts(Wanted { from: 0, upto }))
            }
            (Recv::Getting { at, upto }, E::Got(n)) if n <= upto - at => {
                let at = at + n;
                let action = if at == upto {
                    RecvAction::CompleteAndFin
                } else {
                    RecvAction::None
                };
                (Recv::Getting { at, upto }, action)
            }
            (Recv::Getting { at, upto }, E::Unable) => {
                (Recv::Streaming, RecvAction::Cts(Wanted { from: at, upto }))
            }
            (Recv::Starting, E::ChooseShare) => (Recv::Sharing, RecvAction::Get),
            (Recv::Sharing, E::Placed { whole: true }) => (*self, RecvAction::CompleteAndFin),
            (Recv::Sharing, E::Placed { whole: false }) => (*self, RecvAction::None),
            (Recv::Sharing, E::Refused(missing)) => (Recv::Streaming, RecvAction::Cts(missing)),
            (Recv::Assembling | Recv::Streaming, E::Placed { whole: true }) => {
                (*self, RecvAction::Complete)
            }
            (Recv::Assembling | Recv::Streaming, E::Placed { whole: false }) => {
                (*self, RecvAction::None)
            }
            _ => return Err(ProtoError),
        };
        *self = next;
        Ok(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_read_is_streamed_from_where_it_stopped() {
        let mut recv = Recv::Starting;
        assert_eq!(
            recv.step(RecvEvent::ChooseGet { upto: 9 }),
            Ok(RecvAction::Get)
        );
        assert_eq!(recv.step(RecvEvent::Got(4)), Ok(RecvAction::None));
        assert_eq!(recv.step(RecvEvent::Got(6)), Err(ProtoError));
        let rest = Wanted { from: 4, upto: 9 };
        assert_eq!(recv.step(RecvEvent::Unable), Ok(RecvAction::Cts(rest)));
        assert_eq!(
            recv.step(RecvEvent::Placed { whole: true }),
            Ok(RecvAction::Complete)
        );
    }
}
