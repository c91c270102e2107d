// Objects without a partner: handlers, info, groups, attributes, generalized requests, buffers.
// alone:
// only: catena
#include "../check.h"
#include <stdint.h>

#define OK(call) EQUAL(call, MPI_SUCCESS)
#define FAILS(call, class) EQUAL(class_of(call), class)

static int handled, handled_code;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    handled++;
    handled_code = *code;
}

static void test_errors(void)
{
    MPI_Errhandler mine, got;
    int size, class, code, len;
    char text[MPI_MAX_ERROR_STRING];

    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL);
    OK(MPI_Errhandler_free(&mine));
    FAILS(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK(handled == 1 && class_of(handled_code) == MPI_ERR_ARG);
    OK(MPI_Error_string(handled_code, text, &len));
    CHECK(strstr(text, "MPI_Comm_size") && strstr(text, "size") && (int) strlen(text) == len);
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TOPOLOGY));
    CHECK(handled == 2 && handled_code == MPI_ERR_TOPOLOGY);

    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
    FAILS(MPI_Comm_size((MPI_Comm) (intptr_t) 0x7777777777, &size), MPI_ERR_COMM);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);

    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    CHECK(class > MPI_ERR_LASTCODE && class_of(code) == class);
    OK(MPI_Add_error_string(code, "too much coffee"));
    OK(MPI_Error_string(code, text, &len));
    CHECK(strcmp(text, "too much coffee") == 0);
    int *last, flag;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last == code);
    FAILS(MPI_Add_error_string(MPI_ERR_ARG, "no"), MPI_ERR_ARG);
    FAILS(MPI_Add_error_code(code, &size), MPI_ERR_ARG);
    /* First the strings, then the codes, then the class. */
    FAILS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Error_string(code, text, &len));
    CHECK(len == 0 && text[0] == 0);
    FAILS(MPI_Remove_error_class(class), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_class(code), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_code(class), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_string(MPI_ERR_ARG), MPI_ERR_ARG);
    OK(MPI_Remove_error_code(code));
    FAILS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    FAILS(MPI_Error_string(code, text, &len), MPI_ERR_ARG);
    OK(MPI_Add_error_string(class, "drinks"));
    FAILS(MPI_Remove_error_class(class), MPI_ERR_ARG);
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
    CHECK(*last == MPI_ERR_LASTCODE);
    FAILS(MPI_Remove_error_class(class), MPI_ERR_ARG);
    FAILS(MPI_Error_class(-5, &class), MPI_ERR_ARG);
    FAILS(MPI_Win_sync(MPI_WIN_NULL), MPI_ERR_WIN);
    FAILS(MPI_File_delete("", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
}

static void test_info(void)
{
    MPI_Info info, copy;
    int flag, n, len;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "colour", "green"));
    OK(MPI_Info_set(info, "shape", "round"));
    OK(MPI_Info_set(info, "colour", "yellow"));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 2);
    OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK(strcmp(key, "shape") == 0);
    FAILS(MPI_Info_get_nthkey(info, 2, key), MPI_ERR_ARG);
    OK(MPI_Info_get(info, "colour", 3, value, &flag));
    CHECK(flag && strcmp(value, "yel") == 0);
    len = 0;
    OK(MPI_Info_get_string(info, "colour", &len, NULL, &flag));
    CHECK(flag && len == 7);
    len = 4;
    OK(MPI_Info_get_string(info, "colour", &len, value, &flag));
    CHECK(flag && len == 7 && strcmp(value, "yel") == 0);
    OK(MPI_Info_get_valuelen(info, "colour", &len, &flag));
    CHECK(flag && len == 6);
    OK(MPI_Info_get_valuelen(info, "size", &len, &flag));
    CHECK(!flag && len == 6);
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "colour"));
    FAILS(MPI_Info_delete(info, "colour"), MPI_ERR_INFO_NOKEY);
    OK(MPI_Info_get(copy, "colour", 20, value, &flag));
    CHECK(flag);
    FAILS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, NULL, "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, "x", NULL), MPI_ERR_INFO_VALUE);
    FAILS(MPI_Info_set(MPI_INFO_NULL, "x", "y"), MPI_ERR_INFO);
    FAILS(MPI_Info_set(MPI_INFO_ENV, "x", "y"), MPI_ERR_INFO);
    MPI_Info stale = copy;
    OK(MPI_Info_free(&copy));
    CHECK(copy == MPI_INFO_NULL);
    FAILS(MPI_Info_get_nkeys(stale, &n), MPI_ERR_INFO);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    CHECK(MPI_Info_fromint(MPI_Info_toint(stale)) != stale);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n));
    CHECK(n > 0);
}

static void test_groups(void)
{
    MPI_Group world, none, copy;
    int rank, size, result, one = 0, twice[] = {0, 0}, from[] = {0, MPI_PROC_NULL}, to[2];

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(world, &size));
    OK(MPI_Group_rank(world, &rank));
    CHECK(size == 1 && rank == 0);
    OK(MPI_Group_excl(world, 1, &one, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    OK(MPI_Group_rank(none, &rank));
    CHECK(rank == MPI_UNDEFINED);
    OK(MPI_Group_translate_ranks(world, 2, from, none, to));
    CHECK(to[0] == MPI_UNDEFINED && to[1] == MPI_PROC_NULL);
    OK(MPI_Group_union(none, world, &copy));
    OK(MPI_Group_compare(world, copy, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_compare(world, none, &result));
    CHECK(result == MPI_UNEQUAL);
    FAILS(MPI_Group_incl(world, 2, twice, &copy), MPI_ERR_RANK);
    FAILS(MPI_Group_incl(world, -1, twice, &copy), MPI_ERR_ARG);
    FAILS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
    OK(MPI_Group_free(&none));
    OK(MPI_Group_free(&copy));
    CHECK(none == MPI_GROUP_NULL);
    MPI_Group stale = world;
    OK(MPI_Group_free(&world));
    FAILS(MPI_Group_size(stale, &size), MPI_ERR_GROUP);
}

static int deleted, refuse;

static int copy_attr(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void) c;
    (void) key;
    *(void **) out = (char *) in + *(int *) extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attr(MPI_Comm c, int key, void *value, void *extra)
{
    (void) c;
    (void) key;
    (void) value;
    (void) extra;
    deleted++;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void test_attributes(void)
{
    static char place[10];
    int step = 3, key, dup_key, type_key, flag, *tag_ub;
    char *value;
    MPI_Comm twin;

    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag));
    CHECK(flag && *tag_ub >= 32767);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, place), MPI_ERR_KEYVAL);
    OK(MPI_Comm_create_keyval(copy_attr, delete_attr, &key, &step));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, type_key, place), MPI_ERR_KEYVAL);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
    CHECK(!flag);
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, place));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, place));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    OK(MPI_Comm_get_attr(twin, key, &value, &flag));
    CHECK(flag && value == place + 3);
    OK(MPI_Comm_get_attr(twin, dup_key, &value, &flag));
    CHECK(flag && value == place);
    OK(MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN));
    refuse = 1;
    FAILS(MPI_Comm_free(&twin), MPI_ERR_OTHER);
    refuse = 0;
    CHECK(deleted == 1 && twin != MPI_COMM_NULL);
    OK(MPI_Comm_free(&twin));
    CHECK(deleted == 2 && twin == MPI_COMM_NULL);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    CHECK(deleted == 3);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, dup_key));
    OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    FAILS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
    /* One in use may be freed again, by a delete callback, say. */
    int again = dup_key;
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, place));
    OK(MPI_Comm_free_keyval(&dup_key));
    dup_key = again;
    OK(MPI_Comm_free_keyval(&again));
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, dup_key));
    FAILS(MPI_Comm_free_keyval(&dup_key), MPI_ERR_KEYVAL);
    OK(MPI_Type_free_keyval(&type_key));
}

static void test_communicators(void)
{
    MPI_Comm twin, part;
    int result, len;
    char name[MPI_MAX_OBJECT_NAME];

    OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &len));
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0);
    OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &len));
    CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    OK(MPI_Comm_compare(MPI_COMM_WORLD, twin, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_get_name(twin, name, &len));
    CHECK(len == 0);
    OK(MPI_Comm_set_name(twin, "twin"));
    OK(MPI_Comm_get_name(twin, name, &len));
    CHECK(strcmp(name, "twin") == 0);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(twin)) == twin);
    OK(MPI_Comm_split(twin, MPI_UNDEFINED, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    FAILS(MPI_Comm_split(twin, -7, 0, &part), MPI_ERR_ARG);
    OK(MPI_Comm_split_type(twin, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    CHECK(part != MPI_COMM_NULL);
    OK(MPI_Comm_disconnect(&part));
    FAILS(MPI_Comm_remote_size(twin, &result), MPI_ERR_COMM);
    MPI_Comm stale = twin;
    OK(MPI_Comm_free(&twin));
    FAILS(MPI_Comm_rank(stale, &result), MPI_ERR_COMM);
    twin = MPI_COMM_WORLD;
    FAILS(MPI_Comm_free(&twin), MPI_ERR_COMM);
}

static int queried, freed, cancelled;

static int query(void *extra, MPI_Status *status)
{
    queried++;
    status->MPI_SOURCE = *(int *) extra;
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void) extra;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void) extra;
    cancelled += complete ? 10 : 1;
    return MPI_SUCCESS;
}

/* The empty status; its error field is set, which calls for one request leave alone otherwise. */
static int is_empty(const MPI_Status *s)
{
    return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG
           && s->MPI_ERROR == MPI_SUCCESS;
}

static void test_requests(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, one;
    MPI_Status status, statuses[3];
    int state = 7, flag, index, count, indices[3];

    memset(&status, -1, sizeof status);
    OK(MPI_Wait(requests, &status));
    CHECK(is_empty(&status));
    memset(statuses, -1, sizeof statuses);
    OK(MPI_Waitall(3, requests, statuses));
    CHECK(is_empty(&statuses[0]) && is_empty(&statuses[2]));
    memset(statuses, -1, sizeof statuses);
    OK(MPI_Testall(3, requests, &flag, statuses));
    CHECK(flag && is_empty(&statuses[0]) && is_empty(&statuses[2]));
    memset(statuses, -1, sizeof statuses);
    OK(MPI_Request_get_status_all(3, requests, &flag, statuses));
    CHECK(flag && is_empty(&statuses[0]) && is_empty(&statuses[2]));
    OK(MPI_Waitany(3, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Testsome(3, requests, &count, indices, statuses));
    CHECK(count == MPI_UNDEFINED);
    memset(&status, -1, sizeof status);
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK(flag && is_empty(&status));
    memset(&status, -1, sizeof status);
    OK(MPI_Recv_init(&state, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &one));
    OK(MPI_Test(&one, &flag, &status));
    CHECK(flag && is_empty(&status));
    OK(MPI_Request_free(&one));
    FAILS(MPI_Request_free(requests), MPI_ERR_REQUEST);
    FAILS(MPI_Waitall(-1, requests, statuses), MPI_ERR_COUNT);
    FAILS(MPI_Waitall(1, NULL, statuses), MPI_ERR_ARG);

    OK(MPI_Grequest_start(query, release, cancel, &state, &one));
    CHECK(MPI_Request_fromint(MPI_Request_toint(one)) == one);
    requests[1] = one;
    OK(MPI_Testall(3, requests, &flag, statuses));
    CHECK(!flag && requests[1] == one);
    OK(MPI_Testany(3, requests, &index, &flag, &status));
    CHECK(!flag && index == MPI_UNDEFINED);
    OK(MPI_Testsome(3, requests, &count, indices, statuses));
    CHECK(count == 0);
    OK(MPI_Cancel(&one));
    CHECK(cancelled == 1);
    OK(MPI_Grequest_complete(one));
    OK(MPI_Request_get_status_any(3, requests, &index, &flag, &status));
    CHECK(flag && index == 1 && status.MPI_SOURCE == 7 && requests[1] == one);
    OK(MPI_Waitsome(3, requests, &count, indices, statuses));
    CHECK(count == 1 && indices[0] == 1 && statuses[0].MPI_SOURCE == 7);
    CHECK(requests[1] == MPI_REQUEST_NULL && queried == 2 && freed == 1);
    FAILS(MPI_Wait(&one, &status), MPI_ERR_REQUEST);
    FAILS(MPI_Start(&one), MPI_ERR_REQUEST);

    OK(MPI_Grequest_start(query, release, cancel, &state, &one));
    requests[0] = one;
    OK(MPI_Request_free(&one));
    CHECK(freed == 1 && one == MPI_REQUEST_NULL);
    OK(MPI_Grequest_complete(requests[0]));
    CHECK(freed == 2);
}

static void test_buffers(void)
{
    static char room[1000];
    void *was;
    int size;
    MPI_Request request;

    FAILS(MPI_Buffer_detach(&was, &size), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach(room, sizeof room));
    FAILS(MPI_Buffer_attach(room, sizeof room), MPI_ERR_BUFFER);
    OK(MPI_Buffer_iflush(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&was, &size));
    CHECK(was == room && size == 1000);
    OK(MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Comm_flush_buffer(MPI_COMM_SELF));
    OK(MPI_Comm_detach_buffer(MPI_COMM_SELF, &was, &size));
    CHECK(was == MPI_BUFFER_AUTOMATIC);
    FAILS(MPI_Buffer_attach(room, -1), MPI_ERR_ARG);
}

static void test_environment(void)
{
    int flag, a, b, len;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    char *memory;

    OK(MPI_Initialized(&flag));
    CHECK(flag);
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    OK(MPI_Query_thread(&a));
    CHECK(a == MPI_THREAD_SERIALIZED);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    OK(MPI_Get_version(&a, &b));
    CHECK(a == MPI_VERSION && b == MPI_SUBVERSION);
    OK(MPI_Abi_get_version(&a, &b));
    CHECK(a == MPI_ABI_VERSION && b == MPI_ABI_SUBVERSION);
    OK(MPI_Get_library_version(text, &len));
    CHECK(strncmp(text, "Catena ", 7) == 0 && (int) strlen(text) == len);
    OK(MPI_Get_processor_name(text, &len));
    CHECK(len > 0);
    OK(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory));
    CHECK((uintptr_t) memory % 64 == 0);
    memset(memory, 1, 100);
    OK(MPI_Free_mem(memory));
    FAILS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
    OK(MPI_Free_mem(NULL));
}

int main(int argc, char **argv)
{
    int flag, provided;
    MPI_Info early;

    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    OK(MPI_Info_create(&early));
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    CHECK(provided == MPI_THREAD_SERIALIZED);
    OK(MPI_Info_free(&early));
    test_errors();
    test_environment();
    test_info();
    test_groups();
    test_attributes();
    test_communicators();
    test_requests();
    test_buffers();
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK(flag);
    return 0;
}
