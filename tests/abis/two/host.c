/* A program without MPI that loads libraries of two interfaces, as Python does: scripts/testing/test-abis.
   Each finds the functions of its own. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*two)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "two") : NULL;
    if (!two) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return two(argc - 1, argv + 1);
}
