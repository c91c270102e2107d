// What connect.c asks for, between jobs on two hosts.
// hosts: 2
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts
#include "connect.c"
