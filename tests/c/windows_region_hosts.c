// What windows_region.c asks for, on two hosts: a region on each that has some members.
// hosts: 2
// only: catena
// run: --host h0:4,h1:3 --launcher-agent scripts/hosts
// run: --host h0:4,h1:1 --launcher-agent scripts/hosts --set LINK=ofi:tcp
#include "windows_region.c"
