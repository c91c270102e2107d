//! A process that was started by nobody: a job of one.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use crate::{Boot, BootError, Job, sys};

/// The backend of a singleton: everything stays in this process.
#[derive(Debug)]
pub struct Singleton {
    job: Job,
    puts: HashMap<String, Vec<u8>>,
    fenced: HashMap<String, Vec<u8>>,
    in_fence: bool,
}

impl Singleton {
    /// At once, without a daemon.
    pub fn new() -> Singleton {
        let job = Job::singleton(sys::host_name(), crate::available_cpus());
        Singleton {
            job,
            puts: HashMap::new(),
            fenced: HashMap::new(),
            in_fence: false,
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

    fn take_segment(&mut self) -> Result<Option<OwnedFd>, BootError> {
        Ok(None)
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
        Ok(())
    }

    fn ask(&mut self, job: u64, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        self.job.check_own(job)?;
        self.get(rank, key)
    }

    fn abort(&mut self, _code: i32, message: &str) {
        sys::flush_streams();
        eprintln!("{message}");
    }

    fn finalize(&mut self) -> Result<(), BootError> {
        Ok(())
    }

    fn resume(&mut self) -> Result<(), BootError> {
        Ok(())
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
        assert_eq!(boot.ask(0, 0, "p").unwrap(), None);
        boot.publish("p", b"q").unwrap();
        assert_eq!(boot.ask(0, 0, "p").unwrap().as_deref(), Some(&b"q"[..]));
        boot.finalize().unwrap();
    }
}
