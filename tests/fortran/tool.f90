! A tool in Fortran sees calls by mpif.h and by mpi, and calls PMPI.
! also: with_tool.f90
! run: -n 1 ; says ok
program tool
  use mpi
  implicit none
  integer :: size, ierror, calls
  common /counted/ calls
  calls = 0
  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call PMPI_Barrier(MPI_COMM_WORLD, ierror)
  if (size /= 1 .or. calls /= 101) error stop 1
  print *, 'ok'
  call MPI_Finalize(ierror)
end program
