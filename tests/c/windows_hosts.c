// What windows.c asks for, on two hosts.
// hosts: 2
// time: 60
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts
#include "windows.c"
