program main
  integer :: comm = 3, error, first(10), last
  real :: middle(5)
  common /block/ first, middle, last
  first = 1
  middle = 2
  last = 3
  call mpi_barrier(comm, error)
end program
