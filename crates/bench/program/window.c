/* Messages of a window: how many there are, and where each lies in its buffer.
 *
 * While it is timed all lie where the first one does, or, with -b multiple, one behind the other. While data are checked
 * each has a block of its own, as far as memory goes: of a window that is longer as many have one as fit, in turn
 * (check.c moves `base` on), and all others share one more, so that there is no message that nobody looks at. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_WINDOW = 64 };

int window_asked(void)
{
    return opt.window ? opt.window : USUAL_WINDOW;
}

/* Blocks of one message: those that are checked, and the one of all others. */
int window_blocks(const struct task *t)
{
    if (t->lanes)
        return t->lanes + (t->lanes < t->window);
    return t->gap ? t->window : 1;
}

/* One behind the other by `gap`, or, where there are fewer blocks than messages, those from `base` on one behind the
 * other, and all others in one more. */
void window_spread(struct task *t)
{
    bool few = t->inspect && t->lanes < t->window;
    for (int k = 0; k < t->window; k++) {
        int lane = few ? (k + t->window - t->base) % t->window : k;
        t->spots[k] = (size_t)(few && lane > t->lanes ? t->lanes : lane) * t->gap;
    }
}

void window_open(struct task *t, int window, int requests)
{
    t->window = window;
    t->gap = opt.many_buffers && strchr(t->bench->options, 'b') ? t->bytes : 0;
    t->requests = must(malloc((size_t)requests * t->window * sizeof *t->requests));
    t->spots = must(malloc((size_t)t->window * sizeof *t->spots));
    window_spread(t);
}

/* Blocks for the messages that are checked, up to an eighth of the memory (64 MiB), or two where a message is longer;
 * `sides`: messages that a rank has at once for each of a window. */
void window_lanes(struct task *t, int sides)
{
    size_t most = opt.memory / 8, block = (size_t)sides * t->bytes;
    if (!opt.validate || !t->bytes || !sides)
        return;
    size_t fit = most / block > 1 ? most / block : 1;
    t->lanes = t->gap || fit >= (size_t)t->window ? t->window : (int)fit;
}

void window_close(struct task *t)
{
    free(t->requests);
    free(t->spots);
}
