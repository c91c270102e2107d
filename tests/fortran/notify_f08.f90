! Operations that notify their target, by the module mpi_f08_ext: each rank puts to the next one, gets from it and adds to it.
! only: catena
! run: -n 2 ; says 'all have been notified'
! run: -n 3 --set LINK=tcp ; says 'all have been notified'
program notify
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  use mpi_f08
  use mpi_f08_ext
  implicit none
  integer, parameter :: few = 4
  type(c_ptr) :: base
  type(MPI_Win) :: win
  type(MPI_Request) :: requests(2)
  integer, pointer, asynchronous :: cells(:)
  integer, asynchronous :: put(2, few), got(few), sum(1), before(1)
  integer(kind=MPI_COUNT_KIND) :: value
  integer(kind=MPI_ADDRESS_KIND) :: at
  integer :: rank, size, next, n, i
  logical :: is_there

  if (MPIX_HAVE_NOTIFY /= 1) call wrong('the constant')
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  at = 8 * few
  call MPI_Win_allocate(at, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, cells, [2 * few])
  cells = 0
  call MPIX_Win_set_num_notify(win, MPI_INFO_NULL, 3)
  call MPIX_Win_get_num_notify(win, next, n)
  call expect(n, 3, 'the counters of the next rank')
  call MPI_Win_lock_all(0, win)

  ! A section with gaps, whose elements arrive one after the other.
  put = 0
  put(1, :) = [(10 * rank + i, i = 1, few)]
  at = 0
  call MPIX_Put_notify(put(1, :), few, MPI_INTEGER, next, at, few, MPI_INTEGER, 1, win)
  call MPI_Win_flush(next, win)
  value = 1
  call MPIX_Win_wait_notify(win, 1, value)
  call MPI_Win_sync(win)
  n = mod(rank + size - 1, size)
  do i = 1, few
    call expect(cells(i), 10 * n + i, 'what was put')
  end do
  call MPIX_Win_get_notify_value(win, 1, value)
  call expect(int(value), 1, 'the value of a counter')

  at = few
  sum = rank + 1
  before = -1
  call MPIX_Accumulate_notify(sum, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, MPI_SUM, 0, win)
  call MPI_Win_flush(next, win)
  call MPIX_Get_accumulate_notify(sum, 1_MPI_COUNT_KIND, MPI_INTEGER, before, 1_MPI_COUNT_KIND, MPI_INTEGER, next, at, &
    1_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM, 0, win)
  call MPI_Win_flush(next, win)
  call expect(before(1), rank + 1, 'what was there before')
  value = 2
  call MPIX_Win_wait_notify(win, 0, value)
  call PMPIX_Win_test_notify(win, 0, value, is_there)
  if (.not. is_there) call wrong('what was waited for is there')
  call MPIX_Win_reset_notify_value(win, 0, value)
  call expect(int(value), 2, 'what a counter was')
  value = 1
  call MPIX_Win_test_notify(win, 0, value, is_there)
  if (is_there) call wrong('the counter was reset')

  at = 0
  got = 0
  call MPIX_Rget_notify(got, few, MPI_INTEGER, next, at, few, MPI_INTEGER, 2, win, requests(1))
  at = few + 1
  call MPIX_Rput_notify(sum, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, 2, win, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  do i = 1, few
    call expect(got(i), 10 * rank + i, 'what was got')
  end do
  at = 0
  call MPIX_Get_notify(got, few, MPI_INTEGER, next, at, few, MPI_INTEGER, 2, win)
  call MPI_Win_flush(next, win)
  value = 3
  call MPIX_Win_wait_notify(win, 2, value)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_unlock_all(win)
  call MPI_Win_free(win)
  if (rank == 0) print '(a)', 'all have been notified'
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
