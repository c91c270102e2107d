/* What rank 0 prints: a table for people, or a record per line (`--records`), each a JSON object
 * behind `@catena-bench `, so that other output does no harm. */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const unit_names[] = {[US] = "us", [MB_S] = "MB/s", [PER_S] = "1/s",
                                         [PERCENT] = "%"};

static void text(const char *s)
{
    putchar('"');
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if ((unsigned char)*s < ' ')
            printf("\\u%04x", *s);
        else
            putchar(*s);
    putchar('"');
}

static void field(const char *name, const char *value)
{
    printf(",\"%s\":", name);
    text(value);
}

static void begin(const char *kind)
{
    printf("@catena-bench {\"kind\":\"%s\"", kind);
}

static void end(void)
{
    puts("}");
    fflush(stdout);
}

void report_list_row(const struct bench *b)
{
    printf("{\"name\":\"%s\",\"family\":\"%s\",\"unit\":\"%s\",\"better\":\"%s\"", b->name,
           b->family, unit_names[b->unit], b->unit == US ? "less" : "more");
    printf(",\"sized\":%s,\"min_ranks\":%d,\"needs\":[", strchr(b->options, 'm') ? "true" : "false",
           b->ranks);
    if (b->needs)
        text(b->needs);
    printf("]");
    field("options", b->options);
    puts("}");
}

struct place {
    char host[256];
    cpu_set_t cpus;
};

/* Hosts in the order in which they first appear, and for each rank its host and processors. */
static void places(const struct place *at)
{
    int *host = must(malloc(size * sizeof *host)), hosts = 0;
    printf(",\"hosts\":[");
    for (int r = 0; r < size; r++) {
        int same = 0;
        while (same < r && strcmp(at[same].host, at[r].host))
            same++;
        host[r] = same < r ? host[same] : hosts;
        if (same < r)
            continue;
        printf(hosts++ ? "," : "");
        text(at[r].host);
    }
    printf("],\"placement\":[");
    for (int r = 0; r < size; r++) {
        const char *comma = "";
        printf("%s[%d,[", r ? "," : "", host[r]);
        for (int c = 0; c < CPU_SETSIZE; c++)
            if (CPU_ISSET(c, &at[r].cpus)) {
                printf("%s%d", comma, c);
                comma = ",";
            }
        printf("]]");
    }
    printf("]");
    free(host);
}

/* Ends at the first line; of several spaces one is left. */
static void one_line(char *s)
{
    char *to = s;
    for (; *s && *s != '\n'; s++)
        if (*s != '\t' && !(*s == ' ' && s[1] == ' '))
            *to++ = *s;
    *to = 0;
}

/* What was asked for and cannot be counted. */
static void lacks(bool record)
{
    const char *before = ",\"uncounted\":{", *after = "";
    for (int e = 0; e < COUNTERS; e++)
        if (counters_lack(e) && record) {
            printf("%s\"%s\":", before, counters_name(e));
            text(counters_lack(e));
            before = ",";
            after = "}";
        } else if (counters_lack(e)) {
            printf("# no %s: %s\n", counters_name(e), counters_lack(e));
        }
    printf("%s", after);
}

void report_env(void)
{
    struct place mine = {.host = ""}, *all = must(calloc(size, sizeof *all));
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, version, subversion;
    gethostname(mine.host, sizeof mine.host - 1);
    sched_getaffinity(0, sizeof mine.cpus, &mine.cpus);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, world);
    MPI_Get_library_version(library, &length);
    one_line(library);
    MPI_Get_version(&version, &subversion);
    if (rank == 0 && opt.records) {
        begin("env");
        printf(",\"protocol\":2");
        field("library", library);
        printf(",\"standard\":\"%d.%d\",\"ranks\":%d,\"threads\":\"%s\",\"clock_ns\":%.1f", version,
               subversion, size, life_threads(), clock_cost() * 1e9);
        if (*memory_device()) {
            field("memory", memory_kind());
            field("device", memory_device());
        }
        printf(",\"start\":\"%s\",\"nodes\":%d", meet_at_a_time() ? "time" : "barrier", meet_nodes());
        places(all);
        lacks(true);
        end();
    } else if (rank == 0) {
        printf("# %s, %d ranks\n# ranks begin %s\n", library, size,
               meet_at_a_time() ? "at an agreed time" : "when the last one has come");
        if (*memory_device())
            printf("# memory: %s, %s\n", memory_kind(), memory_device());
        lacks(false);
    }
    free(all);
}

void report_head(const struct bench *b)
{
    if (rank || opt.records)
        return;
    printf("\n# %s\n# %-10s%16s", b->name, "size", unit_names[b->unit]);
    if (opt.vary_window && strchr(b->options, 'V'))
        printf("%16s", "window");
    if (opt.rates && b->unit == MB_S)
        printf("%16s", "messages/s");
    if (overlaps(b))
        printf("%16s%16s%16s", "by itself us", "overlapped us", "computing us");
    for (int i = 0; i < opt.percent_count; i++)
        printf("%14g %%", opt.percents[i]);
    if (opt.full)
        printf("%16s%16s%16s%16s%16s", "mean", "least", "most", "mean of ranks", "apart us");
    for (int e = 0; e < COUNTERS; e++)
        if (counters_has(e))
            printf("%18s", counters_name(e));
    puts("");
}

/* One of the numbers behind each value of overlap, in us; free it. */
static double *of_overlaps(const struct samples *s, size_t field)
{
    double *values = must(malloc(s->count * sizeof *values));
    for (int i = 0; i < s->count; i++)
        values[i] = *(double *)((char *)&s->overlaps[i] + field) * 1e6 / s->batch;
    return values;
}

static const struct part {
    const char *name;
    size_t field;
} parts[] = {{"pure_us", offsetof(struct overlap, pure)},
             {"overlapped_us", offsetof(struct overlap, whole)},
             {"computed_us", offsetof(struct overlap, computed)}};
enum { PARTS = sizeof parts / sizeof *parts };

static bool varied(const struct task *t)
{
    return opt.vary_window && strchr(t->bench->options, 'V');
}

static void row(const struct task *t, const struct samples *s)
{
    double *sorted = must(malloc(s->count * sizeof *sorted)), mean = 0, means = 0;
    memcpy(sorted, s->values, s->count * sizeof *sorted);
    printf("%-12zu%16.2f", t->asked, percentile(sorted, s->count, 50));
    if (varied(t))
        printf("%16d", t->window);
    if (opt.rates && t->bench->unit == MB_S)
        printf("%16.0f", t->payload ? percentile(sorted, s->count, 50) * 1e6 / t->payload : 0);
    for (int k = 0; k < PARTS && s->overlaps; k++) {
        double *values = of_overlaps(s, parts[k].field);
        printf("%16.2f", percentile(values, s->count, 50));
        free(values);
    }
    for (int i = 0; i < opt.percent_count; i++)
        if (s->tail_count)
            printf("%16.2f", s->tails[i]);
        else
            printf("%16s", "-");
    for (int i = 0; i < s->count; i++) {
        mean += s->values[i] / s->count;
        means += s->means[i] / s->count;
    }
    if (opt.full)
        printf("%16.2f%16.2f%16.2f%16.2f%16.3f", mean, sorted[0], sorted[s->count - 1],
               s->overlaps ? mean : means, s->skew * 1e6);
    for (int e = 0; e < COUNTERS; e++)
        if (counters_has(e))
            printf("%18.3g", s->counts[e]);
    puts("");
    if (*s->warning)
        printf("#   %s\n", s->warning);
    fflush(stdout);
    free(sorted);
}

static void array(const char *name, const double *values, int n)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++)
        printf("%s%.6g", i ? "," : "", values[i]);
    printf("]");
}

/* What a record says of its task. */
static void of_task(const struct task *t)
{
    field("bench", t->bench->name);
    printf(",\"size\":%zu", t->asked);
    if (!t->asked && strchr(t->bench->options, 'm'))
        printf(",\"sized\":true"); /* nothing is moved, and not: there are no sizes */
    if (strchr(t->bench->options, 'T'))
        field("type", t->element->name);
    if (t->payload != t->asked)
        printf(",\"payload\":%zu", t->payload);
    if (varied(t))
        printf(",\"window\":%d", t->window);
}

static void counts(const double of[COUNTERS])
{
    const char *comma = "";
    printf(",\"counters\":{");
    for (int e = 0; e < COUNTERS; e++)
        if (counters_has(e)) {
            printf("%s\"%s\":%.6g", comma, counters_name(e), of[e] == of[e] ? of[e] : 0);
            comma = ",";
        }
    printf("}");
}

/* Percentiles of single operations, of which the time of reading the clock once is taken away. */
static void tails_of(const struct samples *s)
{
    printf(",\"tail_operations\":%d,\"tail_us\":{", s->tail_count);
    for (int i = 0; i < opt.percent_count; i++)
        printf("%s\"%g\":%.6g", i ? "," : "", opt.percents[i], s->tails[i]);
    printf("}");
}

void report_samples(const struct task *t, const struct samples *s)
{
    if (rank)
        return;
    if (!opt.records && *s->wrong) {
        printf("%-12zu%16s  %s\n", t->asked, "wrong:", s->wrong);
        return;
    }
    if (!opt.records) {
        row(t, s);
        return;
    }
    begin("samples");
    of_task(t);
    printf(",\"ranks\":%d,\"unit\":\"%s\",\"better\":\"%s\",\"batch\":%d", t->size,
           unit_names[t->bench->unit], t->bench->unit == US ? "less" : "more", s->batch);
    array("values", s->values, s->count);
    if (t->timers > 1 && !s->overlaps)
        array("mean_values", s->means, s->count);
    for (int k = 0; k < PARTS && s->overlaps; k++) {
        double *values = of_overlaps(s, parts[k].field);
        array(parts[k].name, values, s->count);
        free(values);
    }
    if (s->line[0] < 0)
        printf(",\"line_ns\":null");
    else
        array("line_ns", s->line, 2);
    printf(",\"late\":%d,\"apart_us\":%.6g,\"warmup\":%d", s->late, s->skew * 1e6, s->warmup);
    if (s->steady != ASKED_FOR)
        printf(",\"steady\":%s", s->steady == STEADY ? "true" : "false");
    if (s->checked)
        printf(",\"checked\":%d", s->checked);
    if (s->tail_count)
        tails_of(s);
    if (opt.counters && strchr(t->bench->options, 'i'))
        counts(s->counts);
    if (*s->warning)
        field("warning", s->warning);
    if (*s->wrong)
        field("wrong", s->wrong);
    end();
}

/* `t` is NULL where it concerns all sizes. */
void report_skipped(const struct bench *b, const struct task *t, const char *why)
{
    if (rank)
        return;
    if (opt.records) {
        begin("skipped");
        if (t)
            of_task(t);
        else
            field("bench", b->name);
        field("why", why);
        end();
    } else if (t) {
        printf("%-12zu%16s  %s\n", t->asked, "skipped:", why);
    } else {
        printf("\n# %s skipped: %s\n", b->name, why);
    }
}

/* There was no time for it, or for all of it. */
void report_unreached(const struct bench *b)
{
    if (rank)
        return;
    if (opt.records) {
        begin("unreached");
        field("bench", b->name);
        end();
    } else {
        printf("\n# %s: not (all) measured, the time is over (--within)\n", b->name);
    }
}

void report_end(void)
{
    if (rank == 0 && opt.records) {
        begin("end");
        end();
    }
}
