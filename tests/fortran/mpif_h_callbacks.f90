! Procedures of the program that MPI calls, attributes and old procedures, by mpif.h.
! run: -n 1 ; says ok
! run: -n 3 ; says ok
program mpif_h_callbacks
  implicit none
  include 'mpif.h'
  integer :: rank, size, ierror, op, keyval, values(2), total(2), handler, comm, i, told, old, types(2)
  integer :: lengths(2), places(2), request, status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: state, value, bound
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  common /counted/ told
  external :: larger_first, copy, delete, handle
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
  told = 0

  call MPI_OP_CREATE(larger_first, .true., op, ierror)
  values = [rank, 10 + rank]
  call MPI_ALLREDUCE(values, total, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  call check(1, all(total == [size - 1, size + 9]))
  call MPI_OP_FREE(op, ierror)
  call check(2, op == MPI_OP_NULL)

  ! Predefined attributes are values in Fortran; those of the program are copied and deleted by it.
  call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, bound, flag, ierror)
  call check(3, flag .and. bound >= 32767)
  state = 5
  call MPI_COMM_CREATE_KEYVAL(copy, delete, keyval, state, ierror)
  value = 40 + rank
  call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, keyval, value, ierror)
  call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierror)
  call MPI_COMM_GET_ATTR(comm, keyval, value, flag, ierror)
  call check(4, flag .and. value == 45 + rank)
  call MPI_COMM_DELETE_ATTR(comm, keyval, ierror)
  call check(5, told == 1)
  call MPI_COMM_GET_ATTR(comm, keyval, value, flag, ierror)
  call check(6, .not. flag)
  call MPI_COMM_DELETE_ATTR(MPI_COMM_WORLD, keyval, ierror)
  call MPI_COMM_FREE_KEYVAL(keyval, ierror)
  call check(7, told == 2 .and. keyval == MPI_KEYVAL_INVALID)

  call MPI_COMM_SET_NAME(comm, 'a name', ierror)
  call MPI_COMM_GET_NAME(comm, name, i, ierror)
  call check(8, i == 6 .and. name == 'a name')
  call MPI_COMM_CREATE_ERRHANDLER(handle, handler, ierror)
  call MPI_COMM_SET_ERRHANDLER(comm, handler, ierror)
  call MPI_ERRHANDLER_FREE(handler, ierror)
  call MPI_SEND(rank, 1, MPI_INTEGER, -77, 0, comm, ierror)
  call check(9, told == 102 .and. ierror /= MPI_SUCCESS)
  call MPI_COMM_FREE(comm, ierror)
  call check(10, comm == MPI_COMM_NULL)

  ! What MPI 3 has removed.
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  lengths = [2, 1]
  places = [0, 8]
  call MPI_TYPE_STRUCT(2, lengths, places, types, old, ierror)
  call MPI_TYPE_EXTENT(old, i, ierror)
  call check(11, i == 16)
  call MPI_TYPE_COMMIT(old, ierror)
  call MPI_TYPE_FREE(old, ierror)
  call check(12, old == MPI_DATATYPE_NULL)
  call MPI_IRECV(values, 1, MPI_INTEGER, MPI_ANY_SOURCE, 9, MPI_COMM_SELF, request, ierror)
  call MPI_CANCEL(request, ierror)
  call MPI_WAIT(request, status, ierror)
  call MPI_TEST_CANCELLED(status, flag, ierror)
  call check(13, flag .and. request == MPI_REQUEST_NULL)
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

subroutine larger_first(in, inout, length, datatype)
  implicit none
  include 'mpif.h'
  integer :: length, datatype, in(length), inout(length)
  if (datatype == MPI_INTEGER) inout = max(in, inout)
end subroutine

subroutine copy(comm, keyval, state, in, out, flag, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, keyval, ierror
  integer(kind=MPI_ADDRESS_KIND) :: state, in, out
  logical :: flag
  out = in + state
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine

subroutine delete(comm, keyval, value, state, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, keyval, ierror, told
  integer(kind=MPI_ADDRESS_KIND) :: value, state
  common /counted/ told
  told = told + 1
  ierror = MPI_SUCCESS
end subroutine

subroutine handle(comm, code)
  implicit none
  include 'mpif.h'
  integer :: comm, code, class, ierror, told
  common /counted/ told
  call MPI_ERROR_CLASS(code, class, ierror)
  if (class == MPI_ERR_RANK) told = told + 100
end subroutine
