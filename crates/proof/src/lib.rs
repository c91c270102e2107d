//! Row 0: how two ends of a connection prove to each other that they belong to the
//! same job: both know its [`Secret`], and neither sends it.
//!
//! ```text
//! caller → callee   facts ‖ nonce of the caller (16) ‖ tag "call" (32)
//! callee → caller   nonce of the callee (16)
//! caller → callee   tag "caller" (32)
//! callee → caller   tag "callee" (32)
//! ```
//!
//! Facts are what the protocol says in the clear: its version, who calls, whom,
//! in which job. A tag is the HMAC-SHA-256, under the secret, of its own name,
//! the name of the protocol, the facts and the nonces that are known by then, each
//! behind its length. So a tag is worth nothing in the other direction
//! (reflection), between other ends or in another protocol (the facts differ),
//! and in another connection (the nonces differ). The first tag can be recorded
//! and sent again: it proves nothing and opens nothing, but a caller that has neither the
//! secret nor a record is told nothing at all, not even a nonce.
//!
//! [`Door`] bounds what callers cost that have proven nothing yet.
//!
//! # Examples
//! ```
//! use catena_proof::{Callee, Caller, Protocol, Secret};
//!
//! const PROTOCOL: Protocol = Protocol("an example");
//! let secret = Secret::random()?;
//! let (caller, call) = Caller::call(PROTOCOL, &secret, b"1 calls 2")?;
//! let (callee, challenge) = Callee::answer(PROTOCOL, &secret, &call)?;
//! let (caller, proof) = caller.prove(&challenge);
//! let welcome = callee.welcome(&proof)?;
//! caller.finish(&welcome)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod door;
mod shake;

use std::fmt;
use std::io;

pub use door::Door;
pub use shake::{CALL, Callee, Caller, Finish, NONCE, Protocol, TAG, Unauthenticated, facts};

/// Bytes of a secret.
pub const SECRET: usize = 32;

/// Fills memory with random bytes of the kernel's.
///
/// # Errors
/// If the system has none.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(io::Error::from)
}

/// What all processes of a job know, and nobody else: 256 random bits. It is
/// never shown, and it is no part of any name.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; SECRET]);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> io::Result<Secret> {
        let mut bytes = [0; SECRET];
        random(&mut bytes)?;
        Ok(Secret(bytes))
    }

    /// The one with these bytes.
    pub fn from_bytes(bytes: [u8; SECRET]) -> Secret {
        Secret(bytes)
    }

    /// Its bytes: only for those who are to know it.
    pub fn bytes(&self) -> &[u8; SECRET] {
        &self.0
    }

    /// Its bytes as hexadecimal digits: only for those who are to know it.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads what [`Secret::to_hex`] wrote.
    pub fn from_hex(text: &str) -> Option<Secret> {
        let digits = text.as_bytes();
        if digits.len() != 2 * SECRET {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let mut bytes = [0; SECRET];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(Secret(bytes))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_differ_and_are_not_shown() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(format!("{one:?}"), "Secret(..)");
        assert_ne!(one.derive("a"), one.derive("b"));
        assert_ne!(one.derive("a"), other.derive("a"));
        assert_eq!(one.derive("a"), one.clone().derive("a"));
    }

    proptest! {
        #[test]
        fn secrets_survive_as_text(bytes: [u8; SECRET]) {
            let secret = Secret::from_bytes(bytes);
            prop_assert_eq!(Secret::from_hex(&secret.to_hex()), Some(secret));
        }

        #[test]
        fn other_text_is_no_secret(text in "[0-9a-fg ü]{0,70}") {
            if let Some(secret) = Secret::from_hex(&text) {
                prop_assert_eq!(secret.to_hex(), text);
            }
        }
    }
}
