! Checked mode takes no section of an array for another datatype that had the handle of its type before, and sees what is called by the
! names of the profiling interface.
! run: -n 2 --check -- right ; says all is well ; never says catena: check
! run: -n 2 --check -- profiled ; says all is well ; never says catena: check
! run: -n 2 --check -- wrong ; says error \[written\]: rank \d: MPI_Wait.*: the buffer buf of MPI_Isend was changed ; never says (?s)\[written\].*\[written\]
! run: -n 2 --check -- leak ; says error \[leak\]: rank \d: MPI_Irecv.*: its request is never completed ; never says (?s)\[leak\].*\[leak\]
program checked_sections
  use mpi_f08
  implicit none
  character(16) :: what
  integer :: rank, other, step
  integer, asynchronous, save :: numbers(40), got(40)
  type(MPI_Request) :: request, incoming
  type(MPI_Datatype) :: pair
  type(MPI_Comm) :: comm

  call MPI_Init()
  call get_command_argument(1, what)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  other = 1 - rank
  numbers = 7
  if (what == 'leak') call PMPI_Irecv(got, 1, MPI_INTEGER, other, 99, MPI_COMM_WORLD, incoming)
  if (what == 'wrong') then
    call PMPI_Irecv(got, 40, MPI_INTEGER, other, 1, MPI_COMM_WORLD, incoming)
    call PMPI_Isend(numbers, 40, MPI_INTEGER, other, 1, MPI_COMM_WORLD, request)
    numbers(2) = 0
    call PMPI_Wait(request, MPI_STATUS_IGNORE)
    call PMPI_Wait(incoming, MPI_STATUS_IGNORE)
  end if
  if (what == 'profiled') then
    call PMPI_Comm_dup(MPI_COMM_WORLD, comm)
    do step = 1, 3
      call MPI_Irecv(got, 40, MPI_INTEGER, other, step, comm, incoming)
      call PMPI_Isend(numbers, 40, MPI_INTEGER, other, step, comm, request)
      call PMPI_Wait(incoming, MPI_STATUS_IGNORE)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      numbers(1) = step
    end do
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call PMPI_Type_commit(pair)
    call PMPI_Type_free(pair)
    call MPI_Comm_free(comm)
  end if
  if (what == 'right') then
    ! Each of these sections has a type of its own, which may have the handle of the one before.
    do step = 2, 8
      call MPI_Type_contiguous(step, MPI_INTEGER, pair)
      call MPI_Type_commit(pair)
      call MPI_Type_free(pair)
      call MPI_Irecv(got, 40, MPI_INTEGER, other, step, MPI_COMM_WORLD, incoming)
      call MPI_Isend(numbers(1:4 * step + 1:step), 5, MPI_INTEGER, other, step, MPI_COMM_WORLD, request)
      ! Between two elements of this section.
      numbers(step) = 10 * step
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Wait(incoming, MPI_STATUS_IGNORE)
    end do
  end if
  if (rank == 0) print '(a)', 'all is well'
  call MPI_Finalize()
end program
