! INTEGERs of 8 bytes: values beyond 4 bytes, arrays and statuses that are too many for the stack, and numbers
! for which C has no room.
! cc: -fdefault-integer-8
! run: -n 2 ; says ok
! run: -n 3 ; says ok
program integer8
  use mpi_f08
  implicit none
  integer, parameter :: large = 2**40, n = 40
  integer :: rank, size, next, prev, i, k, mine(2), all_of(2), got(n), ranks(n), back(n), code, class
  integer :: indices(n), count, dims(2), coords(2), sources(1), weights(1), degree, out, positions
  integer(kind=4) :: short
  logical :: periods(2), flags(2), flag
  type(MPI_Status) :: statuses(n), status
  type(MPI_Request) :: requests(n)
  type(MPI_Group) :: group, part
  type(MPI_Comm) :: grid, graph
  type(MPI_Datatype) :: type
  character(len=MPI_MAX_PROCESSOR_NAME) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call check(1, MPI_INTEGER_KIND == 8 .and. storage_size(MPI_COMM_WORLD) == 64 .and. storage_size(status) == 512)
  call MPI_Sizeof(rank, k)
  call check(2, k == 8)
  call MPI_Type_size(MPI_INTEGER, k)
  call check(3, k == 8)
  call MPI_Sizeof(short, k)
  call check(4, k == 4)

  ! Values.
  mine = [large + rank, -large]
  call MPI_Allreduce(mine, all_of, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(5, all_of(1) == size * large + size * (size - 1) / 2 .and. all_of(2) == -size * large)
  flags(1) = rank == 0
  flags(2) = .true.
  call MPI_Allreduce(MPI_IN_PLACE, flags, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  call check(6, .not. flags(1) .and. flags(2))
  call MPI_Get_processor_name(name, k)
  call check(7, k == len_trim(name) .and. k > 0)

  ! More than have room on the stack.
  do i = 1, n
    call MPI_Irecv(got(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, requests(i))
  end do
  do i = 1, n
    call MPI_Send(large + i, 1, MPI_INTEGER, next, i, MPI_COMM_WORLD)
  end do
  statuses%MPI_ERROR = 77
  call MPI_Waitall(n, requests, statuses)
  call check(8, all(got == [(large + i, i = 1, n)]) .and. all(statuses%MPI_TAG == [(i, i = 1, n)]))
  call check(9, all(statuses%MPI_SOURCE == prev) .and. all(requests == MPI_REQUEST_NULL))
  do i = 1, n
    call MPI_Irecv(got(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, requests(i))
  end do
  do i = 1, n
    call MPI_Send(i, 1, MPI_INTEGER, next, i, MPI_COMM_WORLD)
  end do
  positions = 0
  k = 0
  do while (k < n)
    call MPI_Waitsome(n, requests, out, indices, statuses)
    k = k + out
    positions = positions + sum(indices(1:out))
    call check(10, all(statuses(1:out)%MPI_TAG == indices(1:out)))
  end do
  call check(11, positions == n * (n + 1) / 2)
  call MPI_Comm_group(MPI_COMM_WORLD, group)
  call MPI_Group_incl(group, 1, [size - 1], part)
  ranks = size - 1
  back = -5
  call MPI_Group_translate_ranks(group, n, ranks, part, back)
  call check(12, all(back == 0))
  ranks = 0
  call MPI_Group_translate_ranks(group, n, ranks, part, back)
  call check(13, all(back == merge(0, MPI_UNDEFINED, size == 1)))
  call MPI_Group_free(part)
  call MPI_Group_range_incl(group, 1, reshape([0, size - 1, 1], [3, 1]), part)
  call MPI_Group_size(part, k)
  call check(14, k == size)

  ! Statuses keep what a call does not write, and counts are large.
  status%MPI_ERROR = 77
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 1, k, 1, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, status)
  call check(15, k == prev .and. status%MPI_SOURCE == prev .and. status%MPI_ERROR == 77)
  call MPI_Status_set_elements(status, MPI_BYTE, 2**33)
  call MPI_Get_elements(status, MPI_BYTE, count)
  call check(16, count == 2**33)
  call MPI_Type_contiguous(2**20, MPI_INTEGER, type)
  call MPI_Type_contiguous(2**20, type, type)
  call MPI_Type_size(type, count)
  call check(17, count == 2**43)

  ! Topologies: arrays of numbers, of truth values, and weights that may be a sentinel.
  dims = 0
  call MPI_Dims_create(size, 2, dims)
  call check(18, product(dims) == size)
  flags(1) = .true.
  flags(2) = .false.
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, flags, .false., grid)
  call MPI_Cart_get(grid, 2, dims, periods, coords)
  call check(19, periods(1) .and. .not. periods(2))
  call MPI_Cart_rank(grid, coords, k)
  call check(20, k == rank)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], [3], 1, [next], [4], MPI_INFO_NULL, .false., graph)
  call MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, mine, all_of)
  call check(21, sources(1) == prev .and. weights(1) == 3 .and. mine(1) == next .and. all_of(1) == 4)
  call MPI_Comm_free(graph)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
  call MPI_Dist_graph_neighbors_count(graph, degree, out, flag)
  call check(22, degree == 1 .and. out == 1 .and. .not. flag)

  ! What C has no room for is refused, not cut.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(rank, 1, MPI_INTEGER, next + 2**32, 1, MPI_COMM_WORLD, code)
  call MPI_Error_class(code, class)
  call check(23, class == MPI_ERR_RANK)
  call MPI_Send(rank, 1, MPI_INTEGER, next, 2**32, MPI_COMM_WORLD, code)
  call MPI_Error_class(code, class)
  call check(24, class == MPI_ERR_TAG)

  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize()
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
