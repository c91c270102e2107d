#include <complex.h>

int MPI_Barrier(int comm);

struct pair {
    int number;
    char letters[2];
    double fraction;
};
union either {
    int number;
    float fraction;
};
typedef unsigned short const small;

static double outside[2][300];

int main(void)
{
    long few[232] = {0};
    struct pair pairs[3] = {{0}};
    union either one = {0};
    small number = 7;
    float complex wave = 0;
    struct pair *to = pairs;
    void *anything = few;
    if (to) {
        int inner = 3;
        MPI_Barrier(inner);
    } else {
        int other = 4;
        MPI_Barrier(other);
    }
    return (int)outside[1][3] + few[0] + one.number + number + (int)creal(wave) + !anything;
}
