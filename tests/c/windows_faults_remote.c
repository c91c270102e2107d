// What windows_faults.c asks for, where a network's remote access carries puts and gets: what is under way to a rank
// that dies ends, whether the network notices the death or the launcher tells of it.
// only: catena
// waits: for the grace of what survives
// needs: libfabric.so.1
// run: -n 2 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: -n 2 --set "LINK=ofi:tcp;ofi_rxm" --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0 -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=ofi:tcp -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=ofi:tcp -- lock; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=ofi:tcp -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
#include "windows_faults.c"
