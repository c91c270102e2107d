/* The command line: letters as the OSU micro-benchmarks have them, and what they lack. */
#define _GNU_SOURCE
#include "bench.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 256, RECORDS, SIZES, SAMPLES, SECONDS, WITHIN, LEAST, START, PIN, WARM, CHECKS, APART, AWAY, FOR };

static const struct option longs[] = {
    {"help", no_argument, NULL, 'h'},
    {"message-size", required_argument, NULL, 'm'},
    {"sizes", required_argument, NULL, SIZES},
    {"iterations", required_argument, NULL, 'i'},
    {"num-iterations", required_argument, NULL, 'i'}, /* as it was called before */
    {"warmup", required_argument, NULL, 'x'},
    {"warm", required_argument, NULL, WARM},
    {"checks", required_argument, NULL, CHECKS},
    {"apart", required_argument, NULL, APART},
    {"away", required_argument, NULL, AWAY},
    {"samples", required_argument, NULL, SAMPLES},
    {"seconds", required_argument, NULL, SECONDS},
    {"within", required_argument, NULL, WITHIN},
    {"least", required_argument, NULL, LEAST},
    {"start", required_argument, NULL, START},
    {"window-size", required_argument, NULL, 'W'},
    {"num-pairs", required_argument, NULL, 'p'},
    {"buffer-num", required_argument, NULL, 'b'},
    {"validation", no_argument, NULL, 'c'},
    {"type", required_argument, NULL, 'T'},
    {"ddt", required_argument, NULL, 'D'},
    {"in-place", no_argument, NULL, 'l'},
    {"root-rank", required_argument, NULL, 'k'},
    {"nhbr", required_argument, NULL, 'N'},
    {"num-test-calls", required_argument, NULL, 't'},
    {"win-options", required_argument, NULL, 'w'},
    {"sync-option", required_argument, NULL, 's'},
    {"session", no_argument, NULL, 'I'},
    {"mem-limit", required_argument, NULL, 'M'},
    {"accelerator", required_argument, NULL, 'd'},
    {"full", no_argument, NULL, 'f'},
    {"tail-lat", optional_argument, NULL, 'z'},
    {"papi", required_argument, NULL, 'P'},
    {"vary-window", no_argument, NULL, 'V'},
    {"print-rate", required_argument, NULL, 'R'},
    {"validation-warmup", required_argument, NULL, 'u'},
    {"pin", no_argument, NULL, PIN},
    {"records", no_argument, NULL, RECORDS},
    {"list", no_argument, NULL, LIST},
    {"ranks", required_argument, NULL, FOR},
    {NULL, 0, NULL, 0},
};

void options_help(void)
{
    puts("usage: bench [NAME|FAMILY][:SIZE,...]... [options], started as an MPI program\n"
         "\n"
         "  -m, --message-size [MIN:]MAX  sizes: powers of two, in bytes; K, M and G may follow\n"
         "      --sizes A,B,...           these sizes\n"
         "  -i, --iterations N            operations behind each value (as many as --least asks)\n"
         "      --least US                a value takes at least so many microseconds (400 readings of\n"
         "                                the clock; 1000 where ranks outnumber cores)\n"
         "  -x, --warmup N                operations before the first value (200, of more than 8 KiB\n"
         "                                10, and 10 or 2 windows where messages stream; then until\n"
         "                                two windows of operations take as long as each other)\n"
         "      --warm SECONDS            but no more than fit into this time, without -x (0.2)\n"
         "      --samples N               values of each size (100)\n"
         "      --seconds S               but no more than fit into this time (0.2)\n"
         "      --within SECONDS          begins nothing more after this time, and says what is left\n"
         "      --start window|barrier    ranks begin at an agreed time (window), or as soon as the\n"
         "                                last one has come; never by the library's barrier\n"
         "      --apart US                rank r of `..._late` comes r times so much later (10)\n"
         "      --away burning|sleeping|one   overlap: all ranks compute (burning); all sleep; or one\n"
         "                                side computes, and the other waits\n"
         "  -W, --window-size N           messages in flight (64)\n"
         "  -p, --num-pairs N             pairs of ranks (half of the ranks)\n"
         "  -b, --buffer-num single|multiple   one buffer for all of a window, or one each\n"
         "  -V, --vary-window             windows of 1 to 128 where many pairs stream\n"
         "  -R, --print-rate 0|1          messages a second, too, where bandwidth is shown (0)\n"
         "  -c, --validation              checks what arrives, once the values are taken; wrong data\n"
         "                                end with status 1\n"
         "      --checks N                of so many operations (1000), or for two seconds\n"
         "  -u, --validation-warmup N     operations before those that are checked (5)\n"
         "  -T, --type TYPE[,...]         all, mpi_char, mpi_int, mpi_long, mpi_float, mpi_double\n"
         "  -D, --ddt cont | vect:STRIDE:BLOCK | indx:FILE   derived types, in elements;\n"
         "                                a line of FILE: displacement, length\n"
         "  -l, --in-place                MPI_IN_PLACE\n"
         "  -k, --root-rank fixed:R|rotate\n"
         "  -N, --nhbr cart:DIMENSIONS:RADIUS | graph:FILE   neighbours (cart:1:1); a line of\n"
         "                                FILE: source, destination\n"
         "  -t, --num-test-calls N        calls of MPI_Test while computing (one in 10 us where all\n"
         "                                compute, else none);\n"
         "      [SENDERS:]N               of threads and processes: so many on ranks 0 and 1\n"
         "  -P, --papi EVENT[,...]        counts for each operation, all ranks together: cycles,\n"
         "                                instructions, cache-references, cache-misses, branches,\n"
         "                                branch-misses (hardware); context-switches, page-faults,\n"
         "                                cpu-migrations, major-faults (software); all\n"
         "  -w, --win-options allocate|create|dynamic        how windows are made (allocate; on\n"
         "                                devices: create)\n"
         "  -s, --sync-option flush|flush_local|lock|lock_all|pscw|fence   epochs (flush)\n"
         "  -I, --session                 MPI_Session_init instead of MPI_Init\n"
         "  -M, --mem-limit BYTES         of a rank's buffers (512M)\n"
         "  -d, --accelerator host        memory of messages: the host's, or a device's; cuda:DH\n"
         "      cuda[!][:DD|DH|HD|HH]     rank 0's on the device, rank 1's on the host; cuda! also\n"
         "      rocm[!][:DD|DH|HD|HH]     with a library that does not say that it takes such\n"
         "  -f, --full                    mean, least and most, too\n"
         "  -z, --tail-lat[=P,...]        percentiles of single operations (50,90,99)\n"
         "      --pin                     rank r of a host to the r-th core it may run on\n"
         "      --list                    the benchmarks, a line of JSON each\n"
         "      --ranks N                 and whether the other options fit that many ranks\n"
         "      --records                 a line of JSON for each result");
}

bool options_size(const char *text, size_t *value)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    if (end == text || *text == '-')
        return false;
    int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    *value = (size_t)n << shift;
    end += shift > 0;
    return n <= SIZE_MAX >> 1 >> shift && (!*end || *end == ',');
}

/* Whether all sizes behind the colon of a name can be read. */
bool options_sizes_of(const char *name)
{
    const char *at = strchr(name, ':');
    size_t bytes;
    while (at && *at) {
        if (!options_size(at + 1, &bytes))
            return false;
        at = strchr(at + 1, ',');
    }
    return true;
}

static bool read_number(const char *text, int *value)
{
    size_t n;
    bool good = !strchr(text, ',') && options_size(text, &n) && n <= 1 << 30;
    *value = good ? (int)n : 0;
    return good;
}

/* A number that is not 0, and no greater than `most`. */
static bool read_some(const char *text, int *value, int most)
{
    return read_number(text, value) && *value > 0 && *value <= most;
}

/* `N`, or `SENDERS:N`. */
static bool read_counts(char *text)
{
    char *colon = strchr(text, ':');
    if (colon)
        *colon = 0;
    return (!colon || (read_number(text, &opt.senders) && opt.senders > 0)) &&
           read_number(colon ? colon + 1 : text, &opt.tests);
}

static bool read_seconds(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value >= 0;
}

static bool read_size(const char *text, size_t *bytes)
{
    return !strchr(text, ',') && options_size(text, bytes);
}

/* `MIN:MAX`, `MIN:`, `:MAX` or `MAX`. */
static bool read_range(char *text)
{
    char *colon = strchr(text, ':');
    if (!colon)
        return read_size(text, &opt.most_size);
    *colon++ = 0;
    return (!*text || read_size(text, &opt.least_size)) && (!*colon || read_size(colon, &opt.most_size)) &&
           (*text || *colon) && (!*colon || opt.least_size <= opt.most_size);
}

/* Calls `one` with each part of a list, which must not be empty. */
static bool read_list(char *text, bool (*one)(const char *word))
{
    for (char *word = text, *comma = text; comma; word = comma + 1) {
        comma = strchr(word, ',');
        if (comma)
            *comma = 0;
        if (!*word || !one(word))
            return false;
    }
    return true;
}

static bool one_size(const char *word)
{
    const int room = sizeof opt.sizes / sizeof *opt.sizes;
    return opt.size_count < room && read_size(word, &opt.sizes[opt.size_count++]);
}

static bool one_percent(const char *word)
{
    const int room = sizeof opt.percents / sizeof *opt.percents;
    return opt.percent_count < room && read_seconds(word, &opt.percents[opt.percent_count]) &&
           opt.percents[opt.percent_count++] <= 100;
}

static bool one_type(const char *word)
{
    unsigned before = opt.elements;
    for (int i = 0; i < element_count; i++)
        if (!strcasecmp(word, elements[i].name) || !strcmp(word, "all"))
            opt.elements |= 1u << i;
    return opt.elements != before;
}

static bool read_layout(const char *text)
{
    int end = 0;
    if (!strcmp(text, "cont")) {
        opt.layout = CONTIGUOUS;
        return true;
    }
    if (!strncmp(text, "indx:", 5)) {
        opt.layout = INDEXED;
        opt.layout_file = text + 5;
        return true;
    }
    opt.layout = VECTOR;
    return sscanf(text, "vect:%d:%d%n", &opt.stride, &opt.block, &end) == 2 && end &&
           !text[end] && opt.block > 0 && opt.stride >= opt.block;
}

static bool read_root(const char *text)
{
    opt.rotate = !strcmp(text, "rotate");
    return opt.rotate || (!strncmp(text, "fixed:", 6) && read_number(text + 6, &opt.root));
}

static bool read_neighbors(const char *text)
{
    int end = 0;
    if (!strncmp(text, "graph:", 6)) {
        opt.graph_file = text + 6;
        return true;
    }
    return sscanf(text, "cart:%d:%d%n", &opt.dimensions, &opt.radius, &end) == 2 && end &&
           !text[end] && opt.dimensions > 0 && opt.dimensions <= 8 && opt.radius > 0;
}

/* Which of the words it is; false: none. */
static bool choose(const char *text, const char *const *words, int *which)
{
    for (*which = 0; words[*which]; ++*which)
        if (!strcmp(text, words[*which]))
            return true;
    return false;
}

/* `host`, or `KIND[!][:SIDES]`. */
static bool read_memory(char *text)
{
    static const char *const kinds[] = {"host", "cuda", "rocm", NULL};
    char *sides = strchr(text, ':');
    if (sides) {
        *sides++ = 0;
        if (strlen(sides) != 2 || strspn(sides, "DH") != 2)
            return false;
        opt.sides = sides;
    }
    char *end = text + strlen(text) - 1;
    opt.insist = end > text && *end == '!';
    if (opt.insist)
        *end = 0;
    return choose(text, kinds, (int *)&opt.device) && (opt.device || (!opt.insist && !sides));
}

/* The most messages in flight, as their requests are made at once; OMB has no bound. */
enum { WIDEST_WINDOW = 1 << 16 };

static bool read_one(int letter, char *text)
{
    static char usual[] = "50,90,99";
    static const char *const starts[] = {"barrier", "window", NULL};
    static const char *const windows[] = {"", "allocate", "create", "dynamic", NULL};
    static const char *const syncs[] = {"flush", "flush_local", "lock", "lock_all", "pscw",
                                        "fence", NULL};
    static const char *const states[] = {"burning", "sleeping", "one", NULL};
    static const char *const buffers[] = {"single", "multiple", NULL};
    int which;
    switch (letter) {
    case 'm': return read_range(text);
    case SIZES: return read_list(text, one_size);
    case 'i': return read_some(text, &opt.rounds, 1 << 30);
    case WARM: return read_seconds(text, &opt.warm);
    case CHECKS: return read_some(text, &opt.checks, 1 << 30);
    case APART: return read_seconds(text, &opt.apart);
    case AWAY: return choose(text, states, (int *)&opt.away);
    case 'x': return read_number(text, &opt.warmup);
    case SAMPLES: return read_number(text, &opt.samples) && opt.samples > 0;
    case SECONDS: return read_seconds(text, &opt.seconds);
    case WITHIN: return read_seconds(text, &opt.within) && opt.within > 0;
    case LEAST: return read_seconds(text, &opt.least);
    case START: return choose(text, starts, (int *)&opt.start);
    case 'W': return read_some(text, &opt.window, WIDEST_WINDOW);
    case 'p': return read_some(text, &opt.pairs, 1 << 30);
    case 'b': return choose(text, buffers, &opt.many_buffers);
    case 'w': return choose(text, windows, (int *)&opt.memory_of);
    case 's': return choose(text, syncs, (int *)&opt.sync);
    case 'c': return opt.validate = true;
    case 'T': return read_list(text, one_type);
    case 'D': return read_layout(text);
    case 'l': return opt.in_place = true;
    case 'k': return read_root(text);
    case 'N': return read_neighbors(text);
    case 't': return read_counts(text);
    case 'I': return opt.session = true;
    case 'M': return read_size(text, &opt.memory);
    case 'd': return read_memory(text);
    case 'f': return opt.full = true;
    case 'z': return read_list(text ? text : usual, one_percent);
    case 'P': return read_list(text, counters_choose);
    case 'V': return opt.vary_window = true;
    case 'R': return read_number(text, &which) && which <= 1 && ((opt.rates = which), true);
    case 'u': return read_number(text, &opt.unchecked);
    case PIN: return opt.pin = true;
    case RECORDS: return opt.records = true;
    case LIST: return opt.list = true;
    case FOR: return read_some(text, &opt.ranks, 1 << 30);
    case 'h': return opt.help = true;
    }
    return false;
}

bool options_read(int argc, char **argv)
{
    static const char letters[] = "hm:i:x:W:p:b:cT:D:lk:N:t:w:s:IM:d:fz::P:VR:u:";
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        char given[128] = "";
        snprintf(given, sizeof given, "%s", optarg ? optarg : "");
        if (letter == '?' || !read_one(letter, optarg)) {
            const char *word = argv[optind - 1];
            fprintf(stderr, "bench: %s '%s'; bench --help lists the options\n",
                    letter == '?' ? "no such option, or a value is missing:" : "not understood:",
                    *given ? given : word);
            return false;
        }
    }
    opt.names = argv + optind;
    return true;
}
