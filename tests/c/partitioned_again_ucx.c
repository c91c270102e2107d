// partitioned_again over another network.
//
// needs: libucp.so.0
// run: --set LINK=ucx:tcp -n 2 -- rounds
// run: --set LINK=ucx:tcp -n 2 -- unstarted
#include "partitioned_again.c"
