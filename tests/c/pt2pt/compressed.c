// Messages over a network that may be compressed: exact without a bound, within it where the program gives one, whatever the
// type, the form of the call and the data; what hints say, and wrong ones.
// only: catena
// cc: -lm
// run: --set LINK=tcp --set COMPRESS=auto -n 2
// run: --set LINK=tcp -n 2 -- hints
// run: --set LINK=tcp --set COMPRESS=auto --set TCP_PACKET=4001 -n 2
// run: --set COMPRESS=auto -n 2
// run: --set LINK=tcp --set COMPRESS=lossless --set PROGRESS=thread -n 2
#include "../check.h"
#include <fenv.h>
#include <float.h>
#include <math.h>

enum { N = 50000, ROUNDS = 14 };

static double out[N], in[N];
static float out4[N], in4[N];
static int whole[N], got[N];

static void info_of(MPI_Info *info, const char *mode, const char *key, const char *value)
{
    MPI_Info_create(info);
    MPI_Info_set(*info, "catena_compress", mode);
    if (key)
        MPI_Info_set(*info, key, value);
}

/* A smooth field, a rough one, special values, noise, nothing. */
static double number(int kind, int round, int i)
{
    static const double special[] = {0.0, -0.0, 1e-310, -DBL_MIN, DBL_MAX, -1e300, 1.0, -1.0};
    switch (kind) {
    case 0:
        return 300 + 20 * sin(i * 0.01 + round);
    case 1:
        return sin(i * 1.7) + 0.3 * sin(i * 0.3);
    case 2:
        return i % 97 == 5 ? NAN : i % 89 == 7 ? INFINITY : special[(i * 7 + round) % 8];
    case 3:
        return ldexp((double)(unsigned)(i * 2654435761u ^ round * 40503u), (i * 31) % 60 - 40);
    default:
        return 0;
    }
}

/* Whether it is the same, NaN or not. */
static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void exchange(MPI_Comm comm, int how, int round)
{
    MPI_Request request;
    MPI_Status status;
    int count;
    if (rank == 0) {
        if (how % 3 == 0)
            MPI_Send(out, N, MPI_DOUBLE, 1, how, comm);
        else if (how % 3 == 1) {
            MPI_Isend(out, N, MPI_DOUBLE, 1, how, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Ssend_init(out, N, MPI_DOUBLE, 1, how, comm, &request);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
        }
    } else {
        memset(in, 0xa5, sizeof in);
        MPI_Recv(in, N, MPI_DOUBLE, MPI_ANY_SOURCE, how, comm, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        EQUAL(count, N);
    }
    (void)round;
}

/* Every number within the bound: absolute, relative, or neither. */
static void check_numbers(int kind, int round, double absolute, double relative)
{
    for (int i = 0; i < N; i++) {
        double x = number(kind, round, i), most = absolute > 0 ? absolute : relative * fabs(x);
        CHECK(same(in[i], x) || (most > 0 && fabs(in[i] - x) <= most));
    }
}

static void numbers(MPI_Comm comm, double absolute, double relative)
{
    for (int kind = 0; kind < 5; kind++)
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < N; i++)
                out[i] = number(kind, round, i);
            exchange(comm, round, round);
            if (rank == 1)
                check_numbers(kind, round, absolute, relative);
        }
}

/* Columns, floats, integers, a receive that is too short. */
static void types(MPI_Comm comm)
{
    MPI_Datatype column;
    MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            out[i] = i % 2 ? -1 : number(0, round, i);
            out4[i] = (float)number(0, round, i);
            whole[i] = i / 3 + round;
        }
        memset(in, 0, sizeof in);
        if (rank == 0) {
            MPI_Send(out, 1, column, 1, 0, comm);
            MPI_Send(out4, N, MPI_FLOAT, 1, 1, comm);
            MPI_Send(whole, N, MPI_INT, 1, 2, comm);
            MPI_Send(whole, N, MPI_INT, 1, 3, comm);
        } else {
            MPI_Recv(in, 1, column, 0, 0, comm, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                CHECK(i % 2 ? in[i] == 0 : fabs(in[i] - out[i]) <= 1e-4 * fabs(out[i]));
            MPI_Recv(in4, N, MPI_FLOAT, 0, 1, comm, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                CHECK(fabs((double)in4[i] - out4[i]) <= 1e-4 * fabs(out4[i]));
            MPI_Recv(got, N, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
            CHECK(memcmp(got, whole, sizeof got) == 0);
            memset(got, 0, sizeof got);
            MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
            EQUAL(class_of(MPI_Recv(got, N / 2 + 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
            CHECK(memcmp(got, whole, (N / 2 + 1) * sizeof *got) == 0 && got[N / 2 + 1] == 0);
        }
    }
    MPI_Type_free(&column);
}

/* Many at once, of which each keeps its bytes. */
static void windows(MPI_Comm comm)
{
    enum { WINDOW = 12, PART = 12000 };
    static double many[WINDOW * PART];
    MPI_Request requests[WINDOW];
    for (int round = 0; round < 3 * ROUNDS; round++) {
        for (int k = 0; k < WINDOW; k++)
            for (int i = 0; i < PART; i++)
                many[k * PART + i] = rank == 0 ? number(k % 5, round, i) : 0;
        for (int k = 0; k < WINDOW; k++)
            if (rank == 0)
                MPI_Isend(many + k * PART, PART, MPI_DOUBLE, 1, k, comm, &requests[k]);
            else
                MPI_Irecv(many + k * PART, PART, MPI_DOUBLE, 0, k, comm, &requests[k]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; rank == 1 && k < WINDOW; k++)
            for (int i = 0; i < PART; i++)
                CHECK(same(many[k * PART + i], number(k % 5, round, i)));
    }
}

/* A send raises no exception of floating-point numbers, and depends on no mode of theirs. */
static void modes(MPI_Comm comm)
{
    static float near[N], came[N];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            out[i] = number(2, round, i);
            near[i] = (float)(i * 0.37);
        }
        feclearexcept(FE_ALL_EXCEPT);
        fesetround(FE_UPWARD);
        exchange(comm, round, round);
        if (rank == 0)
            MPI_Send(near, N, MPI_FLOAT, 1, 0, comm);
        else
            MPI_Recv(came, N, MPI_FLOAT, 0, 0, comm, MPI_STATUS_IGNORE);
        CHECK(fegetround() == FE_UPWARD && !fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO));
        fesetround(FE_TONEAREST);
        if (rank == 1) {
            check_numbers(2, round, 1.4, 0);
            for (int i = 0; i < N; i++)
                CHECK(fabs((double)came[i] - near[i]) <= 1.4);
        }
    }
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle left_compressed;

/* Begins to count bytes of messages that leave compressed. */
static void watch(void)
{
    int provided, index, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    EQUAL(MPI_T_pvar_get_index("sent_compressed_from", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    EQUAL(MPI_T_pvar_handle_alloc(session, index, NULL, &left_compressed, &count), MPI_SUCCESS);
    MPI_T_pvar_start(session, left_compressed);
}

/* How many there were. */
static unsigned long long watched(void)
{
    unsigned long long bytes = 0;
    EQUAL(MPI_T_pvar_read(session, left_compressed, &bytes), MPI_SUCCESS);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return bytes;
}

static void hints(void)
{
    MPI_Info info, used;
    MPI_Comm comm, again;
    char value[64];
    int len = sizeof value, flag;
    static const char *wrong[][2] = {{"catena_compress", "yes"},
                                     {"catena_compress_error_rel", "small"},
                                     {"catena_compress_error_abs", "-1"},
                                     {"catena_compress_error_abs", "inf"}};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        info_of(&info, "auto", wrong[i][0], wrong[i][1]);
        EQUAL(class_of(MPI_Comm_set_info(comm, info)), MPI_ERR_INFO_VALUE);
        MPI_Info_free(&info);
    }
    info_of(&info, "auto", "catena_compress_error_abs", "0.5");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Comm_dup(comm, &again);
    MPI_Comm_get_info(again, &used);
    MPI_Info_get_string(used, "catena_compress_error_abs", &len, value, &flag);
    CHECK(flag && strcmp(value, "0.5") == 0);
    MPI_Info_free(&used);
    numbers(again, 0.5, 0);
    MPI_Comm_free(&again);
    info_of(&info, "auto", "catena_compress_error_abs", "1.4");
    MPI_Comm_dup_with_info(comm, info, &again);
    MPI_Info_free(&info);
    modes(again);
    MPI_Comm_free(&again);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &again);
    MPI_Comm_get_info(again, &used);
    len = sizeof value;
    MPI_Info_get_string(used, "catena_compress", &len, value, &flag);
    CHECK(!flag);
    MPI_Info_free(&used);
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Comm comm;
    start(&argc, &argv);
    if (argc > 1) {
        hints();
        return finish();
    }
    watch();
    numbers(MPI_COMM_WORLD, 0, 0);
    windows(MPI_COMM_WORLD);
    info_of(&info, "lossless", "catena_compress_error_rel", "1e-2");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    numbers(comm, 0, 0);
    MPI_Comm_free(&comm);
    info_of(&info, "auto", "catena_compress_error_rel", "1e-4");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    numbers(comm, 0, 1e-4);
    types(comm);
    MPI_Comm_free(&comm);
    /* What passes through shared memory never is. */
    int is_far = getenv("CATENA_LINK") != NULL;
    EQUAL(watched() > 0, rank == 0 && is_far);
    return finish();
}
