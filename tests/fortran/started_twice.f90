! MPI is started by C and by Fortran, one after the other: the second one is told, and the program ends or goes on.
! also: with_c.c
! run: -n 1 -- c fatal ; fails ; says MPI_Init_thread.* was called before: .* in C or in Fortran ; never says went on
! run: -n 1 -- fortran fatal ; fails ; says MPI_Init.* was called before: .* in C or in Fortran ; never says went on
! run: -n 2 -- c returns ; lines 2 went on
! run: -n 2 -- fortran returns ; lines 2 went on
program started_twice
  use mpi
  implicit none
  interface
    integer function start_again() bind(C)
    end function
    subroutine start(comm, key) bind(C)
      integer, intent(out) :: comm, key
    end subroutine
  end interface
  character(len=8) :: first, then
  character(len=MPI_MAX_ERROR_STRING) :: text
  integer :: comm, key, rank, size, total, length, class, code, provided, ierror
  logical :: flag

  call get_command_argument(1, first)
  call get_command_argument(2, then)
  if (first == 'c') then
    call start(comm, key)
  else
    call MPI_Init(ierror)
  end if
  if (then == 'returns') then
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  end if
  call MPI_Initialized(flag, ierror)
  if (.not. flag) error stop 'not started'
  if (first == 'c') then
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided, code)
  else
    code = start_again()
  end if
  call MPI_Error_class(code, class, ierror)
  if (class /= MPI_ERR_OTHER) error stop 'another class'
  call MPI_Error_string(code, text, length, ierror)
  if (index(text, 'was called before') == 0) error stop 'another text'

  ! What was started first is as it was.
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (total /= size * (size + 1) / 2) error stop 'another sum'
  print '(a)', 'went on'
  call MPI_Finalize(ierror)
end program
