// What windows_remote.c asks for, on two hosts.
// only: catena
// hosts: 2
// time: 60
// needs: libfabric.so.1
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp -- remote
#include "windows_remote.c"
