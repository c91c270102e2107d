// What spawn_cycles.c asks for, where those that come and go run on two hosts, and so do those that have spawned them.
//
// only: catena
// hosts: 2
// time: 240
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts -- cycles
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts -- cycles
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts -- connect
#include "spawn_cycles.c"
