// partitioned_again over another network.
//
// needs: libfabric.so.1
// run: --set LINK=ofi:tcp -n 2 -- rounds
// run: --set LINK=ofi:tcp -n 2 -- unstarted
#include "partitioned_again.c"
