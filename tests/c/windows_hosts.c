// What windows.c asks for, on two hosts.
// hosts: 2
// time: 120
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts
#include "windows.c"
