/*
 * The member functions that objects of MPI's classes in C++ are called by through their tables (MPI 2.2, 16.1 and Annex A.3).
 *
 * Each calls the function of C with the same meaning. Programs have compiled most of these themselves; what is
 * here serves the objects of the library, as MPI::COMM_WORLD, where the program has no table of its own.
 *
 * CHECK(call) is for members of communicators, windows and files, CHECK_WORLD(call) for all others: in MPICH's interface
 * a failure is passed to the object's error handler in C++, in Open MPI's it is not.
 */

namespace MPI {

/* Elements for the time of a call. */
template <class T> struct Scratch {
    T *at;
    explicit Scratch(long n) : at(static_cast<T *>(malloc((n > 0 ? n : 1) * sizeof(T))))
    {
        if (!at)
            abort();
    }
    ~Scratch() { free(at); }
    Scratch(const Scratch &) = delete;
};

/* Truth values as C has them. */
struct Flags : Scratch<int> {
    Flags(const bool *from, int n) : Scratch<int>(n)
    {
        for (int i = 0; i < n; i++)
            at[i] = from[i];
    }
};

static bool truth(int flag) { return flag != 0; }

/* Error handlers */

void Errhandler::Free() { CHECK_WORLD(MPI_Errhandler_free(&handle)); }

/* Groups */

int Group::Get_size() const { int n = 0; CHECK_WORLD(MPI_Group_size(handle, &n)); return n; }
int Group::Get_rank() const { int n = 0; CHECK_WORLD(MPI_Group_rank(handle, &n)); return n; }
void Group::Free() { CHECK_WORLD(MPI_Group_free(&handle)); }
#define PART(Name, function, Ranks) \
    Group Group::Name(int n, Ranks) const \
    { \
        MPI_Group group = MPI_GROUP_NULL; \
        CHECK_WORLD(function); \
        return group; \
    }
PART(Incl, MPI_Group_incl(handle, n, ranks, &group), const int *ranks)
PART(Excl, MPI_Group_excl(handle, n, ranks, &group), const int *ranks)
PART(Range_incl, MPI_Group_range_incl(handle, n, const_cast<int (*)[3]>(ranges), &group), const int (*ranges)[3])
PART(Range_excl, MPI_Group_range_excl(handle, n, const_cast<int (*)[3]>(ranges), &group), const int (*ranges)[3])

/* Info objects */

void Info::Delete(const char *key) { CHECK_WORLD(MPI_Info_delete(handle, key)); }
#ifdef CATENA_INTERFACE_OPENMPI
Info Info::Dup() const { MPI_Info info = MPI_INFO_NULL; CHECK_WORLD(MPI_Info_dup(handle, &info)); return info; }
#endif
void Info::Free() { CHECK_WORLD(MPI_Info_free(&handle)); }
bool Info::Get(const char *key, int length, char *value) const
{
    int flag = 0;
    CHECK_WORLD(MPI_Info_get(handle, key, length, value, &flag));
    return truth(flag);
}
int Info::Get_nkeys() const { int n = 0; CHECK_WORLD(MPI_Info_get_nkeys(handle, &n)); return n; }
void Info::Get_nthkey(int n, char *key) const { CHECK_WORLD(MPI_Info_get_nthkey(handle, n, key)); }
bool Info::Get_valuelen(const char *key, int &length) const
{
    int flag = 0;
    CHECK_WORLD(MPI_Info_get_valuelen(handle, key, &length, &flag));
    return truth(flag);
}
void Info::Set(const char *key, const char *value) { CHECK_WORLD(MPI_Info_set(handle, key, value)); }

/* Statuses */

int Status::Get_count(const Datatype &type) const { int n = 0; CHECK_WORLD(MPI_Get_count(&status, type, &n)); return n; }
int Status::Get_elements(const Datatype &type) const { int n = 0; CHECK_WORLD(MPI_Get_elements(&status, type, &n)); return n; }
bool Status::Is_cancelled() const { int flag = 0; CHECK_WORLD(MPI_Test_cancelled(&status, &flag)); return truth(flag); }
void Status::Set_elements(const Datatype &type, int n) { CHECK_WORLD(MPI_Status_set_elements(&status, type, n)); }
void Status::Set_cancelled(bool flag) { CHECK_WORLD(MPI_Status_set_cancelled(&status, flag)); }
#ifdef CATENA_INTERFACE_OPENMPI
int Status::Get_source() const { return status.MPI_SOURCE; }
int Status::Get_tag() const { return status.MPI_TAG; }
int Status::Get_error() const { return status.MPI_ERROR; }
void Status::Set_source(int source) { status.MPI_SOURCE = source; }
void Status::Set_tag(int tag) { status.MPI_TAG = tag; }
void Status::Set_error(int error) { status.MPI_ERROR = error; }
#endif

/* Requests */

void Request::Wait(Status &status) { CHECK_WORLD(MPI_Wait(&handle, &status.status)); }
void Request::Wait() { CHECK_WORLD(MPI_Wait(&handle, MPI_STATUS_IGNORE)); }
bool Request::Test(Status &status) { int flag = 0; CHECK_WORLD(MPI_Test(&handle, &flag, &status.status)); return truth(flag); }
bool Request::Test() { int flag = 0; CHECK_WORLD(MPI_Test(&handle, &flag, MPI_STATUS_IGNORE)); return truth(flag); }
void Request::Free() { CHECK_WORLD(MPI_Request_free(&handle)); }
void Request::Cancel() const { MPI_Request request = handle; CHECK_WORLD(MPI_Cancel(&request)); }
bool Request::Get_status(Status &status) const
{
    int flag = 0;
    CHECK_WORLD(MPI_Request_get_status(handle, &flag, &status.status));
    return truth(flag);
}
bool Request::Get_status() const
{
    int flag = 0;
    CHECK_WORLD(MPI_Request_get_status(handle, &flag, MPI_STATUS_IGNORE));
    return truth(flag);
}
void Prequest::Start() { CHECK_WORLD(MPI_Start(&handle)); }
void Grequest::Complete() { CHECK_WORLD(MPI_Grequest_complete(handle)); }

/* Datatypes */

#define NEW_TYPE(Signature, call) \
    Datatype Datatype::Signature const \
    { \
        MPI_Datatype made = MPI_DATATYPE_NULL; \
        CHECK_WORLD(call); \
        return made; \
    }
NEW_TYPE(Create_contiguous(int n), MPI_Type_contiguous(n, handle, &made))
NEW_TYPE(Create_vector(int n, int length, int stride), MPI_Type_vector(n, length, stride, handle, &made))
NEW_TYPE(Create_hvector(int n, int length, MPI_Aint stride), MPI_Type_create_hvector(n, length, stride, handle, &made))
NEW_TYPE(Create_indexed(int n, const int *lengths, const int *places), MPI_Type_indexed(n, lengths, places, handle, &made))
NEW_TYPE(Create_hindexed(int n, const int *lengths, const MPI_Aint *places),
         MPI_Type_create_hindexed(n, lengths, places, handle, &made))
NEW_TYPE(Create_indexed_block(int n, int length, const int *places),
         MPI_Type_create_indexed_block(n, length, places, handle, &made))
NEW_TYPE(Create_resized(MPI_Aint lb, MPI_Aint extent), MPI_Type_create_resized(handle, lb, extent, &made))
NEW_TYPE(Create_subarray(int n, const int *sizes, const int *subsizes, const int *starts, int order),
         MPI_Type_create_subarray(n, sizes, subsizes, starts, order, handle, &made))
NEW_TYPE(Create_darray(int size, int rank, int n, const int *sizes, const int *kinds, const int *arguments,
                       const int *processes, int order),
         MPI_Type_create_darray(size, rank, n, sizes, kinds, arguments, processes, order, handle, &made))
#ifdef CATENA_INTERFACE_OPENMPI
NEW_TYPE(Dup(), MPI_Type_dup(handle, &made))
#endif
int Datatype::Get_size() const { int n = 0; CHECK_WORLD(MPI_Type_size(handle, &n)); return n; }
void Datatype::Get_extent(MPI_Aint &lb, MPI_Aint &extent) const { CHECK_WORLD(MPI_Type_get_extent(handle, &lb, &extent)); }
void Datatype::Get_true_extent(MPI_Aint &lb, MPI_Aint &extent) const
{
    CHECK_WORLD(MPI_Type_get_true_extent(handle, &lb, &extent));
}
void Datatype::Commit() { CHECK_WORLD(MPI_Type_commit(&handle)); }
void Datatype::Free() { CHECK_WORLD(MPI_Type_free(&handle)); }
void Datatype::Pack(const void *in, int n, void *out, int size, int &position, const Comm &comm) const
{
    CHECK_OF(comm, MPI_Pack(in, n, handle, out, size, &position, comm));
}
void Datatype::Unpack(const void *in, int size, void *out, int n, int &position, const Comm &comm) const
{
    CHECK_OF(comm, MPI_Unpack(in, size, &position, out, n, handle, comm));
}
int Datatype::Pack_size(int n, const Comm &comm) const
{
    int size = 0;
    CHECK_OF(comm, MPI_Pack_size(n, handle, comm, &size));
    return size;
}
void Datatype::Pack_external(const char *form, const void *in, int n, void *out, MPI_Aint size, MPI_Aint &position) const
{
    CHECK_WORLD(MPI_Pack_external(form, in, n, handle, out, size, &position));
}
MPI_Aint Datatype::Pack_external_size(const char *form, int n) const
{
    MPI_Aint size = 0;
    CHECK_WORLD(MPI_Pack_external_size(form, n, handle, &size));
    return size;
}
void Datatype::Unpack_external(const char *form, const void *in, MPI_Aint size, MPI_Aint &position, void *out, int n) const
{
    CHECK_WORLD(MPI_Unpack_external(form, in, size, &position, out, n, handle));
}
void Datatype::Get_envelope(int &integers, int &addresses, int &types, int &combiner) const
{
    CHECK_WORLD(MPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner));
}
void Datatype::Get_contents(int integers, int addresses, int types, int *integer, MPI_Aint *address, Datatype *type) const
{
    Scratch<MPI_Datatype> found(types);
    for (int i = 0; i < types; i++)
        found.at[i] = MPI_DATATYPE_NULL;
    CHECK_WORLD(MPI_Type_get_contents(handle, integers, addresses, types, integer, address, found.at));
    for (int i = 0; i < types; i++)
        type[i].handle = found.at[i];
}
bool Datatype::Get_attr(int key, void *value) const
{
    int flag = 0;
    CHECK_WORLD(MPI_Type_get_attr(handle, key, value, &flag));
    return truth(flag);
}
void Datatype::Set_attr(int key, const void *value) { CHECK_WORLD(MPI_Type_set_attr(handle, key, const_cast<void *>(value))); }
void Datatype::Delete_attr(int key) { CHECK_WORLD(MPI_Type_delete_attr(handle, key)); }
void Datatype::Get_name(char *name, int &length) const { CHECK_WORLD(MPI_Type_get_name(handle, name, &length)); }
void Datatype::Set_name(const char *name) { CHECK_WORLD(MPI_Type_set_name(handle, name)); }

/* Operations */

void Op::Free() { CHECK_WORLD(MPI_Op_free(&handle)); }
bool Op::Is_commutative() const { int flag = 0; CHECK_WORLD(MPI_Op_commutative(handle, &flag)); return truth(flag); }
void Op::Reduce_local(const void *in, void *inout, int n, const Datatype &type) const
{
    CHECK_WORLD(MPI_Reduce_local(in, inout, n, type, handle));
}

/* Point to point */

#define SEND(Name) \
    void Comm::Name(const void *buffer, int n, const Datatype &type, int to, int tag) const \
    { \
        CHECK(MPI_##Name(buffer, n, type, to, tag, handle)); \
    }
SEND(Send) SEND(Bsend) SEND(Ssend) SEND(Rsend)

#define START(Kind, Name, Buffer) \
    Kind Comm::Name(Buffer buffer, int n, const Datatype &type, int peer, int tag) const \
    { \
        MPI_Request request = MPI_REQUEST_NULL; \
        CHECK(MPI_##Name(buffer, n, type, peer, tag, handle, &request)); \
        return request; \
    }
START(Request, Isend, const void *) START(Request, Ibsend, const void *) START(Request, Issend, const void *)
START(Request, Irsend, const void *) START(Request, Irecv, void *)
START(Prequest, Send_init, const void *) START(Prequest, Bsend_init, const void *) START(Prequest, Ssend_init, const void *)
START(Prequest, Rsend_init, const void *) START(Prequest, Recv_init, void *)

void Comm::Recv(void *buffer, int n, const Datatype &type, int from, int tag, Status &status) const
{
    CHECK(MPI_Recv(buffer, n, type, from, tag, handle, &status.status));
}
void Comm::Recv(void *buffer, int n, const Datatype &type, int from, int tag) const
{
    CHECK(MPI_Recv(buffer, n, type, from, tag, handle, MPI_STATUS_IGNORE));
}
bool Comm::Iprobe(int from, int tag, Status &status) const
{
    int flag = 0;
    CHECK(MPI_Iprobe(from, tag, handle, &flag, &status.status));
    return truth(flag);
}
bool Comm::Iprobe(int from, int tag) const
{
    int flag = 0;
    CHECK(MPI_Iprobe(from, tag, handle, &flag, MPI_STATUS_IGNORE));
    return truth(flag);
}
void Comm::Probe(int from, int tag, Status &status) const { CHECK(MPI_Probe(from, tag, handle, &status.status)); }
void Comm::Probe(int from, int tag) const { CHECK(MPI_Probe(from, tag, handle, MPI_STATUS_IGNORE)); }
void Comm::Sendrecv(const void *out, int n, const Datatype &type, int to, int tag, void *in, int in_n, const Datatype &in_type,
                    int from, int in_tag, Status &status) const
{
    CHECK(MPI_Sendrecv(out, n, type, to, tag, in, in_n, in_type, from, in_tag, handle, &status.status));
}
void Comm::Sendrecv(const void *out, int n, const Datatype &type, int to, int tag, void *in, int in_n, const Datatype &in_type,
                    int from, int in_tag) const
{
    CHECK(MPI_Sendrecv(out, n, type, to, tag, in, in_n, in_type, from, in_tag, handle, MPI_STATUS_IGNORE));
}
void Comm::Sendrecv_replace(void *buffer, int n, const Datatype &type, int to, int tag, int from, int in_tag,
                            Status &status) const
{
    CHECK(MPI_Sendrecv_replace(buffer, n, type, to, tag, from, in_tag, handle, &status.status));
}
void Comm::Sendrecv_replace(void *buffer, int n, const Datatype &type, int to, int tag, int from, int in_tag) const
{
    CHECK(MPI_Sendrecv_replace(buffer, n, type, to, tag, from, in_tag, handle, MPI_STATUS_IGNORE));
}

/* Communicators */

Group Comm::Get_group() const { MPI_Group group = MPI_GROUP_NULL; CHECK(MPI_Comm_group(handle, &group)); return group; }
int Comm::Get_size() const { int n = 0; CHECK(MPI_Comm_size(handle, &n)); return n; }
int Comm::Get_rank() const { int n = 0; CHECK(MPI_Comm_rank(handle, &n)); return n; }
void Comm::Free() { CHECK(MPI_Comm_free(&handle)); }
void Comm::Disconnect() { CHECK(MPI_Comm_disconnect(&handle)); }
bool Comm::Is_inter() const { int flag = 0; CHECK(MPI_Comm_test_inter(handle, &flag)); return truth(flag); }
int Comm::Get_topology() const { int kind = MPI_UNDEFINED; CHECK(MPI_Topo_test(handle, &kind)); return kind; }
void Comm::Abort(int code) CONST_IN_MPICH { CHECK(MPI_Abort(handle, code)); }
void Comm::Get_name(char *name, int &length) const { CHECK(MPI_Comm_get_name(handle, name, &length)); }
void Comm::Set_name(const char *name) { CHECK(MPI_Comm_set_name(handle, name)); }
void Comm::Set_errhandler(const Errhandler &errhandler) { CHECK(MPI_Comm_set_errhandler(handle, errhandler)); }
Errhandler Comm::Get_errhandler() const
{
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    CHECK(MPI_Comm_get_errhandler(handle, &errhandler));
    return errhandler;
}
bool Comm::Get_attr(int key, void *value) const
{
    int flag = 0;
    CHECK(MPI_Comm_get_attr(handle, key, value, &flag));
    return truth(flag);
}
void Comm::Set_attr(int key, const void *value) CONST_IN_OPENMPI
{
    CHECK(MPI_Comm_set_attr(handle, key, const_cast<void *>(value)));
}
void Comm::Delete_attr(int key) { CHECK(MPI_Comm_delete_attr(handle, key)); }

#define CLONE(Class) \
    Class &Class::Clone() const \
    { \
        MPI_Comm made = MPI_COMM_NULL; \
        CHECK(MPI_Comm_dup(handle, &made)); \
        return *new Class(made); \
    }
CLONE(Intracomm) CLONE(Intercomm) CLONE(Cartcomm) CLONE(Graphcomm)

/* Collectives */

void Comm::Barrier() const { CHECK(MPI_Barrier(handle)); }
void Comm::Bcast(void *buffer, int n, const Datatype &type, int root) const { CHECK(MPI_Bcast(buffer, n, type, root, handle)); }
void Comm::Gather(const void *out, int n, const Datatype &type, void *in, int in_n, const Datatype &in_type, int root) const
{
    CHECK(MPI_Gather(out, n, type, in, in_n, in_type, root, handle));
}
void Comm::Gatherv(const void *out, int n, const Datatype &type, void *in, const int *in_n, const int *places,
                   const Datatype &in_type, int root) const
{
    CHECK(MPI_Gatherv(out, n, type, in, in_n, places, in_type, root, handle));
}
void Comm::Scatter(const void *out, int n, const Datatype &type, void *in, int in_n, const Datatype &in_type, int root) const
{
    CHECK(MPI_Scatter(out, n, type, in, in_n, in_type, root, handle));
}
void Comm::Scatterv(const void *out, const int *n, const int *places, const Datatype &type, void *in, int in_n,
                    const Datatype &in_type, int root) const
{
    CHECK(MPI_Scatterv(out, n, places, type, in, in_n, in_type, root, handle));
}
void Comm::Allgather(const void *out, int n, const Datatype &type, void *in, int in_n, const Datatype &in_type) const
{
    CHECK(MPI_Allgather(out, n, type, in, in_n, in_type, handle));
}
void Comm::Allgatherv(const void *out, int n, const Datatype &type, void *in, const int *in_n, const int *places,
                      const Datatype &in_type) const
{
    CHECK(MPI_Allgatherv(out, n, type, in, in_n, places, in_type, handle));
}
void Comm::Alltoall(const void *out, int n, const Datatype &type, void *in, int in_n, const Datatype &in_type) const
{
    CHECK(MPI_Alltoall(out, n, type, in, in_n, in_type, handle));
}
void Comm::Alltoallv(const void *out, const int *n, const int *places, const Datatype &type, void *in, const int *in_n,
                     const int *in_places, const Datatype &in_type) const
{
    CHECK(MPI_Alltoallv(out, n, places, type, in, in_n, in_places, in_type, handle));
}
void Comm::Alltoallw(const void *out, const int *n, const int *places, const Datatype *types, void *in, const int *in_n,
                     const int *in_places, const Datatype *in_types) const
{
    int inter = 0, size = 0;
    CHECK(MPI_Comm_test_inter(handle, &inter));
    CHECK(inter ? MPI_Comm_remote_size(handle, &size) : MPI_Comm_size(handle, &size));
    Scratch<MPI_Datatype> mine(size), theirs(size);
    for (int i = 0; i < size; i++) {
        // Those of what is sent do not count where the result is in place.
        mine.at[i] = out == MPI_IN_PLACE ? MPI_DATATYPE_NULL : static_cast<MPI_Datatype>(types[i]);
        theirs.at[i] = in_types[i];
    }
    CHECK(MPI_Alltoallw(out, n, places, mine.at, in, in_n, in_places, theirs.at, handle));
}
void Comm::Reduce(const void *out, void *in, int n, const Datatype &type, const Op &op, int root) const
{
    CHECK(MPI_Reduce(out, in, n, type, op, root, handle));
}
void Comm::Allreduce(const void *out, void *in, int n, const Datatype &type, const Op &op) const
{
    CHECK(MPI_Allreduce(out, in, n, type, op, handle));
}
void Comm::Reduce_scatter(const void *out, void *in, CONST_IN_MPICH int *n, const Datatype &type, const Op &op) const
{
    CHECK(MPI_Reduce_scatter(out, in, n, type, op, handle));
}
#ifdef CATENA_INTERFACE_MPICH
void Comm::Reduce_scatter_block(const void *out, void *in, int n, const Datatype &type, const Op &op) const
{
    CHECK(MPI_Reduce_scatter_block(out, in, n, type, op, handle));
}
#endif
void Intracomm::Scan(const void *out, void *in, int n, const Datatype &type, const Op &op) const
{
    CHECK(MPI_Scan(out, in, n, type, op, handle));
}
void Intracomm::Exscan(const void *out, void *in, int n, const Datatype &type, const Op &op) const
{
    CHECK(MPI_Exscan(out, in, n, type, op, handle));
}

/* New communicators */

#define NEW_COMM(Kind, Class, Signature, call) \
    Kind Class::Signature const \
    { \
        MPI_Comm made = MPI_COMM_NULL; \
        CHECK(call); \
        return made; \
    }
NEW_COMM(Intracomm, Intracomm, Create(const Group &group), MPI_Comm_create(handle, group, &made))
NEW_COMM(Intracomm, Intracomm, Split(int color, int key), MPI_Comm_split(handle, color, key, &made))
#ifdef CATENA_INTERFACE_OPENMPI
NEW_COMM(Intercomm, Intercomm, Create(const Group &group), MPI_Comm_create(handle, group, &made))
#endif
NEW_COMM(Intercomm, Intercomm, Split(int color, int key), MPI_Comm_split(handle, color, key, &made))
NEW_COMM(Intercomm, Intracomm, Create_intercomm(int leader, const Comm &peers, int remote, int tag),
         MPI_Intercomm_create(handle, leader, peers, remote, tag, &made))
NEW_COMM(Intracomm, Intercomm, Merge(bool high), MPI_Intercomm_merge(handle, high, &made))
NEW_COMM(Cartcomm, Intracomm, Create_cart(int n, const int *sizes, const bool *periodic, bool reorder),
         MPI_Cart_create(handle, n, sizes, Flags(periodic, n).at, reorder, &made))
NEW_COMM(Graphcomm, Intracomm, Create_graph(int n, const int *index, const int *edges, bool reorder),
         MPI_Graph_create(handle, n, index, edges, reorder, &made))
NEW_COMM(Intercomm, Intracomm, Accept(const char *port, const Info &info, int root),
         MPI_Comm_accept(port, info, root, handle, &made))
NEW_COMM(Intercomm, Intracomm, Connect(const char *port, const Info &info, int root),
         MPI_Comm_connect(port, info, root, handle, &made))
int Intercomm::Get_remote_size() const { int n = 0; CHECK(MPI_Comm_remote_size(handle, &n)); return n; }
Group Intercomm::Get_remote_group() const
{
    MPI_Group group = MPI_GROUP_NULL;
    CHECK(MPI_Comm_remote_group(handle, &group));
    return group;
}

#ifdef CATENA_INTERFACE_OPENMPI
#define SPAWN(Signature, errors) \
    Intercomm Intracomm::Signature const \
    { \
        MPI_Comm made = MPI_COMM_NULL; \
        char **words = const_cast<char **>(arguments); \
        CHECK(MPI_Comm_spawn(command, words, n, info, root, handle, &made, errors)); \
        return made; \
    }
SPAWN(Spawn(const char *command, const char **arguments, int n, const Info &info, int root), MPI_ERRCODES_IGNORE)
SPAWN(Spawn(const char *command, const char **arguments, int n, const Info &info, int root, int *errors), errors)

#define SPAWN_MULTIPLE(Signature, errors) \
    Intercomm Intracomm::Signature \
    { \
        MPI_Comm made = MPI_COMM_NULL; \
        int rank = MPI_PROC_NULL; \
        CHECK(MPI_Comm_rank(handle, &rank)); \
        /* Nobody but the root says what is started. */ \
        Scratch<MPI_Info> handles(rank == root ? count : 0); \
        for (int i = 0; rank == root && i < count; i++) \
            handles.at[i] = info[i]; \
        CHECK(MPI_Comm_spawn_multiple(count, const_cast<char **>(commands), const_cast<char ***>(arguments), n, handles.at, \
                                      root, handle, &made, errors)); \
        return made; \
    }
SPAWN_MULTIPLE(Spawn_multiple(int count, const char **commands, const char ***arguments, const int *n, const Info *info,
                              int root), MPI_ERRCODES_IGNORE)
SPAWN_MULTIPLE(Spawn_multiple(int count, const char **commands, const char ***arguments, const int *n, const Info *info,
                              int root, int *errors), errors)
#endif

/* Topologies */

int Cartcomm::Get_dim() const { int n = 0; CHECK(MPI_Cartdim_get(handle, &n)); return n; }
void Cartcomm::Get_topo(int n, int *sizes, bool *periodic, int *place) const
{
    Scratch<int> flags(n);
    CHECK(MPI_Cart_get(handle, n, sizes, flags.at, place));
    int dimensions = Get_dim();
    for (int i = 0; i < n && i < dimensions; i++)
        periodic[i] = truth(flags.at[i]);
}
int Cartcomm::Get_cart_rank(const int *place) const
{
    int rank = MPI_PROC_NULL;
    CHECK(MPI_Cart_rank(handle, place, &rank));
    return rank;
}
void Cartcomm::Get_coords(int rank, int n, int *place) const { CHECK(MPI_Cart_coords(handle, rank, n, place)); }
void Cartcomm::Shift(int direction, int by, int &from, int &to) const { CHECK(MPI_Cart_shift(handle, direction, by, &from, &to)); }
Cartcomm Cartcomm::Sub(const bool *kept) const
{
    MPI_Comm made = MPI_COMM_NULL;
    CHECK(MPI_Cart_sub(handle, Flags(kept, Get_dim()).at, &made));
    return made;
}
int Cartcomm::Map(int n, const int *sizes, const bool *periodic) const
{
    int rank = MPI_UNDEFINED;
    CHECK(MPI_Cart_map(handle, n, sizes, Flags(periodic, n).at, &rank));
    return rank;
}
void Graphcomm::Get_dims(int *nodes, int *edges) const { CHECK(MPI_Graphdims_get(handle, nodes, edges)); }
void Graphcomm::Get_topo(int nodes, int edges, int *index, int *neighbors) const
{
    CHECK(MPI_Graph_get(handle, nodes, edges, index, neighbors));
}
int Graphcomm::Get_neighbors_count(int rank) const
{
    int n = 0;
    CHECK(MPI_Graph_neighbors_count(handle, rank, &n));
    return n;
}
void Graphcomm::Get_neighbors(int rank, int n, int *neighbors) const { CHECK(MPI_Graph_neighbors(handle, rank, n, neighbors)); }
int Graphcomm::Map(int n, const int *index, const int *edges) const
{
    int rank = MPI_UNDEFINED;
    CHECK(MPI_Graph_map(handle, n, index, edges, &rank));
    return rank;
}

/* Windows */

Group Win::Get_group() const { MPI_Group group = MPI_GROUP_NULL; CHECK(MPI_Win_get_group(handle, &group)); return group; }
void Win::Free() { CHECK(MPI_Win_free(&handle)); }
void Win::Put(const void *out, int n, const Datatype &type, int rank, MPI_Aint at, int there, const Datatype &as) const
{
    CHECK(MPI_Put(out, n, type, rank, at, there, as, handle));
}
void Win::Get(CONST_IN_OPENMPI void *in, int n, const Datatype &type, int rank, MPI_Aint at, int there, const Datatype &as) const
{
    CHECK(MPI_Get(const_cast<void *>(in), n, type, rank, at, there, as, handle));
}
void Win::Accumulate(const void *out, int n, const Datatype &type, int rank, MPI_Aint at, int there, const Datatype &as,
                     const Op &op) const
{
    CHECK(MPI_Accumulate(out, n, type, rank, at, there, as, op, handle));
}
void Win::Fence(int assert) const { CHECK(MPI_Win_fence(assert, handle)); }
void Win::Start(const Group &group, int assert) const { CHECK(MPI_Win_start(group, assert, handle)); }
void Win::Complete() const { CHECK(MPI_Win_complete(handle)); }
void Win::Post(const Group &group, int assert) const { CHECK(MPI_Win_post(group, assert, handle)); }
void Win::Wait() const { CHECK(MPI_Win_wait(handle)); }
bool Win::Test() const { int flag = 0; CHECK(MPI_Win_test(handle, &flag)); return truth(flag); }
void Win::Lock(int kind, int rank, int assert) const { CHECK(MPI_Win_lock(kind, rank, assert, handle)); }
void Win::Unlock(int rank) const { CHECK(MPI_Win_unlock(rank, handle)); }
void Win::Get_name(char *name, int &length) const { CHECK(MPI_Win_get_name(handle, name, &length)); }
void Win::Set_name(const char *name) { CHECK(MPI_Win_set_name(handle, name)); }
void Win::Set_attr(int key, const void *value) { CHECK(MPI_Win_set_attr(handle, key, const_cast<void *>(value))); }
#ifdef CATENA_INTERFACE_MPICH
bool Win::Get_attr(int key, void *value) const
{
    int flag = 0;
    CHECK(MPI_Win_get_attr(handle, key, value, &flag));
    return truth(flag);
}
#endif
void Win::Delete_attr(int key) { CHECK(MPI_Win_delete_attr(handle, key)); }
void Win::Set_errhandler(const Errhandler &errhandler) CONST_IN_OPENMPI { CHECK(MPI_Win_set_errhandler(handle, errhandler)); }
Errhandler Win::Get_errhandler() const
{
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    CHECK(MPI_Win_get_errhandler(handle, &errhandler));
    return errhandler;
}

/* Files */

void File::Close() { CHECK(MPI_File_close(&handle)); }
#ifdef CATENA_INTERFACE_MPICH
#define DO(Name, function, Buffer) \
    void File::Name(Buffer buffer, int n, const Datatype &type, Status &status) \
    { \
        CHECK(function(handle, buffer, n, type, &status.status)); \
    } \
    void File::Name(Buffer buffer, int n, const Datatype &type) \
    { \
        CHECK(function(handle, buffer, n, type, MPI_STATUS_IGNORE)); \
    }
#define DO_AT(Name, function, Buffer) \
    void File::Name(MPI_Offset at, Buffer buffer, int n, const Datatype &type, Status &status) \
    { \
        CHECK(function(handle, at, buffer, n, type, &status.status)); \
    } \
    void File::Name(MPI_Offset at, Buffer buffer, int n, const Datatype &type) \
    { \
        CHECK(function(handle, at, buffer, n, type, MPI_STATUS_IGNORE)); \
    }
#define ISSUE(Name, function, Buffer) \
    Request File::Name(Buffer buffer, int n, const Datatype &type) \
    { \
        MPI_Request request = MPI_REQUEST_NULL; \
        CHECK(function(handle, buffer, n, type, &request)); \
        return request; \
    }
#define ISSUE_AT(Name, function, Buffer) \
    Request File::Name(MPI_Offset at, Buffer buffer, int n, const Datatype &type) \
    { \
        MPI_Request request = MPI_REQUEST_NULL; \
        CHECK(function(handle, at, buffer, n, type, &request)); \
        return request; \
    }
#define BEGIN(Name, function, Buffer) \
    void File::Name(Buffer buffer, int n, const Datatype &type) { CHECK(function(handle, buffer, n, type)); }
#define BEGIN_AT(Name, function, Buffer) \
    void File::Name(MPI_Offset at, Buffer buffer, int n, const Datatype &type) { CHECK(function(handle, at, buffer, n, type)); }
#define END(Name, function, Buffer) \
    void File::Name(Buffer buffer, Status &status) { CHECK(function(handle, buffer, &status.status)); } \
    void File::Name(Buffer buffer) { CHECK(function(handle, buffer, MPI_STATUS_IGNORE)); }
#define BOTH(How, Rest, function) \
    How(Read##Rest, MPI_File_read##function, void *) How(Write##Rest, MPI_File_write##function, const void *)
BOTH(DO, , ) BOTH(DO, _all, _all) BOTH(DO, _shared, _shared) BOTH(DO, _ordered, _ordered)
BOTH(DO_AT, _at, _at) BOTH(DO_AT, _at_all, _at_all)
ISSUE(Iread, MPI_File_iread, void *) ISSUE(Iwrite, MPI_File_iwrite, const void *)
ISSUE(Iread_shared, MPI_File_iread_shared, void *) ISSUE(Iwrite_shared, MPI_File_iwrite_shared, const void *)
ISSUE_AT(Iread_at, MPI_File_iread_at, void *) ISSUE_AT(Iwrite_at, MPI_File_iwrite_at, const void *)
BOTH(BEGIN, _all_begin, _all_begin) BOTH(BEGIN, _ordered_begin, _ordered_begin) BOTH(BEGIN_AT, _at_all_begin, _at_all_begin)
BOTH(END, _all_end, _all_end) BOTH(END, _ordered_end, _ordered_end) BOTH(END, _at_all_end, _at_all_end)

void File::Seek(MPI_Offset at, int from) { CHECK(MPI_File_seek(handle, at, from)); }
void File::Seek_shared(MPI_Offset at, int from) { CHECK(MPI_File_seek_shared(handle, at, from)); }
void File::Sync() { CHECK(MPI_File_sync(handle)); }
void File::Preallocate(MPI_Offset size) { CHECK(MPI_File_preallocate(handle, size)); }
void File::Set_size(MPI_Offset size) { CHECK(MPI_File_set_size(handle, size)); }
void File::Set_atomicity(bool flag) { CHECK(MPI_File_set_atomicity(handle, flag)); }
void File::Set_info(const Info &info) { CHECK(MPI_File_set_info(handle, info)); }
void File::Set_view(MPI_Offset at, const Datatype &etype, Datatype filetype, const char *form, const Info &info)
{
    CHECK(MPI_File_set_view(handle, at, etype, filetype, form, info));
}
void File::Get_view(MPI_Offset &at, Datatype &etype, Datatype &filetype, char *form) const
{
    CHECK(MPI_File_get_view(handle, &at, &etype.handle, &filetype.handle, form));
}
#define ASK(Kind, Name, function, first) \
    Kind File::Name() const { Kind value = first; CHECK(function(handle, &value)); return value; }
ASK(MPI_Offset, Get_size, MPI_File_get_size, 0)
ASK(MPI_Offset, Get_position, MPI_File_get_position, 0)
ASK(MPI_Offset, Get_position_shared, MPI_File_get_position_shared, 0)
ASK(int, Get_amode, MPI_File_get_amode, 0)
Info File::Get_info() const { MPI_Info info = MPI_INFO_NULL; CHECK(MPI_File_get_info(handle, &info)); return info; }
Group File::Get_group() const { MPI_Group group = MPI_GROUP_NULL; CHECK(MPI_File_get_group(handle, &group)); return group; }
bool File::Get_atomicity() const { int flag = 0; CHECK(MPI_File_get_atomicity(handle, &flag)); return truth(flag); }
MPI_Offset File::Get_byte_offset(MPI_Offset at) const
{
    MPI_Offset place = 0;
    CHECK(MPI_File_get_byte_offset(handle, at, &place));
    return place;
}
MPI_Aint File::Get_type_extent(const Datatype &type) const
{
    MPI_Aint extent = 0;
    CHECK(MPI_File_get_type_extent(handle, type, &extent));
    return extent;
}
void File::Set_errhandler(const Errhandler &errhandler) { CHECK(MPI_File_set_errhandler(handle, errhandler)); }
Errhandler File::Get_errhandler() const
{
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    CHECK(MPI_File_get_errhandler(handle, &errhandler));
    return errhandler;
}
#endif

} // namespace MPI
