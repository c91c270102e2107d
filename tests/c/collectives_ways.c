// Blocking collectives by each way that blocks can go: copied through shared memory, read out of
// the other rank's buffer, or as messages.
// only: catena
// run: -n 2 --set COLL_DIRECT=unlimited
// run: -n 4 --set COLL_DIRECT=unlimited
// run: -n 2 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 3 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 7 --set COLL_DIRECT=100 --set COLL_WEIGH=0
// run: -n 4 --set SHM_SINGLE_COPY=never
// run: -n 3 --set COLL_NODE=0
#include "collectives.c"
