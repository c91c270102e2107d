// What windows_notify.c asks for, on two hosts.
// only: catena
// hosts: 2
// time: 60
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp
#include "windows_notify.c"
