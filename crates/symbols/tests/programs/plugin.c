#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    int (*exchange)(int) = library ? (int (*)(int))dlsym(library, "exchange") : 0;
    return exchange ? exchange(1) + 1 : 9; /* line 7 */
}
