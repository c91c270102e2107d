! Checked mode takes the first variable of a COMMON block for all of it, as programs do, and not for more.
! run: -n 2 --check -- right ; says all is well ; never says catena: check
! run: -n 2 --check -- long ; says error \[bounds\]: rank \d: MPI_Bcast \(checked_common.f90:\d+\): its buffer buffer is in .* of 84 bytes, but 22 elements of MPI_INTEGER take 88 bytes, 4 of them outside
! run: -n 2 --check -- behind ; says error \[bounds\]: rank \d: MPI_Bcast \(checked_common.f90:\d+\): its buffer buffer is in .* 4 of them outside
program checked_common
  use mpi
  implicit none
  character(16) :: what
  integer :: rank, ierr, first(10), second(10), last
  common /parameters/ first, second, last

  call MPI_Init(ierr)
  call get_command_argument(1, what)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    first = 1
    second = 2
    last = 3
  end if
  if (what == 'right') then
    call MPI_Bcast(first, 21, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(second, 11, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(first(3), 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (any(first /= 1) .or. any(second /= 2) .or. last /= 3) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end if
  if (what == 'long') call MPI_Bcast(first, 22, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (what == 'behind') call MPI_Bcast(second, 12, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a)', 'all is well'
  call MPI_Finalize(ierr)
end program
