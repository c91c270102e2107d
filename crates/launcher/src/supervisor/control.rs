//! Those who ask this launcher something from outside, one after the other: each says a line, and
//! gets lines back.
//!
//! Either end asks the kernel who the other one is, and only the job's owner, or root, is heard
//! (`crate::elastic`). Nobody is waited for who does not read: the next one who is answered takes
//! the place of one who has not read all.

use std::io::{self, Read, Write};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use catena_boot::{Interest, Poller};

use super::token;
use crate::elastic::{self, LONGEST};

/// What a poller calls those of one socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Those who come.
    pub listener: u64,
    /// The one that is served.
    pub caller: u64,
    /// The one that reads its answer.
    pub reader: u64,
}

/// Those who want the job to grow or shrink.
pub const CHANGES: Tokens = Tokens {
    listener: token::CONTROL,
    caller: token::CONTROL + 1,
    reader: token::CONTROL + 2,
};

/// Those who want to know what the job does.
pub const QUESTIONS: Tokens = Tokens {
    listener: token::QUESTIONS,
    caller: token::QUESTIONS + 1,
    reader: token::QUESTIONS + 2,
};

/// A socket for those who ask.
#[derive(Debug)]
pub struct Control {
    tokens: Tokens,
    listener: UnixListener,
    /// Who asks: one is served at a time.
    caller: Option<UnixStream>,
    /// What it has said.
    said: Vec<u8>,
    /// The connection that is reading its answer, and what is left of the answer.
    reader: Option<(UnixStream, Vec<u8>)>,
}

impl Control {
    /// Begins to listen.
    ///
    /// # Errors
    /// If the system does not let this process.
    pub fn open(address: &SocketAddr, tokens: Tokens, poller: &Poller) -> io::Result<Control> {
        let listener = UnixListener::bind_addr(address)?;
        listener.set_nonblocking(true)?;
        poller.add(&listener, tokens.listener, Interest::Read)?;
        Ok(Control {
            tokens,
            listener,
            caller: None,
            said: Vec::new(),
            reader: None,
        })
    }

    /// Whether that is one of its tokens.
    pub fn has(&self, ready: u64) -> bool {
        let Tokens {
            listener,
            caller,
            reader,
        } = self.tokens;
        [listener, caller, reader].contains(&ready)
    }

    /// Somebody comes, or says more: its line, without its end, once all of it was said. It waits
    /// for [`Control::answer`] then.
    pub fn hear(&mut self, ready: u64, poller: &Poller) -> Option<String> {
        if ready == self.tokens.listener {
            self.accept(poller);
            return None;
        }
        if ready == self.tokens.reader {
            self.pass(poller);
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
        if is_sound
            && poller
                .add(&caller, self.tokens.caller, Interest::Read)
                .is_ok()
        {
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
        let text = match answer {
            Ok(text) => format!("+{text}\n"),
            Err(text) => format!("-{text}\n"),
        };
        if let Some((reader, _)) = self.reader.take() {
            let _ = poller.remove(&reader);
        }
        let caller = self.caller.take();
        self.dismiss(poller);
        if let Some(caller) = caller
            && poller
                .add(&caller, self.tokens.reader, Interest::Write)
                .is_ok()
        {
            self.reader = Some((caller, text.into()));
            self.pass(poller);
        }
    }

    /// Gives who reads as much of its answer as it takes.
    fn pass(&mut self, poller: &Poller) {
        let Some((reader, rest)) = &mut self.reader else {
            return;
        };
        let is_over = loop {
            match reader.write(rest) {
                Ok(n) => _ = rest.drain(..n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error.kind() != io::ErrorKind::WouldBlock,
            }
            if rest.is_empty() {
                break true;
            }
        };
        if is_over {
            let _ = poller.remove(&*reader);
            self.reader = None;
        }
    }

    /// The next one may come.
    fn dismiss(&mut self, poller: &Poller) {
        if let Some(caller) = self.caller.take() {
            let _ = poller.remove(&caller);
        }
        let listener = self.tokens.listener;
        let _ = poller.add(&self.listener, listener, Interest::Read);
        self.said.clear();
    }
}
