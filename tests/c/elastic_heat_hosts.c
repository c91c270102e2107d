// The example whose ranks double while it computes, over two hosts.
//
// only: catena
// hosts: 2
// time: 120
// cc: -lm
// run: -n 2 --host h0:2,h1:2 --launcher-agent scripts/hosts --elastic -- 600 200; says 'steps 200 to 400: 4 ranks'; says '600 steps: the heat is right'
#include "../../examples/elastic/heat.c"
