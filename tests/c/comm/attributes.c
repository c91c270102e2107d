// Attributes: callbacks that fail, and callbacks that call MPI; names of communicators.
// run: -n 1
// run: -n 3
#include "../check.h"

#define OK(call) EQUAL(call, MPI_SUCCESS)
#define FAILS(call, class) EQUAL(class_of(call), class)

static int handled, handled_class;
static MPI_Comm handled_on;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handled++;
    handled_on = *comm;
    handled_class = class_of(*code);
}

static int copies, deletes, verdict;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) key;
    copies++;
    *(void **) out = (char *) in + 1;
    *flag = extra != NULL;
    return verdict;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value, (void) extra;
    deletes++;
    return verdict;
}

/* What fails leaves everything as it was, and goes to the communicator's handler. */
static void failing(void)
{
    MPI_Comm from, made;
    MPI_Errhandler mine;
    int key, code, flag, word;
    void *value;
    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &from));
    OK(MPI_Comm_set_errhandler(from, mine));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Add_error_class(&code));
    OK(MPI_Comm_create_keyval(copy, drop, &key, &word));
    OK(MPI_Comm_set_attr(from, key, &word));

    verdict = code;
    made = from;
    EQUAL(MPI_Comm_dup(from, &made), code);
    CHECK(made == MPI_COMM_NULL && copies == 1 && deletes == 0);
    CHECK(handled == 1 && handled_on == from && handled_class == code);
    EQUAL(MPI_Comm_set_attr(from, key, NULL), code);
    EQUAL(MPI_Comm_delete_attr(from, key), code);
    MPI_Comm same = from;
    EQUAL(MPI_Comm_free(&from), code);
    CHECK(from == same && deletes == 3 && handled == 4);
    OK(MPI_Comm_get_attr(from, key, &value, &flag));
    CHECK(flag && value == &word);

    /* It works on, and so does its duplicate, which has the value that the callback gave. */
    verdict = MPI_SUCCESS;
    OK(MPI_Comm_dup(from, &made));
    OK(MPI_Barrier(made));
    OK(MPI_Comm_get_attr(made, key, &value, &flag));
    CHECK(flag && value == (char *) &word + 1);
    OK(MPI_Comm_free(&made));
    EQUAL(deletes, 4);
    OK(MPI_Comm_free(&from));
    EQUAL(deletes, 5);
    int gone = key;
    OK(MPI_Comm_free_keyval(&key));
    EQUAL(key, MPI_KEYVAL_INVALID);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, gone, &word), MPI_ERR_KEYVAL);
    OK(MPI_Remove_error_class(code));
}

static int other_key;

/* Everything but the attribute at hand may be touched. */
static int busy_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    MPI_Comm inner;
    int sum, one = 1, n, there;
    (void) extra;
    OK(MPI_Comm_create_group(comm, *(MPI_Group *) in, 7, &inner));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inner));
    OK(MPI_Comm_size(comm, &n));
    EQUAL(sum, n);
    OK(MPI_Comm_free(&inner));
    OK(MPI_Comm_set_attr(comm, other_key, &other_key));
    OK(MPI_Comm_delete_attr(comm, other_key));
    void *value;
    OK(MPI_Comm_get_attr(comm, key, &value, &there));
    CHECK(there && value == in);
    *(void **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int busy_drop(MPI_Comm comm, int key, void *value, void *extra)
{
    int n, sum, one = 1;
    (void) key, (void) value, (void) extra;
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, n);
    OK(MPI_Comm_delete_attr(comm, other_key));
    return MPI_SUCCESS;
}

static void busy(void)
{
    MPI_Comm from, made;
    MPI_Group group;
    int key;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other_key, NULL));
    OK(MPI_Comm_create_keyval(busy_copy, busy_drop, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &from));
    OK(MPI_Comm_set_attr(from, key, &group));
    OK(MPI_Comm_dup(from, &made));
    OK(MPI_Comm_set_attr(made, other_key, NULL));
    OK(MPI_Comm_free(&from));
    OK(MPI_Barrier(made));
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free_keyval(&other_key));
    OK(MPI_Group_free(&group));
}

static void names(void)
{
    MPI_Comm from, made;
    char text[MPI_MAX_OBJECT_NAME], longest[2 * MPI_MAX_OBJECT_NAME];
    int len;
    OK(MPI_Comm_get_name(MPI_COMM_NULL, text, &len));
    CHECK(!strcmp(text, "MPI_COMM_NULL") && len == 13);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &from));
    OK(MPI_Comm_get_name(from, text, &len));
    CHECK(len == 0 && text[0] == 0);
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    OK(MPI_Comm_set_name(from, longest));
    OK(MPI_Comm_get_name(from, text, &len));
    CHECK(len == MPI_MAX_OBJECT_NAME - 1 && (int) strlen(text) == len);

    /* A name is not copied. */
    OK(MPI_Comm_dup(from, &made));
    OK(MPI_Comm_get_name(made, text, &len));
    EQUAL(len, 0);
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_set_errhandler(from, MPI_ERRORS_RETURN));
    FAILS(MPI_Comm_set_info(from, MPI_INFO_NULL), MPI_ERR_INFO);
    OK(MPI_Comm_free(&from));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    failing();
    busy();
    names();
    return finish();
}
