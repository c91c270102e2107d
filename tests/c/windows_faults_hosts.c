// What windows_faults.c asks for, with the rank that dies on another host.
// only: catena
// hosts: 2
// time: 60
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts -- lock; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
#include "windows_faults.c"
