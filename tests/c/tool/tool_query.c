// The tool interface before MPI_Init and after MPI_Finalize: what there is, strings, and errors.
// only: catena
// alone:
// run: -n 2
#include "../check.h"

/* Every function refuses to work without MPI_T_init_thread. */
static void outside(void)
{
    int n = 0;
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;
    EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_pvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_event_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_source_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_category_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_pvar_session_create(&s), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
}

/* All of a string, and as much as fits (MPI-5, 15.3.3). */
static void strings(void)
{
    char name[64], part[8];
    int len = sizeof name;
    EQUAL(MPI_T_cvar_get_info(0, name, &len, 0, 0, 0, 0, 0, 0, 0), MPI_SUCCESS);
    EQUAL(len, strlen(name) + 1);
    CHECK(strncmp(name, "CATENA_", 7) == 0 && len > (int)sizeof part);

    int room = sizeof part;
    memset(part, 'x', sizeof part);
    EQUAL(MPI_T_cvar_get_info(0, part, &room, 0, 0, 0, 0, 0, 0, 0), MPI_SUCCESS);
    EQUAL(room, len);
    CHECK(strlen(part) == sizeof part - 1 && strncmp(part, name, sizeof part - 1) == 0);

    room = 0;
    memset(part, 'x', sizeof part);
    EQUAL(MPI_T_cvar_get_info(0, part, &room, 0, 0, 0, 0, 0, 0, 0), MPI_SUCCESS);
    CHECK(room == len && part[0] == 'x');
    room = 5;
    EQUAL(MPI_T_cvar_get_info(0, NULL, &room, 0, 0, 0, 0, 0, 0, 0), MPI_SUCCESS);
    EQUAL(room, len);
    EQUAL(MPI_T_cvar_get_info(0, part, NULL, 0, 0, 0, 0, 0, 0, 0), MPI_SUCCESS);
    EQUAL(part[0], 'x');
}

static void enumeration(MPI_T_enum e)
{
    char name[256], item[256];
    int n = 0, value = -1, len = sizeof name;
    EQUAL(MPI_T_enum_get_info(e, &n, name, &len), MPI_SUCCESS);
    CHECK(n > 0 && len > 1);
    for (int i = 0; i < n; i++) {
        len = sizeof item;
        EQUAL(MPI_T_enum_get_item(e, i, &value, item, &len), MPI_SUCCESS);
        CHECK(len > 1);
        EQUAL(value, i);
    }
    EQUAL(MPI_T_enum_get_item(e, n, &value, item, &len), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_enum_get_item(e, -1, &value, item, &len), MPI_T_ERR_INVALID_INDEX);
}

static void cvars(void)
{
    int n = 0;
    EQUAL(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
        char name[256], desc[4096];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, at = -1;
        MPI_Datatype type;
        MPI_T_enum e;
        EQUAL(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &e, desc, &desc_len,
                                  &bind, &scope), MPI_SUCCESS);
        CHECK(desc_len > 1 && desc_len <= (int)sizeof desc);
        EQUAL(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_ALL_EQ);
        CHECK((e != MPI_T_ENUM_NULL) == (type == MPI_INT));
        if (e != MPI_T_ENUM_NULL)
            enumeration(e);
        EQUAL(MPI_T_cvar_get_index(name, &at), MPI_SUCCESS);
        EQUAL(at, i);
    }
    int at;
    EQUAL(MPI_T_cvar_get_index("CATENA_NOTHING", &at), MPI_T_ERR_INVALID_NAME);
    EQUAL(MPI_T_cvar_get_index(NULL, &at), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_cvar_get_index("CATENA_SHM_CELLS", NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_cvar_get_info(n, 0, 0, 0, 0, 0, 0, 0, 0, 0), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_cvar_get_info(-1, 0, 0, 0, 0, 0, 0, 0, 0, 0), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, 0, 0), MPI_T_ERR_INVALID_HANDLE);
}

static void pvars(void)
{
    int n = 0;
    EQUAL(MPI_T_pvar_get_num(&n), MPI_SUCCESS);
    CHECK(n > 100);
    for (int i = 0; i < n; i++) {
        char name[256], desc[1024];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind;
        int readonly, continuous, atomic, at = -1;
        MPI_Datatype type;
        MPI_T_enum e;
        EQUAL(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &e, desc,
                                  &desc_len, &bind, &readonly, &continuous, &atomic), MPI_SUCCESS);
        CHECK(name_len > 1 && desc_len > 1);
        int of_file = !strncmp(name, "file_", 5);
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == (of_file ? MPI_T_BIND_MPI_FILE : MPI_T_BIND_MPI_COMM));
        CHECK(type == (class == MPI_T_PVAR_CLASS_TIMER   ? MPI_DOUBLE
                       : class == MPI_T_PVAR_CLASS_STATE ? MPI_INT
                                                         : MPI_UNSIGNED_LONG_LONG));
        int present = class == MPI_T_PVAR_CLASS_LEVEL || class == MPI_T_PVAR_CLASS_SIZE ||
                      class == MPI_T_PVAR_CLASS_STATE;
        EQUAL(readonly, present);
        EQUAL(continuous, present);
        EQUAL(atomic, !present);
        EQUAL(MPI_T_pvar_get_index(name, class, &at), MPI_SUCCESS);
        EQUAL(at, i);
        EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &at), MPI_T_ERR_INVALID_NAME);
    }
    /* One name, two classes. */
    int level, peak;
    EQUAL(MPI_T_pvar_get_index("unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &level), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_get_index("unexpected_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, &peak),
          MPI_SUCCESS);
    CHECK(level != peak);
    EQUAL(MPI_T_pvar_get_index(NULL, 0, &level), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_get_info(n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), MPI_T_ERR_INVALID_INDEX);
}

/* A tree with everything in it once. */
static void categories(void)
{
    int n = 0, vars[3], found[3] = {0}, inner = 0, changed = -1, again = -2, events = 0;
    EQUAL(MPI_T_category_changed(&changed), MPI_SUCCESS);
    EQUAL(MPI_T_category_get_num(&n), MPI_SUCCESS);
    MPI_T_cvar_get_num(&vars[0]);
    MPI_T_pvar_get_num(&vars[1]);
    MPI_T_event_get_num(&vars[2]);
    for (int i = 0; i < n; i++) {
        char name[128];
        int len = sizeof name, count[4], at = -1, *all;
        EQUAL(MPI_T_category_get_info(i, name, &len, NULL, NULL, &count[0], &count[1], &count[3]),
              MPI_SUCCESS);
        EQUAL(MPI_T_category_get_num_events(i, &count[2]), MPI_SUCCESS);
        EQUAL(MPI_T_category_get_index(name, &at), MPI_SUCCESS);
        EQUAL(at, i);
        for (int k = 0; k < 4; k++) {
            all = malloc((count[k] + 1) * sizeof *all);
            all[count[k]] = -7;
            int rc = k == 0   ? MPI_T_category_get_cvars(i, count[k] + 1, all)
                     : k == 1 ? MPI_T_category_get_pvars(i, count[k] + 1, all)
                     : k == 2 ? MPI_T_category_get_events(i, count[k] + 1, all)
                              : MPI_T_category_get_categories(i, count[k] + 1, all);
            EQUAL(rc, MPI_SUCCESS);
            EQUAL(all[count[k]], -7);
            for (int j = 0; j < count[k]; j++)
                CHECK(all[j] >= 0 && all[j] < (k == 3 ? n : vars[k]));
            free(all);
            if (k < 3)
                found[k] += count[k];
            else
                inner += count[k];
        }
    }
    for (int k = 0; k < 3; k++)
        EQUAL(found[k], vars[k]);
    EQUAL(inner, n - 1);
    int two[2] = {-1, -1};
    EQUAL(MPI_T_category_get_categories(0, 1, two), MPI_SUCCESS);
    CHECK(two[0] >= 0 && two[1] == -1);
    EQUAL(MPI_T_category_get_index("nothing", &n), MPI_T_ERR_INVALID_NAME);
    EQUAL(MPI_T_category_get_cvars(-1, 1, two), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_category_get_cvars(0, -1, two), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_category_get_num_events(9999, &events), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_category_changed(&again), MPI_SUCCESS);
    EQUAL(again, changed);
}

static void sources_and_event_types(void)
{
    int n = 0;
    MPI_Count ticks = 0, max = 0, before, after;
    MPI_T_source_order order;
    MPI_Info info;
    EQUAL(MPI_T_source_get_num(&n), MPI_SUCCESS);
    EQUAL(n, 1);
    EQUAL(MPI_T_source_get_info(0, 0, 0, 0, 0, &order, &ticks, &max, &info), MPI_SUCCESS);
    EQUAL(order, MPI_T_SOURCE_ORDERED);
    CHECK(ticks > 0 && max > 0);
    EQUAL(MPI_Info_free(&info), MPI_SUCCESS);
    EQUAL(MPI_T_source_get_timestamp(0, &before), MPI_SUCCESS);
    EQUAL(MPI_T_source_get_timestamp(0, &after), MPI_SUCCESS);
    CHECK(before <= after);
    EQUAL(MPI_T_source_get_timestamp(1, &after), MPI_T_ERR_INVALID_INDEX);
    EQUAL(MPI_T_source_get_info(-1, 0, 0, 0, 0, 0, 0, 0, 0), MPI_T_ERR_INVALID_INDEX);

    EQUAL(MPI_T_event_get_num(&n), MPI_SUCCESS);
    for (int i = 0; i < n; i++) {
        char name[128];
        int len = sizeof name, elements = 0, at = -1, items = 0;
        MPI_T_enum e;
        EQUAL(MPI_T_event_get_info(i, name, &len, 0, 0, 0, &elements, &e, 0, 0, 0, 0), MPI_SUCCESS);
        CHECK(elements > 0);
        MPI_T_enum_get_info(e, &items, NULL, NULL);
        EQUAL(items, elements);
        EQUAL(MPI_T_event_get_index(name, &at), MPI_SUCCESS);
        EQUAL(at, i);
    }
    /* Arrays that are too short get their first elements. */
    int at, elements = 2;
    MPI_Datatype types[3] = {0, 0, MPI_BYTE};
    MPI_Aint displs[3] = {-1, -1, -1};
    EQUAL(MPI_T_event_get_index("unexpected_message", &at), MPI_SUCCESS);
    EQUAL(MPI_T_event_get_info(at, 0, 0, 0, types, displs, &elements, 0, 0, 0, 0, 0), MPI_SUCCESS);
    EQUAL(elements, 3);
    CHECK(types[0] == MPI_INT && types[1] == MPI_INT && types[2] == MPI_BYTE);
    CHECK(displs[0] == 0 && displs[1] == 4 && displs[2] == -1);
    EQUAL(MPI_T_event_get_index("nothing", &at), MPI_T_ERR_INVALID_NAME);
    EQUAL(MPI_T_event_get_info(n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), MPI_T_ERR_INVALID_INDEX);
}

static void everything(void)
{
    strings();
    cvars();
    pvars();
    categories();
    sources_and_event_types();
}

int main(int argc, char **argv)
{
    int provided = -1;
    outside();
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    EQUAL(provided, MPI_THREAD_SINGLE);
    everything();
    EQUAL(MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided), MPI_SUCCESS);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    everything(); /* once more than it was finalised */
    start(&argc, &argv);
    everything();
    finish();
    everything();
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    outside();
    EQUAL(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
    return 0;
}
