//! Reading and writing files (MPI-5, chapter 14.4): each call in its two forms. Opening files, and
//! what belongs to a file as a whole, is in `file`.

use std::ffi::c_void;

use catena_abi::{Count, Datatype, File, Offset, Request, Status};
use catena_core::{Process, enter};
use catena_io::{Buffer, Direction, FilePosition, Form, Transfer, collective, start, straight};
use catena_objects::Result;

use crate::args::{self, put, put_status};
use crate::entry::mpi_fn;
use crate::file::{Entered, file, find};

/// A buffer as the program passes it.
#[derive(Clone, Copy)]
struct Data {
    buf: *mut c_void,
    count: Count,
    ty: Datatype,
}

impl Data {
    fn new(buf: *const c_void, count: Count, ty: Datatype) -> Self {
        Data {
            buf: buf.cast_mut(),
            count,
            ty,
        }
    }

    fn check<'p>(&self, process: &'p Process) -> Result<Buffer<'p>> {
        let count = args::count(self.count)?;
        let ty = process.objects.types.committed(self.ty)?;
        args::buffer(self.buf, count, ty)?;
        Ok(Buffer {
            base: self.buf.cast(),
            count,
            ty,
        })
    }
}

/// The transfer of a call that has its place.
fn prepare(
    process: &Process,
    file: &catena_io::File,
    (direction, place): (Direction, FilePosition),
    data: Data,
) -> Result<Transfer> {
    file.prepare(process, direction, place, data.check(process)?)
}

/// A blocking independent call.
fn alone(
    fh: File,
    (direction, place): (Direction, FilePosition),
    data: Data,
    status: *mut Status,
) -> Result<()> {
    let process = enter()?;
    let straight = |buffer| straight(fh, direction, place, buffer);
    // Where threads share the library, a call of the system does not keep the others out.
    let checked = match process.has_threads() {
        true => None,
        false => data.check(&process).ok(),
    };
    let done = match checked.and_then(straight) {
        Some(done) => done,
        None => {
            let file = find(&process, fh)?;
            file.access(&process, direction, place, data.check(&process)?)
        }
    };
    put_status(status, &done?);
    Ok(())
}

/// A blocking collective call.
fn all(fh: File, how: (Direction, FilePosition), data: Data, status: *mut Status) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    let own = file
        .free()
        .and_then(|()| prepare(&process, &file, how, data));
    let done = collective::run(&process, &file, own);
    put_status(status, &done.map_err(|error| error.on(fh))?);
    Ok(())
}

/// A blocking ordered call.
fn ordered(fh: File, direction: Direction, data: Data, status: *mut Status) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    let own = file.prepare_ordered(&process, direction, data.check(&process));
    let done = collective::run(&process, &file, own);
    put_status(status, &done.map_err(|error| error.on(fh))?);
    Ok(())
}

/// An independent call that goes on while the program computes.
fn begun(
    fh: File,
    how: (Direction, FilePosition),
    data: Data,
    request: *mut Request,
) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    if request.is_null() {
        return Err(args::null_argument("request"));
    }
    let transfer = prepare(&process, &file, how, data)?;
    put(request, start(&process, &file, transfer)?, "request")
}

/// A collective one.
fn begun_all(
    fh: File,
    how: (Direction, FilePosition),
    data: Data,
    request: *mut Request,
) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    if request.is_null() {
        return Err(args::null_argument("request"));
    }
    let own = file
        .free()
        .and_then(|()| prepare(&process, &file, how, data));
    let begun = collective::start(&process, &file, own);
    put(request, begun.map_err(|error| error.on(fh))?, "request")
}

/// A split collective call that begins.
fn begin(fh: File, how: (Direction, FilePosition), form: Form, data: Data) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    let base = data.buf.cast();
    let own = || prepare(&process, &file, how, data);
    let begun = file.begin(&process, (form, how.0), base, own);
    begun.map_err(|error| error.on(fh))
}

/// Begins an ordered access that is split in two calls.
fn begin_ordered(fh: File, direction: Direction, data: Data) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    let base = data.buf.cast();
    let own = || file.prepare_ordered(&process, direction, data.check(&process));
    let begun = file.begin(&process, (Form::Ordered, direction), base, own);
    begun.map_err(|error| error.on(fh))
}

/// A split collective call that ends.
fn end(fh: File, how: (Form, Direction), buf: *const c_void, status: *mut Status) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    let ended = file.end(&process, how, buf.cast());
    put_status(status, &ended.map_err(|error| error.on(fh))?);
    Ok(())
}

mpi_fn! {
    fn MPI_File_read_at | MPI_File_read_at_c(fh: File, offset: Offset, buf: *mut c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        alone(fh, (Direction::Read, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), status)
    }

    fn MPI_File_iread_at | MPI_File_iread_at_c(fh: File, offset: Offset, buf: *mut c_void,
        count: Num,
        datatype: Datatype, request: *mut Request) on fh
    {
        begun(fh, (Direction::Read, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_read_at_all | MPI_File_read_at_all_c(fh: File, offset: Offset, buf: *mut c_void,
        count: Num, datatype: Datatype, status: *mut Status) on fh
    {
        all(fh, (Direction::Read, FilePosition::At(offset)), Data::new(buf, count.into(), datatype),
            status)
    }

    fn MPI_File_iread_at_all | MPI_File_iread_at_all_c(fh: File, offset: Offset, buf: *mut c_void,
        count: Num, datatype: Datatype, request: *mut Request) on fh
    {
        begun_all(fh, (Direction::Read, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_read_at_all_begin | MPI_File_read_at_all_begin_c(fh: File, offset: Offset,
        buf: *mut c_void, count: Num, datatype: Datatype) on fh
    {
        begin(fh, (Direction::Read, FilePosition::At(offset)), Form::At, Data::new(buf,
            count.into(), datatype))
    }

    fn MPI_File_read_at_all_end(fh: File, buf: *mut c_void, status: *mut Status) on fh {
        end(fh, (Form::At, Direction::Read), buf, status)
    }

    fn MPI_File_read | MPI_File_read_c(fh: File, buf: *mut c_void, count: Num, datatype: Datatype,
        status: *mut Status) on fh
    {
        alone(fh, (Direction::Read, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), status)
    }

    fn MPI_File_iread | MPI_File_iread_c(fh: File, buf: *mut c_void, count: Num, datatype: Datatype,
        request: *mut Request) on fh
    {
        begun(fh, (Direction::Read, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_read_all | MPI_File_read_all_c(fh: File, buf: *mut c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        all(fh, (Direction::Read, FilePosition::Individual), Data::new(buf, count.into(), datatype),
            status)
    }

    fn MPI_File_iread_all | MPI_File_iread_all_c(fh: File, buf: *mut c_void, count: Num,
        datatype: Datatype, request: *mut Request) on fh
    {
        begun_all(fh, (Direction::Read, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_read_all_begin | MPI_File_read_all_begin_c(fh: File, buf: *mut c_void, count: Num,
        datatype: Datatype) on fh
    {
        begin(fh, (Direction::Read, FilePosition::Individual), Form::Individual, Data::new(buf,
            count.into(), datatype))
    }

    fn MPI_File_read_all_end(fh: File, buf: *mut c_void, status: *mut Status) on fh {
        end(fh, (Form::Individual, Direction::Read), buf, status)
    }

    fn MPI_File_read_shared | MPI_File_read_shared_c(fh: File, buf: *mut c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        alone(fh, (Direction::Read, FilePosition::Shared), Data::new(buf, count.into(), datatype),
            status)
    }

    fn MPI_File_iread_shared | MPI_File_iread_shared_c(fh: File, buf: *mut c_void, count: Num,
        datatype: Datatype, request: *mut Request) on fh
    {
        begun(fh, (Direction::Read, FilePosition::Shared), Data::new(buf, count.into(), datatype),
            request)
    }

    fn MPI_File_read_ordered | MPI_File_read_ordered_c(fh: File, buf: *mut c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        ordered(fh, Direction::Read, Data::new(buf, count.into(), datatype), status)
    }

    fn MPI_File_read_ordered_begin | MPI_File_read_ordered_begin_c(fh: File, buf: *mut c_void,
        count: Num, datatype: Datatype) on fh
    {
        begin_ordered(fh, Direction::Read, Data::new(buf, count.into(), datatype))
    }

    fn MPI_File_read_ordered_end(fh: File, buf: *mut c_void, status: *mut Status) on fh {
        end(fh, (Form::Ordered, Direction::Read), buf, status)
    }

    fn MPI_File_write_at | MPI_File_write_at_c(fh: File, offset: Offset, buf: *const c_void,
        count: Num, datatype: Datatype, status: *mut Status) on fh
    {
        alone(fh, (Direction::Write, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), status)
    }

    fn MPI_File_iwrite_at | MPI_File_iwrite_at_c(fh: File, offset: Offset, buf: *const c_void,
        count: Num, datatype: Datatype, request: *mut Request) on fh
    {
        begun(fh, (Direction::Write, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_write_at_all | MPI_File_write_at_all_c(fh: File, offset: Offset, buf: *const c_void,
        count: Num, datatype: Datatype, status: *mut Status) on fh
    {
        all(fh, (Direction::Write, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), status)
    }

    fn MPI_File_iwrite_at_all | MPI_File_iwrite_at_all_c(fh: File, offset: Offset,
        buf: *const c_void,
        count: Num, datatype: Datatype, request: *mut Request) on fh
    {
        begun_all(fh, (Direction::Write, FilePosition::At(offset)), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_write_at_all_begin | MPI_File_write_at_all_begin_c(fh: File, offset: Offset,
        buf: *const c_void, count: Num, datatype: Datatype) on fh
    {
        begin(fh, (Direction::Write, FilePosition::At(offset)), Form::At, Data::new(buf,
            count.into(), datatype))
    }

    fn MPI_File_write_at_all_end(fh: File, buf: *const c_void, status: *mut Status) on fh {
        end(fh, (Form::At, Direction::Write), buf, status)
    }

    fn MPI_File_write | MPI_File_write_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype,
        status: *mut Status) on fh
    {
        alone(fh, (Direction::Write, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), status)
    }

    fn MPI_File_iwrite | MPI_File_iwrite_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype, request: *mut Request) on fh
    {
        begun(fh, (Direction::Write, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_write_all | MPI_File_write_all_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        all(fh, (Direction::Write, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), status)
    }

    fn MPI_File_iwrite_all | MPI_File_iwrite_all_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype, request: *mut Request) on fh
    {
        begun_all(fh, (Direction::Write, FilePosition::Individual), Data::new(buf, count.into(),
            datatype), request)
    }

    fn MPI_File_write_all_begin | MPI_File_write_all_begin_c(fh: File, buf: *const c_void,
        count: Num,
        datatype: Datatype) on fh
    {
        begin(fh, (Direction::Write, FilePosition::Individual), Form::Individual, Data::new(buf,
            count.into(), datatype))
    }

    fn MPI_File_write_all_end(fh: File, buf: *const c_void, status: *mut Status) on fh {
        end(fh, (Form::Individual, Direction::Write), buf, status)
    }

    fn MPI_File_write_shared | MPI_File_write_shared_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        alone(fh, (Direction::Write, FilePosition::Shared), Data::new(buf, count.into(), datatype),
            status)
    }

    fn MPI_File_iwrite_shared | MPI_File_iwrite_shared_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype, request: *mut Request) on fh
    {
        begun(fh, (Direction::Write, FilePosition::Shared), Data::new(buf, count.into(), datatype),
            request)
    }

    fn MPI_File_write_ordered | MPI_File_write_ordered_c(fh: File, buf: *const c_void, count: Num,
        datatype: Datatype, status: *mut Status) on fh
    {
        ordered(fh, Direction::Write, Data::new(buf, count.into(), datatype), status)
    }

    fn MPI_File_write_ordered_begin | MPI_File_write_ordered_begin_c(fh: File, buf: *const c_void,
        count: Num, datatype: Datatype) on fh
    {
        begin_ordered(fh, Direction::Write, Data::new(buf, count.into(), datatype))
    }

    fn MPI_File_write_ordered_end(fh: File, buf: *const c_void, status: *mut Status) on fh {
        end(fh, (Form::Ordered, Direction::Write), buf, status)
    }
}
