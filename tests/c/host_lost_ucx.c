// The same over UCX as host_lost.c, which does not notice a loss by itself while something is under
// way.
// only: catena
// waits: for time limits of a network
// hosts: 2
// time: 60
// needs: libucp.so.0
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=2s -- recv; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=2s -- send; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=2s -- any met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=2s -- probe met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=2s -- stream met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=2s -- barrier met; exit 7; says on host h1
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts --set LINK=ucx:tcp --set TCP_TIMEOUT=1s -- busy met; exit 7; says after [\d.]+ s: $
#include "host_lost.c"
