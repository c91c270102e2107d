/*
 * The classes of MPICH's interface in C++ (libmpicxx.so.12, Debian's libmpichcxx.so.12; that of Intel MPI is the same): what an
 * object consists of, and which member functions its table has in which order. Programs have both compiled in, so
 * neither may change. Member functions that are called without a table are the program's own, and are not here.
 */

namespace MPI {

class Comm;

class Errhandler {
    HANDLE(Errhandler, Errhandler, MPI_ERRHANDLER_NULL)
    virtual void Free();
};

class Group {
    HANDLE(Group, Group, MPI_GROUP_NULL)
    virtual Group Excl(int, const int *) const;
    virtual int Get_rank() const;
    virtual void Free();
    virtual Group Range_excl(int, const int (*)[3]) const;
    virtual Group Range_incl(int, const int (*)[3]) const;
    virtual Group Incl(int, const int *) const;
    virtual int Get_size() const;
};

class Info {
    HANDLE(Info, Info, MPI_INFO_NULL)
    virtual void Delete(const char *);
    virtual void Get_nthkey(int, char *) const;
    virtual void Free();
    virtual void Set(const char *, const char *);
    virtual bool Get_valuelen(const char *, int &) const;
    virtual bool Get(const char *, int, char *) const;
    virtual int Get_nkeys() const;
};

class Datatype {
    HANDLE(Datatype, Datatype, MPI_DATATYPE_NULL)
    virtual void Commit();
    virtual void Free();
    virtual Datatype Create_indexed(int, const int *, const int *) const;
    virtual Datatype Create_contiguous(int) const;
    virtual Datatype Create_vector(int, int, int) const;
    virtual int Pack_size(int, const Comm &) const;
    virtual void Pack(const void *, int, void *, int, int &, const Comm &) const;
    virtual int Get_size() const;
    virtual void Get_envelope(int &, int &, int &, int &) const;
    virtual Datatype Create_hvector(int, int, MPI_Aint) const;
    virtual Datatype Create_resized(MPI_Aint, MPI_Aint) const;
    virtual Datatype Create_indexed_block(int, int, const int *) const;
    virtual MPI_Aint Pack_external_size(const char *, int) const;
    virtual Datatype Create_hindexed(int, const int *, const MPI_Aint *) const;
    virtual bool Get_attr(int, void *) const;
    virtual void Get_true_extent(MPI_Aint &, MPI_Aint &) const;
    virtual Datatype Create_darray(int, int, int, const int *, const int *, const int *, const int *, int) const;
    virtual void Get_contents(int, int, int, int *, MPI_Aint *, Datatype *) const;
    virtual void Set_attr(int, const void *);
    virtual void Set_name(const char *);
    virtual Datatype Create_subarray(int, const int *, const int *, const int *, int) const;
    virtual void Unpack_external(const char *, const void *, MPI_Aint, MPI_Aint &, void *, int) const;
    virtual void Pack_external(const char *, const void *, int, void *, MPI_Aint, MPI_Aint &) const;
    virtual void Get_extent(MPI_Aint &, MPI_Aint &) const;
    virtual void Delete_attr(int);
    virtual void Get_name(char *, int &) const;
    typedef int Copy_attr_function(const Datatype &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Datatype &, int, void *, void *);
    void Unpack(const void *, int, void *, int, int &, const Comm &) const;
    static int Create_keyval(Copy_attr_function *, Delete_attr_function *, void *);
};

class Status {
public:
    MPI_Status status;
    virtual ~Status() {}
    virtual bool Is_cancelled() const;
    virtual int Get_elements(const Datatype &) const;
    virtual int Get_count(const Datatype &) const;
    virtual void Set_cancelled(bool);
    virtual void Set_elements(const Datatype &, int);
};

typedef void User_function(const void *, void *, int, const Datatype &);

class Op {
    HANDLE(Op, Op, MPI_OP_NULL)
    virtual void Free();
    virtual bool Is_commutative() const;
    virtual void Reduce_local(const void *, void *, int, const Datatype &) const;
    void Init(User_function *, bool);
};

class Request {
    HANDLE(Request, Request, MPI_REQUEST_NULL)
    virtual void Free();
    virtual void Wait(Status &);
    virtual void Wait();
    virtual bool Test(Status &);
    virtual bool Test();
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
    typedef int Query_function(void *, Status &);
    typedef int Free_function(void *);
    typedef int Cancel_function(void *, bool);
    // Of an object, which it makes no use of.
    Grequest Start(Query_function *, Free_function *, Cancel_function *, void *);
};

class Intracomm;
class Intercomm;

class Comm {
    ABSTRACT(Comm, Comm, MPI_COMM_NULL)
    virtual Group Get_group() const;
    virtual int Get_rank() const;
    virtual Prequest Bsend_init(const void *, int, const Datatype &, int, int) const;
    virtual Prequest Ssend_init(const void *, int, const Datatype &, int, int) const;
    virtual bool Is_inter() const;
    virtual Prequest Rsend_init(const void *, int, const Datatype &, int, int) const;
    virtual Request Ibsend(const void *, int, const Datatype &, int, int) const;
    virtual void Abort(int) const;
    virtual void Free();
    virtual Prequest Send_init(const void *, int, const Datatype &, int, int) const;
    virtual void Recv(void *, int, const Datatype &, int, int, Status &) const;
    virtual void Recv(void *, int, const Datatype &, int, int) const;
    virtual void Sendrecv(const void *, int, const Datatype &, int, int, void *, int, const Datatype &, int, int,
                          Status &) const;
    virtual void Sendrecv(const void *, int, const Datatype &, int, int, void *, int, const Datatype &, int, int) const;
    virtual void Sendrecv_replace(void *, int, const Datatype &, int, int, int, int, Status &) const;
    virtual void Sendrecv_replace(void *, int, const Datatype &, int, int, int, int) const;
    virtual int Get_topology() const;
    virtual Request Isend(const void *, int, const Datatype &, int, int) const;
    virtual void Probe(int, int, Status &) const;
    virtual void Probe(int, int) const;
    virtual int Get_size() const;
    virtual Request Issend(const void *, int, const Datatype &, int, int) const;
    virtual void Set_errhandler(const Errhandler &);
    virtual void Send(const void *, int, const Datatype &, int, int) const;
    virtual Request Irsend(const void *, int, const Datatype &, int, int) const;
    virtual void Ssend(const void *, int, const Datatype &, int, int) const;
    virtual Prequest Recv_init(void *, int, const Datatype &, int, int) const;
    virtual bool Iprobe(int, int, Status &) const;
    virtual bool Iprobe(int, int) const;
    virtual void Bsend(const void *, int, const Datatype &, int, int) const;
    virtual Request Irecv(void *, int, const Datatype &, int, int) const;
    virtual Errhandler Get_errhandler() const;
    virtual void Rsend(const void *, int, const Datatype &, int, int) const;
    virtual void Gatherv(const void *, int, const Datatype &, void *, const int *, const int *, const Datatype &, int) const;
    virtual void Disconnect();
    virtual void Allreduce(const void *, void *, int, const Datatype &, const Op &) const;
    virtual void Alltoallw(const void *, const int *, const int *, const Datatype *, void *, const int *, const int *,
                           const Datatype *) const;
    virtual void Alltoall(const void *, int, const Datatype &, void *, int, const Datatype &) const;
    virtual bool Get_attr(int, void *) const;
    virtual void Barrier() const;
    virtual void Bcast(void *, int, const Datatype &, int) const;
    virtual void Set_attr(int, const void *);
    virtual void Set_name(const char *);
    virtual void Alltoallv(const void *, const int *, const int *, const Datatype &, void *, const int *, const int *,
                           const Datatype &) const;
    virtual void Reduce_scatter(const void *, void *, const int *, const Datatype &, const Op &) const;
    virtual void Scatter(const void *, int, const Datatype &, void *, int, const Datatype &, int) const;
    virtual void Gather(const void *, int, const Datatype &, void *, int, const Datatype &, int) const;
    virtual void Reduce(const void *, void *, int, const Datatype &, const Op &, int) const;
    virtual void Allgather(const void *, int, const Datatype &, void *, int, const Datatype &) const;
    virtual void Delete_attr(int);
    virtual void Scatterv(const void *, const int *, const int *, const Datatype &, void *, int, const Datatype &, int) const;
    virtual void Get_name(char *, int &) const;
    virtual void Allgatherv(const void *, int, const Datatype &, void *, const int *, const int *, const Datatype &) const;
    virtual Comm &Clone() const = 0;
    virtual void Call_errhandler(int) const;
    virtual void Reduce_scatter_block(const void *, void *, int, const Datatype &, const Op &) const;
    typedef void Errhandler_function(Comm &, int *, ...);
    typedef int Copy_attr_function(const Comm &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Comm &, int, void *, void *);
    static Errhandler Create_errhandler(Errhandler_function *);
    static int Create_keyval(Copy_attr_function *, Delete_attr_function *, void *);
    static Intercomm Get_parent();
    static Intercomm Join(int);
};

class Intercomm : public Comm {
    DERIVED(Intercomm, Comm, Comm)
    virtual Intercomm &Clone() const;
    virtual Intracomm Merge(bool) const;
    virtual Group Get_remote_group() const;
    virtual int Get_remote_size() const;
    virtual Intercomm Split(int, int) const;
};
class Cartcomm;
class Graphcomm;

class Intracomm : public Comm {
    DERIVED(Intracomm, Comm, Comm)
    virtual Intracomm &Clone() const;
    virtual Intercomm Create_intercomm(int, const Comm &, int, int) const;
    virtual Intracomm Split(int, int) const;
    virtual Graphcomm Create_graph(int, const int *, const int *, bool) const;
    virtual Cartcomm Create_cart(int, const int *, const bool *, bool) const;
    virtual Intracomm Create(const Group &) const;
    virtual void Scan(const void *, void *, int, const Datatype &, const Op &) const;
    virtual void Exscan(const void *, void *, int, const Datatype &, const Op &) const;
    virtual Intercomm Accept(const char *, const Info &, int) const;
    virtual Intercomm Connect(const char *, const Info &, int) const;
};

class Cartcomm : public Intracomm {
    DERIVED(Cartcomm, Intracomm, Comm)
    virtual Cartcomm &Clone() const;
    virtual void Get_coords(int, int, int *) const;
    virtual int Get_cart_rank(const int *) const;
    virtual int Get_dim() const;
    virtual void Get_topo(int, int *, bool *, int *) const;
    virtual int Map(int, const int *, const bool *) const;
    virtual Cartcomm Sub(const bool *) const;
    virtual void Shift(int, int, int &, int &) const;
};

class Graphcomm : public Intracomm {
    DERIVED(Graphcomm, Intracomm, Comm)
    virtual Graphcomm &Clone() const;
    virtual void Get_dims(int *, int *) const;
    virtual void Get_topo(int, int, int *, int *) const;
    virtual int Map(int, const int *, const int *) const;
    virtual void Get_neighbors(int, int, int *) const;
    virtual int Get_neighbors_count(int) const;
};

class Nullcomm : public Comm {
    DERIVED(Nullcomm, Comm, Comm)
    virtual Nullcomm &Clone() const;
};

class Win {
    HANDLE(Win, Win, MPI_WIN_NULL)
    virtual Group Get_group() const;
    virtual void Fence(int) const;
    virtual void Start(const Group &, int) const;
    virtual void Free();
    virtual void Put(const void *, int, const Datatype &, int, MPI_Aint, int, const Datatype &) const;
    virtual void Wait() const;
    virtual bool Test() const;
    virtual void Get(void *, int, const Datatype &, int, MPI_Aint, int, const Datatype &) const;
    virtual bool Get_attr(int, void *) const;
    virtual void Set_attr(int, const void *);
    virtual void Complete() const;
    virtual void Set_errhandler(const Errhandler &);
    virtual void Set_name(const char *);
    virtual void Accumulate(const void *, int, const Datatype &, int, MPI_Aint, int, const Datatype &, const Op &) const;
    virtual void Post(const Group &, int) const;
    virtual void Unlock(int) const;
    virtual void Delete_attr(int);
    virtual void Lock(int, int, int) const;
    virtual Errhandler Get_errhandler() const;
    virtual void Get_name(char *, int &) const;
    virtual void Call_errhandler(int) const;
    typedef void Errhandler_function(Win &, int *, ...);
    typedef int Copy_attr_function(const Win &, int, void *, void *, void *, bool &);
    typedef int Delete_attr_function(Win &, int, void *, void *);
    static Errhandler Create_errhandler(Errhandler_function *);
    static int Create_keyval(Copy_attr_function *, Delete_attr_function *, void *);
};

class File {
    HANDLE(File, File, MPI_FILE_NULL)
    virtual MPI_Aint Get_type_extent(const Datatype &) const;
    virtual void Read_ordered_end(void *, Status &);
    virtual void Read_ordered_end(void *);
    virtual void Seek_shared(MPI_Offset, int);
    virtual void Read_ordered(void *, int, const Datatype &, Status &);
    virtual void Read_ordered(void *, int, const Datatype &);
    virtual Request Iread_shared(void *, int, const Datatype &);
    virtual Info Get_info() const;
    virtual void Write_ordered_begin(const void *, int, const Datatype &);
    virtual void Set_info(const Info &);
    virtual void Write_ordered(const void *, int, const Datatype &, Status &);
    virtual void Write_ordered(const void *, int, const Datatype &);
    virtual void Sync();
    virtual void Read(void *, int, const Datatype &, Status &);
    virtual void Read(void *, int, const Datatype &);
    virtual void Write_all(const void *, int, const Datatype &, Status &);
    virtual void Write_all(const void *, int, const Datatype &);
    virtual MPI_Offset Get_size() const;
    virtual void Write_all_end(const void *, Status &);
    virtual void Write_all_end(const void *);
    virtual void Read_ordered_begin(void *, int, const Datatype &);
    virtual Request Iread_at(MPI_Offset, void *, int, const Datatype &);
    virtual void Write_at_all_end(const void *, Status &);
    virtual void Write_at_all_end(const void *);
    virtual MPI_Offset Get_position_shared() const;
    virtual void Write_shared(const void *, int, const Datatype &, Status &);
    virtual void Write_shared(const void *, int, const Datatype &);
    virtual Request Iwrite_at(MPI_Offset, const void *, int, const Datatype &);
    virtual void Get_view(MPI_Offset &, Datatype &, Datatype &, char *) const;
    virtual void Write_all_begin(const void *, int, const Datatype &);
    virtual void Read_all_end(void *, Status &);
    virtual void Read_all_end(void *);
    virtual MPI_Offset Get_byte_offset(MPI_Offset) const;
    virtual Request Iread(void *, int, const Datatype &);
    virtual void Read_at_all_end(void *, Status &);
    virtual void Read_at_all_end(void *);
    virtual void Write_at(MPI_Offset, const void *, int, const Datatype &, Status &);
    virtual void Write_at(MPI_Offset, const void *, int, const Datatype &);
    virtual void Write_at_all_begin(MPI_Offset, const void *, int, const Datatype &);
    virtual Errhandler Get_errhandler() const;
    virtual int Get_amode() const;
    virtual void Set_atomicity(bool);
    virtual Group Get_group() const;
    virtual MPI_Offset Get_position() const;
    virtual void Seek(MPI_Offset, int);
    virtual void Read_all_begin(void *, int, const Datatype &);
    virtual void Read_at_all_begin(MPI_Offset, void *, int, const Datatype &);
    virtual void Read_all(void *, int, const Datatype &, Status &);
    virtual void Read_all(void *, int, const Datatype &);
    virtual void Preallocate(MPI_Offset);
    virtual void Read_at_all(MPI_Offset, void *, int, const Datatype &, Status &);
    virtual void Read_at_all(MPI_Offset, void *, int, const Datatype &);
    virtual void Read_shared(void *, int, const Datatype &, Status &);
    virtual void Read_shared(void *, int, const Datatype &);
    virtual Request Iwrite(const void *, int, const Datatype &);
    virtual Request Iwrite_shared(const void *, int, const Datatype &);
    virtual void Set_errhandler(const Errhandler &);
    virtual void Write_at_all(MPI_Offset, const void *, int, const Datatype &, Status &);
    virtual void Write_at_all(MPI_Offset, const void *, int, const Datatype &);
    virtual void Set_size(MPI_Offset);
    virtual void Set_view(MPI_Offset, const Datatype &, Datatype, const char *, const Info &);
    virtual void Read_at(MPI_Offset, void *, int, const Datatype &, Status &);
    virtual void Read_at(MPI_Offset, void *, int, const Datatype &);
    virtual void Close();
    virtual void Write_ordered_end(const void *, Status &);
    virtual void Write_ordered_end(const void *);
    virtual void Write(const void *, int, const Datatype &, Status &);
    virtual void Write(const void *, int, const Datatype &);
    virtual bool Get_atomicity() const;
    virtual void Call_errhandler(int) const;
    typedef void Errhandler_function(File &, int *, ...);
    static Errhandler Create_errhandler(Errhandler_function *);
};

class Exception {
public:
    int code;
    char text[MPI_MAX_ERROR_STRING];
    Exception(int it) : code(it) { text[0] = 0; }
    virtual ~Exception() {}
};

} // namespace MPI
