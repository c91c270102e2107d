// The example that loses ranks and ends right.
//
// only: catena
// run: -n 6 --with-ft ulfm --set FAULT_STATUS=first -- 3; exit 137; says '3 ranks are left: the sum is [0-9]+, which is right'
// run: -n 3 --with-ft ulfm --set FAULT_STATUS=first -- 2; exit 137; says '1 ranks are left: .* which is right'
// run: -n 4 -- 0; says '4 ranks are left: .* which is right'
#include "../../../examples/survive/survive.c"
