//! The choice of the backend.

use crate::client::Client;
use crate::direct::{self, Direct};
use crate::singleton::Singleton;
use crate::{BOOT_VAR, Boot, BootError, SINGLETON, alias, foreign, within};

/// Connects this process to whoever started it.
///
/// # Errors
/// See [`BootError`]: each says the cause and what to do.
pub fn open() -> Result<Box<dyn Boot>, BootError> {
    if SINGLETON.get() {
        return Ok(Box::new(Singleton::new()));
    }
    let env = |name: &str| std::env::var(name).ok();
    if let Some(place) = env(BOOT_VAR).filter(|_| !within::is_started_within(env)) {
        return Ok(Box::new(Client::connect(&place)?));
    }
    let offers = direct::offers(env);
    if !offers.is_empty() {
        return Ok(Box::new(Direct::open(&offers, env)?));
    }
    match foreign::detect(alias::without(env)) {
        Some(foreign) => Err(BootError::Foreign(foreign)),
        None => Ok(Box::new(Singleton::new())),
    }
}
