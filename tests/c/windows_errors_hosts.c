// What windows_errors.c asks for, on two hosts.
// hosts: 2
// time: 60
// only: catena
// run: --host h0:1,h1:1 --launcher-agent scripts/hosts
#include "windows_errors.c"
