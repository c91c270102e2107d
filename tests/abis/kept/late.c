// A program that is linked to no MPI, and loads the one that its argument names: how many ranks it is one of.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*size)(void *, int *) = (int (*)(void *, int *))dlsym(library, "MPI_Comm_size");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    int n = 0;
    init(NULL, NULL);
    // Open MPI's MPI_COMM_WORLD is the address of an object.
    size(dlsym(library, "ompi_mpi_comm_world"), &n);
    printf("of %d\n", n);
    return finalize();
}
