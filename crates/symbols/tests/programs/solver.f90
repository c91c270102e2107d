module solver
contains
  subroutine exchange(comm)
    integer :: comm, error
    call mpi_barrier(comm, error) ! line 5
    comm = comm + error
  end subroutine
end module

program main
  use solver
  integer :: comm = 3
  call exchange(comm)
  print *, comm
end program
