//! The sender's side of one message.

use super::ProtoError;
use crate::wire::Wanted;

/// How a message travels; fixed when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Straight away.
    Eager,
    /// Straight away, and the receiver tells when it is matched.
    EagerSync,
    /// Announced; moved once the receiver has matched it.
    Rendezvous,
    /// Announced; the receiver reads it, or the sender takes it back and sends it straight away.
    Lent,
    /// It was to be lent and was taken back before it left: it follows its announcement.
    TakenBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Send {
    /// Nothing has left.
    Queued(Style),
    /// Eager; the bytes below `at` have left.
    Flowing { at: u64, awaits_ack: bool },
    /// Eager and synchronous; all has left, the receiver has not matched.
    AwaitAck,
    /// Announced; the receiver has not matched, or is reading.
    AwaitMatch,
    /// The receiver reads parts, and we write others into its memory.
    Sharing,
    /// The receiver asked for the bytes `[at, upto)`.
    Streaming { at: u64, upto: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendEvent {
    /// A packet with that many bytes of the message left.
    Posted(u64),
    /// The receiver has matched the eager message.
    Ack,
    /// The receiver wants these bytes.
    Cts(Wanted),
    /// The receiver shares the work: it wants that many bytes.
    Share { upto: u64 },
    /// The receiver has all it wants.
    Fin,
    /// The user wants to cancel.
    Cancel,
    /// The receiver has dropped the message, on which the user has given up.
    Dropped,
    /// It was lent, and is taken back.
    TakenBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendAction {
    None,
    /// The request is done.
    Complete,
    /// Start streaming.
    Stream,
    /// Start to write parts.
    Put,
    /// The request is done, and nothing was transferred. Its place in the
    /// sequence must still be filled.
    CancelHere,
    /// Ask the receiver to drop the message.
    AskReceiver,
    /// The request is done, and nothing was transferred.
    CancelDone,
}

impl Send {
    /// What `event` does to a message of `len` bytes.
    pub fn step(&mut self, len: u64, event: SendEvent) -> Result<SendAction, ProtoError> {
        use SendEvent as E;
        let (next, action) = match (*self, event) {
            (Send::Queued(Style::Rendezvous | Style::Lent), E::Posted(_)) => {
                (Send::AwaitMatch, SendAction::None)
            }
            (Send::Queued(Style::Lent), E::TakenBack) => {
                (Send::Queued(Style::TakenBack), SendAction::None)
            }
            (Send::AwaitMatch, E::TakenBack) => (flow(0, len, false).0, SendAction::Stream),
            (Send::Queued(style), E::Posted(n)) => flow(n, len, style == Style::EagerSync),
            (Send::Flowing { at, awaits_ack }, E::Posted(n)) => flow(at + n, len, awaits_ack),
            (
                Send::Flowing {
                    at,
                    awaits_ack: true,
                },
                E::Ack,
            ) => (
                Send::Flowing {
                    at,
                    awaits_ack: false,
                },
                SendAction::None,
            ),
            (Send::AwaitAck, E::Ack) | (Send::AwaitMatch | Send::Sharing, E::Fin) => {
                (*self, SendAction::Complete)
            }
            (Send::AwaitMatch | Send::Sharing, E::Cts(Wanted { from, upto }))
                if from < upto && upto <= len =>
            {
                (Send::Streaming { at: from, upto }, SendAction::Stream)
            }
            (Send::AwaitMatch, E::Share { upto }) if upto <= len => {
                (Send::Sharing, SendAction::Put)
            }
            // The receiver has found out since that it cannot.
            (Send::Streaming { .. }, E::Share { .. }) => (*self, SendAction::None),
            (Send::Streaming { at, upto }, E::Posted(n)) => {
                let action = if at + n < upto {
                    SendAction::None
                } else {
                    SendAction::Complete
                };
                (Send::Streaming { at: at + n, upto }, action)
            }
            (Send::Queued(_), E::Cancel) => (*self, SendAction::CancelHere),
            (
                Send::Flowing {
                    awaits_ack: true, ..
                }
                | Send::AwaitAck
                | Send::AwaitMatch,
                event,
            ) => match event {
                E::Cancel => (*self, SendAction::AskReceiver),
                // What is left of an eager message leaves: it has a place where it arrives.
                E::Dropped if matches!(*self, Send::Flowing { .. }) => (*self, SendAction::None),
                E::Dropped => (*self, SendAction::CancelDone),
                _ => return Err(ProtoError),
            },
            (_, E::Cancel) => (*self, SendAction::None),
            _ => return Err(ProtoError),
        };
        *self = next;
        Ok(action)
    }
}

fn flow(at: u64, len: u64, awaits_ack: bool) -> (Send, SendAction) {
    match (at < len, awaits_ack) {
        (true, _) => (Send::Flowing { at, awaits_ack }, SendAction::None),
        (false, true) => (Send::AwaitAck, SendAction::None),
        (false, false) => (Send::Flowing { at, awaits_ack }, SendAction::Complete),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eager_message_is_done_when_it_has_left() {
        let mut send = Send::Queued(Style::Eager);
        assert_eq!(send.step(10, SendEvent::Posted(6)), Ok(SendAction::None));
        assert_eq!(send.step(10, SendEvent::Cancel), Ok(SendAction::None));
        assert_eq!(
            send.step(10, SendEvent::Posted(4)),
            Ok(SendAction::Complete)
        );
    }

    #[test]
    fn a_synchronous_one_waits_for_both() {
        let mut send = Send::Queued(Style::EagerSync);
        assert_eq!(send.step(10, SendEvent::Posted(6)), Ok(SendAction::None));
        assert_eq!(send.step(10, SendEvent::Ack), Ok(SendAction::None));
        assert_eq!(send.step(10, SendEvent::Ack), Err(ProtoError));
        assert_eq!(
            send.step(10, SendEvent::Posted(4)),
            Ok(SendAction::Complete)
        );
        let mut send = Send::Queued(Style::EagerSync);
        assert_eq!(send.step(0, SendEvent::Posted(0)), Ok(SendAction::None));
        assert_eq!(send.step(0, SendEvent::Ack), Ok(SendAction::Complete));
    }

    #[test]
    fn impossible_wishes_are_refused() {
        let mut send = Send::AwaitMatch;
        for (from, upto) in [(0, 11), (5, 5), (6, 5), (u64::MAX, 3)] {
            assert_eq!(
                send.step(10, SendEvent::Cts(Wanted { from, upto })),
                Err(ProtoError)
            );
        }
        let wanted = Wanted { from: 4, upto: 10 };
        assert_eq!(
            send.step(10, SendEvent::Cts(wanted)),
            Ok(SendAction::Stream)
        );
        assert_eq!(send.step(10, SendEvent::Dropped), Err(ProtoError));
        assert_eq!(send.step(10, SendEvent::Fin), Err(ProtoError));
        assert_eq!(
            send.step(10, SendEvent::Posted(6)),
            Ok(SendAction::Complete)
        );
    }
}
