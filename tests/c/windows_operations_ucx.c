// What windows_operations.c asks for, over UCX.
// needs: libucp.so.0
// run: -n 3 --set LINK=ucx:tcp --set RMA_REMOTE_MIN=0
// run: -n 3 --set LINK=ucx:tcp --set RMA_REMOTE=false
#include "windows_operations.c"
