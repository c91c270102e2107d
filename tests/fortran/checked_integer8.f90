! Checked mode with INTEGERs of 8 bytes: faults have the names by which the program calls, and nothing is told of what is right.
! cc: -fdefault-integer-8
! run: -n 2 --check -- right ; says all is well ; never says catena: check
! run: -n 2 --check -- overlap ; says error \[overlap\]: rank \d: MPI_Irecv: its buffer buf writes .* of a pending MPI_Irecv\s
! run: -n 2 --check -- leak ; says error \[leak\]: rank \d: MPI_Irecv: its request is never completed ; never says (?s)\[leak\].*\[leak\]
program checked_integer8
  use mpi_f08
  implicit none
  character(16) :: what
  integer :: rank, other, step
  integer, asynchronous, save :: numbers(40), got(40)
  type(MPI_Request) :: requests(3)

  call MPI_Init()
  call get_command_argument(1, what)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  other = 1 - rank
  numbers = 7
  if (what == 'leak') call MPI_Irecv(got, 1, MPI_INTEGER, other, 99, MPI_COMM_WORLD, requests(1))
  if (what == 'right' .or. what == 'overlap') then
    do step = 1, 3
      call MPI_Irecv(got(1), 10, MPI_INTEGER, other, step, MPI_COMM_WORLD, requests(1))
      call MPI_Irecv(got(merge(6, 11, what == 'overlap')), 10, MPI_INTEGER, other, step + 10, MPI_COMM_WORLD, requests(2))
      call MPI_Isend(numbers(1:20:2), 10, MPI_INTEGER, other, step, MPI_COMM_WORLD, requests(3))
      call MPI_Send(numbers, 10, MPI_INTEGER, other, step + 10, MPI_COMM_WORLD)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
      numbers(1) = step
    end do
  end if
  if (rank == 0) print '(a)', 'all is well'
  call MPI_Finalize()
end program
