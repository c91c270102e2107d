// Has the system refuse to close files with "-full-" in their names, those with "-one-" for rank 1 alone, as a file system does whose server lacks the room for what was
// written; they are closed all the same.
// build: shared
// cc: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int close(int fd)
{
    static int (*real)(int);
    char link[64], name[512];
    if (!real)
        *(void **) &real = dlsym(RTLD_NEXT, "close");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, name, sizeof name - 1);
    name[len < 0 ? 0 : len] = 0;
    int closed = real(fd);
    const char *rank = getenv("CATENA_RANK");
    if (strstr(name, "-full-") || (strstr(name, "-one-") && rank && !strcmp(rank, "1"))) {
        errno = EDQUOT;
        return -1;
    }
    return closed;
}
