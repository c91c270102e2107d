int MPI_Barrier(int comm);

static inline __attribute__((always_inline)) int inner(int comm)
{
    int result = MPI_Barrier(comm); /* line 5 */
    return result + 1;
}

__attribute__((noinline)) int exchange(int comm)
{
    int result = inner(comm); /* line 11 */
    __asm__ volatile("" : "+r"(result));
    return result;
}

int main(void)
{
    return exchange(3) + exchange(4); /* line 18 */
}
