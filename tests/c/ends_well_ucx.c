// What ends_well.c asks for, over UCX.
//
// only: catena
// waits: for the end of a process, while others look for messages
// time: 30
// needs: libucp.so.0
// run: -n 1 --set LINK=ucx:tcp -- worker; says fine
// run: -n 1 --set LINK=ucx:tcp -- worker disconnect; says fine
// run: -n 1 --set LINK=ucx:tcp -- worker late; says fine
// run: -n 3 --set LINK=ucx:tcp -- session; says fine
// run: -n 3 --set LINK=ucx:tcp -- session again; says fine
#include "ends_well.c"
