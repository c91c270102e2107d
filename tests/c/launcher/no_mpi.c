// A program that never calls MPI runs under the launcher too; its exit code comes through.
// run: -n 3 -- 0
// run: -n 3 -- 5 ; exit 5
// only: catena
#include <stdlib.h>

int main(int argc, char **argv) { return argc > 1 ? atoi(argv[1]) : 0; }
