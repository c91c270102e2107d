! Checked mode tells requests apart that are waited for in another order than they were made in.
! run: -n 2 --check -- right ; says all is well ; never says catena: check
! run: -n 2 --check -- wrong ; says error \[written\]: rank \d: MPI_Wait.*: the buffer buf of MPI_Isend was changed ; never says (?s)\[written\].*\[written\]
program checked_handles
  use mpi_f08
  implicit none
  character(16) :: what
  integer :: rank, size, i, got
  integer, asynchronous :: numbers(3)
  type(MPI_Request) :: requests(3)

  call MPI_Init()
  call get_command_argument(1, what)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  do i = 1, 3
    numbers(i) = i
    call MPI_Isend(numbers(i), 1, MPI_INTEGER, mod(rank + 1, size), i, MPI_COMM_WORLD, requests(i))
  end do
  do i = 1, 3
    call MPI_Recv(got, 1, MPI_INTEGER, mod(rank - 1 + size, size), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end do
  do i = 3, 1, -1
    if (what == 'wrong' .and. i == 2) numbers(i) = 76
    call MPI_Wait(requests(i), MPI_STATUS_IGNORE)
    numbers(i) = 77
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'all is well'
  call MPI_Finalize()
end program
