/* A ping-pong over one TCP connection, both ends polling: what any library over TCP can be
 * measured with.
 *
 *   socket listen PORT          one end; ends with its guest
 *   socket HOST PORT BYTES...   the other; prints "latency BYTES MICROSECONDS" for one way
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 << 20, BLOCKS = 25 };

static char room[MOST];

static void check(int good, const char *what) {
    if (!good) {
        perror(what);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Moves n bytes; 0 if the other end is gone. */
static int move(int fd, size_t n, int out) {
    for (size_t at = 0; at < n;) {
        ssize_t got = out ? send(fd, room + at, n - at, MSG_DONTWAIT | MSG_NOSIGNAL)
                          : recv(fd, room + at, n - at, MSG_DONTWAIT);
        if (got == 0) return 0;
        if (got < 0 && errno != EAGAIN) return 0;
        if (got > 0) at += got;
    }
    return 1;
}

/* One end answers what the other asks for: a size, and how often. */
static void answer(int fd) {
    uint32_t ask[2];
    while (move(fd, sizeof ask, 0)) {
        memcpy(ask, room, sizeof ask);
        for (uint32_t i = 0; i < ask[1]; i++)
            if (!move(fd, ask[0], 0) || !move(fd, ask[0], 1)) return;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(int fd, uint32_t size) {
    uint32_t rounds = size < 4096 ? 400 : size < (1 << 18) ? 100 : 4;
    double took[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        uint32_t ask[2] = {size, rounds};
        memcpy(room, ask, sizeof ask);
        check(move(fd, sizeof ask, 1), "send");
        double begin = now();
        for (uint32_t i = 0; i < rounds; i++)
            check(move(fd, size, 1) && move(fd, size, 0), "ping-pong");
        took[block] = (now() - begin) / rounds / 2;
    }
    qsort(took, BLOCKS, sizeof *took, ascending);
    printf("latency %u %.3f\n", size, took[BLOCKS / 2]);
}

int main(int argc, char **argv) {
    int listens = argc == 3 && !strcmp(argv[1], "listen");
    if (!listens && argc < 4) {
        fprintf(stderr, "usage: %s listen PORT | HOST PORT BYTES...\n", argv[0]);
        return 2;
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    check(fd >= 0, "socket");
    if (listens) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        check(!bind(fd, (struct sockaddr *)&at, sizeof at) && !listen(fd, 1), "bind");
        fd = accept(fd, NULL, NULL);
        check(fd >= 0, "accept");
    } else {
        check(inet_pton(AF_INET, argv[1], &at.sin_addr) == 1, "address");
        check(!connect(fd, (struct sockaddr *)&at, sizeof at), "connect");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (listens) answer(fd);
    for (int i = 3; i < argc && !listens; i++) measure(fd, (uint32_t)atol(argv[i]) % (MOST + 1));
    return 0;
}
