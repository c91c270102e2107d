//! How two processes begin to talk, and prove to each other that they know the same
//! secret (see [`catena_proof`]).
//!
//! ```text
//! caller → callee   0  magic      with the version of this layout
//!                   4  packet     largest payload of a packet
//!                   8  from       the caller's name: job (8), rank (4)
//!                   20 to         the callee's
//!                   32 nonce, tag (48 bytes)
//! callee → caller   0  magic
//!                   4  nonce      (16 bytes)
//! caller → callee   0  tag        (32 bytes)
//! callee → caller   0  tag        (32 bytes)
//! ```
//!
//! Numbers are little-endian. The callee sends nothing to those whose first
//! message is not sound, and takes at most as many bytes from a connection as the
//! next message has. Nobody sends packets before the other end has proven itself,
//! so a caller that is sent away has lost nothing and calls again.

use std::fmt;

use catena_fabric::ProcessName;
use catena_proof::{
    CALL as PROOF, Callee, Caller, Finish, NONCE, Protocol, Secret, TAG, Unauthenticated,
};

use crate::frame::{half, word};

/// Changes whenever the meaning of a byte on the wire changes.
pub(crate) const MAGIC: u32 = 0x03_43_54_4e;

const PROTOCOL: Protocol = Protocol("catena tcp");

/// Bytes of what a caller says in the clear.
const FACTS: usize = 8 + 2 * NAME;
/// Bytes of a name.
const NAME: usize = 12;
/// Bytes of the first message.
pub const CALL: usize = FACTS + PROOF;
/// Bytes of the second one.
pub const CHALLENGE: usize = 4 + NONCE;

/// What a caller says in the clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Who it is.
    pub from: ProcessName,
    /// Whom it calls.
    pub to: ProcessName,
    /// Its largest payload of a packet.
    pub packet: u32,
}

/// Why a greeting is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// What came is shorter than any greeting.
    Short,
    /// The greeting is of another version, or none of Catena's.
    Version,
    /// The greeting is for another process, from one that is not known, or with other settings.
    Astray,
    /// The other end does not know the job's secret.
    Unauthenticated,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Short => "its greeting is cut off",
            Refused::Version => {
                "it speaks another version of Catena's protocol, or none; install the same \
                 version on all hosts"
            }
            Refused::Astray => "its greeting is for another process, job or packet size",
            Refused::Unauthenticated => {
                "it does not know the secret of this job, so it is a stranger"
            }
        })
    }
}

impl std::error::Error for Refused {}

impl From<Unauthenticated> for Refused {
    fn from(_: Unauthenticated) -> Refused {
        Refused::Unauthenticated
    }
}

impl Greeting {
    pub(crate) fn encode(self) -> [u8; FACTS] {
        let mut out = [0; FACTS];
        let low = |it: ProcessName| [it.job as u32, (it.job >> 32) as u32, it.rank];
        let names = low(self.from).into_iter().chain(low(self.to));
        let halves = [MAGIC, self.packet].into_iter().chain(names);
        for (to, half) in out.chunks_exact_mut(4).zip(halves) {
            to.copy_from_slice(&half.to_le_bytes());
        }
        out
    }
}

/// The name at a place of a message.
fn name(facts: &[u8], at: usize) -> ProcessName {
    ProcessName {
        job: word(facts, at),
        rank: half(facts, at + 8),
    }
}

/// Reads the first message of a caller; what it says is not proven yet. Any bytes
/// may be given.
///
/// # Errors
/// [`Refused`] if they are no greeting of this version.
pub fn parse(call: &[u8]) -> Result<Greeting, Refused> {
    let facts = catena_proof::facts(call).ok_or(Refused::Short)?;
    if facts.len() != FACTS {
        return Err(Refused::Short);
    }
    match half(facts, 0) {
        MAGIC => Ok(Greeting {
            packet: half(facts, 4),
            from: name(facts, 8),
            to: name(facts, 8 + NAME),
        }),
        _ => Err(Refused::Version),
    }
}

/// Reads the challenge of a callee. Any bytes may be given.
///
/// # Errors
/// [`Refused`] if they are no challenge of this version.
pub fn parse_challenge(bytes: &[u8]) -> Result<[u8; NONCE], Refused> {
    let (magic, nonce) = bytes.split_at_checked(4).ok_or(Refused::Short)?;
    if half(magic, 0) != MAGIC {
        return Err(Refused::Version);
    }
    nonce.try_into().map_err(|_| Refused::Short)
}

/// How far a handshake is.
#[derive(Debug)]
enum HandshakeState {
    /// This process has called, and awaits the challenge.
    Called(Caller),
    /// This process has proven itself, and awaits the other end's proof.
    Proven(Finish),
    /// Somebody has connected, and its call is awaited.
    Silent,
    /// The other end was challenged, and its proof is awaited.
    Challenged(Callee, Greeting),
    /// The handshake is over.
    Over,
}

/// One end of a handshake. Does no input or output.
#[derive(Debug)]
pub(crate) struct Handshake {
    state: HandshakeState,
    /// What has arrived of the next message.
    bytes: [u8; CALL],
    len: usize,
}

/// What a message of the other end leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A caller has greeted soundly; this is to be sent if it is welcome.
    Challenge(Greeting, Vec<u8>),
    /// The callee has challenged; this is to be sent.
    Prove([u8; TAG]),
    /// A caller has proven itself; this is to be sent, and packets may follow.
    Welcome(Greeting, [u8; TAG]),
    /// The callee has proven itself: packets may follow.
    Open,
}

impl Handshake {
    /// Of the process that calls; gives the first message.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn call(greeting: Greeting, secret: &Secret) -> std::io::Result<(Handshake, Vec<u8>)> {
        let (caller, call) = Caller::call(PROTOCOL, secret, &greeting.encode())?;
        Ok((Handshake::new(HandshakeState::Called(caller)), call))
    }

    /// Of the process that is called.
    pub fn await_call() -> Handshake {
        Handshake::new(HandshakeState::Silent)
    }

    fn new(state: HandshakeState) -> Handshake {
        Handshake {
            state,
            bytes: [0; CALL],
            len: 0,
        }
    }

    /// Whether this process has called and proven itself: the other end may take packets from now
    /// on, and awaits none before.
    pub fn has_proven(&self) -> bool {
        matches!(self.state, HandshakeState::Proven(_))
    }

    /// Bytes of the message that is awaited.
    fn awaited(&self) -> usize {
        match self.state {
            HandshakeState::Silent => CALL,
            HandshakeState::Called(_) => CHALLENGE,
            HandshakeState::Proven(_) | HandshakeState::Challenged(..) => TAG,
            HandshakeState::Over => 0,
        }
    }

    /// Room for the rest of the message that is awaited.
    pub fn room(&mut self) -> &mut [u8] {
        let awaited = self.awaited();
        &mut self.bytes[self.len..awaited]
    }

    /// Takes `len` bytes that have arrived in its room; tells what is to be done if
    /// the message is whole.
    ///
    /// # Errors
    /// [`Refused`]; nothing is to be sent then.
    pub fn take(&mut self, len: usize, secret: &Secret) -> Result<Option<Step>, Refused> {
        self.len += len;
        let whole = self.awaited();
        if self.len < whole {
            return Ok(None);
        }
        self.len = 0;
        let message = &self.bytes[..whole];
        let tag = || <[u8; TAG]>::try_from(message).map_err(|_| Refused::Short);
        let (state, step) = match std::mem::replace(&mut self.state, HandshakeState::Over) {
            HandshakeState::Silent => {
                let greeting = parse(message)?;
                let (callee, nonce) = Callee::answer(PROTOCOL, secret, message)?;
                let challenge = [&MAGIC.to_le_bytes()[..], &nonce].concat();
                let state = HandshakeState::Challenged(callee, greeting);
                (state, Step::Challenge(greeting, challenge))
            }
            HandshakeState::Called(caller) => {
                let (finish, proof) = caller.prove(&parse_challenge(message)?);
                (HandshakeState::Proven(finish), Step::Prove(proof))
            }
            HandshakeState::Challenged(callee, greeting) => {
                let welcome = callee.welcome(&tag()?)?;
                (HandshakeState::Over, Step::Welcome(greeting, welcome))
            }
            HandshakeState::Proven(finish) => {
                finish.finish(&tag()?)?;
                (HandshakeState::Over, Step::Open)
            }
            HandshakeState::Over => return Ok(None),
        };
        self.state = state;
        Ok(Some(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GREETING: Greeting = Greeting {
        from: ProcessName { job: 4, rank: 1 },
        to: ProcessName { job: 5, rank: 2 },
        packet: 3,
    };

    fn secret(n: u8) -> Secret {
        Secret::from_bytes([n; 32])
    }

    /// Hands a message over, in pieces of `piece` bytes.
    fn hand(
        to: &mut Handshake,
        mut message: &[u8],
        piece: usize,
        secret: &Secret,
    ) -> Result<Option<Step>, Refused> {
        let mut step = None;
        while !message.is_empty() {
            let room = to.room();
            let n = piece.min(message.len()).min(room.len());
            assert!(n > 0, "the message is longer than what is awaited");
            room[..n].copy_from_slice(&message[..n]);
            message = &message[n..];
            step = to.take(n, secret)?;
        }
        Ok(step)
    }

    #[test]
    fn both_ends_open_whatever_the_pieces() {
        for piece in [1, 7, 100] {
            let (mut caller, call) = Handshake::call(GREETING, &secret(1)).expect("random");
            let mut callee = Handshake::await_call();
            let said = hand(&mut callee, &call, piece, &secret(1));
            let Ok(Some(Step::Challenge(GREETING, challenge))) = said else {
                panic!("{said:?}");
            };
            let said = hand(&mut caller, &challenge, piece, &secret(1));
            let Ok(Some(Step::Prove(proof))) = said else {
                panic!("{said:?}");
            };
            let said = hand(&mut callee, &proof, piece, &secret(1));
            let Ok(Some(Step::Welcome(GREETING, welcome))) = said else {
                panic!("{said:?}");
            };
            let said = hand(&mut caller, &welcome, piece, &secret(1));
            assert_eq!(said, Ok(Some(Step::Open)));
        }
    }

    #[test]
    fn a_wrong_secret_a_wrong_version_and_no_greeting_are_told_apart() {
        let (_, call) = Handshake::call(GREETING, &secret(2)).expect("random");
        let refused = |call: &[u8]| hand(&mut Handshake::await_call(), call, 9, &secret(1));
        assert_eq!(refused(&call), Err(Refused::Unauthenticated));
        let mut old = call.clone();
        old[3] = 1;
        assert_eq!(refused(&old), Err(Refused::Version));
        let http =
            b"GET / HTTP/1.1\r\nHost: here\r\nUser-Agent: somebody who only looks around a little\r\n\r\n";
        assert_eq!(refused(&http[..CALL]), Err(Refused::Version));
        let (mut caller, _) = Handshake::call(GREETING, &secret(1)).expect("random");
        let said = hand(&mut caller, &http[..CHALLENGE], 9, &secret(1));
        assert_eq!(said, Err(Refused::Version));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(greeting) = parse(&bytes) {
                prop_assert_eq!(&greeting.encode()[..], &bytes[..FACTS]);
            }
            if parse_challenge(&bytes).is_ok() {
                prop_assert_eq!(bytes.len(), CHALLENGE);
            }
            let mut callee = Handshake::await_call();
            let said = hand(&mut callee, &bytes[..bytes.len().min(CALL)], 5, &secret(1));
            prop_assert!(!matches!(said, Ok(Some(_))), "a stranger is told nothing");
        }
    }
}
