// Two hosts with two addresses each, the first of which leads nowhere: what is sent there is
// answered by nobody. The ranks reach each other at the second, and can say so.
// only: catena
// hosts: 2
// time: 60
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=tcp --set LINK_REPORT=yes; says 'at 10\.88\.0\.[12] from eth0; passed over: 10\.77\.0\.[12]: no answer within'
#include "../check.h"

int main(int argc, char **argv)
{
    char host[64], command[512];
    gethostname(host, sizeof host);
    int me = host[1] - '0', other = 1 - me;
    // No card has that number, so the switch finds nobody.
    snprintf(command, sizeof command,
             "ip address add 10.88.0.%d/24 dev eth0 &&"
             " ip neighbour replace 10.77.0.%d lladdr 02:00:00:00:00:99 nud permanent dev eth0",
             me + 1, other + 1);
    if (system(command)) {
        fprintf(stderr, "failed: %s\n", command);
        return 1;
    }
    start(&argc, &argv);
    CHECK(size == 2);
    for (int round = 0; round < 3; round++) {
        int out = 10 * rank + round, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        EQUAL(in, 10 * (1 - rank) + round);
    }
    return finish();
}
