// What files_collective.c asks for, on two and three hosts that share a folder: only what whole nodes have for an
// aggregator crosses a network.
// hosts: 3
// time: 240
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts -x CB=enable
// run: --host h0:3,h1:1 --launcher-agent scripts/hosts -x CB=enable -x CB_SIZE=20000 -x CB_NODES=3
// run: --host h0:1,h1:2,h2:1 --launcher-agent scripts/hosts -x CB=enable -x CB_SIZE=70000 -x TEST_FAULTS=short=1000,eintr
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts -x CB=enable -x CB_SIZE=1 -x CB_NODES=1
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "files_collective.c"
