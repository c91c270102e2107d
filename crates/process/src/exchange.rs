//! The launcher as the exchange of address records that the networks need.

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

use catena_boot::Boot;
use catena_fabric::Peer;
use catena_net::Exchange;

/// The connection to the launcher, which the process and its networks share.
pub type SharedBoot = Rc<RefCell<Box<dyn Boot>>>;

/// Under which key the launcher keeps the address records.
const KEY: &str = "link";

/// Address records are exchanged through the launcher. Networks join the processes of
/// one job, whose peers are their ranks.
pub(crate) struct ThroughLauncher(pub SharedBoot);

impl Exchange for ThroughLauncher {
    fn host_of(&self, process: Peer) -> String {
        self.0.borrow().job().host_of(process.0).to_string()
    }

    fn node_of(&self, process: Peer) -> u32 {
        self.0.borrow().job().node_of[process.0 as usize]
    }

    fn publish(&mut self, record: &[u8]) -> Result<(), String> {
        let mut boot = self.0.borrow_mut();
        boot.publish(KEY, record).map_err(|e| e.to_string())
    }

    fn ask(&mut self, process: Peer) -> Result<Option<Vec<u8>>, String> {
        // Somebody may be looking at the job: the networks ask again.
        let Ok(mut boot) = self.0.try_borrow_mut() else {
            return Ok(None);
        };
        let job = boot.job().job_id;
        boot.ask(job, process.0, KEY).map_err(|e| e.to_string())
    }

    fn descriptor(&self) -> Option<RawFd> {
        self.0.borrow().descriptor()
    }

    fn begin_fence(&mut self) -> Result<(), String> {
        self.0.borrow_mut().begin_fence().map_err(|e| e.to_string())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        self.0.borrow_mut().fence_done().map_err(|e| e.to_string())
    }
}
