! Every rank says who it is, and where.
!
!     mpifort hello.f90 -o hello
!     mpirun -n 4 ./hello
program hello
    use mpi_f08
    implicit none
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    integer :: rank, ranks, length

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Get_processor_name(host, length)
    print '("rank ", i0, " of ", i0, " runs on ", a)', rank, ranks, host(1:length)
    call MPI_Finalize()
end program hello
