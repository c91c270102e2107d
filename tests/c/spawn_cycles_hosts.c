// What spawn_cycles.c asks for, where those that come and go run on two hosts, and so do those that have spawned them.
// Rings keep to the memory that they begin with: those of jobs that meet again take more once long packets were many.
//
// only: catena
// hosts: 2
// time: 240
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts --set SHM_DATA=256K -- cycles
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --set SHM_DATA=256K -- cycles
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts --set SHM_DATA=256K -- connect
#include "spawn_cycles.c"
