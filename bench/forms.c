/* How non-blocking and persistent operations are run. */
#include "forms.h"

void next_root(struct task *t)
{
    if (t->step)
        data_aim(t, (t->root + t->step) % t->size);
}

void run_started(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++, next_root(t)) {
        t->bench->start(t);
        MPI_Wait(&t->request, MPI_STATUS_IGNORE);
    }
}

void run_again(struct task *t, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Start(&t->request);
        MPI_Wait(&t->request, MPI_STATUS_IGNORE);
    }
}

void close_request(struct task *t)
{
    MPI_Request_free(&t->request);
}
