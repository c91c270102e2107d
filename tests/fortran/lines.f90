! What is told of a call in Fortran has the line of the program, whatever lies between.
! run: -n 1 --check -- long ; says MPI_Bcast \(lines.f90:21\): its buffer buffer ends \d+ bytes behind the \d+ bytes that malloc has given
! run: -n 2 --on-hang end -- hang ; exit 123 ; says job hangs: rank 0 waits in MPI_Recv \(lines.f90:24\) for a message from rank 1
program lines
  use mpi
  implicit none
  integer :: error, rank, count
  character(len=8) :: mode
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, mode)
  if (mode == 'long') call too_long()
  if (mode == 'hang') call in_vain()
  call MPI_Finalize(error)
contains
  subroutine too_long()
    integer, allocatable :: few(:)
    allocate (few(300))
    few = 1
    count = 400
    call MPI_Bcast(few, count, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end subroutine
  subroutine in_vain()
    call MPI_Recv(rank, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine
end program
