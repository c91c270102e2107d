//! A process that was started by nobody: a job of one.
//!
//! It needs no launcher until it spawns or connects. Then it starts one of its own
//! (`server`), whose first job it is.

use std::collections::HashMap;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use crate::client::Client;
use crate::{Boot, BootError, Job, Jobs, own_server, sys};

/// The backend of a singleton: everything stays in this process.
#[derive(Debug)]
pub struct Singleton {
    job: Job,
    puts: HashMap<String, Vec<u8>>,
    fenced: HashMap<String, Vec<u8>>,
    in_fence: bool,
    /// The connection to the launcher of its own.
    client: Option<Client>,
    /// Whether the process needs the others no more.
    finalized: bool,
}

impl Singleton {
    /// At once, without a daemon.
    pub fn new() -> Singleton {
        let cpus = crate::available_cpus();
        let mut job = Job::singleton(sys::host_name(), cpus);
        job.universe_size = cpus;
        let mut random = [0; 8];
        if sys::random(&mut random).is_ok() {
            job.job_id = u64::from_le_bytes(random);
        }
        Singleton {
            job,
            puts: HashMap::new(),
            fenced: HashMap::new(),
            in_fence: false,
            client: None,
            finalized: false,
        }
    }
}

impl Boot for Singleton {
    fn job(&self) -> &Job {
        &self.job
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("wire-up", "none: a process of its own".to_string())]
    }

    fn segment(&self) -> Option<BorrowedFd<'_>> {
        self.client.as_ref()?.segment()
    }

    fn take_segment(&mut self) -> Result<Option<OwnedFd>, BootError> {
        match &mut self.client {
            Some(client) => client.take_segment(),
            None => Ok(None),
        }
    }

    fn jobs(&mut self) -> Option<&mut dyn Jobs> {
        self.client.as_mut().map(|client| client as &mut dyn Jobs)
    }

    fn begin_jobs(&mut self) -> Result<(), BootError> {
        if self.client.is_none() {
            let mut client = own_server::start(self.job.job_id)?;
            for (key, value) in &self.fenced {
                client.publish(key, value)?;
            }
            if self.finalized {
                own_server::set_finalized(true);
                client.finalize()?;
            }
            self.client = Some(client);
        }
        Ok(())
    }

    fn ancestor(&self) -> Option<u32> {
        self.client.as_ref().and_then(Client::ancestor)
    }

    fn descriptor(&self) -> Option<RawFd> {
        self.client.as_ref().and_then(Client::descriptor)
    }

    fn fault(&mut self, message: &str) {
        self.client
            .iter_mut()
            .for_each(|client| client.fault(message));
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        crate::client::check_length(key, value)?;
        self.puts.insert(key.to_string(), value.to_vec());
        Ok(())
    }

    fn begin_fence(&mut self) -> Result<(), BootError> {
        if std::mem::replace(&mut self.in_fence, true) {
            return Err(BootError::Fence);
        }
        self.fenced.extend(self.puts.drain());
        Ok(())
    }

    fn fence_done(&mut self) -> Result<bool, BootError> {
        self.end_fence()?;
        Ok(true)
    }

    fn end_fence(&mut self) -> Result<(), BootError> {
        if std::mem::replace(&mut self.in_fence, false) {
            Ok(())
        } else {
            Err(BootError::Fence)
        }
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        match rank {
            0 => Ok(self.fenced.get(key).cloned()),
            _ => Err(BootError::NoSuchRank { rank, size: 1 }),
        }
    }

    fn publish(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        crate::client::check_length(key, value)?;
        self.fenced.insert(key.to_string(), value.to_vec());
        // Processes of other jobs ask its launcher.
        let client = self.client.as_mut();
        client.map_or(Ok(()), |client| client.publish(key, value))
    }

    fn ask(&mut self, job: u64, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        if let Some(client) = self.client.as_mut().filter(|_| job != self.job.job_id) {
            return client.ask(job, rank, key);
        }
        self.job.check_own(job)?;
        self.get(rank, key)
    }

    fn abort(&mut self, code: i32, message: &str) {
        match &mut self.client {
            Some(client) => {
                client.abort(code, message);
                own_server::leave();
            }
            None => {
                sys::flush_streams();
                catena_base::tell!("{message}");
            }
        }
    }

    fn finalize(&mut self) -> Result<(), BootError> {
        self.finalized = true;
        own_server::set_finalized(true);
        self.client.as_mut().map_or(Ok(()), Client::finalize)
    }

    fn resume(&mut self) -> Result<(), BootError> {
        self.finalized = false;
        own_server::set_finalized(false);
        self.client.as_mut().map_or(Ok(()), Client::resume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_appear_with_the_fence() {
        let mut boot = Singleton::new();
        assert_eq!((boot.job().rank, boot.job().size), (0, 1));
        assert_eq!(boot.job().host(), sys::host_name());
        boot.put("k", b"v").unwrap();
        assert_eq!(boot.get(0, "k").unwrap(), None);
        boot.fence().unwrap();
        assert_eq!(boot.get(0, "k").unwrap().as_deref(), Some(&b"v"[..]));
        assert!(matches!(
            boot.get(1, "k"),
            Err(BootError::NoSuchRank { rank: 1, size: 1 })
        ));
        assert!(matches!(boot.fence_done(), Err(BootError::Fence)));
        let job = boot.job().job_id;
        assert_eq!(boot.ask(job, 0, "p").unwrap(), None);
        boot.publish("p", b"q").unwrap();
        assert_eq!(boot.ask(job, 0, "p").unwrap().as_deref(), Some(&b"q"[..]));
        boot.finalize().unwrap();
    }
}
