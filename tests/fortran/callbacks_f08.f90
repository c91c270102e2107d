! Procedures of the program that MPI calls, in the form of mpi_f08: operations, attributes, error
! handlers, generalized requests.
! run: -n 1 ; says ok
! run: -n 4 ; says ok
program callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  implicit none
  type(MPI_Op) :: op, again
  type(MPI_Errhandler) :: handler
  type(MPI_Comm) :: dup
  type(MPI_Datatype) :: pair, copy
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer :: rank, size, i, keyval, type_keyval, code, copied, deleted, raised, queried, freed, cancelled
  integer :: v(3), r(3), two(2), most(2)
  integer(kind=MPI_COUNT_KIND) :: many
  integer(kind=MPI_ADDRESS_KIND) :: state, value
  logical :: flag
  type(MPI_Comm) :: raised_on

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  copied = 0; deleted = 0; raised = 0; queried = 0; freed = 0; cancelled = 0

  ! An operation that does not commute: the last one wins, so order tells.
  call MPI_Op_create(last, .false., op)
  call MPI_Op_create(last, .false., again)
  v = [rank, rank + 100, rank + 200]
  call MPI_Allreduce(v, r, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(1, all(r == [size - 1, size + 99, size + 199]))
  call MPI_Op_free(again)
  call MPI_Scan(v, r, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(2, all(r == v))
  call MPI_Op_free(op)
  call check(3, op == MPI_OP_NULL)

  ! On a type of the program, whose handle the operation is given.
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Op_create(greater, .true., op)
  two = [mod(rank + 1, size), rank]
  call MPI_Allreduce(two, most, 1, pair, op, MPI_COMM_WORLD)
  call check(4, most(1) == size - 1 .and. most(2) == mod(size - 2 + size, size))
  call MPI_Op_free(op)
  call MPI_Op_create_c(large, .true., op)
  many = 3
  call MPI_Allreduce(v, r, many, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(5, r(1) == size * (size - 1) / 2)
  call MPI_Op_free(op)

  ! Attributes: the copy is one more, the state comes as it was given.
  state = 4711
  call MPI_Comm_create_keyval(copy_attr, delete_attr, keyval, state)
  state = 0
  value = -huge(value)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call MPI_Comm_get_attr(dup, keyval, value, flag)
  call check(6, flag .and. value == 1 - huge(value) .and. copied == 1)
  call MPI_Comm_free(dup)
  call check(7, deleted == 1 .and. dup == MPI_COMM_NULL)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval)
  call check(8, deleted == 2)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, flag)
  call check(9, .not. flag)
  call MPI_Comm_free_keyval(keyval)
  call check(10, keyval == MPI_KEYVAL_INVALID)
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, type_keyval, state)
  call MPI_Type_set_attr(pair, type_keyval, 17_MPI_ADDRESS_KIND)
  call MPI_Type_dup(pair, copy)
  call MPI_Type_get_attr(copy, type_keyval, value, flag)
  call check(11, flag .and. value == 17)
  call MPI_Type_free(copy)
  call MPI_Type_free(pair)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  call check(12, flag .and. value >= 32767)

  ! An error handler is told the communicator and the code.
  call MPI_Comm_create_errhandler(on_error, handler)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call MPI_Comm_set_errhandler(dup, handler)
  call MPI_Errhandler_free(handler)
  call MPI_Send(v, 1, MPI_INTEGER, size, 0, dup, code)
  call check(13, raised == 1 .and. raised_on == dup .and. code /= MPI_SUCCESS)
  call MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER)
  call check(14, raised == 2)
  call MPI_Comm_free(dup)

  ! A generalized request.
  call MPI_Grequest_start(query, free_state, cancel, 99_MPI_ADDRESS_KIND, request)
  call MPI_Test(request, flag, status)
  call check(15, .not. flag)
  call MPI_Cancel(request)
  call MPI_Grequest_complete(request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, i)
  call MPI_Test_cancelled(status, flag)
  call check(16, i == 7 .and. flag .and. queried == 1 .and. freed == 1 .and. cancelled == 1)
  call check(17, status%MPI_SOURCE == 3 .and. status%MPI_TAG == 4)

  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize()
contains
  subroutine last(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    call check(101, len >= 1 .and. datatype == MPI_INTEGER)
  end subroutine

  subroutine greater(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :), b(:, :)
    integer :: k
    call check(102, datatype == pair)
    call c_f_pointer(invec, a, [2, len])
    call c_f_pointer(inoutvec, b, [2, len])
    do k = 1, len
      if (a(1, k) > b(1, k)) b(:, k) = a(:, k)
    end do
  end subroutine

  subroutine large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call check(103, datatype == MPI_INTEGER)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine

  subroutine copy_attr(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call check(104, oldcomm == MPI_COMM_WORLD .and. comm_keyval == keyval .and. extra_state == 4711)
    copied = copied + 1
    attribute_val_out = attribute_val_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_attr(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call check(105, comm_keyval == keyval .and. extra_state == 4711)
    call check(106, attribute_val == merge(0, 1, comm == MPI_COMM_WORLD) - huge(attribute_val))
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    call check(107, error_code /= MPI_SUCCESS)
    raised = raised + 1
    raised_on = comm
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    logical :: was_cancelled
    call check(108, extra_state == 99)
    queried = queried + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, 7)
    was_cancelled = cancelled == 1
    call MPI_Status_set_cancelled(status, was_cancelled)
    status%MPI_SOURCE = 3
    status%MPI_TAG = 4
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_state(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    call check(109, extra_state == 99)
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    call check(110, extra_state == 99 .and. .not. complete)
    cancelled = cancelled + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine check(number, right)
    integer, intent(in) :: number
    logical, intent(in) :: right
    if (.not. right) then
      print *, 'check', number, 'fails'
      error stop 1
    end if
  end subroutine
end program
