/* The forms of a collective. A file lists its collectives as
 *
 *   X(Name, name, options, sender, sends, receiver, receives, from, arguments...)
 *
 * for MPI_Name and MPI_Iname; the rest is their shape (bench.h) and what they are called with.
 */
#ifndef FORMS_H
#define FORMS_H

#include "bench.h"

/* Arguments of blocks: alike, each with its count, each with its type. */
#define ONE t->count, t->type
#define MANY t->counts, t->displs, t->type
#define TYPED t->counts, t->offsets, t->types

#define MOVES "mixcTDIMd"
#define ADDS "mixcTIMld"

#define BLOCKING_CALL(Name, name, options, sender, sends, receiver, receives, from, ...)           \
    static void name(struct task *t, int rounds)                                                   \
    {                                                                                              \
        for (int i = 0; i < rounds; i++, next_root(t))                                             \
            MPI_##Name(__VA_ARGS__);                                                               \
    }

#define STARTING_CALL(Name, name, options, sender, sends, receiver, receives, from, ...)           \
    static void start_##name(struct task *t)                                                       \
    {                                                                                              \
        MPI_I##name(__VA_ARGS__, &t->request);                                                     \
    }

#define PERSISTENT_CALL(Name, name, options, sender, sends, receiver, receives, from, ...)         \
    static void init_##name(struct task *t)                                                        \
    {                                                                                              \
        t->step = 0;                                                                               \
        MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &t->request);                                \
    }

#define ROW(NAME, FAMILY, OPTIONS, SHAPE, ...)                                                     \
    {.name = NAME, .family = FAMILY, .options = OPTIONS, .ranks = 1, .shape = SHAPE, __VA_ARGS__},
#define SHAPE(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* PREPARE and FINISH are the file's: what comes before and after all of its collectives. */
#define BLOCKING_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)            \
    ROW(#name, FAMILY, options, SHAPE(sender, sends, receiver, receives, from), .unit = US,        \
        .run = name, .prepare = PREPARE, .finish = FINISH)

#define STARTING_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)            \
    ROW("i" #name, "nonblocking-" FAMILY, options, SHAPE(sender, sends, receiver, receives, from), \
        .unit = US, .run = run_started, .prepare = PREPARE, .start = start_##name, .finish = FINISH)

/* The first operation on a communicator, the first of all in the launch among them. */
#define FIRST_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)               \
    ROW(#name "_first", "first", options "F", SHAPE(sender, sends, receiver, receives, from), .unit = US, \
        .run = name, .sample = first_call, .prepare = PREPARE, .finish = FINISH)

/* One operation at a time, each begun together; and each rank later than the one below (--apart). */
#define ISOLATED_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)            \
    ROW(#name "_isolated", "isolated-" FAMILY, options "1", SHAPE(sender, sends, receiver, receives, from), .unit = US, \
        .run = name, .prepare = PREPARE, .finish = FINISH)

#define LATE_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)                \
    ROW(#name "_late", "late-" FAMILY, options "1", SHAPE(sender, sends, receiver, receives, from), .unit = US, \
        .run = name, .sample = one_after_another, .prepare = PREPARE, .finish = FINISH)

/* Around a computation: how much of it that hides, and how much it leaves. */
#define AROUND_ROW(WHAT, UNIT, name, options, ...)                                                 \
    ROW("i" #name "_" WHAT, WHAT "-" FAMILY, options "t", SHAPE(__VA_ARGS__), .unit = UNIT,        \
        .run = run_around, .sample = sample_overlap, .prepare = PREPARE, .start = start_##name,    \
        .finish = FINISH)

#define OVERLAP_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)             \
    AROUND_ROW("overlap", PERCENT, name, options, sender, sends, receiver, receives, from)

#define EXPOSED_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)             \
    AROUND_ROW("exposed", US, name, options, sender, sends, receiver, receives, from)

#define PERSISTENT_ROW(Name, name, options, sender, sends, receiver, receives, from, ...)          \
    ROW(#name "_persistent", "persistent-" FAMILY, options,                                        \
        SHAPE(sender, sends, receiver, receives, from), .unit = US, .run = run_again,              \
        .prepare = PREPARE, .open = init_##name, .close = close_request, .finish = FINISH)

#define CALLS(...)                                                                                 \
    BLOCKING_CALL(__VA_ARGS__)                                                                     \
    STARTING_CALL(__VA_ARGS__)                                                                     \
    PERSISTENT_CALL(__VA_ARGS__)

void next_root(struct task *t);
run_fn run_started, run_again;
sample_fn first_call, one_after_another;
step_fn close_request;

#endif
