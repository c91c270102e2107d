! What mpif.h has: the same calls by address alone, with sentinels in COMMON blocks.
! run: -n 1 ; says ok
! run: -n 4 ; says ok
program mpif_h
  implicit none
  include 'mpif.h'
  integer :: rank, size, ierror, next, prev, got, status(MPI_STATUS_SIZE), requests(2), total, i
  integer :: statuses(MPI_STATUS_SIZE, 2), vector, index, length, version, subversion, group
  double precision :: a(6, 5), b(6, 5), begin
  integer(kind=MPI_ADDRESS_KIND) :: base, moved, extent, lb
  logical :: flag
  character(len=MPI_MAX_ERROR_STRING) :: text
  call MPI_INIT(ierror)
  call check(1, ierror == MPI_SUCCESS)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
  call MPI_GET_VERSION(version, subversion, ierror)
  call check(2, version == MPI_VERSION .and. subversion == MPI_SUBVERSION)
  begin = MPI_WTIME()
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call MPI_IRECV(got, 1, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_ISEND(rank, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_WAITALL(2, requests, statuses, ierror)
  call check(3, statuses(MPI_SOURCE, 1) == prev .and. statuses(MPI_TAG, 1) == 3)
  call check(4, requests(1) == MPI_REQUEST_NULL .and. got == prev)

  ! A column-major matrix: rows by a vector type, one of them as a whole.
  do i = 1, 6
    a(i, :) = rank * 100 + i
  end do
  b = 0
  call MPI_TYPE_VECTOR(5, 1, 6, MPI_DOUBLE_PRECISION, vector, ierror)
  call MPI_TYPE_COMMIT(vector, ierror)
  call MPI_TYPE_GET_EXTENT(vector, lb, extent, ierror)
  call check(5, lb == 0 .and. extent == 25 * 8)
  call MPI_SENDRECV(a(2, 1), 1, vector, next, 4, b(3, 1), 1, vector, prev, 4, MPI_COMM_WORLD, status, ierror)
  call check(6, all(b(3, :) == prev * 100 + 2) .and. all(b(1:2, :) == 0) .and. all(b(4:, :) == 0))
  call MPI_GET_COUNT(status, vector, i, ierror)
  call check(7, i == 1)
  call MPI_TYPE_FREE(vector, ierror)
  call check(8, vector == MPI_DATATYPE_NULL)

  ! Sentinels, by address.
  total = rank + 1
  call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(9, total == size * (size + 1) / 2)
  call MPI_GET_ADDRESS(total, base, ierror)
  call MPI_GET_ADDRESS(b, moved, ierror)
  call check(10, MPI_AINT_ADD(base, MPI_AINT_DIFF(moved, base)) == moved)
  call MPI_TYPE_CREATE_HINDEXED(1, [1], [base], MPI_INTEGER, vector, ierror)
  call MPI_TYPE_COMMIT(vector, ierror)
  if (rank == 0) total = 4711
  call MPI_BCAST(MPI_BOTTOM, 1, vector, 0, MPI_COMM_WORLD, ierror)
  call check(11, total == 4711)
  call MPI_TYPE_FREE(vector, ierror)
  call MPI_IPROBE(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
  call check(12, .not. flag)

  ! Positions begin at 1; logicals are the compiler's.
  requests = MPI_REQUEST_NULL
  call MPI_IRECV(got, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_TESTANY(2, requests, index, flag, status, ierror)
  call check(13, flag .and. index == 2 .and. status(MPI_SOURCE) == MPI_PROC_NULL)
  call MPI_WAITANY(2, requests, index, status, ierror)
  call check(14, index == MPI_UNDEFINED)

  ! Errors come back where the program says so; texts are padded with blanks.
  call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_SEND(rank, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierror)
  call check(15, ierror /= MPI_SUCCESS)
  call MPI_ERROR_CLASS(ierror, i, ierror)
  call check(16, i == MPI_ERR_RANK)
  text = repeat('x', len(text))
  call MPI_ERROR_STRING(i, text, length, ierror)
  call check(17, length > 0 .and. len_trim(text) == length)
  call MPI_COMM_GROUP(MPI_COMM_WORLD, group, ierror)
  call MPI_GROUP_SIZE(group, i, ierror)
  call check(18, i == size)
  call MPI_GROUP_FREE(group, ierror)
  call check(19, MPI_WTIME() >= begin .and. group == MPI_GROUP_NULL)
  call MPI_BARRIER(MPI_COMM_WORLD, ierror)
  if (rank == 0) print *, 'ok'
  call MPI_FINALIZE(ierror)
contains
  subroutine check(number, right)
    integer, intent(in) :: number
    logical, intent(in) :: right
    if (.not. right) then
      print *, 'check', number, 'fails'
      error stop 1
    end if
  end subroutine
end program
