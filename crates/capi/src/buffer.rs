//! Buffers for buffered sends (MPI-5, chapter 3.6).

use std::ffi::c_void;

use catena_abi::{Comm, Count, Request, Session, consts};
use catena_core::bsend::{Attached, Holder, Slot};
use catena_core::{Process, enter};
use catena_objects::{Result, fail};

use crate::args::{self, put};
use crate::entry::mpi_fn;

fn attach(slot: &Slot, buffer: *mut c_void, size: Count) -> Result<()> {
    let addr = buffer as usize;
    // The size of a buffer that the library finds itself does not count.
    let size = if addr == consts::BUFFER_AUTOMATIC {
        0
    } else {
        size
    };
    let Ok(size) = u64::try_from(size) else {
        fail!(Arg, "the size is {size}: it must not be negative");
    };
    if addr == 0 && size != 0 {
        fail!(
            Buffer,
            "the buffer is a null pointer, but its size is {size}"
        );
    }
    let mut slot = slot.borrow_mut();
    if slot.is_some() {
        fail!(Buffer, "a buffer is attached already: detach it first");
    }
    *slot = Some(Attached::new(addr, size));
    Ok(())
}

/// Forgets the buffer when what is in it has left, and tells the program which
/// it was.
fn detach<N: TryFrom<u64>>(
    process: &Process,
    slot: &Slot,
    buffer_addr: *mut c_void,
    size: *mut N,
) -> Result<()> {
    if buffer_addr.is_null() {
        return Err(args::null_argument("buffer_addr"));
    }
    if size.is_null() {
        return Err(args::null_argument("size"));
    }
    let (addr, bytes) = {
        let mut slot = slot.borrow_mut();
        let Some(attached) = slot.as_mut().filter(|it| !it.leaves) else {
            fail!(Buffer, "no buffer is attached");
        };
        let Ok(bytes) = N::try_from(attached.size) else {
            fail!(
                ValueTooLarge,
                "the buffer has {} bytes, too many for the type of the \
                argument size: call the large-count form of the function",
                attached.size
            );
        };
        // Other threads come while this one waits, and it is handed out once.
        attached.leaves = true;
        (attached.addr, bytes)
    };
    slot.flush(process);
    slot.borrow_mut().take();
    put(buffer_addr.cast::<usize>(), addr, "buffer_addr")?;
    put(size, bytes, "size")
}

mpi_fn! {
    fn MPI_Buffer_attach | MPI_Buffer_attach_c(buffer: *mut c_void, size: Num) {
        attach(&enter()?.buffer, buffer, size.into())
    }

    fn MPI_Buffer_detach | MPI_Buffer_detach_c(buffer_addr: *mut c_void, size: *mut Num) {
        let process = enter()?;
        detach(&process, &process.buffer, buffer_addr, size)
    }

    fn MPI_Buffer_flush() {
        let process = enter()?;
        process.buffer.flush(&process);
        Ok(())
    }

    fn MPI_Buffer_iflush(request: *mut Request) {
        put(request, Holder::Process.iflush(&*enter()?), "request")
    }

    fn MPI_Session_attach_buffer | MPI_Session_attach_buffer_c(session: Session,
        buffer: *mut c_void,
        size: Num) on session
    {
        attach(&enter()?.objects.session(session)?.buffer, buffer, size.into())
    }

    fn MPI_Session_detach_buffer | MPI_Session_detach_buffer_c(session: Session,
        buffer_addr: *mut c_void, size: *mut Num) on session
    {
        let process = enter()?;
        detach(&process, &process.objects.session(session)?.buffer, buffer_addr, size)
    }

    fn MPI_Session_flush_buffer(session: Session) on session {
        let process = enter()?;
        process.objects.session(session)?.buffer.flush(&process);
        Ok(())
    }

    fn MPI_Session_iflush_buffer(session: Session, request: *mut Request) on session {
        let process = enter()?;
        put(request, Holder::Session(process.objects.session(session)?).iflush(&process), "request")
    }

    fn MPI_Comm_attach_buffer | MPI_Comm_attach_buffer_c(comm: Comm, buffer: *mut c_void, size: Num)
        on comm
    {
        attach(&enter()?.comm_ref(comm)?.buffer, buffer, size.into())
    }

    fn MPI_Comm_detach_buffer | MPI_Comm_detach_buffer_c(comm: Comm, buffer_addr: *mut c_void,
        size: *mut Num) on comm
    {
        let process = enter()?;
        detach(&process, &process.comm(comm)?.buffer, buffer_addr, size)
    }

    fn MPI_Comm_flush_buffer(comm: Comm) on comm {
        let process = enter()?;
        process.comm(comm)?.buffer.flush(&process);
        Ok(())
    }

    fn MPI_Comm_iflush_buffer(comm: Comm, request: *mut Request) on comm {
        let process = enter()?;
        put(request, Holder::Comm(process.comm(comm)?).iflush(&process), "request")
    }
}
