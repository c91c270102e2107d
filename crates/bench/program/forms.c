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

/* Seconds of the first operation on a communicator that nobody has used; in the first sample, on the task's own. */
double first_call(struct task *t, int rounds)
{
    MPI_Comm own = t->comm;
    double took = 0;
    for (int i = 0; i < rounds; i++) {
        if (t->first_done)
            MPI_Comm_dup(own, &t->comm);
        double begin = meet_for(t);
        t->bench->run(t, 1);
        took += now() - begin;
        if (t->first_done)
            MPI_Comm_free(&t->comm);
        t->comm = own;
        t->first_done = true;
    }
    return t->rank < t->timers ? took : 0;
}

/* Rank r comes r times `--apart` later than rank 0; seconds from when the last one comes until this one is done. */
double one_after_another(struct task *t, int rounds)
{
    double took = 0, apart = opt.apart * 1e-6;
    for (int i = 0; i < rounds; i++) {
        double begin = meet_for(t), come = begin + apart * t->rank, last = begin + apart * (t->size - 1), end;
        while (now() < come)
            ;
        t->bench->run(t, 1);
        end = now() - clock_cost();
        took += end > last ? end - last : 0;
    }
    return took;
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
