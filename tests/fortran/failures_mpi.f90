! A rank dies, and the others go on without it, by the module mpi_ext.
! only: catena
! run: -n 4 --with-ft ulfm --set FAULT_STATUS=first ; exit 137; says 'survivor 2 of 3 done'
program failures
  use, intrinsic :: iso_c_binding, only : c_int
  use mpi
  use mpi_ext
  implicit none
  interface
    integer(c_int) function raise(signal) bind(C)
      import
      integer(c_int), value :: signal
    end function
  end interface
  integer, asynchronous :: left
  integer :: comm, request, failed, rank, size, dead, n, code, flag, killed
  logical :: is_revoked

  call MPI_Init(code)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
  call MPI_Comm_rank(comm, rank, code)
  call MPI_Comm_size(comm, size, code)
  dead = size - 1
  call MPI_Barrier(comm, code)
  if (rank == dead) killed = raise(9_c_int)
  call MPI_Recv(n, 1, MPI_INTEGER, dead, 0, comm, MPI_STATUS_IGNORE, code)
  call expect(code, MPIX_ERR_PROC_FAILED)
  call MPIX_Comm_get_failed(comm, failed, code)
  call MPI_Group_size(failed, n, code)
  call expect(n, 1)
  call MPI_Group_free(failed, code)
  call MPIX_Comm_failure_ack(comm, code)
  flag = ior(4, ishft(8, rank))
  call MPIX_Comm_agree(comm, flag, code)
  call expect(flag, 4)
  call MPIX_Comm_revoke(comm, code)
  call MPIX_Comm_is_revoked(comm, is_revoked, code)
  if (.not. is_revoked) call expect(0, 1)
  call MPIX_Comm_shrink(comm, left, code)
  call expect(code, MPI_SUCCESS)
  call MPI_Comm_size(left, n, code)
  call expect(n, size - 1)
  call MPI_Comm_free(left, code)
  call MPIX_Comm_ishrink(comm, left, request, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  call MPI_Comm_size(left, n, code)
  call expect(n, size - 1)
  call MPI_Comm_free(left, code)
  print '(a, i0, a, i0, a)', 'survivor ', rank, ' of ', size - 1, ' done'
  call MPI_Finalize(code)

contains

  subroutine expect(is, should)
    integer, intent(in) :: is, should
    integer :: ignored
    if (is == should) return
    print '(a, i0, 2(a, i0))', 'rank ', rank, ': ', is, ' should be ', should
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
