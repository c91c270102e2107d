// What windows_faults.c asks for over UCX.
// only: catena
// needs: libucp.so.0
// run: -n 2 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- get; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- request; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- start; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- wait; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- origin; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0 -- flush; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=ucx:tcp -- fence; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=ucx:tcp -- lock; exit 137; says 'rank 1 .*killed by signal 9'
// run: -n 2 --set LINK=ucx:tcp -- accumulate; exit 137; says 'rank 1 .*killed by signal 9'
#include "windows_faults.c"
