! Checked mode knows the types of variables in a COMMON block, also where the compiler inlines the program into `main`.
! compiler: gfortran
! run: -n 2 --check ; says error \[type\]: rank \d: MPI_Bcast \(checked_common_types.f90:\d+\): its buffer buffer is in the variable first, which has an integer of 4 bytes where MPI_REAL has a floating-point number
program checked_common_types
  use mpi
  implicit none
  integer :: rank, ierr, first(10), second(10), last
  common /parameters/ first, second, last

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    first = 1
    second = 2
    last = 3
  end if
  call MPI_Bcast(first, 10, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
