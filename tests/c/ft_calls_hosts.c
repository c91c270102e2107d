// What ft_calls does, with the members of each group on two hosts.
//
// only: catena
// hosts: 2
// time: 90
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm -- 0 1; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm -- 4 2; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm -- 8 3; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm -- 12 4; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm -- 16 5; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm -- 20 6; exit 137; says 'is over'
#include "ft_calls.c"
