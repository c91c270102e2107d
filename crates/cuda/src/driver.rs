//! What is called of the driver (`libcuda.so.1`), by the names and layouts of CUDA 11 and later.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use catena_loader::{Opened, text};
use catena_memory::{Copy, CopyError, Direction, Exported, Handle, Mark, Queue, Rows};

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

/// A CUevent.
type Event = *mut c_void;

/// A CUipcMemHandle, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
struct IpcHandle(Handle);

/// CU_STREAM_DEFAULT: what is begun on it waits for what was begun on the context's default stream.
/// That of a `cudaMemcpy` from pageable memory may return before its data have arrived.
const AFTER_DEFAULT: c_uint = 0;
/// CU_EVENT_DISABLE_TIMING: an event that only tells whether it has come.
const NO_TIMING: c_uint = 2;
/// CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS: memory of another device is opened for this one, too.
const LAZY_PEER_ACCESS: c_uint = 1;
/// CUDA_ERROR_NOT_READY: the event has not come yet.
const NOT_READY: Code = 600;
/// While the program records what a stream is to do, some questions are refused, with one of these
/// codes: they are asked again later.
const WHILE_CAPTURING: std::ops::RangeInclusive<Code> = 900..=908;
/// CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_INITIALIZED and CUDA_ERROR_DEINITIALIZED: of an address
/// nothing is known, as the driver does not know it, or has no devices yet, or none any more.
const NOTHING_KNOWN: [Code; 3] = [1, 3, 4];
/// The stream to which work goes that names none.
const DEFAULT_STREAM: Stream = Stream(ptr::null_mut());
/// CUpointer_attribute: the context in which memory was allocated, its type, whether the driver
/// moves it between host and devices, and the number of its device.
const ATTRIBUTES: [c_uint; 4] = [1, 2, 8, 9];
/// CU_POINTER_ATTRIBUTE_BUFFER_ID: a number that no other allocation of the process ever has.
const BUFFER_ID: c_uint = 7;
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
    within: c"cuMemcpyAsync", (Address, Address, usize, Stream);
    allocation: c"cuMemGetAddressRange_v2", (*mut Address, *mut usize, Address);
    new_event: c"cuEventCreate", (*mut Event, c_uint);
    record: c"cuEventRecord", (Event, Stream);
    query: c"cuEventQuery", (Event);
    end_event: c"cuEventDestroy_v2", (Event);
    export: c"cuIpcGetMemHandle", (*mut IpcHandle, Address);
    import: c"cuIpcOpenMemHandle_v2", (*mut Address, IpcHandle, c_uint);
    close: c"cuIpcCloseMemHandle", (Address);
    error_name: c"cuGetErrorName", (Code, *mut *const c_char);
}

/// Where memory of a device lies.
struct DeviceAddress {
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
    ///
    /// # Errors
    /// The driver tells nothing any more, as after a kernel that has failed.
    fn place(&self, at: *const u8) -> Result<Option<DeviceAddress>, Refused> {
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
        if NOTHING_KNOWN.contains(&code) {
            return Ok(None);
        }
        done("cuPointerGetAttributes", code)?;
        let is_device = memory_type == DEVICE || is_managed != 0;
        Ok(is_device.then_some(place))
    }

    /// Where the address lies; nowhere if the driver tells nothing.
    fn known_place(&self, at: *const u8) -> Option<DeviceAddress> {
        self.place(at).ok().flatten()
    }

    /// The addresses of the allocation around one on a device.
    pub fn range(&self, at: *const u8) -> Option<Range<usize>> {
        self.known_place(at)?;
        let one = at.addr()..at.addr() + 1;
        Some(self.allocation(at).unwrap_or(one))
    }

    /// What the driver says of the allocation, if anything.
    fn allocation(&self, at: *const u8) -> Option<Range<usize>> {
        let (mut base, mut size) = (0, 0);
        // SAFETY: room for what it gives.
        let code = unsafe { (self.call.allocation)(&mut base, &mut size, at.addr() as Address) };
        let range = base as usize..(base as usize).checked_add(size)?;
        (code == 0 && range.contains(&at.addr())).then_some(range)
    }

    /// Begins a copy; see [`Device::begin`](catena_memory::Device::begin).
    ///
    /// # Safety
    /// As [`Device::begin`](catena_memory::Device::begin).
    pub unsafe fn begin(&self, copy: &Copy) -> Result<Queue, CopyError> {
        let place = self.place(copy.on_device());
        let place = place.map_err(|refused| self.failed(&refused))?;
        let place = place.ok_or(CopyError::NotThere)?;
        let begin = || {
            let context = self.context(&place)?;
            self.within(context, || {
                let (number, stream) = self.stream(context)?;
                // SAFETY: the caller's promise.
                unsafe { self.start(copy, stream)? };
                Ok(Queue(number as u64))
            })
        };
        begin().map_err(|refused| self.failed(&refused))
    }

    /// Begins a copy on a stream, in its context.
    ///
    /// # Safety
    /// As [`Driver::begin`].
    unsafe fn start(&self, copy: &Copy, stream: Stream) -> Result<(), Refused> {
        let &Copy { to, from, rows, .. } = copy;
        let address = |at: *const u8| at.addr() as Address;
        let Some(len) = rows.one_run() else {
            let (host, device) = match copy.direction {
                Direction::ToHost => (to.cast_const(), from),
                Direction::ToDevice | Direction::Within => (from, to.cast_const()),
            };
            let (host, device) = (Side::host(host, rows), Side::device(device, rows));
            return match copy.direction {
                Direction::ToHost => self.copy_rows(device, host, rows, stream),
                Direction::ToDevice | Direction::Within => {
                    self.copy_rows(host, device, rows, stream)
                }
            };
        };
        // SAFETY: the caller's promise.
        let (what, code) = unsafe {
            match copy.direction {
                Direction::ToHost => (
                    "cuMemcpyDtoHAsync",
                    (self.call.to_host)(to, address(from), len, stream),
                ),
                Direction::ToDevice => (
                    "cuMemcpyHtoDAsync",
                    (self.call.to_device)(address(to), from, len, stream),
                ),
                Direction::Within => (
                    "cuMemcpyAsync",
                    (self.call.within)(address(to), address(from), len, stream),
                ),
            }
        };
        done(what, code)
    }

    /// Waits for what was begun in a queue.
    pub fn wait(&self, queue: Queue) -> Result<(), CopyError> {
        self.in_queue(queue, |stream| {
            // SAFETY: a stream of the current context.
            done("cuStreamSynchronize", unsafe { (self.call.wait)(stream) })
        })
    }

    /// Marks what was begun in a queue: an event.
    pub fn mark(&self, queue: Queue) -> Result<Mark, CopyError> {
        self.in_queue(queue, |stream| {
            let mut event: Event = ptr::null_mut();
            // SAFETY: room for what it gives.
            done("cuEventCreate", unsafe {
                (self.call.new_event)(&mut event, NO_TIMING)
            })?;
            // SAFETY: an event and a stream of the current context.
            let recorded = unsafe { (self.call.record)(event, stream) };
            done("cuEventRecord", recorded).inspect_err(|_| self.end_event(event))?;
            Ok(Mark(event.expose_provenance() as u64))
        })
    }

    /// Whether an event has come; then it is gone.
    pub fn has_passed(&self, mark: Mark) -> Result<bool, CopyError> {
        let event: Event = ptr::with_exposed_provenance_mut(mark.0 as usize);
        // SAFETY: one that `mark` made, and that is not gone.
        match unsafe { (self.call.query)(event) } {
            code if code == NOT_READY || WHILE_CAPTURING.contains(&code) => return Ok(false),
            code => {
                self.end_event(event);
                let asked = done("cuEventQuery", code);
                asked.map_err(|refused| self.failed(&refused))?;
            }
        }
        Ok(true)
    }

    fn end_event(&self, event: Event) {
        // SAFETY: as above. A failure leaves it there.
        unsafe { (self.call.end_event)(event) };
    }

    /// Calls `call` in the context of a queue.
    fn in_queue<T>(
        &self,
        queue: Queue,
        call: impl FnOnce(Stream) -> Result<T, Refused>,
    ) -> Result<T, CopyError> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let (context, stream) = streams[queue.0 as usize];
        drop(streams);
        let called = self.within(context, || call(stream));
        called.map_err(|refused| self.failed(&refused))
    }

    /// How other processes open the allocation around an address, once what was begun on the
    /// default stream of its context has been done.
    pub fn export(&self, at: *const u8) -> Option<Exported> {
        let place = self.known_place(at)?;
        let range = self.allocation(at)?;
        let base = range.start as Address;
        let mut handle = IpcHandle([0; 64]);
        let id = self.buffer_id(at)?;
        let context = self.context(&place).ok()?;
        let exported = self.within(context, || {
            // SAFETY: room for what it gives.
            done("cuIpcGetMemHandle", unsafe {
                (self.call.export)(&mut handle, base)
            })?;
            // SAFETY: the default stream of the current context.
            done("cuStreamSynchronize", unsafe {
                (self.call.wait)(DEFAULT_STREAM)
            })
        });
        exported.ok()?;
        Some(Exported {
            handle: handle.0,
            offset: (at.addr() - range.start) as u64,
            len: range.len() as u64,
            id,
        })
    }

    /// The number of the allocation in which an address lies.
    pub fn buffer_id(&self, at: *const u8) -> Option<u64> {
        let mut id = 0u64;
        let which = [BUFFER_ID];
        let answers = [(&raw mut id).cast()];
        let address = at.addr() as Address;
        // SAFETY: room for the attribute. Of an address that it does not know the driver says
        // nothing.
        let code = unsafe { (self.call.attributes)(1, which.as_ptr(), answers.as_ptr(), address) };
        (code == 0 && id != 0).then_some(id)
    }

    /// Opens memory of another process in the context of memory here, or in the current one.
    pub fn import(&self, handle: &Handle, near: *const u8) -> Result<*mut u8, CopyError> {
        let open = || {
            let mut at = 0;
            // SAFETY: room for what it gives.
            done("cuIpcOpenMemHandle", unsafe {
                (self.call.import)(&mut at, IpcHandle(*handle), LAZY_PEER_ACCESS)
            })?;
            Ok(ptr::with_exposed_provenance_mut(at as usize))
        };
        let opened = match self.known_place(near) {
            Some(place) => self
                .context(&place)
                .and_then(|context| self.within(context, open)),
            None => open(),
        };
        opened.map_err(|refused| self.failed(&refused))
    }

    /// Ends what [`Driver::import`] began.
    ///
    /// # Safety
    /// Nothing uses the memory any more.
    pub unsafe fn close(&self, at: *mut u8) {
        let close = || {
            // SAFETY: the caller's promise.
            done("cuIpcCloseMemHandle", unsafe {
                (self.call.close)(at.addr() as Address)
            })
        };
        // The calling thread may have no context, or another one. A failure leaves it open.
        let _ = match self.known_place(at) {
            Some(place) => self
                .context(&place)
                .and_then(|context| self.within(context, close)),
            None => close(),
        };
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
    fn within<T>(
        &self,
        context: Context,
        call: impl FnOnce() -> Result<T, Refused>,
    ) -> Result<T, Refused> {
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

    /// The stream of copies in a context, which is the current one, and its number.
    fn stream(&self, context: Context) -> Result<(usize, Stream), Refused> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = streams.iter().position(|(of, _)| *of == context) {
            return Ok((at, streams[at].1));
        }
        let mut stream = Stream(ptr::null_mut());
        // SAFETY: room for what it gives.
        let code = unsafe { (self.call.new_stream)(&mut stream, AFTER_DEFAULT) };
        done("cuStreamCreate", code)?;
        streams.push((context, stream));
        Ok((streams.len() - 1, stream))
    }

    /// What a call that was refused is, in words.
    #[cold]
    fn failed(&self, refused: &Refused) -> CopyError {
        let mut name = ptr::null();
        // SAFETY: room for what it gives, a text of the driver's own or null.
        let name = unsafe {
            (self.call.error_name)(refused.code, &mut name);
            text(name)
        };
        CopyError::Failed(format!("{}: {name} ({})", refused.what, refused.code))
    }
}
