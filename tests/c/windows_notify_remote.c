// What windows_notify.c asks for, where a network's remote access moves long data.
// only: catena
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
#include "windows_notify.c"
