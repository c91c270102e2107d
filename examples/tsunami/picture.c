/* Paints the sea and the land, collects the blocks on rank 0 and writes a PNG file. */
#include "tsunami.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct colour { double r, g, b; };

static struct colour mix(struct colour a, struct colour b, double t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return (struct colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static struct colour land(double height, double light)
{
    static const struct colour shore = {226, 208, 160}, grass = {104, 142, 78},
                               rock = {138, 116, 92}, snow = {244, 244, 240}, night = {24, 26, 34};
    struct colour c = height < 120    ? mix(shore, grass, height / 120)
                      : height < 900  ? mix(grass, rock, (height - 120) / 780)
                                      : mix(rock, snow, (height - 900) / 900);
    return mix(night, c, light);
}

static struct colour water(double level, double depth, double light)
{
    static const struct colour deep = {14, 52, 104}, shallow = {64, 150, 176}, crest = {255, 246, 224},
                               warm = {250, 168, 92}, trough = {2, 6, 24}, night = {0, 0, 0};
    struct colour c = mix(shallow, deep, sqrt(depth / 4500));
    /* Waves of a decimetre show as well as those of several metres. */
    double t = asinh(4 * level) / asinh(4 * 6.0);
    c = t < 0     ? mix(c, trough, -t)
        : t < 0.6 ? mix(c, warm, t * 1.4)
                  : mix(mix(c, warm, 0.84), crest, (t - 0.6) / 0.4);
    return mix(night, c, 0.55 + 0.45 * light);
}

static unsigned char byte(double v) { return v < 0 ? 0 : v > 255 ? 255 : (unsigned char)(v + 0.5); }

/* The colour of a place without shades. */
void picture_colour(double ground, double level, unsigned char *rgb)
{
    struct colour c = ground >= 0 ? land(ground, 0.9) : water(level, -ground, 0.8);
    rgb[0] = byte(c.r);
    rgb[1] = byte(c.g);
    rgb[2] = byte(c.b);
}

/* The pixels of this rank's block, top row first. */
static unsigned char *paint(const struct sea *s, const struct problem *p)
{
    const struct block *b = &s->at;
    unsigned char *pixels = malloc((size_t)b->nx * b->ny * 3);
    if (!pixels)
        give_up("out of memory for the picture");
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++) {
            const double *g = &s->ground[cell(b, i, j)], *h = &s->level[cell(b, i, j)];
            long row = b->nx + 2;
            int dry = *g >= 0;
            /* Light from the north-west, over land by its slope, over water by the wave's. */
            double gx = dry ? (g[1] - g[-1]) / p->dx : (h[1] - h[-1]) / p->dx * 30000;
            double gy = dry ? (g[row] - g[-row]) / p->dx : (h[row] - h[-row]) / p->dx * 30000;
            double light = 0.72 + (dry ? 6.0 : 0.25) * (gx - gy) / sqrt(1 + gx * gx + gy * gy);
            struct colour c = dry ? land(*g, light) : water(*h, -*g, light);
            unsigned char *out = &pixels[3 * ((size_t)(b->ny - 1 - j) * b->nx + i)];
            out[0] = byte(c.r);
            out[1] = byte(c.g);
            out[2] = byte(c.b);
        }
    return pixels;
}

static uint32_t crc_of(const unsigned char *data, size_t n, uint32_t crc)
{
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++)
                c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
            table[i] = c;
        }
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
    return crc;
}

static void big_endian(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(v >> (24 - 8 * i));
}

static void chunk(FILE *file, const char *name, const unsigned char *data, size_t n)
{
    unsigned char head[8], tail[4];
    big_endian(head, (uint32_t)n);
    memcpy(head + 4, name, 4);
    uint32_t crc = crc_of(data, n, crc_of(head + 4, 4, 0xffffffffu)) ^ 0xffffffffu;
    big_endian(tail, crc);
    fwrite(head, 1, 8, file);
    if (n)
        fwrite(data, 1, n, file);
    fwrite(tail, 1, 4, file);
}

/* PNG (ISO/IEC 15948) with stored, not compressed, blocks (RFC 1950, 1951). */
void picture_png(const char *path, const unsigned char *rgb, int width, int height)
{
    size_t line = 1 + 3 * (size_t)width, total = line * height;
    unsigned char *raw = malloc(total), *z = malloc(total + total / 65535 * 5 + 32);
    FILE *file = fopen(path, "wb");
    if (!raw || !z || !file)
        give_up("cannot write the picture %s", path);
    for (int y = 0; y < height; y++) {
        raw[y * line] = 0; /* no filter */
        memcpy(raw + y * line + 1, rgb + (size_t)y * 3 * width, 3 * (size_t)width);
    }
    size_t n = 0;
    z[n++] = 0x78;
    z[n++] = 0x01;
    uint32_t a = 1, b = 0;
    for (size_t at = 0; at < total;) {
        size_t part = total - at < 65535 ? total - at : 65535;
        z[n++] = at + part == total;
        z[n++] = part & 255;
        z[n++] = part >> 8;
        z[n++] = ~part & 255;
        z[n++] = (~part >> 8) & 255;
        memcpy(z + n, raw + at, part);
        n += part;
        at += part;
    }
    for (size_t i = 0; i < total; i++) {
        a = (a + raw[i]) % 65521;
        b = (b + a) % 65521;
    }
    big_endian(z + n, b << 16 | a);
    n += 4;

    unsigned char head[13] = {0};
    big_endian(head, (uint32_t)width);
    big_endian(head + 4, (uint32_t)height);
    head[8] = 8; /* bits */
    head[9] = 2; /* red, green, blue */
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    chunk(file, "IHDR", head, sizeof head);
    chunk(file, "IDAT", z, n);
    chunk(file, "IEND", NULL, 0);
    if (fclose(file))
        give_up("cannot write the picture %s", path);
    free(raw);
    free(z);
}

void picture_write(const struct sea *s, const struct problem *p, const char *path)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    unsigned char *mine = paint(s, p);
    MPI_Request sent;
    MPI_Isend(mine, 3 * s->at.nx * s->at.ny, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &sent);
    if (rank == 0) {
        unsigned char *all = malloc((size_t)p->nx * p->ny * 3);
        if (!all)
            give_up("out of memory for the picture");
        for (int r = 0; r < ranks; r++) {
            /* Each block arrives as one run of pixels and lands as a rectangle of the picture. */
            struct block b = block_of(p->nx, p->ny, r, ranks);
            MPI_Datatype rectangle;
            MPI_Type_vector(b.ny, 3 * b.nx, 3 * p->nx, MPI_BYTE, &rectangle);
            MPI_Type_commit(&rectangle);
            size_t top = (size_t)p->ny - b.y0 - b.ny;
            MPI_Recv(all + 3 * (top * p->nx + b.x0), 1, rectangle, r, 9, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Type_free(&rectangle);
        }
        picture_png(path, all, p->nx, p->ny);
        free(all);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    free(mine);
}
