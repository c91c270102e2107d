// What ft_calls does, with the members of each group on two hosts.
//
// only: catena
// hosts: 2
// time: 90
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- 0 1; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- 4 2; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- 8 3; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- 12 4; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- 16 5; exit 137; says 'is over'
// run: -n 16 --host h0:8,h1:8 --map-by node --launcher-agent scripts/hosts --with-ft ulfm --set FAULT_STATUS=first -- 20 6; exit 137; says 'is over'
#include "ft_calls.c"
