/* A ping-pong over one TCP connection, both ends polling: what any library over TCP can be measured
 * with. */
#define _GNU_SOURCE
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TAG = 5, PLACES = 8, PATIENCE = 2000 /* ms */ };

/* Where rank 1 listens. */
struct place {
    char host[256];
    int count;
    struct sockaddr_in at[PLACES];
};

/* The addresses of this host, without its loopback. */
static void places(struct place *p, in_port_t port)
{
    struct ifaddrs *all = NULL;
    getifaddrs(&all);
    for (struct ifaddrs *i = all; i && p->count < PLACES; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK)) {
            p->at[p->count] = *(struct sockaddr_in *)i->ifa_addr;
            p->at[p->count++].sin_port = port;
        }
    if (all)
        freeifaddrs(all);
}

/* The connection that came in time, or -1. */
static int accepted(int listener)
{
    struct pollfd one = {.fd = listener, .events = POLLIN};
    return poll(&one, 1, PATIENCE * PLACES) == 1 ? accept(listener, NULL, NULL) : -1;
}

static int listening(const struct task *t)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t length = sizeof any;
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd = -1;
    struct place p = {.count = 0};
    gethostname(p.host, sizeof p.host - 1);
    bool good = !bind(listener, (struct sockaddr *)&any, sizeof any) && !listen(listener, 1) &&
                !getsockname(listener, (struct sockaddr *)&any, &length);
    if (good) {
        places(&p, any.sin_port);
        p.at[PLACES - 1] = any;
    }
    MPI_Send(&p, sizeof p, MPI_BYTE, t->peer, TAG, t->comm);
    if (good)
        fd = accepted(listener);
    close(listener);
    return fd;
}

static int connected(const struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
    socklen_t length = sizeof error;
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    if ((!connect(fd, (const struct sockaddr *)at, sizeof *at) || errno == EINPROGRESS) &&
        poll(&one, 1, PATIENCE) == 1 && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) &&
        !error)
        return fd;
    close(fd);
    return -1;
}

static int connecting(const struct task *t)
{
    struct place p;
    char host[256] = "";
    int fd = -1;
    MPI_Recv(&p, sizeof p, MPI_BYTE, t->peer, TAG, t->comm, MPI_STATUS_IGNORE);
    gethostname(host, sizeof host - 1);
    if (!strcmp(host, p.host)) {
        p.at[0] = p.at[PLACES - 1];
        p.at[0].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        p.count = 1;
    }
    for (int i = 0; i < p.count && fd < 0; i++)
        fd = connected(&p.at[i]);
    return fd;
}

static void one_pair(struct task *t)
{
    t->pairs = t->timers = 1;
    t->first = t->rank == 0;
    t->peer = t->rank < 2 ? !t->rank : -1;
    t->parts = 2; /* there and back */
}

static void close_socket(struct task *t)
{
    int *fd = t->own;
    if (*fd >= 0)
        close(*fd);
    free(fd);
}

static void open_socket(struct task *t)
{
    int *fd = must(malloc(sizeof *fd)), yes = 1, good;
    *fd = t->peer < 0 ? -1 : t->first ? connecting(t) : listening(t);
    t->own = fd;
    good = t->peer < 0 || *fd >= 0;
    if (*fd >= 0)
        setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, t->comm);
    if (!good) {
        t->skip = "no address of rank 1 can be reached by TCP";
        close_socket(t);
    }
}

static void move(struct task *t, bool out)
{
    int fd = *(int *)t->own;
    for (size_t at = 0; at < t->bytes;) {
        ssize_t n = out ? send(fd, t->out + at, t->bytes - at, MSG_DONTWAIT | MSG_NOSIGNAL)
                        : recv(fd, t->in + at, t->bytes - at, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return; /* the other end is gone, and the job with it */
        at += n > 0 ? n : 0;
    }
}

static void ping_pong(struct task *t, int rounds)
{
    for (int i = 0; i < rounds && t->peer >= 0; i++) {
        move(t, t->first);
        move(t, !t->first);
    }
}

const struct bench sockets[] = {
    {.name = "socket_latency", .family = "socket", .options = "mixcM", .unit = US, .ranks = 2,
     .shape = {EVERYBODY, SINGLE, EVERYBODY, SINGLE, OF_PEER},
     .prepare = one_pair, .open = open_socket, .close = close_socket, .run = ping_pong},
    {.name = NULL},
};
