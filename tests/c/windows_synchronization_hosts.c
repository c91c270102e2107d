// What windows_synchronization.c asks for, on two hosts: also a target that computes is reached.
// hosts: 2
// time: 60
// run: --host h0:2,h1:1 --launcher-agent scripts/hosts
#include "windows_synchronization.c"
