! C and Fortran in one program: MPI is started by C; handles, statuses and attributes cross.
! also: with_c.c
! run: -n 2 ; says ok
program languages
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine start(comm, key) bind(C)
      integer, intent(out) :: comm, key
    end subroutine
    integer(c_int) function attribute(comm, key, value) bind(C)
      import
      integer, intent(in) :: comm, key
      integer(c_intptr_t), intent(inout) :: value
    end function
    subroutine set_attribute(comm, key, value) bind(C)
      import
      integer, intent(in) :: comm, key
      type(c_ptr), value :: value
    end subroutine
    subroutine c_send(comm, to, value) bind(C, name="send")
      integer, intent(in) :: comm, to, value
    end subroutine
    subroutine look(status, source, tag) bind(C)
      integer, intent(in) :: status(*)
      integer, intent(out) :: source, tag
    end subroutine
  end interface
  integer :: comm, dup, key, own, rank, ierror, other, got, source, tag, status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: value, address
  integer, target :: place
  logical :: flag

  call start(comm, key)
  call MPI_Comm_rank(comm, rank, ierror)
  other = 1 - rank
  call MPI_Irecv(got, 1, MPI_INTEGER, other, 9, comm, dup, ierror)
  call c_send(comm, other, rank + 50)
  call MPI_Wait(dup, status, ierror)
  call look(status, source, tag)
  call check(1, got == other + 50 .and. source == other .and. tag == 9)

  ! C sees what Fortran sets as a pointer to it, also in a copy.
  call MPI_Comm_set_attr(comm, key, -4711_MPI_ADDRESS_KIND, ierror)
  value = 0
  call check(2, attribute(comm, key, value) == 1 .and. value == -4711)
  call MPI_Comm_dup(comm, dup, ierror)
  value = 0
  call check(3, attribute(dup, key, value) == 1 .and. value == -4711)
  call MPI_Comm_get_attr(dup, key, value, flag, ierror)
  call check(4, flag .and. value == -4711)
  call MPI_Comm_free(dup, ierror)

  ! Fortran sees what C sets as an address.
  call set_attribute(comm, key, c_loc(place))
  call MPI_Comm_get_attr(comm, key, value, flag, ierror)
  call MPI_Get_address(place, address, ierror)
  call check(5, flag .and. value == address)

  ! With a key and copies of Fortran.
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, own, 0_MPI_ADDRESS_KIND, ierror)
  call set_attribute(comm, own, c_loc(place))
  call MPI_Comm_dup(comm, dup, ierror)
  call MPI_Comm_get_attr(dup, own, value, flag, ierror)
  call check(6, flag .and. value == address)
  call MPI_Comm_set_attr(dup, own, 12_MPI_ADDRESS_KIND, ierror)
  value = 0
  call check(7, attribute(dup, own, value) == 1 .and. value == 12)
  call MPI_Comm_free(dup, ierror)
  call MPI_Comm_free(comm, ierror)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize(ierror)
contains
  subroutine check(number, right)
    integer, intent(in) :: number
    logical, intent(in) :: right
    if (.not. right) then
      print *, 'check', number, 'fails on rank', rank
      error stop 1
    end if
  end subroutine
end program
