! run: -n 2
! One source file may include mpif.h in a procedure, and use a module in the next: their sentinels are the same places.
subroutine included(x)
  implicit none
  include 'mpif.h'
  integer :: x, error
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
end subroutine included

subroutine of_mpi(x)
  use mpi
  implicit none
  integer :: x, error
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
end subroutine of_mpi

subroutine of_mpi_f08(x)
  use mpi_f08
  implicit none
  integer :: x
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
end subroutine of_mpi_f08

program forms_together
  use mpi_f08
  implicit none
  integer :: x = 1
  call MPI_Init()
  call included(x)
  call of_mpi(x)
  call of_mpi_f08(x)
  if (x /= 8) call MPI_Abort(MPI_COMM_WORLD, x)
  call MPI_Finalize()
end program forms_together
