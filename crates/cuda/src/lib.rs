//! Row 2: memory of CUDA devices, through the driver that the program has loaded.
//!
//! Catena loads no driver by itself, and starts none: a program that has memory on a device
//! has loaded `libcuda.so.1` before. Whether it has is looked at again whenever something was
//! loaded since, because many programs choose their device after `MPI_Init`.
//!
//! Copies have a stream of their own in the context of the memory. It waits for what was begun on
//! the default stream before, because a `cudaMemcpy` to a device may return before its data have
//! arrived. Whatever else writes a buffer has been waited for by who passes it to MPI.
//!
//! The device is registered where the host has one of CUDA. Until the program has loaded the driver
//! that costs a look at whether anything was loaded. Runs that are as long and as far apart as
//! each other are one copy ([`Rows`]), so a column of a matrix is one in each part.

mod driver;

use std::fs;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use catena_memory::{self as memory, Copy, CopyError, Device, Exported, Handle, Kind, Mark, Queue};
use catena_settings::{Setting, choice, setting};

use driver::Driver;

choice! {
    /// Whose devices' memory messages may lie in.
    pub enum DeviceMemory {
        /// CUDA's, where this host has a device of it.
        Auto = "auto",
        /// CUDA's.
        Cuda = "cuda",
        /// Nobody's: all memory is the host's.
        None = "none",
    }
}

setting! {
    /// Devices in whose memory buffers may lie.
    ///
    /// `auto` is `cuda` on hosts that have a device of CUDA, and `none` on others. Where it is not
    /// `none`, the driver, once the program has loaded it, is asked of memory that may be a
    /// device's: `none` spares a program that has no buffers on devices that time.
    pub static DEVICE_MEMORY: DeviceMemory = DeviceMemory::Auto;
    scope: Local,
    level: User,
}

setting! {
    /// Whether a receiver on the same host reads long messages from the sender's device.
    ///
    /// It opens the sender's memory (CUDA IPC), and the device makes one copy. Where that is not
    /// possible, and with `no`, messages go through memory of the host.
    pub static DEVICE_IPC: bool = true;
    scope: Local,
    level: User,
}

/// The settings of this crate.
pub static SETTINGS: &[&dyn Setting] = &[&DEVICE_MEMORY, &DEVICE_IPC];

/// What a host with a device of CUDA has: that of its driver, or of Windows' under a Linux that
/// Windows runs.
const NODES: [&str; 2] = ["/dev/nvidiactl", "/dev/dxg"];

/// Makes memory of CUDA known, if the settings and this host have it. To be called before the
/// library asks for kinds of memory.
pub fn start() {
    let has_device = || NODES.iter().any(|node| fs::exists(node).unwrap_or(false));
    let wanted = match DEVICE_MEMORY.get() {
        DeviceMemory::Auto => has_device(),
        DeviceMemory::Cuda => true,
        DeviceMemory::None => false,
    };
    if wanted && !memory::has(Kind::Cuda) {
        memory::register(&Cuda);
    }
}

/// All devices of CUDA together, whose addresses differ.
struct Cuda;

// SAFETY: what the driver says is on a device, it copies.
unsafe impl Device for Cuda {
    fn kind(&self) -> Kind {
        Kind::Cuda
    }

    fn may_have_memory(&self) -> bool {
        driver().is_some()
    }

    fn range(&self, at: *const u8) -> Option<Range<usize>> {
        driver()?.range(at)
    }

    unsafe fn begin(&self, copy: &Copy) -> Result<Queue, CopyError> {
        let driver = driver().ok_or(CopyError::NotThere)?;
        // SAFETY: the caller's promise.
        unsafe { driver.begin(copy) }
    }

    fn wait(&self, queue: Queue) -> Result<(), CopyError> {
        started().wait(queue)
    }

    fn mark(&self, queue: Queue) -> Result<Mark, CopyError> {
        started().mark(queue)
    }

    fn has_passed(&self, mark: Mark) -> Result<bool, CopyError> {
        started().has_passed(mark)
    }

    fn export(&self, at: *const u8) -> Option<Exported> {
        if !DEVICE_IPC.get() {
            return None;
        }
        driver()?.export(at)
    }

    fn is_still(&self, at: *const u8, id: u64) -> bool {
        driver().is_some_and(|driver| driver.buffer_id(at) == Some(id))
    }

    fn import(&self, handle: &Handle, near: *const u8) -> Result<*mut u8, CopyError> {
        let driver = driver().ok_or(CopyError::NotThere)?;
        driver.import(handle, near)
    }

    unsafe fn close(&self, at: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { started().close(at) }
    }
}

/// The driver, which has begun a copy or opened memory before.
fn started() -> &'static Driver {
    driver().expect("it has begun something")
}

/// The driver, once the program has loaded it.
fn driver() -> Option<&'static Driver> {
    /// None: it cannot be used.
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    /// How often anything had been loaded when there was no driver yet.
    static LOOKED: AtomicU64 = AtomicU64::new(0);

    if let Some(driver) = DRIVER.get() {
        return driver.as_ref();
    }
    let loads = catena_loader::loads();
    if LOOKED.load(Ordering::Relaxed) == loads {
        return None;
    }
    let found = Driver::loaded();
    // Only now: another thread that comes meanwhile looks for itself.
    LOOKED.store(loads, Ordering::Relaxed);
    let usable = |driver: Result<Driver, String>| {
        driver
            .inspect_err(|why| catena_base::tell!("catena: memory of CUDA is not used: {why}"))
            .ok()
    };
    let found = found?;
    DRIVER.get_or_init(|| usable(found)).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_driver_is_loaded_all_memory_is_the_hosts() {
        let addresses = [[1u8].as_ptr(), std::ptr::null()];
        assert!(addresses.map(|at| Cuda.range(at)) == [None, None]);
        assert!(driver().is_none());
    }
}
