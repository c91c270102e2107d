! The communicator of MPI_Comm_idup comes after the call has returned: its handle is there once the request is complete.
! run: -n 2
! run: -n 3
program idup_later
  use mpi_f08
  implicit none
  type(MPI_Comm), asynchronous :: made, other
  type(MPI_Request) :: requests(2)
  integer :: rank, size, n
  logical :: done

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  made = MPI_COMM_NULL
  other = MPI_COMM_NULL
  ! The last rank calls it only when the first one has returned from it, which cannot be complete there.
  if (rank == size - 1) call MPI_Recv(n, 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Comm_idup(MPI_COMM_WORLD, made, requests(1))
  call MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, other, requests(2))
  if (rank == 0) call MPI_Send(n, 0, MPI_INTEGER, size - 1, 1, MPI_COMM_WORLD)
  done = .false.
  do while (.not. done)
    call MPI_Test(requests(1), done, MPI_STATUS_IGNORE)
  end do
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call works(made)
  call works(other)
  if (rank == 0) print '(a)', 'both are there'
  call MPI_Finalize()

contains

  subroutine works(comm)
    type(MPI_Comm), intent(inout) :: comm
    if (comm == MPI_COMM_NULL) call wrong('the handle is not there')
    call MPI_Allreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, comm)
    if (n /= size * (size - 1) / 2) call wrong('it has other members')
    call MPI_Comm_free(comm)
  end subroutine

  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
