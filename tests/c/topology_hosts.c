// What topology_reorder.c asks for, on two hosts.
// only: catena
// hosts: 2
// time: 60
// run: --host h0:4,h1:4 --map-by node --launcher-agent scripts/hosts -- 4
#include "topology_reorder.c"
