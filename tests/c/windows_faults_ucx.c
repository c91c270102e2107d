// What windows_faults.c asks for over UCX.
// only: catena
// needs: libucp.so.0
// run: -n 2 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0 --set FAULT_TOLERANCE=true -- flush; exit 137; says 'survivor done'
// run: -n 2 --set LINK=ucx:tcp --set FAULT_TOLERANCE=true -- amid; exit 137; says 'survivor done'
#include "windows_faults.c"
