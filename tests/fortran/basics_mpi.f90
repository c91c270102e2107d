! A ring, reductions, sections and probes, by the module mpi.
! run: -n 1 ; says ok
! run: -n 3 ; says ok
program basics
  use mpi
  implicit none
  integer :: rank, size, ierror, next, prev, got, status(MPI_STATUS_SIZE), i, req(2), total
  integer :: m(20,4), r(20,4)
  logical :: flag
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  double precision :: t
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Get_processor_name(name, i, ierror)
  next = mod(rank+1,size); prev = mod(rank+size-1,size)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 7, got, 1, MPI_INTEGER, prev, 7, MPI_COMM_WORLD, status, ierror)
  if (got /= prev .or. status(MPI_SOURCE) /= prev .or. status(MPI_TAG) /= 7) error stop 1
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (total /= size*(size-1)/2) error stop 2
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (total /= size*(size-1)/2) error stop 3
  do i=1,20
    m(i,:) = rank*1000 + i*10 + [1,2,3,4]
  end do
  r = -1
  call MPI_Irecv(r(1:20:2,:), 40, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, req(1), ierror)
  call MPI_Isend(m(2:20:2,:), 40, MPI_INTEGER, next, 1, MPI_COMM_WORLD, req(2), ierror)
  call MPI_Waitall(2, req, MPI_STATUSES_IGNORE, ierror)
  if (any(r(1:20:2,:) /= m(2:20:2,:) - rank*1000 + prev*1000)) error stop 4
  if (any(r(2:20:2,:) /= -1)) error stop 5
  call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
  if (flag) error stop 6
  r = 0
  call MPI_Allreduce(m(1:20:3,2:3), r(1:20:3,2:3), 14, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  if (any(r(1:20:3,2:3) /= m(1:20:3,2:3)-rank*1000+(size-1)*1000)) error stop 7
  t = MPI_Wtime()
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (MPI_Wtime() < t) error stop 8
  if (rank==0) print *, 'ok ', size, trim(name)
  call MPI_Finalize(ierror)
end program
