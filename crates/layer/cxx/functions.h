/*
 * Functions that MPICH's header declares and does not define: those without a class (MPI 2.2, Annex A.3), and what its
 * member functions call after a failure.
 */

namespace MPI {

/* MPICH's number for the error handler that throws exceptions. */
static const MPI_Errhandler THROWING = 0x54000002;

extern Intracomm COMM_WORLD;

/*
 * In C the error handler that throws returns the code, with which the program's member functions come here; other handlers
 * are called once more, as MPICH does it.
 */
#define CALL_ERRHANDLER(Class) \
    void Class::Call_errhandler(int code) const \
    { \
        MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL; \
        if (MPI_##Class##_get_errhandler(handle, &errhandler) == MPI_SUCCESS) { \
            bool throws = errhandler == THROWING; \
            MPI_Errhandler_free(&errhandler); \
            if (throws) \
                throw Exception(code); \
        } \
        MPI_##Class##_call_errhandler(handle, code); \
    }
CALL_ERRHANDLER(Comm) CALL_ERRHANDLER(Win) CALL_ERRHANDLER(File)
void MPIR_Call_world_errhand(int code) { COMM_WORLD.Call_errhandler(code); }

Nullcomm &Nullcomm::Clone() const
{
    CHECK(MPI_ERR_COMM);
    return *new Nullcomm();
}
Intercomm Comm::Get_parent()
{
    MPI_Comm parent = MPI_COMM_NULL;
    CHECK_WORLD(MPI_Comm_get_parent(&parent));
    return parent;
}
Intercomm Comm::Join(int descriptor)
{
    MPI_Comm made = MPI_COMM_NULL;
    CHECK_WORLD(MPI_Comm_join(descriptor, &made));
    return made;
}

void Init(int &argc, char **&argv) { CHECK_WORLD(MPI_Init(&argc, &argv)); }
void Init() { CHECK_WORLD(MPI_Init(NULL, NULL)); }
int Init_thread(int &argc, char **&argv, int wanted)
{
    int given = MPI_THREAD_SINGLE;
    CHECK_WORLD(MPI_Init_thread(&argc, &argv, wanted, &given));
    return given;
}
int Init_thread(int wanted)
{
    int given = MPI_THREAD_SINGLE;
    CHECK_WORLD(MPI_Init_thread(NULL, NULL, wanted, &given));
    return given;
}
void Finalize() { CHECK_WORLD(MPI_Finalize()); }
#define ASK_FLAG(Name, function) bool Name() { int flag = 0; CHECK_WORLD(function(&flag)); return truth(flag); }
ASK_FLAG(Is_initialized, MPI_Initialized) ASK_FLAG(Is_finalized, MPI_Finalized) ASK_FLAG(Is_thread_main, MPI_Is_thread_main)
int Query_thread() { int given = MPI_THREAD_SINGLE; CHECK_WORLD(MPI_Query_thread(&given)); return given; }

void Attach_buffer(void *buffer, int size) { CHECK_WORLD(MPI_Buffer_attach(buffer, size)); }
int Detach_buffer(void *&buffer)
{
    int size = 0;
    CHECK_WORLD(MPI_Buffer_detach(&buffer, &size));
    return size;
}
void *Alloc_mem(MPI_Aint size, const Info &info)
{
    void *memory = NULL;
    CHECK_WORLD(MPI_Alloc_mem(size, info, &memory));
    return memory;
}
void Free_mem(void *memory) { CHECK_WORLD(MPI_Free_mem(memory)); }
MPI_Aint Get_address(const void *at)
{
    MPI_Aint address = 0;
    CHECK_WORLD(MPI_Get_address(at, &address));
    return address;
}

int Add_error_class() { int made = 0; CHECK_WORLD(MPI_Add_error_class(&made)); return made; }
int Add_error_code(int of) { int made = 0; CHECK_WORLD(MPI_Add_error_code(of, &made)); return made; }
void Add_error_string(int code, const char *text) { CHECK_WORLD(MPI_Add_error_string(code, text)); }
int Get_error_class(int code) { int of = MPI_ERR_UNKNOWN; CHECK_WORLD(MPI_Error_class(code, &of)); return of; }
void Get_error_string(int code, char *text, int &length) { CHECK_WORLD(MPI_Error_string(code, text, &length)); }

void Open_port(const Info &info, char *port) { CHECK_WORLD(MPI_Open_port(info, port)); }
void Close_port(const char *port) { CHECK_WORLD(MPI_Close_port(port)); }
void Publish_name(const char *name, const Info &info, const char *port) { CHECK_WORLD(MPI_Publish_name(name, info, port)); }
void Unpublish_name(const char *name, const Info &info, const char *port)
{
    CHECK_WORLD(MPI_Unpublish_name(name, info, port));
}
void Lookup_name(const char *name, const Info &info, char *port) { CHECK_WORLD(MPI_Lookup_name(name, info, port)); }

void Compute_dims(int nodes, int n, int *sizes) { CHECK_WORLD(MPI_Dims_create(nodes, n, sizes)); }
void Get_processor_name(char *name, int &length) { CHECK_WORLD(MPI_Get_processor_name(name, &length)); }
void Get_version(int &version, int &subversion) { CHECK_WORLD(MPI_Get_version(&version, &subversion)); }
double Wtime() { return MPI_Wtime(); }
double Wtick() { return MPI_Wtick(); }
/* What comes after the level means something to a tool alone, which does not see it from C++. */
void Pcontrol(int level, ...) { MPI_Pcontrol(level); }

} // namespace MPI
