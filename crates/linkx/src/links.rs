//! What is linked: `FI_LINKX_LINKS`, and the secret that those who link up know.

use catena_net::Chain;
use catena_proof::Secret;

/// The last link if nobody says which: shared memory and TCP.
const DEFAULT: &str = "shm+tcp";

/// Names the links: transports joined by `+`, links separated by `|`.
const LINKS: &str = "FI_LINKX_LINKS";
/// Names the secret, 64 hexadecimal digits.
const SECRET: &str = "FI_LINKX_SECRET";

/// The links that are offered: those that the environment names, or `found` ones and the default.
///
/// # Errors
/// What is wrong with what the environment says, and what to write instead.
pub fn offered(found: impl FnOnce() -> Vec<String>) -> Result<Vec<String>, String> {
    match std::env::var(LINKS) {
        Ok(text) => parse(&text).map_err(|why| format!("{LINKS}={text}: {why}")),
        Err(_) => {
            let default = [DEFAULT.to_string()];
            Ok(found().into_iter().chain(default).collect())
        }
    }
}

fn parse(text: &str) -> Result<Vec<String>, String> {
    let one = |link: &str| {
        let link = link.trim();
        match link.is_empty() {
            true => Err("a link is missing, as in shm+tcp|shm+cxi".to_string()),
            false => chain(link).map(|_| link.to_string()),
        }
    };
    text.split('|').map(one).collect()
}

/// The transports of a link.
///
/// # Errors
/// What is wrong with it.
pub fn chain(link: &str) -> Result<Chain, String> {
    Chain::parse(link)
}

/// The secret of an endpoint: its authorization key, what the environment says, or none that is
/// worth the name: then whoever reaches the port of its network can send to it, as with libfabric's
/// own providers for TCP.
///
/// # Errors
/// What is wrong with what the environment says.
pub fn secret(key: &[u8]) -> Result<Secret, String> {
    if !key.is_empty() {
        return Ok(from_key(key));
    }
    match std::env::var(SECRET) {
        Ok(text) => Secret::from_hex(&text)
            .ok_or_else(|| format!("{SECRET} is to have {} hexadecimal digits", 2 * LEN)),
        Err(_) => Ok(from_key(b"linkx")),
    }
}

/// Bytes of a secret.
const LEN: usize = std::mem::size_of::<Secret>();

/// The secret that a key is: all of its bytes count.
fn from_key(key: &[u8]) -> Secret {
    let mut bytes = [0u8; LEN];
    for (at, byte) in key.iter().enumerate() {
        let to = &mut bytes[at % LEN];
        *to = to.rotate_left(3) ^ byte;
    }
    Secret::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read() {
        let names = |text: &str| parse(text).expect("good links");
        assert_eq!(names("shm+tcp"), ["shm+tcp"]);
        assert_eq!(
            names("shm + tcp;ofi_rxm | tcp"),
            ["shm + tcp;ofi_rxm", "tcp"]
        );
        let error = parse("shm+tpc").expect_err("there is no such transport");
        assert!(error.contains("did you mean tcp?"), "{error}");
        assert!(parse("shm||tcp").is_err() && parse("").is_err());
    }

    #[test]
    fn keys_are_secrets() {
        let [one, two] = ["one", "two"].map(|key| from_key(key.as_bytes()));
        assert_ne!(one.bytes(), two.bytes());
        assert_eq!(one.bytes(), from_key(b"one").bytes());
        let [long, longer] = [40, 41].map(|len| from_key(&vec![7; len]));
        assert_ne!(long.bytes(), longer.bytes());
    }
}
