/*
 * Functions of the program in C++ that MPI calls: operations, error handlers, attributes, generalized requests and
 * representations of data (MPI 2.2, 16.1.8).
 *
 * Attributes, requests and representations come with a state, in which the program's functions are kept. Operations and
 * error handlers have none in C: each function gets one of SLOTS functions of C that calls it. The same function has the
 * same slot however often it is given, so slots are never freed: what is freed may still be in use.
 */

namespace MPI {

enum { SLOTS = 128 };

/* Nothing of these is for programs. */
#define HIDDEN __attribute__((visibility("hidden")))
/* Once for all slots. */
#define ONCE __attribute__((noinline))

/* The functions of C that call those of the program, of type Function*; `Call` has `thunk<number>`, of type C*. */
template <class Function, class C, class Call> struct HIDDEN Slots {
    static Function *functions[SLOTS];
    static C *thunks[SLOTS];

    template <int n, class Unused> struct Fill {
        static void from()
        {
            thunks[n - 1] = &Call::template thunk<n - 1>;
            Fill<n - 1, Unused>::from();
        }
    };
    template <class Unused> struct Fill<0, Unused> {
        static void from() {}
    };

    /* Finds the one for `function`; NULL, after an error, if all serve others. */
    static C *find(Function *function)
    {
        if (!thunks[0])
            Fill<SLOTS, void>::from();
        for (int i = 0; i < SLOTS; i++) {
            Function *there = __atomic_load_n(&functions[i], __ATOMIC_ACQUIRE);
            if (!there && __atomic_compare_exchange_n(&functions[i], &there, function, false, __ATOMIC_ACQ_REL,
                                                      __ATOMIC_ACQUIRE))
                return thunks[i];
            if (there == function)
                return thunks[i];
        }
        MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        return NULL;
    }
};
template <class Function, class C, class Call> Function *Slots<Function, C, Call>::functions[SLOTS];
template <class Function, class C, class Call> C *Slots<Function, C, Call>::thunks[SLOTS];

/* Calls `then(communicator)` with an object of the class that it has in C++. */
template <class Then> HIDDEN void as_object(MPI_Comm comm, const Then &then)
{
    int inter = 0, kind = MPI_UNDEFINED;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_test_inter(comm, &inter);
        if (!inter)
            MPI_Topo_test(comm, &kind);
    }
    if (inter) {
        Intercomm object(comm);
        then(object);
    } else if (kind == MPI_CART) {
        Cartcomm object(comm);
        then(object);
    } else if (kind == MPI_GRAPH) {
        Graphcomm object(comm);
        then(object);
    } else {
        Intracomm object(comm);
        then(object);
    }
}
#define AS_OBJECT(Class) \
    struct As##Class { \
        template <class Handle, class Then> static void call(Handle handle, const Then &then) \
        { \
            Class object(handle); \
            then(object); \
        } \
    };
AS_OBJECT(Win) AS_OBJECT(File) AS_OBJECT(Datatype)
struct AsComm {
    template <class Then> static void call(MPI_Comm comm, const Then &then) { as_object(comm, then); }
};

/* Operations */

struct HIDDEN CallOp {
    template <int n> static void thunk(void *in, void *inout, int *len, MPI_Datatype *type);
};
typedef Slots<User_function, MPI_User_function, CallOp> Operations;
ONCE static void call_op(int n, void *in, void *inout, int len, MPI_Datatype type)
{
    Datatype object(type);
    Operations::functions[n](in, inout, len, object);
}
template <int n> void CallOp::thunk(void *in, void *inout, int *len, MPI_Datatype *type) { call_op(n, in, inout, *len, *type); }

void Op::Init(User_function *function, bool commute)
{
    if (MPI_User_function *thunk = Operations::find(function))
        CHECK_WORLD(MPI_Op_create(thunk, commute, &handle));
}

/* Error handlers */

#define ERRHANDLER(Class) \
    struct HIDDEN CallOn##Class { \
        template <int n> static void thunk(MPI_##Class *handle, int *code, ...); \
    }; \
    typedef Slots<Class::Errhandler_function, MPI_##Class##_errhandler_function, CallOn##Class> On##Class; \
    ONCE static void call_on_##Class(int n, MPI_##Class handle, int *code) \
    { \
        As##Class::call(handle, [n, code](Class &object) { On##Class::functions[n](object, code); }); \
    } \
    template <int n> void CallOn##Class::thunk(MPI_##Class *handle, int *code, ...) { call_on_##Class(n, *handle, code); } \
    Errhandler Class::Create_errhandler(Class::Errhandler_function *function) \
    { \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL; \
        MPI_##Class##_errhandler_function *thunk = On##Class::find(function); \
        if (thunk) \
            CHECK_WORLD(MPI_##Class##_create_errhandler(thunk, &made)); \
        return made; \
    }
ERRHANDLER(Comm) ERRHANDLER(Win) ERRHANDLER(File)

/*
 * Attributes. A key of attributes has functions of C, or of C++, or one of each; what is kept of it lives as long as the
 * process, as keys that are freed serve until their last attribute is gone.
 */

#define KEYVAL(Class, Type) \
    struct Class##Functions { \
        MPI_##Type##_copy_attr_function *c_copy; \
        MPI_##Type##_delete_attr_function *c_delete; \
        Class::Copy_attr_function *copy; \
        Class::Delete_attr_function *remove; \
        void *extra; \
    }; \
    static int copy_attribute(MPI_##Class##_in_C from, int key, void *extra, void *value, void *to, int *flag) \
    { \
        const Class##Functions *of = static_cast<Class##Functions *>(extra); \
        if (of->c_copy) \
            return of->c_copy(from, key, of->extra, value, to, flag); \
        bool copied = false; \
        int code = MPI_SUCCESS; \
        if (of->copy) \
            As##Class::call(from, [&](Class &object) { code = of->copy(object, key, of->extra, value, to, copied); }); \
        *flag = copied; \
        return code; \
    } \
    static int delete_attribute(MPI_##Class##_in_C from, int key, void *value, void *extra) \
    { \
        const Class##Functions *of = static_cast<Class##Functions *>(extra); \
        if (of->c_delete) \
            return of->c_delete(from, key, value, of->extra); \
        int code = MPI_SUCCESS; \
        if (of->remove) \
            As##Class::call(from, [&](Class &object) { code = of->remove(object, key, value, of->extra); }); \
        return code; \
    } \
    static int create_keyval(const Class##Functions &functions, int *key) \
    { \
        *key = MPI_KEYVAL_INVALID; \
        void *kept = malloc(sizeof functions); \
        if (!kept) \
            return MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM; \
        *static_cast<Class##Functions *>(kept) = functions; \
        return MPI_##Type##_create_keyval(copy_attribute, delete_attribute, key, kept); \
    }
typedef MPI_Comm MPI_Comm_in_C;
typedef MPI_Win MPI_Win_in_C;
typedef MPI_Datatype MPI_Datatype_in_C;

/* Callbacks of the same name have the same arguments where handles are numbers. */
namespace comm { KEYVAL(Comm, Comm) }
namespace win { KEYVAL(Win, Win) }
namespace type { KEYVAL(Datatype, Type) }

/* Representations of data */

#ifdef CATENA_INTERFACE_OPENMPI
typedef long long Position;
typedef void Converted;
#else
typedef long Position;
typedef int Converted;
#endif
typedef Converted Extend(const Datatype &, MPI_Aint &, void *);
typedef Converted Convert(void *, Datatype &, int, void *, Position, void *);
typedef int ConvertInC(void *, MPI_Datatype, int, void *, Position, void *);

/* What is registered lives as long as the process. */
struct Representation {
    Convert *read, *write;
    Extend *extent;
    void *extra;
};
static int converted(Convert *function, const Representation *of, void *memory, MPI_Datatype type, int n, void *file,
                     MPI_Offset at)
{
    Datatype object(type);
#ifdef CATENA_INTERFACE_OPENMPI
    function(memory, object, n, file, at, of->extra);
    return MPI_SUCCESS;
#else
    return function(memory, object, n, file, at, of->extra);
#endif
}
extern "C" {
static int read_representation(void *memory, MPI_Datatype type, int n, void *file, MPI_Offset at, void *state)
{
    const Representation *of = static_cast<Representation *>(state);
    return converted(of->read, of, memory, type, n, file, at);
}
static int write_representation(void *memory, MPI_Datatype type, int n, void *file, MPI_Offset at, void *state)
{
    const Representation *of = static_cast<Representation *>(state);
    return converted(of->write, of, memory, type, n, file, at);
}
static int extent_of_representation(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    const Representation *of = static_cast<Representation *>(state);
    Datatype object(type);
#ifdef CATENA_INTERFACE_OPENMPI
    of->extent(object, *extent, of->extra);
    return MPI_SUCCESS;
#else
    return of->extent(object, *extent, of->extra);
#endif
}
}
/* Registers one. A program passes no function for a direction that needs no conversion. */
static int register_representation(const char *name, Convert *read, Convert *write, Extend *extent, void *extra)
{
    Representation *of = static_cast<Representation *>(malloc(sizeof(Representation)));
    if (!of)
        return MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM;
    of->read = read, of->write = write, of->extent = extent, of->extra = extra;
    // No function is MPI_CONVERSION_FN_NULL in both interfaces.
    return MPI_Register_datarep(name, read ? read_representation : NULL, write ? write_representation : NULL,
                                extent_of_representation, of);
}

#ifdef CATENA_INTERFACE_OPENMPI

/* The constructors that its header only declares. */
Comm::Comm() {}
Comm::Comm(const Comm_Null &it) : Comm_Null(it.handle) {}
void Win::Call_errhandler(int code) const { CHECK(MPI_Win_call_errhandler(handle, code)); }
/* The callbacks need no preparation. */
void InitializeIntercepts() {}

#define DO_CREATE_KEYVAL(Class, Type, space) \
    int Class::do_create_keyval(MPI_##Type##_copy_attr_function *c_copy, MPI_##Type##_delete_attr_function *c_delete, \
                                Class::Copy_attr_function *copy, Class::Delete_attr_function *remove, void *extra, int &key) \
    { \
        space::Class##Functions functions = {c_copy, c_delete, copy, remove, extra}; \
        return space::create_keyval(functions, &key); \
    }
DO_CREATE_KEYVAL(Comm, Comm, comm) DO_CREATE_KEYVAL(Win, Win, win) DO_CREATE_KEYVAL(Datatype, Type, type)

/* The only functions of C that its header passes are MPI_CONVERSION_FN_NULL. */
#define REGISTER(Read, Write, read, write) \
    void Register_datarep(const char *name, Read *r, Write *w, Extend *extent, void *extra) \
    { \
        (void)r, (void)w; \
        CHECK_WORLD(register_representation(name, read, write, extent, extra)); \
    }
REGISTER(Convert, Convert, r, w)
REGISTER(ConvertInC, Convert, NULL, w)
REGISTER(Convert, ConvertInC, r, NULL)
REGISTER(ConvertInC, ConvertInC, NULL, NULL)

/* What the header's functions of generalized requests keep, in their order. */
struct RequestFunctions {
    void *extra;
    int (*query)(void *, Status &);
    int (*end)(void *);
    int (*cancel)(void *, bool);
};

#else

#define CREATE_KEYVAL(Class, space) \
    int Class::Create_keyval(Class::Copy_attr_function *copy, Class::Delete_attr_function *remove, void *extra) \
    { \
        int key; \
        space::Class##Functions functions = {NULL, NULL, copy, remove, extra}; \
        CHECK_WORLD(space::create_keyval(functions, &key)); \
        return key; \
    }
CREATE_KEYVAL(Comm, comm) CREATE_KEYVAL(Win, win) CREATE_KEYVAL(Datatype, type)

/* MPI_Offset is `long` in Debian's header and `long long` in Intel's. */
typedef int ConvertLong(void *, Datatype &, int, void *, long long, void *);
void Register_datarep(const char *name, Convert *read, Convert *write, Extend *extent, void *extra)
{
    CHECK_WORLD(register_representation(name, read, write, extent, extra));
}
void Register_datarep(const char *name, ConvertLong *read, ConvertLong *write, Extend *extent, void *extra)
{
    Register_datarep(name, reinterpret_cast<Convert *>(read), reinterpret_cast<Convert *>(write), extent, extra);
}

struct RequestFunctions {
    void *extra;
    Grequest::Query_function *query;
    Grequest::Free_function *end;
    Grequest::Cancel_function *cancel;
};

#endif

/* Generalized requests */

static int query_request(void *state, MPI_Status *to)
{
    const RequestFunctions *of = static_cast<RequestFunctions *>(state);
    Status object;
    object.status = *to;
    int code = of->query(of->extra, object);
    *to = object.status;
    return code;
}
static int end_request(void *state)
{
    RequestFunctions *of = static_cast<RequestFunctions *>(state);
    int code = of->end(of->extra);
    delete of;
    return code;
}
static int cancel_request(void *state, int complete)
{
    const RequestFunctions *of = static_cast<RequestFunctions *>(state);
    return of->cancel(of->extra, truth(complete));
}

#ifdef CATENA_INTERFACE_MPICH
Grequest Grequest::Start(Query_function *query, Free_function *end, Cancel_function *cancel, void *extra)
{
    MPI_Request made = MPI_REQUEST_NULL;
    RequestFunctions *of = new RequestFunctions;
    of->extra = extra, of->query = query, of->end = end, of->cancel = cancel;
    CHECK_WORLD(MPI_Grequest_start(query_request, end_request, cancel_request, of, &made));
    return made;
}
#endif

} // namespace MPI

#ifdef CATENA_INTERFACE_OPENMPI
/* What its header passes to the functions of C, or calls. */
extern "C" {
int catena_op_set_function(MPI_Op op, MPI_User_function *function);

int ompi_mpi_cxx_grequest_query_fn_intercept(void *state, MPI_Status *status) { return MPI::query_request(state, status); }
int ompi_mpi_cxx_grequest_free_fn_intercept(void *state) { return MPI::end_request(state); }
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *state, int complete) { return MPI::cancel_request(state, complete); }

/* An operation is made with the first of these functions, and then told the program's by the second, before it is used. */
void ompi_mpi_cxx_op_intercept(void *, void *, int *, MPI_Datatype *, MPI_User_function *)
{
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OP);
}
void ompi_op_set_cxx_callback(MPI_Op op, void (*function)())
{
    if (MPI_User_function *thunk = MPI::Operations::find(reinterpret_cast<MPI::User_function *>(function)))
        catena_op_set_function(op, thunk);
}
}
#endif
