// What connect_jobs.c asks for, where the two mpiruns are on two hosts, or both use two.
//
// only: catena
// hosts: 2
// time: 120
// run: -n 2 --set NAMES=/tmp/catena-test-names -- scripts/hosts h1 mpirun -n 2; says 'host is done'
// run: -n 2 --set NAMES=/tmp/catena-test-names -- unshare --pid --fork --mount-proc mpirun -n 2; says 'host is done'
// run: -n 2 --set NAMES=/tmp/catena-test-names --host h0:1,h1:1 --launcher-agent scripts/hosts -- mpirun -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts; says 'host is done'
// run: -n 2 --set NAMES=/tmp/catena-test-names --host h1:2 --launcher-agent scripts/hosts -- mpirun -n 1; says 'host is done'
#include "connect_jobs.c"
