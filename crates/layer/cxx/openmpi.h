/*
 * The classes of Open MPI's interface in C++ (libmpi_cxx.so.40, versions 1.8 to 4.1): what an object consists of, and which
 * member functions its table has in which order. Programs have both compiled in, so neither may change.
 * Member functions that are called without a table are the program's own, and are not here.
 */

namespace MPI {

class Comm;

class Errhandler {
    HANDLE(Errhandler, Errhandler, MPI_ERRHANDLER_NULL)
    virtual void Free();
};

class Group {
    HANDLE(Group, Group, MPI_GROUP_NULL)
    virtual int Get_size() const;
    virtual int Get_rank() const;
    virtual Group Incl(int, const int *) const;
    virtual Group Excl(int, const int *) const;
    virtual Group Range_incl(int, const int (*)[3]) const;
    virtual Group Range_excl(int, const int (*)[3]) const;
    virtual void Free();
};

class Info {
    HANDLE(Info, Info, MPI_INFO_NULL)
    virtual void Delete(const char *);
    virtual Info Dup() const;
    virtual void Free();
    virtual bool Get(const char *, int, char *) const;
    virtual int Get_nkeys() const;
    virtual void Get_nthkey(int, char *) const;
    virtual bool Get_valuelen(const char *, int &) const;
    virtual void Set(const char *, const char *);
};

class Datatype {
    HANDLE(Datatype, Datatype, MPI_DATATYPE_NULL)
    virtual Datatype Create_contiguous(int) const;
    virtual Datatype Create_vector(int, int, int) const;
    virtual Datatype Create_indexed(int, const int *, const int *) const;
    virtual Datatype Create_hindexed(int, const int *, const MPI_Aint *) const;
    virtual Datatype Create_hvector(int, int, MPI_Aint) const;
    virtual Datatype Create_indexed_block(int, int, const int *) const;
    virtual Datatype Create_resized(MPI_Aint, MPI_Aint) const;
    virtual int Get_size() const;
    virtual void Get_extent(MPI_Aint &, MPI_Aint &) const;
    virtual void Get_true_extent(MPI_Aint &, MPI_Aint &) const;
    virtual void Commit();
    virtual void Free();
    virtual void Pack(const void *, int, void *, int, int &, const Comm &) const;
    virtual void Unpack(const void *, int, void *, int, int &, const Comm &) const;
    virtual int Pack_size(int, const Comm &) const;
    virtual void Pack_external(const char *, const void *, int, void *, MPI_Aint, MPI_Aint &) const;
    virtual MPI_Aint Pack_external_size(const char *, int) const;
    virtual void Unpack_external(const char *, const void *, MPI_Aint, MPI_Aint &, void *, int) const;
    virtual Datatype Create_subarray(int, const int *, const int *, const int *, int) const;
    virtual Datatype Create_darray(int, int, int, const int *, const int *, const int *, const int *, int) const;
    virtual Datatype Dup() const;
    virtual void Delete_attr(int);
    virtual bool Get_attr(int, void *) const;
    virtual void Get_contents(int, int, int, int *, MPI_Aint *, Datatype *) const;
    virtual void Get_envelope(int &, int &, int &, int &) const;
    virtual void Get_name(char *, int &) const;
    virtual void Set_attr(int, const void *);
    virtual void Set_name(const char *);
    typedef int Copy_attr_function(const Datatype &, int, void *, const void *, void *, bool &);
    typedef int Delete_attr_function(Datatype &, int, void *, void *);
    static int do_create_keyval(MPI_Type_copy_attr_function *, MPI_Type_delete_attr_function *, Copy_attr_function *,
                                Delete_attr_function *, void *, int &);
};

class Status {
public:
    MPI_Status status;
    virtual ~Status() {}
    virtual int Get_count(const Datatype &) const;
    virtual bool Is_cancelled() const;
    virtual int Get_elements(const Datatype &) const;
    virtual int Get_source() const;
    virtual void Set_source(int);
    virtual int Get_tag() const;
    virtual void Set_tag(int);
    virtual int Get_error() const;
    virtual void Set_error(int);
    virtual void Set_elements(const Datatype &, int);
    virtual void Set_cancelled(bool);
};

typedef void User_function(const void *, void *, int, const Datatype &);

class Op {
    HANDLE(Op, Op, MPI_OP_NULL)
    virtual void Init(User_function *, bool);
    virtual void Free();
    virtual void Reduce_local(const void *, void *, int, const Datatype &) const;
    virtual bool Is_commutative() const;
};

class Request {
    HANDLE(Request, Request, MPI_REQUEST_NULL)
    virtual void Wait(Status &);
    virtual void Wait();
    virtual bool Test(Status &);
    virtual bool Test();
    virtual void Free();
    virtual void Cancel() const;
    virtual bool Get_status(Status &) const;
    virtual bool Get_status() const;
};

class Prequest : public Request {
    DERIVED(Prequest, Request, Request)
    virtual void Start();
};

class Grequest : public Request {
    DERIVED(Grequest, Request, Request)
    virtual void Complete();
};

class Comm_Null {
    HANDLE(Comm_Null, Comm, MPI_COMM_NULL)
};

class Intracomm;
class Intercomm;

class Comm : public Comm_Null {
public:
    Comm();
    Comm(const Comm_Null &);
    Comm(MPI_Comm it) : Comm_Null(it) {}
    virtual void Send(const void *, int, const Datatype &, int, int) const;
    virtual void Recv(void *, int, const Datatype &, int, int, Status &) const;
    virtual void Recv(void *, int, const Datatype &, int, int) const;
    virtual void Bsend(const void *, int, const Datatype &, int, int) const;
    virtual void Ssend(const void *, int, const Datatype &, int, int) const;
    virtual void Rsend(const void *, int, const Datatype &, int, int) const;
    virtual Request Isend(const void *, int, const Datatype &, int, int) const;
    virtual Request Ibsend(const void *, int, const Datatype &, int, int) const;
    virtual Request Issend(const void *, int, const Datatype &, int, int) const;
    virtual Request Irsend(const void *, int, const Datatype &, int, int) const;
    virtual Request Irecv(void *, int, const Datatype &, int, int) const;
    virtual bool Iprobe(int, int, Status &) const;
    virtual bool Iprobe(int, int) const;
    virtual void Probe(int, int, Status &) const;
    virtual void Probe(int, int) const;
    virtual Prequest Send_init(const void *, int, const Datatype &, int, int) const;
    virtual Prequest Bsend_init(const void *, int, const Datatype &, int, int) const;
    virtual Prequest Ssend_init(const void *, int, const Datatype &, int, int) const;
    virtual Prequest Rsend_init(const void *, int, const Datatype &, int, int) const;
    virtual Prequest Recv_init(void *, int, const Datatype &, int, int) const;
    virtual void Sendrecv(const void *, int, const Datatype &, int, int, void *, int, const Datatype &, int, int,
                          Status &) const;
    virtual void Sendrecv(const void *, int, const Datatype &, int, int, void *, int, const Datatype &, int, int) const;
    virtual void Sendrecv_replace(void *, int, const Datatype &, int, int, int, int, Status &) const;
    virtual void Sendrecv_replace(void *, int, const Datatype &, int, int, int, int) const;
    virtual Group Get_group() const;
    virtual int Get_size() const;
    virtual int Get_rank() const;
    virtual Comm &Clone() const = 0;
    virtual void Free();
    virtual bool Is_inter() const;
    virtual void Barrier() const;
    virtual void Bcast(void *, int, const Datatype &, int) const;
    virtual void Gather(const void *, int, const Datatype &, void *, int, const Datatype &, int) const;
    virtual void Gatherv(const void *, int, const Datatype &, void *, const int *, const int *, const Datatype &, int) const;
    virtual void Scatter(const void *, int, const Datatype &, void *, int, const Datatype &, int) const;
    virtual void Scatterv(const void *, const int *, const int *, const Datatype &, void *, int, const Datatype &, int) const;
    virtual void Allgather(const void *, int, const Datatype &, void *, int, const Datatype &) const;
    virtual void Allgatherv(const void *, int, const Datatype &, void *, const int *, const int *, const Datatype &) const;
    virtual void Alltoall(const void *, int, const Datatype &, void *, int, const Datatype &) const;
    virtual void Alltoallv(const void *, const int *, const int *, const Datatype &, void *, const int *, const int *,
                           const Datatype &) const;
    virtual void Alltoallw(const void *, const int *, const int *, const Datatype *, void *, const int *, const int *,
                           const Datatype *) const;
    virtual void Reduce(const void *, void *, int, const Datatype &, const Op &, int) const;
    virtual void Allreduce(const void *, void *, int, const Datatype &, const Op &) const;
    virtual void Reduce_scatter(const void *, void *, int *, const Datatype &, const Op &) const;
    virtual void Disconnect();
    virtual void Get_name(char *, int &) const;
    virtual void Set_name(const char *);
    virtual int Get_topology() const;
    virtual void Abort(int);
    virtual void Set_errhandler(const Errhandler &);
    virtual Errhandler Get_errhandler() const;
    virtual void Set_attr(int, const void *) const;
    virtual bool Get_attr(int, void *) const;
    virtual void Delete_attr(int);
    typedef void Errhandler_function(Comm &, int *, ...);
    typedef int Copy_attr_function(const Comm &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Comm &, int, void *, void *);
    static Errhandler Create_errhandler(Errhandler_function *);
    static int do_create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, Copy_attr_function *,
                                Delete_attr_function *, void *, int &);
};

class Intercomm : public Comm {
    DERIVED(Intercomm, Comm, Comm)
    virtual Intercomm &Clone() const;
    virtual int Get_remote_size() const;
    virtual Group Get_remote_group() const;
    virtual Intracomm Merge(bool) const;
    virtual Intercomm Create(const Group &) const;
    virtual Intercomm Split(int, int) const;
};
class Cartcomm;
class Graphcomm;

class Intracomm : public Comm {
    DERIVED(Intracomm, Comm, Comm)
    virtual Intracomm &Clone() const;
    virtual void Scan(const void *, void *, int, const Datatype &, const Op &) const;
    virtual void Exscan(const void *, void *, int, const Datatype &, const Op &) const;
    virtual Intracomm Create(const Group &) const;
    virtual Intracomm Split(int, int) const;
    virtual Intercomm Create_intercomm(int, const Comm &, int, int) const;
    virtual Cartcomm Create_cart(int, const int *, const bool *, bool) const;
    virtual Graphcomm Create_graph(int, const int *, const int *, bool) const;
    virtual Intercomm Accept(const char *, const Info &, int) const;
    virtual Intercomm Connect(const char *, const Info &, int) const;
    virtual Intercomm Spawn(const char *, const char **, int, const Info &, int) const;
    virtual Intercomm Spawn(const char *, const char **, int, const Info &, int, int *) const;
    virtual Intercomm Spawn_multiple(int, const char **, const char ***, const int *, const Info *, int);
    virtual Intercomm Spawn_multiple(int, const char **, const char ***, const int *, const Info *, int, int *);
};

class Cartcomm : public Intracomm {
    DERIVED(Cartcomm, Intracomm, Comm)
    virtual Cartcomm &Clone() const;
    virtual int Get_dim() const;
    virtual void Get_topo(int, int *, bool *, int *) const;
    virtual int Get_cart_rank(const int *) const;
    virtual void Get_coords(int, int, int *) const;
    virtual void Shift(int, int, int &, int &) const;
    virtual Cartcomm Sub(const bool *) const;
    virtual int Map(int, const int *, const bool *) const;
};

class Graphcomm : public Intracomm {
    DERIVED(Graphcomm, Intracomm, Comm)
    virtual Graphcomm &Clone() const;
    virtual void Get_dims(int *, int *) const;
    virtual void Get_topo(int, int, int *, int *) const;
    virtual int Get_neighbors_count(int) const;
    virtual void Get_neighbors(int, int, int *) const;
    virtual int Map(int, const int *, const int *) const;
};

class Win {
    HANDLE(Win, Win, MPI_WIN_NULL)
    virtual void Set_errhandler(const Errhandler &) const;
    virtual Errhandler Get_errhandler() const;
    virtual void Accumulate(const void *, int, const Datatype &, int, MPI_Aint, int, const Datatype &, const Op &) const;
    virtual void Complete() const;
    virtual void Fence(int) const;
    virtual void Free();
    virtual void Get(const void *, int, const Datatype &, int, MPI_Aint, int, const Datatype &) const;
    virtual Group Get_group() const;
    virtual void Lock(int, int, int) const;
    virtual void Post(const Group &, int) const;
    virtual void Put(const void *, int, const Datatype &, int, MPI_Aint, int, const Datatype &) const;
    virtual void Start(const Group &, int) const;
    virtual bool Test() const;
    virtual void Unlock(int) const;
    virtual void Wait() const;
    virtual void Call_errhandler(int) const;
    virtual void Delete_attr(int);
    virtual void Get_name(char *, int &) const;
    virtual void Set_attr(int, const void *);
    virtual void Set_name(const char *);
    typedef void Errhandler_function(Win &, int *, ...);
    typedef int Copy_attr_function(const Win &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Win &, int, void *, void *);
    static Errhandler Create_errhandler(Errhandler_function *);
    static int do_create_keyval(MPI_Win_copy_attr_function *, MPI_Win_delete_attr_function *, Copy_attr_function *,
                                Delete_attr_function *, void *, int &);
};

class File {
    HANDLE(File, File, MPI_FILE_NULL)
    typedef void Errhandler_function(File &, int *, ...);
    static Errhandler Create_errhandler(Errhandler_function *);
    void Close();
};

} // namespace MPI
