// The example whose lost ranks come back to their places, and which ends right.
//
// only: catena
// time: 120
// run: -n 4 --with-ft ulfm --set FAULT_STATUS=first -- 3 0; exit 137; says '(?s)(again: 3 of 4 ranks are alive.*){3}'; says '4 ranks after 400 steps: the numbers are right'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- 6 0; exit 137; says '(?s)(again: 2 of 3 ranks are alive.*){6}'; says 'the numbers are right'
// run: -n 3 -- 0 0; says '3 ranks after 100 steps: the numbers are right'
#include "../../../examples/respawn/respawn.c"
