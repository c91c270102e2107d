! What py2f.py calls: procedures that take handles of mpi4py as their integers, and give some.
module py2f
  use mpi_f08
  use, intrinsic :: iso_c_binding, only : c_char, c_int
  implicit none
contains
  integer(c_int) function ranks_of(comm) bind(C)
    integer(c_int), value :: comm
    call MPI_Comm_size(MPI_Comm(comm), ranks_of)
  end function

  integer(c_int) function copy_of(comm) bind(C)
    integer(c_int), value :: comm
    type(MPI_Comm) :: copy
    call MPI_Comm_dup(MPI_Comm(comm), copy)
    call MPI_Comm_set_name(copy, 'made in Fortran')
    copy_of = copy%MPI_VAL
  end function

  integer(c_int) function every_second(count) bind(C)
    integer(c_int), value :: count
    type(MPI_Datatype) :: type
    call MPI_Type_vector(count, 1, 2, MPI_INTEGER, type)
    call MPI_Type_commit(type)
    every_second = type%MPI_VAL
  end function

  ! With an operation of Python's, on a type of Python's.
  integer(c_int) function combined(comm, type, op, value) bind(C)
    integer(c_int), value :: comm, type, op, value
    call MPI_Allreduce(value, combined, 1, MPI_Datatype(type), MPI_Op(op), MPI_Comm(comm))
  end function

  ! Python waits for the request.
  integer(c_int) function receive(comm, values, n, source, tag) bind(C)
    integer(c_int), value :: comm, n, source, tag
    integer(c_int), asynchronous :: values(n)
    type(MPI_Request) :: request
    call MPI_Irecv(values, n, MPI_INTEGER, source, tag, MPI_Comm(comm), request)
    receive = request%MPI_VAL
  end function

  ! Of what Python has begun.
  subroutine finish(number, status) bind(C)
    integer(c_int), intent(inout) :: number
    integer(c_int), intent(out) :: status(MPI_STATUS_SIZE)
    type(MPI_Request) :: request
    type(MPI_Status) :: ended
    request%MPI_VAL = number
    call MPI_Wait(request, ended)
    call MPI_Status_f082f(ended, status)
    number = request%MPI_VAL
  end subroutine

  ! Whether the info says so.
  integer(c_int) function says(info) bind(C)
    integer(c_int), value :: info
    character(20) :: text
    logical :: flag
    integer :: length
    length = len(text)
    call MPI_Info_get_string(MPI_Info(info), 'language', length, text, flag)
    says = merge(1, 0, flag .and. text == 'Python')
  end function

  integer(c_int) function size_of(group) bind(C)
    integer(c_int), value :: group
    call MPI_Group_size(MPI_Group(group), size_of)
  end function

  ! Adds to a number in a window of Python's.
  subroutine add(window, target, value) bind(C)
    integer(c_int), value :: window, target, value
    call MPI_Win_lock(MPI_LOCK_SHARED, target, 0, MPI_Win(window))
    call MPI_Accumulate(value, 1, MPI_INTEGER, target, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, MPI_Win(window))
    call MPI_Win_unlock(target, MPI_Win(window))
  end subroutine

  ! Writes a number to a file of Python's.
  subroutine write_to(file, offset, value) bind(C)
    integer(c_int), value :: file, offset, value
    call MPI_File_write_at(MPI_File(file), int(offset, MPI_OFFSET_KIND), value, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
  end subroutine
end module
