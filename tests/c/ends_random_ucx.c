// What ends_random.c asks for, over UCX.
//
// only: catena
// time: 60
// needs: libucp.so.0
// run: -n 2 --set LINK=ucx:tcp -- 4; says 'schedule 4 is over'
// run: -n 2 --set LINK=ucx:tcp -- 10; says 'schedule 10 is over'
#include "ends_random.c"
