// What files_started.c asks for, on two hosts.
// hosts: 2
// time: 120
// run: --host h0:2,h1:2 --launcher-agent scripts/hosts -x CB=enable
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "files_started.c"
