// What ends_network.c asks for, over UCX.
//
// only: catena
// time: 60
// needs: libucp.so.0
// run: -n 1 --set LINK=ucx:tcp -- child 1 disconnect
// run: -n 1 --set LINK=ucx:tcp -- child 150
// run: -n 1 --set LINK=ucx:tcp -- parent 150 disconnect
// run: -n 2 --set LINK=ucx:tcp -- parent 150
// run: -n 1 --set LINK=ucx:tcp -- next
// run: -n 2 --set LINK=ucx:tcp -- session 150 disconnect
#include "ends_network.c"
