// What windows_operations.c asks for, on two hosts.
// hosts: 2
// time: 60
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts --set SHM_SINGLE_COPY=never
#include "windows_operations.c"
