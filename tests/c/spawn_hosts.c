// What spawn.c asks for, with parents and children on several hosts. Where the parents are on one host, the
// first of them opens a network when its children come.
// hosts: 2
// time: 120
// run: -n 1 --host h0:1,h1:2 --launcher-agent scripts/hosts
// run: -n 3 --host h0:2,h1:1 --launcher-agent scripts/hosts
// run: -n 2 --host h0:1,h1:3 --launcher-agent scripts/hosts -- threads
// run: -n 2 --host h0:2,h1:3 --launcher-agent scripts/hosts -- multiple
// run: -n 1 --host h0:1,h1:4 --launcher-agent scripts/hosts -- nested; says 'grandchild 0 of 1'
// run: -n 2 --host h0:1,h1:1 --launcher-agent scripts/hosts -- again
// run: -n 2 --host h1:2,h0:2 --launcher-agent scripts/hosts -- again
#include "spawn.c"
