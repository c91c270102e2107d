! Handles are compared by the functions of the library.
program handles
  use mpi_types
  implicit none
  type(MPI_Comm) :: world = MPI_Comm(0), self = MPI_Comm(1)
  type(MPI_Request) :: null = MPI_Request(0), other = MPI_Request(7)
  if (.not. (world == world .and. world /= self)) stop 1
  if (world == self .or. self /= self) stop 2
  if (.not. (null == null .and. null /= other)) stop 3
  if (null == other .or. other /= other) stop 4
end program
