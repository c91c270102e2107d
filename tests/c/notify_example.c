// The example whose ranks wait for what neighbours put.
//
// only: catena
// run: -n 4 -- 2000; says 'after 2000 steps on 4 ranks the wave is [0-9.]+ high, and its node stands'
// run: -n 1 -- 100; says 'its node stands'
// run: -n 3 --set LINK=tcp -- 300; says 'its node stands'
#include "../../examples/notify/wave.c"
