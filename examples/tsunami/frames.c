/* Frames of the wave: all ranks write them into one file while they go on computing, and a picture is made
 * of what is in the file.
 *
 * The file has nothing but levels above rest, as floats in metres: frame by frame, in each from south to north,
 * in each row from west to east. In Python: numpy.fromfile(name, "f4").reshape(-1, ny, nx).
 */
#include "tsunami.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls on files return their errors, unless they are told otherwise. */
static void must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    give_up("%s: %s", what, text);
}

void frames_open(struct frames *f, const struct sea *s, const struct problem *p, const char *path)
{
    const struct block *b = &s->at;
    int all[2] = {p->ny, p->nx}, mine[2] = {b->ny, b->nx}, begin[2] = {b->y0, b->x0};
    MPI_Datatype place;
    *f = (struct frames){.path = path, .under_way = MPI_REQUEST_NULL};
    f->levels = malloc((size_t)b->nx * b->ny * sizeof *f->levels);
    if (!f->levels)
        give_up("out of memory for the frames");
    must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f->file),
         "cannot open the frames");
    must(MPI_File_set_size(f->file, 0), "cannot empty the frames");
    /* This rank sees its block of each frame, one after the other. */
    MPI_Type_create_subarray(2, all, mine, begin, MPI_ORDER_C, MPI_FLOAT, &place);
    MPI_Type_commit(&place);
    must(MPI_File_set_view(f->file, 0, MPI_FLOAT, place, "native", MPI_INFO_NULL), "cannot place the frames");
    MPI_Type_free(&place);
}

static void frames_wait(struct frames *f)
{
    must(MPI_Wait(&f->under_way, MPI_STATUS_IGNORE), "cannot write a frame");
}

void frames_add(struct frames *f, const struct sea *s)
{
    const struct block *b = &s->at;
    frames_wait(f); /* the buffer is in use until then */
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++)
            f->levels[(long)j * b->nx + i] = (float)s->level[cell(b, i, j)];
    must(MPI_File_iwrite_all(f->file, f->levels, b->nx * b->ny, MPI_FLOAT, &f->under_way),
         "cannot write a frame");
    f->count++;
}

/* Paints frame `k`, which lies in `levels`, as a panel whose cells are `each` cells of the sea wide. */
static void panel(const struct problem *p, const float *levels, int each, unsigned char *rgb)
{
    int width = p->nx / each, height = p->ny / each;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            /* The level that is farthest from rest: a wave that is narrower than a pixel shows. */
            float level = 0;
            for (int dj = 0; dj < each; dj++)
                for (int di = 0; di < each; di++) {
                    float here = levels[(long)(j * each + dj) * p->nx + i * each + di];
                    level = fabsf(here) > fabsf(level) ? here : level;
                }
            double x = (i + 0.5) * each * p->dx / 1000, y = (j + 0.5) * each * p->dx / 1000;
            unsigned char *pixel = &rgb[3 * ((long)(height - 1 - j) * width + i)];
            if (i == 0 || j == 0) /* a line between frames */
                memset(pixel, 255, 3);
            else
                picture_colour(problem_ground(p, x, y), level, pixel);
        }
}

/* The frames of one round, one of each rank, at their places in the picture. */
static void lay_out(unsigned char *picture, const unsigned char *panels, int first, int number, int width, int height)
{
    for (int k = 0; k < number; k++) {
        int left = (first + k) % FRAME_COLUMNS * width, top = (first + k) / FRAME_COLUMNS * height;
        for (int j = 0; j < height; j++)
            memcpy(picture + 3 * ((size_t)(top + j) * FRAME_COLUMNS * width + left),
                   panels + 3 * ((size_t)k * height + j) * width, 3 * (size_t)width);
    }
}

double frames_close(struct frames *f, const struct problem *p, const char *picture)
{
    enum { EACH = 4 }; /* cells in a pixel's width */
    int rank, ranks, width = p->nx / EACH, height = p->ny / EACH;
    int rows = (f->count + FRAME_COLUMNS - 1) / FRAME_COLUMNS;
    size_t cells = (size_t)p->nx * p->ny, pixels = 3 * (size_t)width * height;
    double water = 0;
    MPI_Offset bytes;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    frames_wait(f);
    free(f->levels);

    /* Now each rank takes whole frames. What the others have written is there when all have synchronized. */
    must(MPI_File_sync(f->file), "cannot write the frames");
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_sync(f->file), "cannot read the frames");
    must(MPI_File_get_size(f->file, &bytes), "cannot read the frames");
    if ((size_t)bytes != cells * f->count * sizeof(float))
        give_up("%s has %lld bytes, not %d frames", f->path, (long long)bytes, f->count);
    must(MPI_File_set_view(f->file, 0, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL), "cannot read the frames");
    float *levels = malloc(cells * sizeof *levels);
    unsigned char *mine = malloc(pixels), *all = NULL, *sheet = NULL;
    if (rank == 0) {
        all = malloc(pixels * ranks);
        sheet = calloc((size_t)rows * FRAME_COLUMNS, pixels);
    }
    if (!levels || !mine || (rank == 0 && (!all || !sheet)))
        give_up("out of memory for the picture of the frames");
    for (int first = 0; first < f->count; first += ranks) {
        int k = first + rank, has = k < f->count, left = f->count - first;
        /* All call it; a rank without a frame reads nothing. */
        must(MPI_File_read_at_all(f->file, has ? (MPI_Offset)(k * cells) : 0, levels, has ? (int)cells : 0, MPI_FLOAT,
                                  MPI_STATUS_IGNORE), "cannot read a frame");
        if (has)
            panel(p, levels, EACH, mine);
        if (k == f->count - 1)
            for (size_t c = 0; c < cells; c++)
                water += levels[c];
        MPI_Gather(mine, (int)pixels, MPI_BYTE, all, (int)pixels, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (rank == 0)
            lay_out(sheet, all, first, left < ranks ? left : ranks, width, height);
    }
    must(MPI_File_close(&f->file), "cannot close the frames");
    if (rank == 0)
        picture_png(picture, sheet, width * FRAME_COLUMNS, height * rows);
    MPI_Allreduce(MPI_IN_PLACE, &water, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(levels);
    free(mine);
    free(all);
    free(sheet);
    return water;
}
