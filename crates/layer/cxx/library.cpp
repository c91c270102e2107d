/*
 * The library with MPI's classes in C++ of other interfaces: libmpi_cxx.so.40 over Open MPI's (CATENA_INTERFACE_OPENMPI), and
 * libmpicxx.so.12 over MPICH's. MPI 3.0 has removed these classes, but many programs are linked with such a library,
 * and some use it. Programs have most of it compiled in, from the headers of their MPI; here is what they ask a
 * library for: objects as MPI::COMM_WORLD, callbacks, and what their headers only declare.
 *
 * It is C++ without its standard library, but for `operator new` and what the compiler calls, so that one build serves
 * processes with any version of that.
 *
 * | file         | what                                                                    |
 * |--------------|-------------------------------------------------------------------------|
 * | openmpi.h    | classes of Open MPI: objects and tables of functions                    |
 * | mpich.h      | the same of MPICH                                                       |
 * | methods.h    | the member functions in these tables                                    |
 * | callbacks.h  | functions of the program that MPI calls                                 |
 * | functions.h  | functions that MPICH's header only declares                             |
 */

/* The names that types of callbacks have in the names of functions. */
#define catena_Comm ompi_communicator_t
#define catena_Datatype ompi_datatype_t
#define catena_Win ompi_win_t

#include <stdarg.h>
#include <stdlib.h>

extern "C" {
#include <mpi.h>
}

/* The beginning of a class whose objects are a handle. */
#define HANDLE_WITH(destructor, Class, Type, null) \
public: \
    MPI_##Type handle; \
    Class(MPI_##Type it = null) : handle(it) {} \
    destructor \
    operator MPI_##Type() const { return handle; }
#define HANDLE(Class, Type, null) HANDLE_WITH(virtual ~Class() {}, Class, Type, null)
/* Of one that has no objects. */
#define ABSTRACT(Class, Type, null) HANDLE_WITH(ABSTRACT_DESTRUCTOR, Class, Type, null)
#define ABSTRACT_DESTRUCTOR virtual ~Comm() {}
/* Of one that has the handle of another. */
#define DERIVED(Class, Base, Type) \
public: \
    Class(MPI_##Type it = MPI_##Type##_null()) : Base(it) {} \
    virtual ~Class() {}
static MPI_Comm MPI_Comm_null() { return MPI_COMM_NULL; }
static MPI_Request MPI_Request_null() { return MPI_REQUEST_NULL; }

#ifdef CATENA_INTERFACE_OPENMPI
#define CONST_IN_OPENMPI const
#define CONST_IN_MPICH
#include "openmpi.h"
/* A failure has met the error handler in C, and the header of Open MPI leaves it at that. */
#define CHECK(call) (void)(call)
#define CHECK_WORLD(call) (void)(call)
#define CHECK_OF(comm, call) (void)(call)
#else
#define CONST_IN_OPENMPI
#define CONST_IN_MPICH const
#include "mpich.h"
namespace MPI {
void MPIR_Call_world_errhand(int code);
}
/* A failure has met the error handler in C; the one that throws exceptions does so in C++. */
#define CHECK(call) do { if (int code_ = (call)) Call_errhandler(code_); } while (0)
#define CHECK_WORLD(call) do { if (int code_ = (call)) MPIR_Call_world_errhand(code_); } while (0)
#define CHECK_OF(comm, call) do { if (int code_ = (call)) (comm).Call_errhandler(code_); } while (0)
#endif

#include "methods.h"
#include "callbacks.h"
#ifdef CATENA_INTERFACE_MPICH
#include "functions.h"
#endif

extern "C" {
/* By this name of a function the launcher knows what belongs to a Catena, whichever it is. */
extern const char catena_library[];
const char catena_library[] = "catena_MPI_Init";
}

/* The objects. All are variables for the linker, also where headers say that they are constant. */

namespace MPI {

extern Intracomm COMM_WORLD, COMM_SELF;
Intracomm COMM_WORLD(MPI_COMM_WORLD), COMM_SELF(MPI_COMM_SELF);
#ifdef CATENA_INTERFACE_OPENMPI
Comm_Null COMM_NULL;
#else
Nullcomm COMM_NULL;
#endif
Group GROUP_NULL, GROUP_EMPTY(MPI_GROUP_EMPTY);
Request REQUEST_NULL;
Info INFO_NULL;
Win WIN_NULL;
File FILE_NULL;
Errhandler ERRHANDLER_NULL, ERRORS_ARE_FATAL(MPI_ERRORS_ARE_FATAL), ERRORS_RETURN(MPI_ERRORS_RETURN);
#ifdef CATENA_INTERFACE_OPENMPI
extern "C" char ompi_mpi_errors_throw_exceptions[], ompi_mpi_real2[];
Errhandler ERRORS_THROW_EXCEPTIONS((MPI_Errhandler)ompi_mpi_errors_throw_exceptions);
#else
Errhandler ERRORS_THROW_EXCEPTIONS(THROWING);
#endif

#define OPERATION(Name) Op Name(MPI_##Name);
OPERATION(MAX) OPERATION(MIN) OPERATION(SUM) OPERATION(PROD) OPERATION(LAND) OPERATION(BAND) OPERATION(LOR) OPERATION(BOR)
OPERATION(LXOR) OPERATION(BXOR) OPERATION(MINLOC) OPERATION(MAXLOC) OPERATION(REPLACE) OPERATION(OP_NULL)

#define TYPE(Name) Datatype Name(MPI_##Name);
TYPE(CHAR) TYPE(SIGNED_CHAR) TYPE(UNSIGNED_CHAR) TYPE(BYTE) TYPE(WCHAR) TYPE(PACKED) TYPE(DATATYPE_NULL)
TYPE(SHORT) TYPE(UNSIGNED_SHORT) TYPE(INT) TYPE(UNSIGNED) TYPE(LONG) TYPE(UNSIGNED_LONG) TYPE(UNSIGNED_LONG_LONG)
TYPE(FLOAT) TYPE(DOUBLE) TYPE(LONG_DOUBLE) TYPE(FLOAT_INT) TYPE(DOUBLE_INT) TYPE(LONG_INT) TYPE(SHORT_INT) TYPE(LONG_DOUBLE_INT)
TYPE(INTEGER) TYPE(REAL) TYPE(DOUBLE_PRECISION) TYPE(LOGICAL) TYPE(CHARACTER)
TYPE(INTEGER1) TYPE(INTEGER2) TYPE(INTEGER4) TYPE(REAL4) TYPE(REAL8)
Datatype LONG_LONG(MPI_LONG_LONG), LONG_LONG_INT(MPI_LONG_LONG), BOOL(MPI_CXX_BOOL), COMPLEX(MPI_CXX_FLOAT_COMPLEX);
Datatype DOUBLE_COMPLEX(MPI_CXX_DOUBLE_COMPLEX), LONG_DOUBLE_COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX);
Datatype F_COMPLEX(MPI_COMPLEX), F_DOUBLE_COMPLEX(MPI_DOUBLE_COMPLEX), TWOINT(MPI_2INT), TWOINTEGER(MPI_2INTEGER);
Datatype TWOREAL(MPI_2REAL), TWODOUBLE_PRECISION(MPI_2DOUBLE_PRECISION);

extern void *const BOTTOM, *const IN_PLACE;
void *const BOTTOM = MPI_BOTTOM, *const IN_PLACE = MPI_IN_PLACE;
extern const char **ARGV_NULL, ***ARGVS_NULL;
const char **ARGV_NULL = NULL, ***ARGVS_NULL = NULL;

#ifdef CATENA_INTERFACE_OPENMPI
Datatype REAL2((MPI_Datatype)ompi_mpi_real2);
int mpi_errno = MPI_SUCCESS;
extern const char ompi_libcxx_version_string[];
const char ompi_libcxx_version_string[] = "Catena";
#else
TYPE(INTEGER8) TYPE(INTEGER16) TYPE(REAL16) TYPE(COMPLEX8) TYPE(COMPLEX16) TYPE(COMPLEX32)
/* The markers of MPI 1. */
Datatype LB(0x4c000010), UB(0x4c000011);

extern const MPI_Offset DISPLACEMENT_CURRENT;
const MPI_Offset DISPLACEMENT_CURRENT = MPI_DISPLACEMENT_CURRENT;
#define NUMBER(Name) extern const int Name; const int Name = MPI_##Name;
NUMBER(BSEND_OVERHEAD) NUMBER(KEYVAL_INVALID) NUMBER(UNDEFINED) NUMBER(PROC_NULL) NUMBER(ANY_SOURCE) NUMBER(ANY_TAG) NUMBER(ROOT)
NUMBER(GRAPH) NUMBER(CART) NUMBER(IDENT) NUMBER(CONGRUENT) NUMBER(SIMILAR) NUMBER(UNEQUAL) NUMBER(COMM_TYPE_SHARED)
NUMBER(TAG_UB) NUMBER(HOST) NUMBER(IO) NUMBER(WTIME_IS_GLOBAL) NUMBER(UNIVERSE_SIZE) NUMBER(LASTUSEDCODE) NUMBER(APPNUM)
NUMBER(MAX_PROCESSOR_NAME) NUMBER(MAX_ERROR_STRING) NUMBER(MAX_PORT_NAME) NUMBER(MAX_OBJECT_NAME) NUMBER(MAX_INFO_KEY)
NUMBER(MAX_INFO_VAL) NUMBER(MAX_DATAREP_STRING)
NUMBER(THREAD_SINGLE) NUMBER(THREAD_FUNNELED) NUMBER(THREAD_SERIALIZED) NUMBER(THREAD_MULTIPLE)
NUMBER(LOCK_EXCLUSIVE) NUMBER(LOCK_SHARED) NUMBER(WIN_BASE) NUMBER(WIN_SIZE) NUMBER(WIN_DISP_UNIT)
NUMBER(MODE_NOCHECK) NUMBER(MODE_NOSTORE) NUMBER(MODE_NOPUT) NUMBER(MODE_NOPRECEDE) NUMBER(MODE_NOSUCCEED)
NUMBER(MODE_RDONLY) NUMBER(MODE_RDWR) NUMBER(MODE_WRONLY) NUMBER(MODE_CREATE) NUMBER(MODE_EXCL) NUMBER(MODE_DELETE_ON_CLOSE)
NUMBER(MODE_UNIQUE_OPEN) NUMBER(MODE_APPEND) NUMBER(MODE_SEQUENTIAL) NUMBER(SEEK_SET) NUMBER(SEEK_CUR) NUMBER(SEEK_END)
NUMBER(DISTRIBUTE_BLOCK) NUMBER(DISTRIBUTE_CYCLIC) NUMBER(DISTRIBUTE_NONE) NUMBER(DISTRIBUTE_DFLT_DARG)
NUMBER(ORDER_C) NUMBER(ORDER_FORTRAN) NUMBER(TYPECLASS_REAL) NUMBER(TYPECLASS_INTEGER) NUMBER(TYPECLASS_COMPLEX)
NUMBER(COMBINER_NAMED) NUMBER(COMBINER_DUP) NUMBER(COMBINER_CONTIGUOUS) NUMBER(COMBINER_VECTOR) NUMBER(COMBINER_HVECTOR)
NUMBER(COMBINER_INDEXED) NUMBER(COMBINER_HINDEXED) NUMBER(COMBINER_INDEXED_BLOCK) NUMBER(COMBINER_HINDEXED_BLOCK)
NUMBER(COMBINER_STRUCT) NUMBER(COMBINER_SUBARRAY) NUMBER(COMBINER_DARRAY) NUMBER(COMBINER_RESIZED)
NUMBER(COMBINER_F90_REAL) NUMBER(COMBINER_F90_COMPLEX) NUMBER(COMBINER_F90_INTEGER)
NUMBER(SUCCESS) NUMBER(ERR_BUFFER) NUMBER(ERR_COUNT) NUMBER(ERR_TYPE) NUMBER(ERR_TAG) NUMBER(ERR_COMM) NUMBER(ERR_RANK)
NUMBER(ERR_REQUEST) NUMBER(ERR_ROOT) NUMBER(ERR_GROUP) NUMBER(ERR_OP) NUMBER(ERR_TOPOLOGY) NUMBER(ERR_DIMS) NUMBER(ERR_ARG)
NUMBER(ERR_UNKNOWN) NUMBER(ERR_TRUNCATE) NUMBER(ERR_OTHER) NUMBER(ERR_INTERN) NUMBER(ERR_PENDING) NUMBER(ERR_IN_STATUS)
NUMBER(ERR_LASTCODE) NUMBER(ERR_ACCESS) NUMBER(ERR_AMODE) NUMBER(ERR_ASSERT) NUMBER(ERR_BAD_FILE) NUMBER(ERR_BASE)
NUMBER(ERR_CONVERSION) NUMBER(ERR_DISP) NUMBER(ERR_DUP_DATAREP) NUMBER(ERR_FILE) NUMBER(ERR_FILE_EXISTS)
NUMBER(ERR_FILE_IN_USE) NUMBER(ERR_INFO) NUMBER(ERR_INFO_KEY) NUMBER(ERR_INFO_NOKEY) NUMBER(ERR_INFO_VALUE) NUMBER(ERR_IO)
NUMBER(ERR_KEYVAL) NUMBER(ERR_LOCKTYPE) NUMBER(ERR_NAME) NUMBER(ERR_NO_MEM) NUMBER(ERR_NO_SPACE) NUMBER(ERR_NO_SUCH_FILE)
NUMBER(ERR_NOT_SAME) NUMBER(ERR_PORT) NUMBER(ERR_QUOTA) NUMBER(ERR_READ_ONLY) NUMBER(ERR_RMA_CONFLICT) NUMBER(ERR_RMA_SYNC)
NUMBER(ERR_SERVICE) NUMBER(ERR_SIZE) NUMBER(ERR_SPAWN) NUMBER(ERR_UNSUPPORTED_DATAREP) NUMBER(ERR_UNSUPPORTED_OPERATION)
NUMBER(ERR_WIN)
/* What MPI 3.0 has removed, by MPICH's numbers. */
#define OLD_NUMBER(Name, number) extern const int Name; const int Name = number;
OLD_NUMBER(COMBINER_HVECTOR_INTEGER, 5) OLD_NUMBER(COMBINER_HINDEXED_INTEGER, 8) OLD_NUMBER(COMBINER_STRUCT_INTEGER, 11)
#endif

} // namespace MPI
