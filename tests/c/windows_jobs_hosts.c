// What windows_jobs.c asks for, where those that come and go run on two hosts, over each network.
//
// only: catena
// hosts: 2
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts -- spawn 5 2
// run: -n 2 --host h0:1,h1:2 --launcher-agent scripts/hosts --set LINK=shm+ofi:tcp -- spawn 4 1
// run: -n 2 --host h0:1,h1:2 --launcher-agent scripts/hosts --set LINK=shm+ucx:tcp -- spawn 4 1
// run: -n 1 -- serve 4 scripts/hosts h1 mpirun -n 2
#include "windows_jobs.c"
