/* A library that refuses a call is heard, and the program goes on.
 *
 * Calls do not look at what they return: an error handler notes the first failure, and between two
 * tasks all ranks ask each other whether somebody has heard of one. (A handler of one's own also
 * means the same to libraries that do not agree upon the value of MPI_ERRORS_RETURN.)
 */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char heard[MPI_MAX_ERROR_STRING];
static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

void errors_note(const char *format, ...)
{
    va_list arguments;
    if (*heard)
        return;
    va_start(arguments, format);
    vsnprintf(heard, sizeof heard, format, arguments);
    va_end(arguments);
    heard[strcspn(heard, "\n")] = 0;
}

static void note(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (MPI_Error_string(code, text, &length) == MPI_SUCCESS && *text)
        errors_note("%s", text);
    else
        errors_note("error code %d", code);
}

static void of_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    note(*code);
}

static void of_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    note(*code);
}

static void of_window(MPI_Win *window, int *code, ...)
{
    (void)window;
    note(*code);
}

MPI_Errhandler errors_of_comm(void)
{
    if (handler == MPI_ERRHANDLER_NULL)
        MPI_Comm_create_errhandler(of_comm, &handler);
    return handler;
}

void errors_listen(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, errors_of_comm());
}

void errors_listen_window(MPI_Win window)
{
    MPI_Errhandler made;
    MPI_Win_create_errhandler(of_window, &made);
    MPI_Win_set_errhandler(window, made);
    MPI_Errhandler_free(&made);
}

static void of_file(MPI_File *file, int *code, ...)
{
    (void)file;
    note(*code);
}

void errors_listen_file(MPI_File file)
{
    MPI_Errhandler made;
    MPI_File_create_errhandler(of_file, &made);
    MPI_File_set_errhandler(file, made);
    MPI_Errhandler_free(&made);
}

MPI_Errhandler errors_of_session(void)
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    MPI_Session_create_errhandler(of_session, &made);
    return made;
}

const char *errors_heard(void)
{
    static char told[MPI_MAX_ERROR_STRING];
    int first = *heard ? rank : size;
    calm_allreduce(&first, 1, MPI_INT, MPI_MIN, world);
    if (first == size)
        return NULL;
    memcpy(told, heard, sizeof told);
    calm_bcast(told, sizeof told, MPI_CHAR, first, world);
    *heard = 0;
    return told;
}
