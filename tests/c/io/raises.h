/* Calls that must fail: with which class, and what the text says. */
#ifndef RAISES_H
#define RAISES_H

#include "../check.h"

#define RAISES(call, class)                                                     \
    do {                                                                        \
        int rc_ = (call);                                                       \
        if (class_of(rc_) != (class)) {                                         \
            char t_[MPI_MAX_ERROR_STRING] = "";                                 \
            int l_;                                                             \
            MPI_Error_string(rc_, t_, &l_);                                     \
            fprintf(stderr, "rank %d: %s: %s\n", rank, #call, t_);              \
        }                                                                       \
        EQUAL(class_of(rc_), class);                                            \
    } while (0)

static void says(int code, const char *word)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    MPI_Error_string(code, text, &len);
    if (!strstr(text, word))
        fprintf(stderr, "rank %d: '%s' has no '%s'\n", rank, text, word);
    CHECK(strstr(text, word) != NULL);
}

#endif
