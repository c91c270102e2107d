// What windows_operations.c asks for, over networks that have remote access.
// needs: libfabric.so.1
// run: -n 3 --set LINK=ofi:tcp --set RMA_REMOTE_MIN=0
// run: -n 3 --set "LINK=ofi:tcp;ofi_rxm" --set RMA_REMOTE_MIN=0
#include "windows_operations.c"
