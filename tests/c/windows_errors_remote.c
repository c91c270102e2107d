// What windows_errors.c asks for, over networks that have remote access.
// needs: libfabric.so.1
// only: catena
// run: -n 2 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
#include "windows_errors.c"
