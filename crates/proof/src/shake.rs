//! The two ends of a handshake. Nothing here does input or output.

use std::fmt;
use std::io;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{Secret, random};

/// Bytes of a nonce.
pub const NONCE: usize = 16;
/// Bytes of a tag.
pub const TAG: usize = 32;
/// Bytes of a call behind its facts.
pub const CALL: usize = NONCE + TAG;

/// Name of a protocol: what is proven in one counts in no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(pub &'static str);

/// The other end has not proven that it knows the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unauthenticated;

impl fmt::Display for Unauthenticated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it does not know the secret of this job")
    }
}

impl std::error::Error for Unauthenticated {}

/// The facts of a call, without which it is none.
pub fn facts(call: &[u8]) -> Option<&[u8]> {
    Some(call.split_last_chunk::<CALL>()?.0)
}

impl Secret {
    /// Another one, which follows from this one and the name of what it is for, and does not give
    /// this one away. No tag is one: those hash more.
    pub fn derive(&self, name: &str) -> Secret {
        let mut hash =
            <Hmac<Sha256> as KeyInit>::new_from_slice(self.bytes()).expect("keys of any length");
        hash.update(name.as_bytes());
        Secret::from_bytes(hash.finalize().into_bytes().into())
    }

    /// The tag of facts in a protocol, for those whose messages are not one connection's: whoever
    /// has it has got it from one that knows the secret. The facts say all that the tag is to count
    /// for: who says it, to whom, and the nonces of both.
    ///
    /// # Examples
    /// ```
    /// use catena_proof::{Protocol, Secret};
    ///
    /// let (secret, protocol) = (Secret::from_bytes([3; 32]), Protocol("an example"));
    /// let tag = secret.tag(protocol, "hello", b"1 to 2");
    /// assert!(secret.check_tag(protocol, "hello", b"1 to 2", &tag).is_ok());
    /// assert!(secret.check_tag(protocol, "hello", b"2 to 1", &tag).is_err());
    /// ```
    pub fn tag(&self, protocol: Protocol, name: &str, facts: &[u8]) -> [u8; TAG] {
        Said::new(protocol, self, facts).tag(name)
    }

    /// Whether a tag is what [`Secret::tag`] gives, in a time that does not depend on where the two
    /// differ.
    ///
    /// # Errors
    /// [`Unauthenticated`] if it is not.
    pub fn check_tag(
        &self,
        protocol: Protocol,
        name: &str,
        facts: &[u8],
        tag: &[u8; TAG],
    ) -> Result<(), Unauthenticated> {
        Said::new(protocol, self, facts).check(name, tag)
    }
}

/// The keyed hash so far, of a protocol and what both ends have said.
#[derive(Clone)]
struct Said {
    protocol: Protocol,
    secret: Secret,
    all: Vec<u8>,
}

impl Said {
    fn new(protocol: Protocol, secret: &Secret, facts: &[u8]) -> Said {
        let mut said = Said {
            protocol,
            secret: secret.clone(),
            all: Vec::with_capacity(facts.len() + 2 * NONCE + 24),
        };
        said.add(facts);
        said
    }

    fn add(&mut self, part: &[u8]) {
        self.all
            .extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.all.extend_from_slice(part);
    }

    /// The hash that becomes the tag of this name.
    fn hash(&self, name: &str) -> Hmac<Sha256> {
        let mut hash = <Hmac<Sha256> as KeyInit>::new_from_slice(self.secret.bytes())
            .expect("keys of any length");
        for part in [name, self.protocol.0] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(&self.all);
        hash
    }

    fn tag(&self, name: &str) -> [u8; TAG] {
        self.hash(name).finalize().into_bytes().into()
    }

    /// Compares in a time that does not depend on where the tags differ.
    fn check(&self, name: &str, tag: &[u8; TAG]) -> Result<(), Unauthenticated> {
        self.hash(name)
            .verify_slice(tag)
            .map_err(|_| Unauthenticated)
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Said({})", self.protocol.0)
    }
}

/// The end that calls, until it is challenged.
#[derive(Debug)]
pub struct Caller(Said);

impl Caller {
    /// Begins with these facts; gives the call.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn call(
        protocol: Protocol,
        secret: &Secret,
        facts: &[u8],
    ) -> io::Result<(Caller, Vec<u8>)> {
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        let mut said = Said::new(protocol, secret, facts);
        said.add(&nonce);
        let call = [facts, &nonce, &said.tag("call")].concat();
        Ok((Caller(said), call))
    }

    /// Answers the challenge; gives the proof.
    pub fn prove(mut self, challenge: &[u8; NONCE]) -> (Finish, [u8; TAG]) {
        self.0.add(challenge);
        let proof = self.0.tag("caller");
        (Finish(self.0), proof)
    }
}

/// The end that calls, when it has proven that it knows the secret.
#[derive(Debug)]
pub struct Finish(Said);

impl Finish {
    /// Checks the other end's proof.
    ///
    /// # Errors
    /// [`Unauthenticated`]: the callee is a stranger.
    pub fn finish(self, welcome: &[u8; TAG]) -> Result<(), Unauthenticated> {
        self.0.check("callee", welcome)
    }
}

/// The end that is called, when it has challenged.
#[derive(Debug)]
pub struct Callee(Said);

impl Callee {
    /// Answers a call; gives the challenge. Its [`facts`] are the caller's to
    /// check.
    ///
    /// # Errors
    /// [`Unauthenticated`] if the call is none of this job's; then nothing is to be said.
    pub fn answer(
        protocol: Protocol,
        secret: &Secret,
        call: &[u8],
    ) -> Result<(Callee, [u8; NONCE]), Unauthenticated> {
        let (facts, rest) = call.split_last_chunk::<CALL>().ok_or(Unauthenticated)?;
        let (nonce, tag) = rest.split_at(NONCE);
        let mut said = Said::new(protocol, secret, facts);
        said.add(nonce);
        said.check("call", tag.try_into().map_err(|_| Unauthenticated)?)?;
        let mut challenge = [0; NONCE];
        // Without a challenge that nobody can guess, nobody is let in.
        random(&mut challenge).map_err(|_| Unauthenticated)?;
        said.add(&challenge);
        Ok((Callee(said), challenge))
    }

    /// Checks the caller's proof; gives this end's own.
    ///
    /// # Errors
    /// [`Unauthenticated`]: the caller is a stranger; then nothing is to be said.
    pub fn welcome(self, proof: &[u8; TAG]) -> Result<[u8; TAG], Unauthenticated> {
        self.0.check("caller", proof)?;
        Ok(self.0.tag("callee"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECRET;
    use proptest::prelude::*;

    const PROTOCOL: Protocol = Protocol("test");
    const FACTS: &[u8] = b"rank 1 calls rank 0 of job 7";

    fn secret(n: u8) -> Secret {
        Secret::from_bytes([n; SECRET])
    }

    fn call(of: &Secret) -> (Caller, Vec<u8>) {
        Caller::call(PROTOCOL, of, FACTS).expect("random numbers")
    }

    #[test]
    fn two_that_know_the_secret_find_each_other() {
        let (caller, call) = call(&secret(1));
        assert_eq!(facts(&call), Some(FACTS));
        let (callee, challenge) = Callee::answer(PROTOCOL, &secret(1), &call).expect("a call");
        let (caller, proof) = caller.prove(&challenge);
        let welcome = callee.welcome(&proof).expect("a proof");
        assert_eq!(caller.finish(&welcome), Ok(()));
    }

    #[test]
    fn another_secret_or_protocol_or_fact_opens_nothing() {
        let (_, call) = call(&secret(1));
        assert!(Callee::answer(PROTOCOL, &secret(2), &call).is_err());
        assert!(Callee::answer(Protocol("tes"), &secret(1), &call).is_err());
        let swapped = [b"rank 0 calls rank 1 of job 7", &call[FACTS.len()..]].concat();
        assert!(Callee::answer(PROTOCOL, &secret(1), &swapped).is_err());
        // A byte of the nonce that is taken for one of the facts.
        let shifted = [&call[..FACTS.len() + 1], &call[FACTS.len() + 2..]].concat();
        assert!(Callee::answer(PROTOCOL, &secret(1), &shifted).is_err());
    }

    #[test]
    fn a_record_opens_nothing() {
        let (caller, call) = call(&secret(1));
        let (first, challenge) = Callee::answer(PROTOCOL, &secret(1), &call).expect("a call");
        let (_, proof) = caller.prove(&challenge);
        first.welcome(&proof).expect("a proof");
        let (again, _) = Callee::answer(PROTOCOL, &secret(1), &call).expect("the same call");
        assert_eq!(again.welcome(&proof).err(), Some(Unauthenticated));
    }

    #[test]
    fn a_reflection_opens_nothing() {
        let (caller, call) = call(&secret(1));
        let (callee, challenge) = Callee::answer(PROTOCOL, &secret(1), &call).expect("a call");
        let tag = call[call.len() - TAG..].try_into().expect("a tag");
        assert_eq!(callee.welcome(&tag).err(), Some(Unauthenticated));
        let (caller, proof) = caller.prove(&challenge);
        assert_eq!(caller.finish(&proof), Err(Unauthenticated), "its own proof");
    }

    #[test]
    fn a_callee_that_only_repeats_is_refused() {
        let (caller, call) = call(&secret(1));
        let nonce = call[FACTS.len()..FACTS.len() + NONCE]
            .try_into()
            .expect("a nonce");
        let (caller, proof) = caller.prove(&nonce);
        assert_eq!(caller.finish(&proof), Err(Unauthenticated));
    }

    proptest! {
        #[test]
        fn calls_of_any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Callee::answer(PROTOCOL, &secret(1), &bytes).is_err());
        }

        #[test]
        fn a_changed_bit_is_noticed(bit in 0usize..8 * (28 + CALL)) {
            let (_, mut call) = call(&secret(1));
            call[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Callee::answer(PROTOCOL, &secret(1), &call).is_err());
        }
    }
}
