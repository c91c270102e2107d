// What windows_faults.c asks for, with the rank that dies on another host that is reached by UCX.
// only: catena
// hosts: 2
// time: 60
// needs: libucp.so.0
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- lock; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- held; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- fence; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- accumulate; exit 137; says 'survivor done'
#include "windows_faults.c"
