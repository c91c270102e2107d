//! Files (MPI-5, chapter 14): opening them, and what belongs to a file as a whole. Reading and
//! writing is in `file_access`.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use catena_abi::{
    Aint, Comm, Count, DatarepConversionFunction, DatarepConversionFunctionC,
    DatarepExtentFunction, Datatype, File, Group, Info, Offset, consts,
};
use catena_core::{Process, beside, enter, process};
use catena_datatype::TypeRef;
use catena_io::{Conversion, Datarep, Plan, Registered, View, registry};
use catena_objects::info::Info as Pairs;
use catena_objects::{Result, fail};
use catena_rma::settings::RMA_LATENCY;

use crate::args::{self, put, put_string};
use crate::entry::mpi_fn;
use crate::info;

/// A call that is in the library, and the file that it is on.
pub(crate) struct Entered {
    pub process: process::Entered<Process>,
    pub file: Arc<catena_io::File>,
}

/// Enters the library for a call on a file.
pub(crate) fn file(fh: File) -> Result<Entered> {
    let process = enter()?;
    let file = find(&process, fh)?;
    Ok(Entered { process, file })
}

/// The file behind a handle, for a call that is in the library.
pub(crate) fn find(process: &Process, fh: File) -> Result<Arc<catena_io::File>> {
    registry::register(&process.objects.errhandlers);
    registry::find(fh)
}

/// Enters the library for a call on no file, whose errors belong to `MPI_FILE_NULL`.
fn no_file<T>(call: impl FnOnce(&Process) -> Result<T>) -> Result<T> {
    let process = enter()?;
    registry::register(&process.objects.errhandlers);
    call(&process).map_err(|error| error.on(consts::FILE_NULL))
}

/// A file name.
fn name<'a>(filename: *const c_char) -> Result<&'a str> {
    match args::string(filename, "filename") {
        Ok(name) => Ok(name),
        Err(error) => Err(error.reworded(catena_objects::Kind::BadFile, error.text())),
    }
}

/// The handle of a type that the program is to free if it is its own.
fn handle_of(process: &Process, ty: &TypeRef) -> Datatype {
    match ty.is_predefined() {
        true => process.objects.types.predefined(ty.clone()),
        false => process.objects.types.add(ty.clone()),
    }
}

/// The arguments of `MPI_File_set_view`.
fn view(
    process: &Process,
    file: &catena_io::File,
    disp: Offset,
    (etype, filetype): (Datatype, Datatype),
    datarep: *const c_char,
    hints: Info,
) -> Result<(View, Option<Arc<Pairs>>)> {
    let types = &process.objects.types;
    let disp = match (
        disp == consts::DISPLACEMENT_CURRENT,
        file.amode.is_sequential(),
    ) {
        (false, false) => disp,
        // All members take the same one, when they have come.
        (true, true) => 0,
        (true, false) => fail!(
            Arg,
            "the displacement is {disp} (MPI_DISPLACEMENT_CURRENT), which is for files that were \
             opened with MPI_MODE_SEQUENTIAL"
        ),
        (false, true) => fail!(
            Arg,
            "the displacement is {disp}: a file that was opened with MPI_MODE_SEQUENTIAL takes \
            MPI_DISPLACEMENT_CURRENT"
        ),
    };
    let (etype, filetype) = (
        types.committed(etype)?.clone(),
        types.committed(filetype)?.clone(),
    );
    let datarep = Datarep::find(args::string(datarep, "datarep")?)?;
    let info = process.objects.infos.find(hints)?;
    let view = View::new(disp, &etype, &filetype, datarep, file.amode.writes())?;
    Ok((view, info))
}

fn register_datarep(
    datarep: *const c_char,
    (read, write): (Conversion, Conversion),
    extent: DatarepExtentFunction,
    extra_state: *mut c_void,
) -> Result<()> {
    no_file(|_| {
        let functions = Registered {
            read,
            write,
            extent: extent.into(),
            extra_state,
        };
        catena_io::register_datarep(args::string(datarep, "datarep")?, functions)
    })
}

/// Stores the extent of a type in a file.
fn type_extent<N: TryFrom<i64>>(fh: File, datatype: Datatype, extent: *mut N) -> Result<()> {
    let Entered { process, file } = file(fh)?;
    let bytes = file.type_extent(process.objects.types.layout(datatype)?)?;
    match N::try_from(bytes) {
        Ok(bytes) => put(extent, bytes, "extent"),
        Err(_) => fail!(
            ValueTooLarge,
            "the extent is {bytes}, too large for the argument"
        ),
    }
}

mpi_fn! {
    fn MPI_File_open(comm: Comm, filename: *const c_char, amode: c_int, hints: Info,
        fh: *mut File) {
        no_file(|process| {
            let comm = process.comm(comm)?;
            put(fh, consts::FILE_NULL, "fh")?;
            let plan = process
                .objects
                .infos
                .find(hints)
                .and_then(|hints| Plan::new(name(filename)?, amode, hints.as_deref()));
            put(fh, catena_io::open(process, &comm, plan)?, "fh")
        })
    }

    fn MPI_File_close(fh: *mut File) on fh {
        let handle = args::get(fh, "fh")?;
        let Entered { process, file } = file(handle)?;
        let closed = catena_io::close(&process, &file);
        let is_open = registry::find(handle).is_ok();
        if !is_open {
            put(fh, consts::FILE_NULL, "fh")?;
        }
        let place = if is_open { handle } else { consts::FILE_NULL };
        closed.map_err(|error| error.on(place))
    }

    fn MPI_File_delete(filename: *const c_char, hints: Info) {
        no_file(|process| {
            info::check(process.objects, hints)?;
            catena_io::delete(name(filename)?)
        })
    }

    fn MPI_File_set_size(fh: File, size: Offset) on fh {
        let Entered { process, file } = file(fh)?;
        file.set_size(&process, size).map_err(|error| error.on(fh))
    }

    fn MPI_File_preallocate(fh: File, size: Offset) on fh {
        let Entered { process, file } = file(fh)?;
        file.preallocate(&process, size).map_err(|error| error.on(fh))
    }

    fn MPI_File_get_size(fh: File, size: *mut Offset) on fh {
        put(size, file(fh)?.file.size()? as Offset, "size")
    }

    fn MPI_File_get_group(fh: File, group: *mut Group) on fh {
        let Entered { process, file } = file(fh)?;
        put(group, process.objects.groups.add(file.comm.group.clone()), "group")
    }

    fn MPI_File_get_amode(fh: File, amode: *mut c_int) on fh {
        put(amode, file(fh)?.file.amode.bits(), "amode")
    }

    fn MPI_File_set_info(fh: File, hints: Info) on fh {
        let Entered { process, file } = file(fh)?;
        let info = info::info(process.objects, hints);
        file.set_info(&process, info).map_err(|error| error.on(fh))
    }

    fn MPI_File_get_info(fh: File, info_used: *mut Info) on fh {
        let Entered { process, file } = file(fh)?;
        let told = file.hints.borrow().info();
        put(info_used, info::add(process.objects, told), "info_used")
    }

    fn MPI_File_set_view(fh: File, disp: Offset, etype: Datatype, filetype: Datatype,
        datarep: *const c_char, hints: Info) on fh
    {
        let Entered { process, file } = file(fh)?;
        let wanted = view(&process, &file, disp, (etype, filetype), datarep, hints);
        file.set_view(&process, wanted).map_err(|error| error.on(fh))
    }

    fn MPI_File_get_view(fh: File, disp: *mut Offset, etype: *mut Datatype, filetype: *mut Datatype,
        datarep: *mut c_char) on fh
    {
        let Entered { process, file } = file(fh)?;
        let view = file.view();
        put(disp, view.disp as Offset, "disp")?;
        put(etype, handle_of(&process, &view.etype), "etype")?;
        put(filetype, handle_of(&process, &view.filetype), "filetype")?;
        let mut len = 0;
        let room = consts::MAX_DATAREP_STRING as usize;
        put_string(datarep, room, &raw mut len, view.datarep.name())
    }

    fn MPI_File_seek(fh: File, offset: Offset, whence: c_int) on fh {
        file(fh)?.file.seek(offset, whence)
    }

    fn MPI_File_get_position(fh: File, offset: *mut Offset) on fh {
        put(offset, file(fh)?.file.position()?, "offset")
    }

    fn MPI_File_get_byte_offset(fh: File, offset: Offset, disp: *mut Offset) on fh {
        put(disp, file(fh)?.file.byte_offset(offset)?, "disp")
    }

    fn MPI_File_seek_shared(fh: File, offset: Offset, whence: c_int) on fh {
        let Entered { process, file } = file(fh)?;
        let sought = file.seek_shared(&process, offset, whence);
        sought.map_err(|error| error.on(fh))
    }

    fn MPI_File_get_position_shared(fh: File, offset: *mut Offset) on fh {
        let Entered { process, file } = file(fh)?;
        put(offset, file.position_shared(&process)?, "offset")
    }

    fn MPI_File_get_type_extent(fh: File, datatype: Datatype, extent: *mut Aint) on fh {
        type_extent(fh, datatype, extent)
    }

    fn MPI_File_get_type_extent_c(fh: File, datatype: Datatype, extent: *mut Count) on fh {
        type_extent(fh, datatype, extent)
    }

    fn MPI_File_set_atomicity(fh: File, flag: c_int) on fh {
        let Entered { process, file } = file(fh)?;
        let set = file.set_atomicity(&process, flag != 0);
        drop(process);
        // Members elsewhere may need this process while it computes.
        beside::start(RMA_LATENCY.get());
        set.map_err(|error| error.on(fh))
    }

    fn MPI_File_get_atomicity(fh: File, flag: *mut c_int) on fh {
        put(flag, file(fh)?.file.atomic.get().into(), "flag")
    }

    fn MPI_File_sync(fh: File) on fh {
        let Entered { process, file } = file(fh)?;
        file.sync(&process).map_err(|error| error.on(fh))
    }

    fn MPI_Register_datarep(datarep: *const c_char, read_conversion_fn: DatarepConversionFunction,
        write_conversion_fn: DatarepConversionFunction,
        dtype_file_extent_fn: DatarepExtentFunction, extra_state: *mut c_void)
    {
        let both = (Conversion::Int(read_conversion_fn.into()),
            Conversion::Int(write_conversion_fn.into()));
        register_datarep(datarep, both, dtype_file_extent_fn, extra_state)
    }

    fn MPI_Register_datarep_c(datarep: *const c_char,
        read_conversion_fn: DatarepConversionFunctionC,
        write_conversion_fn: DatarepConversionFunctionC,
        dtype_file_extent_fn: DatarepExtentFunction, extra_state: *mut c_void)
    {
        let both = (Conversion::Count(read_conversion_fn.into()),
            Conversion::Count(write_conversion_fn.into()));
        register_datarep(datarep, both, dtype_file_extent_fn, extra_state)
    }
}
