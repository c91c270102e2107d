// What CATENA_LINK says is what happens, over UCX too.
// only: catena
// needs: libucp.so.0
// time: 60
// run: -n 2 --set LINK=ucx -- network
// run: -n 5 --set LINK=ucx:tcp -- network
// run: -n 2 --set LINK=ucx:posix,cma -- network
// run: -n 3 --set LINK=ucx:tcp --set UCX_SLEEP=poll -- network
// run: -n 2 --set LINK=shm+ucx:tcp -- shm
// run: -n 1 -x CATENA_LINK=ucx:tcp @ -- network : -n 1 -x CATENA_LINK=ucx:tcp,self @ -- network
// run: -n 1 -x CATENA_LINK=ucx:tcp @ -- network : -n 1 -x CATENA_LINK=ucx:sysv @ -- network; fails; says UCX cannot connect to it: Destination is unreachable
// run: -n 2 --set LINK=ucx:nonsense -- network; fails; says nothing for "ucx:nonsense" in CATENA_LINK
// run: -n 2 --set LINK=ucx:tcp:eth77 -- network; fails; says nothing for "ucx:tcp:eth77" in CATENA_LINK
// run: -n 2 --set LINK=ucx --set UCX_LIBRARY=/no/such.so -- network; fails; says cannot be opened \(/no/such.so: .*CATENA_UCX_LIBRARY
// run: -n 2 --set LINK=ucx: -- network; fails; says CATENA_LINK=ucx:: the name of a transport is missing
#include "link.c"
