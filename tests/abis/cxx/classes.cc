// MPI's classes in C++, as the headers of MPICH and Open MPI 4 have them: what they ask their library for.
// run: -n 1
// run: -n 3
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failed;
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failed = 1; \
        } \
    } while (0)

static int rank, size;

// The functions of the object come from its table: there is no knowing of which class it is.
static void tables(MPI::Comm &comm)
{
    CHECK(comm.Get_rank() == rank && comm.Get_size() == size);
    int all = -1;
    comm.Allreduce(&rank, &all, 1, MPI::INT, MPI::SUM);
    CHECK(all == size * (size - 1) / 2);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1;
    MPI::Request request = comm.Irecv(&got, 1, MPI::INT, from, 5);
    comm.Send(&rank, 1, MPI::INT, to, 5);
    MPI::Status status;
    request.Wait(status);
    CHECK(got == from && status.Get_source() == from && status.Get_tag() == 5 && status.Get_count(MPI::INT) == 1);
    MPI::Prequest persistent = comm.Send_init(&rank, 1, MPI::INT, to, 6);
    persistent.Start();
    comm.Recv(&got, 1, MPI::INT, from, 6, status);
    persistent.Wait();
    persistent.Free();
    CHECK(got == from);
    MPI::Comm &other = comm.Clone();
    CHECK(MPI::Comm::Compare(comm, other) == MPI::CONGRUENT && !other.Is_inter());
    other.Set_name("clone");
    char name[MPI::MAX_OBJECT_NAME];
    int length;
    other.Get_name(name, length);
    CHECK(length == 5 && !std::strcmp(name, "clone"));
    other.Barrier();
    other.Free();
    delete &other;
    int *mine = new int[size], *theirs = new int[size], *counts = new int[size], *places = new int[size];
    MPI::Datatype *types = new MPI::Datatype[size];
    for (int i = 0; i < size; i++)
        mine[i] = rank * 100 + i, counts[i] = 1, places[i] = i * sizeof(int), types[i] = MPI::INT;
    comm.Alltoallw(mine, counts, places, types, theirs, counts, places, types);
    for (int i = 0; i < size; i++)
        CHECK(theirs[i] == i * 100 + rank);
    delete[] mine, delete[] theirs, delete[] counts, delete[] places, delete[] types;
}

static void datatypes()
{
    MPI::Datatype pair = MPI::DOUBLE_INT;
    CHECK(pair.Get_size() == 12);
    const int lengths[] = {1, 2}, places[] = {0, 3};
    MPI::Datatype type = MPI::INT.Create_indexed(2, lengths, places);
    type.Commit();
    MPI::Aint lb, extent;
    type.Get_extent(lb, extent);
    CHECK(type.Get_size() == 12 && lb == 0 && extent == 20);
    int integers, addresses, types, combiner;
    type.Get_envelope(integers, addresses, types, combiner);
    CHECK(integers == 5 && types == 1 && combiner == MPI::COMBINER_INDEXED);
    int integer[5];
    MPI::Aint address[1];
    MPI::Datatype old[1];
    type.Get_contents(integers, addresses, types, integer, address, old);
    CHECK(integer[0] == 2 && integer[4] == 3 && old[0] == MPI::INT);
    type.Free();
    CHECK(type == MPI::DATATYPE_NULL);
    CHECK(MPI::BOOL.Get_size() == sizeof(bool) && MPI::DOUBLE_COMPLEX.Get_size() == 16 && MPI::F_COMPLEX.Get_size() == 8);
}

// Operations of the program: two at once, each of which is given its own function.
static void add_and_one(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    CHECK(type == MPI::INT);
    for (int i = 0; i < n; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i] + 1;
}
static void keep_larger(const void *in, void *inout, int n, const MPI::Datatype &)
{
    for (int i = 0; i < n; i++)
        if (static_cast<const int *>(in)[i] > static_cast<int *>(inout)[i])
            static_cast<int *>(inout)[i] = static_cast<const int *>(in)[i];
}
static void operations()
{
    MPI::Op one, other;
    one.Init(add_and_one, true);
    other.Init(keep_larger, true);
    int sum = -1, larger = -1;
    MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, one);
    MPI::COMM_WORLD.Allreduce(&rank, &larger, 1, MPI::INT, other);
    CHECK(sum == size * (size - 1) / 2 + size - 1 && larger == size - 1);
    one.Free();
    other.Free();
    CHECK(one == MPI::OP_NULL);
}

// Attributes and error handlers learn the class of a communicator.
static int copies, removals;
static int copy(const MPI::Comm &from, int, void *extra, void *value, void *to, bool &flag)
{
    copies += dynamic_cast<const MPI::Cartcomm *>(&from) != NULL && from.Get_size() == size;
    *static_cast<void **>(to) = static_cast<char *>(value) + *static_cast<int *>(extra);
    flag = true;
    return MPI::SUCCESS;
}
static int remove(MPI::Comm &from, int, void *, void *)
{
    removals += from.Get_size() == size;
    return MPI::SUCCESS;
}
static int errors, last;
static void note(MPI::Comm &comm, int *code, ...)
{
    errors += comm.Get_size() == size;
    last = MPI::Get_error_class(*code);
}
static void topologies()
{
    const int sizes[] = {size, 1};
    const bool periodic[] = {true, false};
    MPI::Cartcomm grid = MPI::COMM_WORLD.Create_cart(2, sizes, periodic, false);
    MPI::Comm &any = grid;
    CHECK(any.Get_topology() == MPI::CART);
    int extents[2], place[2];
    bool wraps[2];
    grid.Get_topo(2, extents, wraps, place);
    CHECK(extents[0] == size && wraps[0] && !wraps[1] && grid.Get_cart_rank(place) == rank);
    int from, to;
    grid.Shift(0, 1, from, to);
    CHECK(to == (rank + 1) % size);
    const bool kept[] = {false, true};
    MPI::Cartcomm row = grid.Sub(kept);
    CHECK(row.Get_size() == 1);
    row.Free();

    int extra = 3, flag;
    char data[8];
    int key = MPI::Comm::Create_keyval(copy, remove, &extra);
    grid.Set_attr(key, data);
    MPI::Cartcomm twin = grid.Dup();
    char *value = NULL;
    flag = twin.Get_attr(key, &value);
    CHECK(copies == 1 && flag && value == data + 3);
    twin.Free();
    grid.Delete_attr(key);
    CHECK(removals == 2);
    MPI::Comm::Free_keyval(key);

    MPI::Errhandler handler = MPI::Comm::Create_errhandler(note);
    grid.Set_errhandler(handler);
    grid.Send(&rank, 1, MPI::INT, size, 0);
    CHECK(errors > 0 && last == MPI::ERR_RANK);
    handler.Free();
    grid.Free();
}

static void windows()
{
    int here = -1;
    MPI::Win win = MPI::Win::Create(&here, sizeof here, sizeof here, MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Fence(0);
    win.Put(&rank, 1, MPI::INT, (rank + 1) % size, 0, 1, MPI::INT);
    win.Fence(0);
    CHECK(here == (rank + size - 1) % size);
    win.Free();
}

// A generalized request, and a status that it fills.
static int freed;
static int query(void *, MPI::Status &status)
{
    status.Set_elements(MPI::INT, 7);
    status.Set_cancelled(false);
    return MPI::SUCCESS;
}
static int release(void *state) { return freed = *static_cast<int *>(state), MPI::SUCCESS; }
static int cancel(void *, bool) { return MPI::SUCCESS; }
static void requests()
{
    int state = 42;
    // It is static in the standard, but not in MPICH's header.
    MPI::Grequest request;
    request = request.Start(query, release, cancel, &state);
    CHECK(!request.Get_status());
    request.Complete();
    MPI::Status status;
    request.Wait(status);
    CHECK(freed == 42 && status.Get_elements(MPI::INT) == 7 && !status.Is_cancelled());
    CHECK(request == MPI::REQUEST_NULL);
}

static void infos()
{
    MPI::Info info = MPI::Info::Create();
    info.Set("key", "value");
    char value[16];
    CHECK(info.Get_nkeys() == 1 && info.Get("key", 15, value) && !std::strcmp(value, "value"));
    info.Delete("key");
    info.Free();
    CHECK(info == MPI::INFO_NULL);
}

static void exceptions()
{
    MPI::Intracomm own = MPI::COMM_WORLD.Dup();
    own.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::Errhandler handler = own.Get_errhandler();
    CHECK(handler == MPI::ERRORS_THROW_EXCEPTIONS);
    int caught = 0;
    try {
        own.Send(&rank, 1, MPI::INT, size, 0);
    } catch (MPI::Exception &error) {
        caught = error.Get_error_class();
    }
#ifdef MPICH
    CHECK(caught == MPI::ERR_RANK);
    caught = 0;
    try {
        MPI::Comm &any = own;
        any.Send(&rank, 1, MPI::INT, size, 0);
    } catch (MPI::Exception &error) {
        caught = error.Get_error_class();
    }
    CHECK(caught == MPI::ERR_RANK);
#else
    // Open MPI's header throws none where it was built without exceptions, as Debian's was.
    CHECK(caught == 0);
#endif
    own.Free();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    CHECK(MPI::Is_initialized() && MPI::COMM_SELF.Get_size() == 1);
    tables(MPI::COMM_WORLD);
    datatypes();
    operations();
    topologies();
    windows();
    requests();
    infos();
    exceptions();
    MPI::Finalize();
    if (!failed && !rank)
        std::puts("ok");
    return failed;
}
