/*
 * Which memory pending requests use.
 *
 * A request is known from the call that made it on. Its memory is in use until a call says that it is
 * complete; that of a persistent request from each start on. Handles may be alike: a library may have one
 * for all sends that were complete at once. What completes one of these ends all that were there before.
 */

#ifndef CATENA_CHECK_H
#define CATENA_CHECK_H

#include <mpi.h>
#include <stdint.h>

/* Calls the function of the library behind, and notes the buffers of the request that it makes. The last argument
 * is the place of the request; `caller` is what called the function. `plan` has the letters of the communicator and of the root among the arguments, and
 * for each buffer a blank and seven signs; a point stands for what there is not.
 *
 *   1  the buffer
 *   2  the ranks where it means something: r the root, o all others, which the root of an intracommunicator is one of,
 *      a all that take part
 *   3  1: one block, or several that are alike; s: blocks behind each other, v: at displacements in elements,
 *      w: at displacements in bytes and of types of their own
 *   4  the number of blocks: 1, r that of ranks, o that of this rank alone, s and d those of neighbours that send to this
 *      rank, and that it sends to
 *   5  the count, or an array of counts
 *   6  a second count, by which the first is multiplied, or an array of displacements
 *   7  the type, or an array of types
 */
int check_call(const char *name, const char *plan, void *caller, int arguments, const intptr_t argument[]);

#define CALL(name, plan, ...) \
    check_call("PMPI_" #name, plan, __builtin_return_address(0), \
        (int)(sizeof((intptr_t[]){__VA_ARGS__}) / sizeof(intptr_t)), (intptr_t[]){__VA_ARGS__})

#endif
