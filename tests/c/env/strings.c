// Strings are bytes: a program in Latin-1 gets back what it gave. What is cut to fit and is UTF-8
// keeps whole characters.
// run: -n 1
#include "../check.h"

static const char latin[] = "Gr\xf6\xdf" "e \xb1 \xff";

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int n;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_name(comm, latin);
    MPI_Comm_get_name(comm, name, &n);
    EQUAL(n, (int)strlen(latin));
    CHECK(!strcmp(name, latin));
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_set_name(type, latin);
    MPI_Type_get_name(type, name, &n);
    CHECK(!strcmp(name, latin));
    /* 0xf6 again and again is no UTF-8: cut anywhere. */
    memset(longer, 0xf6, sizeof longer);
    longer[sizeof longer - 1] = 0;
    MPI_Comm_set_name(comm, longer);
    MPI_Comm_get_name(comm, name, &n);
    EQUAL(n, MPI_MAX_OBJECT_NAME - 1);
    /* Characters of two bytes: an even number of bytes stays. */
    for (size_t i = 0; i + 2 < sizeof longer; i += 2)
        memcpy(longer + i, "\xc3\xb6", 3);
    MPI_Type_set_name(type, longer);
    MPI_Type_get_name(type, name, &n);
    EQUAL(n, (MPI_MAX_OBJECT_NAME - 1) / 2 * 2);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

static void info(void)
{
    char value[64], key[MPI_MAX_INFO_KEY];
    int found, n = sizeof value;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gr\xf6\xdf" "e", latin);
    MPI_Info_get_string(info, "gr\xf6\xdf" "e", &n, value, &found);
    CHECK(found && !strcmp(value, latin));
    EQUAL(n, (int)strlen(latin) + 1);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(!strcmp(key, "gr\xf6\xdf" "e"));
    MPI_Info_get_string(info, "gr\xc3\xb6\xc3\x9f" "e", &n, value, &found);
    CHECK(!found);
    MPI_Info_delete(info, "gr\xf6\xdf" "e");
    MPI_Info_get_nkeys(info, &n);
    EQUAL(n, 0);
    MPI_Info_free(&info);
}

static void errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, n;
    MPI_Add_error_class(&class);
    MPI_Add_error_string(class, latin);
    MPI_Error_string(class, text, &n);
    CHECK(!strcmp(text, latin));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    names();
    info();
    errors();
    return finish();
}
