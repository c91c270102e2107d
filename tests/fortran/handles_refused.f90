! A communicator is no datatype in mpi_f08.
! refused: (?i)(mpi_send|MPI_Datatype|datatype)
program handles
  use mpi_f08
  implicit none
  integer :: v
  call MPI_Send(v, 1, MPI_COMM_WORLD, 0, 1, MPI_COMM_WORLD)
end program
