/*
 * Spawning (MPI 5.0, 11.8). What to start counts at the root alone; elsewhere nothing is read of
 * it. An array of arguments ends with a blank one.
 */

#include "fortran.h"

static int is_root(const Fint *root, MPI_Comm comm)
{
    int rank = MPI_PROC_NULL;
    PMPI_Comm_rank(comm, &rank);
    return rank == INT(*root);
}

static int is_blank(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    return !length;
}

/* A text without the blanks before and behind it, which count neither in a command nor in an argument. */
static char *copy_of(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    for (; length && *text == ' '; length--)
        text++;
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

static void free_texts(char **texts)
{
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

/* `count` texts, or as many as there are before a blank one if it is negative; `stride` bytes lie
 * between them. NULL if there is no memory. */
static char **texts_of(const char *from, size_t length, size_t stride, int count)
{
    int number = count;
    if (count < 0)
        for (number = 0; !is_blank(from + (size_t)number * stride, length);)
            number++;
    char **texts = calloc((size_t)number + 1, sizeof *texts);
    for (int i = 0; texts && i < number; i++) {
        texts[i] = copy_of(from + (size_t)i * stride, length);
        if (!texts[i]) {
            free_texts(texts);
            return NULL;
        }
    }
    return texts;
}

void F(comm_spawn)(const char *command, const char *argv, const Fint *maxprocs, const Fint *info,
    const Fint *root, const Fint *comm, Fint *intercomm, Fint *array_of_errcodes, Fint *ierror,
    size_t l_command, size_t l_argv)
{
    MPI_Comm c_comm = Comm_of(*comm), c_intercomm = MPI_COMM_NULL;
    int here = is_root(root, c_comm), code = MPI_ERR_NO_MEM;
    char *c_command = NULL, **c_argv = MPI_ARGV_NULL;
    INTEGERS(array_of_errcodes, errcodes_here(array_of_errcodes, here ? *maxprocs : 0))
    if (here) {
        int none = IS(argv, argv_null);
        c_command = copy_of(command, l_command);
        if (!none)
            c_argv = texts_of(argv, l_argv, l_argv, -1);
        if (!c_command || !(none || c_argv)) {
            code = mpifort_raise(c_comm, code);
            goto done;
        }
    }
    if (NO_INTEGERS(array_of_errcodes)) {
        code = mpifort_raise(c_comm, code);
        goto done;
    }
    code = C(Comm_spawn)(c_command, c_argv, here ? INT(*maxprocs) : 0,
        here ? Info_of(*info) : MPI_INFO_NULL, INT(*root), c_comm, &c_intercomm,
        ERRCODES(array_of_errcodes));
    RETURN_INTEGERS(array_of_errcodes)
    *intercomm = Comm_int(c_intercomm);
done:
    LEAVE_INTEGERS(array_of_errcodes)
    free(c_command);
    free_texts(c_argv);
    finish(ierror, code);
}
NAMES(comm_spawn, COMM_SPAWN)
NAMES_F08(comm_spawn, COMM_SPAWN)

/* What the root tells of `count` programs. */
struct programs {
    int count;
    char **commands;
    char ***argvs;
    MPI_Info *infos;
};

static void free_programs(struct programs *p)
{
    for (int i = 0; p->argvs && i < p->count; i++)
        free_texts(p->argvs[i]);
    free(p->argvs);
    free(p->infos);
    free_texts(p->commands);
}

/* Whether there is memory. The arguments of program i are the entries (i, 1), (i, 2) and so on. */
static int read_programs(struct programs *p, const char *commands, size_t l_command,
    const char *argvs, size_t l_argv, const Fint *infos)
{
    size_t count = p->count > 0 ? (size_t)p->count : 0;
    p->commands = texts_of(commands, l_command, l_command, (int)count);
    p->infos = calloc(count + 1, sizeof *p->infos);
    if (!p->commands || !p->infos)
        return 0;
    for (size_t i = 0; i < count; i++)
        p->infos[i] = Info_of(infos[i]);
    if (IS(argvs, argvs_null))
        return 1;
    p->argvs = calloc(count + 1, sizeof *p->argvs);
    for (size_t i = 0; p->argvs && i < count; i++)
        if (!(p->argvs[i] = texts_of(argvs + i * l_argv, l_argv, count * l_argv, -1)))
            return 0;
    return p->argvs != NULL;
}

void F(comm_spawn_multiple)(const Fint *count, const char *array_of_commands,
    const char *array_of_argv, const Fint *array_of_maxprocs, const Fint *array_of_info,
    const Fint *root, const Fint *comm, Fint *intercomm, Fint *array_of_errcodes, Fint *ierror,
    size_t l_commands, size_t l_argv)
{
    MPI_Comm c_comm = Comm_of(*comm), c_intercomm = MPI_COMM_NULL;
    int here = is_root(root, c_comm), code = MPI_ERR_NO_MEM;
    struct programs p = {here ? INT(*count) : 0, NULL, NULL, NULL};
    INTEGERS(array_of_maxprocs, p.count)
    INTEGERS(array_of_errcodes, errcodes_here(array_of_errcodes, sum_of(array_of_maxprocs, p.count)))
    if (here && !read_programs(&p, array_of_commands, l_commands, array_of_argv, l_argv,
                    array_of_info)) {
        code = mpifort_raise(c_comm, code);
        goto done;
    }
    if (NO_INTEGERS(array_of_maxprocs) || NO_INTEGERS(array_of_errcodes)) {
        code = mpifort_raise(c_comm, code);
        goto done;
    }
    code = C(Comm_spawn_multiple)(p.count, p.commands, p.argvs,
        here ? ENTRIES(array_of_maxprocs) : NULL, p.infos, INT(*root), c_comm, &c_intercomm,
        ERRCODES(array_of_errcodes));
    RETURN_INTEGERS(array_of_errcodes)
    *intercomm = Comm_int(c_intercomm);
done:
    LEAVE_INTEGERS(array_of_maxprocs)
    LEAVE_INTEGERS(array_of_errcodes)
    free_programs(&p);
    finish(ierror, code);
}
NAMES(comm_spawn_multiple, COMM_SPAWN_MULTIPLE)
NAMES_F08(comm_spawn_multiple, COMM_SPAWN_MULTIPLE)
