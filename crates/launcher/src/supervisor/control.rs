//! Those who ask this launcher something from outside, one after the other: each says a line, and
//! gets one back.
//!
//! Either end asks the kernel who the other one is, and only the job's owner, or root, is heard
//! (`crate::elastic`).

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use catena_boot::{Interest, Poller};

use super::token;
use crate::elastic::{self, LONGEST};
use crate::sys;

/// A socket for those who ask.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    /// Who asks: one is served at a time.
    caller: Option<UnixStream>,
    /// What it has said.
    said: Vec<u8>,
}

impl Control {
    /// Begins to listen.
    ///
    /// # Errors
    /// If the system does not let this process.
    pub fn open(poller: &Poller) -> io::Result<Control> {
        let address = elastic::address(sys::user(), std::process::id())?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        poller.add(&listener, token::CONTROL, Interest::Read)?;
        Ok(Control {
            listener,
            caller: None,
            said: Vec::new(),
        })
    }

    /// Somebody comes, or says more: its line, without its end, once all of it was said. It waits
    /// for [`Control::answer`] then.
    pub fn hear(&mut self, ready: u64, poller: &Poller) -> Option<String> {
        if ready == token::CONTROL {
            self.accept(poller);
            return None;
        }
        let caller = self.caller.as_mut()?;
        let mut bytes = [0; LONGEST];
        match caller.read(&mut bytes) {
            Ok(n) if n > 0 && self.said.len() + n <= LONGEST => {
                self.said.extend_from_slice(&bytes[..n]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            // It is gone, or talks nonsense. What is being done for it is done all the same.
            _ => {
                self.dismiss(poller);
                return None;
            }
        }
        let end = self.said.iter().position(|&byte| byte == b'\n')?;
        // It says no more.
        let _ = poller.remove(&*caller);
        Some(String::from_utf8_lossy(&self.said[..end]).into_owned())
    }

    fn accept(&mut self, poller: &Poller) {
        let Ok((caller, _)) = self.listener.accept() else {
            return;
        };
        let is_sound = elastic::is_trusted(&caller) && caller.set_nonblocking(true).is_ok();
        if is_sound && poller.add(&caller, token::CALLER, Interest::Read).is_ok() {
            // The others wait until this one is served.
            let _ = poller.remove(&self.listener);
            self.caller = Some(caller);
        }
    }

    /// Whether somebody waits for an answer, or has not said all yet.
    pub fn has_caller(&self) -> bool {
        self.caller.is_some()
    }

    /// Answers: what was done, or why nothing was. The next one may come.
    pub fn answer(&mut self, answer: Result<String, String>, poller: &Poller) {
        let line = match answer {
            Ok(text) => format!("+{text}\n"),
            Err(text) => format!("-{text}\n"),
        };
        if let Some(caller) = &mut self.caller {
            // One that is gone does not hear it.
            let _ = caller.write_all(line.as_bytes());
        }
        self.dismiss(poller);
    }

    /// The next one may come.
    fn dismiss(&mut self, poller: &Poller) {
        if let Some(caller) = self.caller.take() {
            let _ = poller.remove(&caller);
            let _ = poller.add(&self.listener, token::CONTROL, Interest::Read);
        }
        self.said.clear();
    }
}
