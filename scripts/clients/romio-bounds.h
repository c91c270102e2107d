/* MPI_LB and MPI_UB, which MPI 3.0 removed and three of ROMIO's programs use: marks in a list of types of
 * MPI_Type_create_struct, which becomes the struct of the other types, resized. */
#include <mpi.h>
#include <stdlib.h>

static int bound_marks_[2];
#define MPI_LB ((MPI_Datatype)&bound_marks_[0])
#define MPI_UB ((MPI_Datatype)&bound_marks_[1])

static inline int struct_with_bounds_(int n, const int *blocks, const MPI_Aint *places, const MPI_Datatype *types,
                                      MPI_Datatype *made)
{
    int kept = 0, *b = malloc((n + 1) * sizeof *b);
    MPI_Aint *p = malloc((n + 1) * sizeof *p), lower = 0, upper = 0, extent;
    MPI_Datatype *t = malloc((n + 1) * sizeof *t), bare;
    int has_lower = 0, has_upper = 0;
    for (int i = 0; i < n; i++) {
        if (types[i] == MPI_LB) {
            lower = places[i];
            has_lower = 1;
        } else if (types[i] == MPI_UB) {
            upper = places[i];
            has_upper = 1;
        } else {
            b[kept] = blocks[i];
            p[kept] = places[i];
            t[kept++] = types[i];
        }
    }
    int code = MPI_Type_create_struct(kept, b, p, t, &bare);
    if (code == MPI_SUCCESS && (has_lower || has_upper)) {
        MPI_Aint first, own;
        MPI_Type_get_extent(bare, &first, &own);
        lower = has_lower ? lower : first;
        extent = (has_upper ? upper : first + own) - lower;
        code = MPI_Type_create_resized(bare, lower, extent, made);
        MPI_Type_free(&bare);
    } else {
        *made = bare;
    }
    free(b);
    free(p);
    free(t);
    return code;
}

#define MPI_Type_create_struct struct_with_bounds_
