extern "C" int MPI_Barrier(int comm);

namespace solver {

template <typename T> struct Field {
    __attribute__((noinline)) T exchange(T comm)
    {
        T result = MPI_Barrier(comm); // line 8
        __asm__ volatile("" : "+r"(result));
        return result;
    }
};

} // namespace solver

int main()
{
    return solver::Field<int>().exchange(3) + 1; // line 18
}
