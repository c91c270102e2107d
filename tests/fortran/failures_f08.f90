! A rank dies; the others acknowledge that, revoke, agree and go on without it, by the module mpi_f08_ext.
! only: catena
! run: -n 4 --with-ft ulfm --set FAULT_STATUS=first ; exit 137; says 'survivor 2 of 3 done'
! run: -n 3 --with-ft ulfm --set FAULT_STATUS=first ; exit 137; says 'survivor 1 of 2 done'
program failures
  use, intrinsic :: iso_c_binding, only : c_int
  use mpi_f08
  use mpi_f08_ext
  implicit none
  interface
    integer(c_int) function raise(signal) bind(C)
      import
      integer(c_int), value :: signal
    end function
  end interface
  type(MPI_Comm) :: comm
  type(MPI_Comm), asynchronous :: left
  type(MPI_Group) :: failed, acked
  type(MPI_Request) :: request
  integer :: rank, size, dead, n, code, flag, killed
  integer, asynchronous :: later
  logical :: is_revoked

  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, size)
  dead = size - 1
  call MPI_Barrier(comm)
  if (rank == dead) killed = raise(9_c_int)

  ! Nobody is known to be dead to start with; then the receive from the dead rank fails.
  call MPI_Recv(n, 1, MPI_INTEGER, dead, 0, comm, MPI_STATUS_IGNORE, code)
  call expect(code, MPIX_ERR_PROC_FAILED, 'the code of the receive')
  call MPIX_Comm_get_failed(comm, failed)
  call MPI_Group_size(failed, n)
  call expect(n, 1, 'how many have failed')
  call MPIX_Comm_ack_failed(comm, 1, n, code)
  call expect(code, MPI_SUCCESS, 'the code of acknowledging')
  call expect(n, 1, 'how many are acknowledged')
  call MPIX_Comm_failure_ack(comm)
  call MPIX_Comm_failure_get_acked(comm, acked)
  call MPI_Group_compare(failed, acked, n)
  call expect(n, MPI_IDENT, 'who is acknowledged')
  call MPI_Group_free(acked)
  call MPI_Group_free(failed)

  ! An agreement is the and of all bits of the living.
  flag = ior(8, ishft(1, rank))
  call MPIX_Comm_agree(comm, flag, code)
  call expect(code, MPI_SUCCESS, 'the code of the agreement')
  call expect(flag, 8, 'what was agreed upon')
  later = 12 + mod(rank, 2)
  call MPIX_Comm_iagree(comm, later, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call expect(later, 12, 'what was agreed upon later')

  call MPIX_Comm_is_revoked(comm, is_revoked)
  if (is_revoked .and. rank == 0) call wrong('nobody has revoked it')
  if (rank == 0) call PMPIX_Comm_revoke(comm)
  do
    call MPIX_Comm_is_revoked(comm, is_revoked)
    if (is_revoked) exit
    call MPI_Recv(n, 1, MPI_INTEGER, mod(rank + 1, dead), 1, comm, MPI_STATUS_IGNORE, code)
    call expect(code, MPIX_ERR_REVOKED, 'the code of a receive')
  end do
  call MPIX_Comm_shrink(comm, left)
  call MPI_Comm_size(left, n)
  call expect(n, size - 1, 'how many are left')
  call MPI_Comm_rank(left, n)
  call expect(n, rank, 'the rank among those')
  call MPI_Allreduce(1, n, 1, MPI_INTEGER, MPI_SUM, left)
  call expect(n, size - 1, 'the sum of those')
  call MPI_Comm_free(left)
  left = MPI_COMM_NULL
  call MPIX_Comm_ishrink(comm, left, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (left == MPI_COMM_NULL) call wrong('there is no communicator of those that are left')
  call MPI_Comm_size(left, n)
  call expect(n, size - 1, 'how many are left later')
  call MPI_Comm_free(left)
  print '(a, i0, a, i0, a)', 'survivor ', rank, ' of ', size - 1, ' done'
  call MPI_Finalize()

contains

  subroutine expect(is, should, what)
    integer, intent(in) :: is, should
    character(len=*), intent(in) :: what
    if (is == should) return
    print '(a, i0, 3a, i0, a, i0)', 'rank ', rank, ': ', what, ' is ', is, ', should be ', should
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
