// The example whose ranks wait for what neighbours put.
//
// only: catena
// cc: -lm
// run: -n 4 -- 8000; says 'after 8000 steps on 4 ranks the wave is 1.000 high, and its node stands'
// run: -n 1 -- 100; says 'its node stands'
// run: -n 3 --set LINK=tcp -- 300; says 'its node stands'
#include "../../../examples/notify/wave.c"
