// What the launcher hands to the ranks: environment, directory, arguments, input, several programs.
// run: -n 2 -x COLOUR=blue -- env COLOUR blue
// run: -n 2 --env COLOUR=red -- env COLOUR red
// run: -np 3 -genv COLOUR green -- env COLOUR green
// run: -n 2 -wdir / -- dir /
// run: -n 3 -- input ; input one two three
// run: -n 2 --tag-output -- say hello ; says (?m)^.*\b1\b.*hello$
// run: -n 4 -- lines ; lines 800 whole line \d+ of rank \d+
// run: -n 1 @ -- count 3 : -n 2 @ -- count 3
// only: catena
#include "../check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(argc >= 2);
    if (!strcmp(argv[1], "env")) {
        const char *v = getenv(argv[2]);
        CHECK(v && !strcmp(v, argv[3]));
    } else if (!strcmp(argv[1], "dir")) {
        char here[4096];
        CHECK(getcwd(here, sizeof here) && !strcmp(here, argv[2]));
    } else if (!strcmp(argv[1], "input")) {
        char line[256] = "";
        char *got = fgets(line, sizeof line, stdin);
        if (rank == 0)
            CHECK(got && !strcmp(line, "one two three\n"));
        else
            CHECK(!got);
    } else if (!strcmp(argv[1], "say")) {
        puts(argv[2]);
    } else if (!strcmp(argv[1], "lines")) {
        /* Whole lines, however they are written: the runner looks for torn ones. */
        for (int i = 0; i < 200; i++) {
            printf("whole ");
            fflush(stdout);
            printf("line %d of rank %d\n", i, rank);
        }
    } else if (!strcmp(argv[1], "count")) {
        EQUAL(size, atoi(argv[2]));
    } else {
        CHECK(!"a known case");
    }
    return finish();
}
