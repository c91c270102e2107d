//! What is called of the driver (`libcuda.so.1`), by the names and layouts of CUDA 11 and later.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use catena_loader::{Opened, text};
use catena_memory::Rows;

/// A CUresult: 0 if the call went well.
type Code = c_int;
/// A CUdeviceptr.
type Address = u64;

/// A CUcontext, which may be null.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Context(*mut c_void);

/// A CUstream.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Stream(*mut c_void);

// SAFETY: both are names that the driver knows in every thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Send for Stream {}

/// CU_STREAM_DEFAULT: what is begun on it waits for what was begun on the context's default stream.
/// That of a `cudaMemcpy` from pageable memory may return before its data have arrived.
const AFTER_DEFAULT: c_uint = 0;
/// CUpointer_attribute: the context in which memory was allocated, its type, whether the driver
/// moves it between host and devices, and the number of its device.
const ATTRIBUTES: [c_uint; 4] = [1, 2, 8, 9];
/// CUmemorytype.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;

/// CUDA_MEMCPY2D.
#[repr(C)]
struct Copy2d {
    source: Side,
    target: Side,
    width: usize,
    height: usize,
}

const _: () = assert!(size_of::<Copy2d>() == 128);

/// One side of it.
#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    memory_type: c_uint,
    host: *const u8,
    device: Address,
    array: *const c_void,
    pitch: usize,
}

impl Side {
    /// Rows in host memory, one after the other.
    fn host(at: *const u8, rows: Rows) -> Side {
        Side::new(HOST, at, 0, rows.len)
    }

    /// Rows on a device.
    fn device(at: *const u8, rows: Rows) -> Side {
        Side::new(DEVICE, ptr::null(), at.addr() as Address, rows.stride)
    }

    fn new(memory_type: c_uint, host: *const u8, device: Address, pitch: usize) -> Side {
        let array = ptr::null();
        Side {
            x: 0,
            y: 0,
            memory_type,
            host,
            device,
            array,
            pitch,
        }
    }
}

/// Defines the table of functions, and how it is filled.
macro_rules! functions {
    ($($name:ident: $symbol:literal, ($($arg:ty),*);)+) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($arg),*) -> Code,)+
        }

        impl Functions {
            fn of(library: &Opened) -> Result<Functions, String> {
                Ok(Functions {
                    // SAFETY: the types are those of the driver's interface.
                    $($name: unsafe { library.function($symbol) }?,)+
                })
            }
        }
    };
}

functions! {
    attributes: c"cuPointerGetAttributes", (c_uint, *const c_uint, *const *mut c_void, Address);
    current: c"cuCtxGetCurrent", (*mut Context);
    push: c"cuCtxPushCurrent_v2", (Context);
    pop: c"cuCtxPopCurrent_v2", (*mut Context);
    device: c"cuDeviceGet", (*mut c_int, c_int);
    primary: c"cuDevicePrimaryCtxRetain", (*mut Context, c_int);
    new_stream: c"cuStreamCreate", (*mut Stream, c_uint);
    wait: c"cuStreamSynchronize", (Stream);
    to_host: c"cuMemcpyDtoHAsync_v2", (*mut u8, Address, usize, Stream);
    to_device: c"cuMemcpyHtoDAsync_v2", (Address, *const u8, usize, Stream);
    rows: c"cuMemcpy2DAsync_v2", (*const Copy2d, Stream);
    error_name: c"cuGetErrorName", (Code, *mut *const c_char);
}

/// Where memory of a device lies.
pub struct DeviceAddress {
    /// Null for memory that belongs to no context, such as that of a pool.
    context: Context,
    device: c_int,
}

/// The driver.
pub struct Driver {
    call: Functions,
    /// A stream in each context that memory was copied in, and the primary ones that were taken for
    /// it.
    streams: Mutex<Vec<(Context, Stream)>>,
    primary: Mutex<Vec<(c_int, Context)>>,
}

/// A call that the driver refused.
struct Refused {
    what: &'static str,
    code: Code,
}

fn done(what: &'static str, code: Code) -> Result<(), Refused> {
    match code {
        0 => Ok(()),
        _ => Err(Refused { what, code }),
    }
}

impl Driver {
    /// The driver, if this process has loaded it.
    ///
    /// # Errors
    /// What it lacks.
    pub fn loaded() -> Option<Result<Driver, String>> {
        let library = Opened::loaded(c"libcuda.so.1", "driver of CUDA 11 or later")?;
        Some(Functions::of(&library).map(|call| Driver {
            call,
            streams: Mutex::default(),
            primary: Mutex::default(),
        }))
    }

    /// Where the address lies; `None` in host memory, that which devices reach included. Memory
    /// that the driver moves between both is the device's, wherever it is now.
    pub fn place(&self, at: *const u8) -> Option<DeviceAddress> {
        let mut place = DeviceAddress {
            context: Context(ptr::null_mut()),
            device: 0,
        };
        let (mut memory_type, mut is_managed) = (0 as c_uint, 0 as c_uint);
        let answers = [
            (&raw mut place.context).cast(),
            (&raw mut memory_type).cast(),
            (&raw mut is_managed).cast(),
            (&raw mut place.device).cast(),
        ];
        let (count, address) = (ATTRIBUTES.len() as c_uint, at.addr() as Address);
        // SAFETY: room for each attribute. Of an address that it does not know the driver says
        // nothing.
        let code = unsafe {
            (self.call.attributes)(count, ATTRIBUTES.as_ptr(), answers.as_ptr(), address)
        };
        let is_device = memory_type == DEVICE || is_managed != 0;
        (code == 0 && is_device).then_some(place)
    }

    /// Copies rows of a device to host memory, one after the other.
    ///
    /// # Safety
    /// Both are valid for as many bytes.
    pub unsafe fn read(&self, to: *mut u8, from: *const u8, rows: Rows) {
        self.carry(from, rows, |stream| {
            if let Some(len) = rows.one_run() {
                // SAFETY: the caller's promise.
                let code = unsafe { (self.call.to_host)(to, from.addr() as Address, len, stream) };
                return done("cuMemcpyDtoHAsync", code);
            }
            self.copy_rows(Side::device(from, rows), Side::host(to, rows), rows, stream)
        });
    }

    /// Copies rows to a device that lie in host memory one after the other.
    ///
    /// # Safety
    /// As [`Driver::read`].
    pub unsafe fn write(&self, to: *mut u8, from: *const u8, rows: Rows) {
        self.carry(to, rows, |stream| {
            if let Some(len) = rows.one_run() {
                // SAFETY: the caller's promise.
                let code =
                    unsafe { (self.call.to_device)(to.addr() as Address, from, len, stream) };
                return done("cuMemcpyHtoDAsync", code);
            }
            self.copy_rows(Side::host(from, rows), Side::device(to, rows), rows, stream)
        });
    }

    fn copy_rows(
        &self,
        source: Side,
        target: Side,
        rows: Rows,
        stream: Stream,
    ) -> Result<(), Refused> {
        let (width, height) = (rows.len, rows.count);
        let copy = Copy2d {
            source,
            target,
            width,
            height,
        };
        // SAFETY: as the callers promise for both sides.
        done("cuMemcpy2DAsync", unsafe {
            (self.call.rows)(&copy, stream)
        })
    }

    /// Has `start` begin a copy of `rows`, of which the side on a device is at `at`, and waits for
    /// it.
    fn carry(&self, at: *const u8, rows: Rows, start: impl Fn(Stream) -> Result<(), Refused>) {
        let whole = || {
            let Some(place) = self.place(at) else {
                return Err(Refused {
                    what: "the memory is not on a device any more",
                    code: 0,
                });
            };
            let context = self.context(&place)?;
            self.within(context, || {
                let stream = self.stream(context)?;
                start(stream)?;
                // SAFETY: a stream of the current context.
                done("cuStreamSynchronize", unsafe { (self.call.wait)(stream) })
            })
        };
        if let Err(refused) = whole() {
            self.give_up(at, rows, &refused);
        }
    }

    /// The context that memory is copied in.
    fn context(&self, place: &DeviceAddress) -> Result<Context, Refused> {
        if !place.context.0.is_null() {
            return Ok(place.context);
        }
        let mut primary = self.primary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, context)) = primary.iter().find(|(device, _)| *device == place.device) {
            return Ok(*context);
        }
        let (mut device, mut context) = (0, Context(ptr::null_mut()));
        // SAFETY: room for what it gives.
        let code = unsafe { (self.call.device)(&mut device, place.device) };
        done("cuDeviceGet", code)?;
        // SAFETY: as above.
        let code = unsafe { (self.call.primary)(&mut context, device) };
        done("cuDevicePrimaryCtxRetain", code)?;
        primary.push((place.device, context));
        Ok(context)
    }

    /// Calls `call` with the context as the current one of this thread, which has its own back
    /// then.
    fn within(
        &self,
        context: Context,
        call: impl FnOnce() -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut current = Context(ptr::null_mut());
        // SAFETY: room for what it gives.
        done("cuCtxGetCurrent", unsafe {
            (self.call.current)(&mut current)
        })?;
        if current == context {
            return call();
        }
        // SAFETY: a context that memory lies in.
        done("cuCtxPushCurrent", unsafe { (self.call.push)(context) })?;
        let called = call();
        // SAFETY: room for what it gives, which was pushed before.
        done("cuCtxPopCurrent", unsafe { (self.call.pop)(&mut current) })?;
        called
    }

    /// The stream of copies in a context, which is the current one.
    fn stream(&self, context: Context) -> Result<Stream, Refused> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stream)) = streams.iter().find(|(of, _)| *of == context) {
            return Ok(*stream);
        }
        let mut stream = Stream(ptr::null_mut());
        // SAFETY: room for what it gives.
        let code = unsafe { (self.call.new_stream)(&mut stream, AFTER_DEFAULT) };
        done("cuStreamCreate", code)?;
        streams.push((context, stream));
        Ok(stream)
    }

    /// Ends the process as a wrong address in host memory does, and says why.
    #[cold]
    fn give_up(&self, at: *const u8, rows: Rows, refused: &Refused) -> ! {
        let mut name = ptr::null();
        // SAFETY: room for what it gives, a text of the driver's own or null.
        let name = unsafe {
            (self.call.error_name)(refused.code, &mut name);
            text(name)
        };
        let bytes = rows.len * rows.count;
        catena_base::tell!(
            "catena: {bytes} bytes of device memory at {at:p} cannot be copied: {}: {name} ({}); is the buffer \
             that was passed to MPI still there, and has no kernel failed before?",
            refused.what,
            refused.code
        );
        std::process::abort();
    }
}
