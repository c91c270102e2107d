// The example whose ranks double while it computes, and halve again, and whose numbers are right.
//
// only: catena
// time: 120
// cc: -lm
// run: -n 2 --elastic -- 600 200; says '(?s)steps 0 to 200: 2 ranks.*steps 200 to 400: 4 ranks.*steps 400 to 600: 2 ranks'; says '600 steps: the heat is right'
// run: -n 1 --elastic -- 600 200; says 'steps 200 to 400: 2 ranks'; says 'the heat is right'
// run: -n 3 --elastic -- 300; says 'steps 0 to 300: 3 ranks'; says 'the heat is right'
//
// variant: elastic_heat_hosts
// Its ranks double over two hosts.
// only: catena
// hosts: 2
// time: 120
// run: -n 2 --host h0:2,h1:2 --launcher-agent scripts/hosts --elastic -- 600 200; says 'steps 200 to 400: 4 ranks'; says '600 steps: the heat is right'
#include "../../../examples/elastic/heat.c"
