! What programs ask of MPI by the module mpi_f08 in the way that all libraries have it: a ring, statuses,
! sentinels, comparisons of handles, callbacks, attributes, texts, types, graphs, files, one-sided access.
! run: -n 1 ; says ok
! run: -n 3 ; says ok
program portable
  use mpi_f08
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  implicit none
  integer :: rank, size, next, prev, i, n, length, keyval, code, handled
  integer :: sum
  integer(kind=MPI_ADDRESS_KIND) :: value, at, lb, extent, bytes
  integer(kind=MPI_OFFSET_KIND) :: place
  integer, asynchronous :: received
  integer, volatile :: numbers(4)
  integer, pointer :: memory(:)
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=40) :: path
  type(MPI_Comm) :: dup, split, graph
  type(MPI_Group) :: group
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: vector, again
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: handler
  type(MPI_Info) :: info
  type(MPI_File) :: file
  type(MPI_Win) :: win
  type(c_ptr) :: base
  double precision :: matrix(6, 4), column(4), begin

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call check(1, code == MPI_SUCCESS)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  begin = MPI_Wtime()

  ! Statuses, and none.
  received = -1
  call MPI_Irecv(received, 1, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call check(2, received == prev .and. statuses(1)%MPI_SOURCE == prev .and. statuses(1)%MPI_TAG == 3)
  call check(3, requests(1) == MPI_REQUEST_NULL .and. .not. requests(2) /= MPI_REQUEST_NULL)
  call MPI_Get_count(statuses(1), MPI_INTEGER, n)
  call check(4, n == 1)
  call MPI_Isend(rank, 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1))
  call MPI_Recv(n, 1, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE)
  call check(5, n == prev)
  call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
  call check(6, .not. flag)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, MPI_PROC_NULL, 1, n, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status)
  call check(7, status%MPI_SOURCE == MPI_PROC_NULL .and. status%MPI_TAG == MPI_ANY_TAG)

  ! Sentinels of buffers.
  sum = rank
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(8, sum == size * (size - 1) / 2)
  call MPI_Get_address(numbers, at)
  call MPI_Type_create_hindexed(1, [4], [at], MPI_INTEGER, again)
  call MPI_Type_commit(again)
  numbers = merge([1, 2, 3, 4], 0, rank == 0)
  call MPI_Bcast(MPI_BOTTOM, 1, again, 0, MPI_COMM_WORLD)
  call check(9, all(numbers == [1, 2, 3, 4]))
  call MPI_Type_free(again)
  call check(10, again == MPI_DATATYPE_NULL .and. again /= MPI_INTEGER)

  ! Types, and a row of a matrix.
  do i = 1, 6
    matrix(i, :) = 10 * rank + i
  end do
  call MPI_Type_vector(4, 1, 6, MPI_DOUBLE_PRECISION, vector)
  call MPI_Type_commit(vector)
  call MPI_Type_get_extent(vector, lb, extent)
  call check(11, lb == 0 .and. extent == 19 * 8)
  call MPI_Sendrecv(matrix(2, 1), 1, vector, next, 5, column, 4, MPI_DOUBLE_PRECISION, prev, 5, MPI_COMM_WORLD, status)
  call check(12, all(column == 10 * prev + 2))
  call MPI_Type_set_name(vector, 'a row')
  call MPI_Type_get_name(vector, name, length)
  call check(13, name(:length) == 'a row' .and. len_trim(name) == 5)
  call MPI_Type_free(vector)
  call MPI_Sizeof(matrix, n, code)
  call check(14, n == 8)

  ! Communicators and groups.
  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call check(15, dup /= MPI_COMM_WORLD .and. dup /= MPI_COMM_NULL)
  call MPI_Comm_compare(dup, MPI_COMM_WORLD, n)
  call check(16, n == MPI_CONGRUENT)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, split)
  call MPI_Comm_size(split, n)
  call check(17, n == (size + 1 - mod(rank, 2)) / 2)
  call MPI_Comm_free(split)
  call check(18, split == MPI_COMM_NULL)
  call MPI_Comm_group(dup, group)
  call MPI_Group_size(group, n)
  call check(19, n == size .and. group /= MPI_GROUP_EMPTY)
  call MPI_Group_free(group)
  call MPI_Dist_graph_create_adjacent(dup, 1, [prev], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, MPI_INFO_NULL, &
    .false., graph)
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, n, 1, MPI_INTEGER, graph)
  call check(20, n == prev)
  call MPI_Dist_graph_neighbors_count(graph, n, i, flag)
  call check(21, n == 1 .and. i == 1 .and. .not. flag)
  call MPI_Comm_free(graph)

  ! Procedures of the program.
  call MPI_Op_create(largest, .true., op)
  call MPI_Allreduce(rank, n, 1, MPI_INTEGER, op, dup)
  call check(22, n == size - 1)
  call MPI_Op_free(op)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, deleted, keyval, 7_MPI_ADDRESS_KIND)
  handled = 0
  call MPI_Comm_set_attr(dup, keyval, 42_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(dup, split)
  call MPI_Comm_get_attr(split, keyval, value, flag)
  call check(23, flag .and. value == 42)
  call MPI_Comm_free(split)
  call check(24, handled == 49)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  call check(25, flag .and. value >= 32767)
  call MPI_Comm_free_keyval(keyval)
  call MPI_Comm_create_errhandler(raised, handler)
  call MPI_Comm_set_errhandler(dup, handler)
  handled = 0
  call MPI_Send(rank, 1, MPI_INTEGER, size, 1, dup, code)
  call check(26, handled == MPI_ERR_RANK .and. code /= MPI_SUCCESS)
  call MPI_Error_string(code, text, length)
  call check(27, length > 0 .and. length <= MPI_MAX_ERROR_STRING)
  call MPI_Errhandler_free(handler)

  ! Infos, files and windows.
  call MPI_Info_create(info)
  call MPI_Info_set(info, ' a key ', ' a value ')
  call MPI_Info_get(info, 'a key', len(text), text, flag)
  call check(28, flag .and. text == 'a value')
  path = 'portable-f08.tmp'
  call MPI_File_open(MPI_COMM_WORLD, path, ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
    MPI_INFO_NULL, file)
  place = 4 * rank
  call MPI_File_write_at_all(file, place, rank, 1, MPI_INTEGER, status)
  call MPI_File_sync(file)
  call MPI_Barrier(MPI_COMM_WORLD)
  place = 4 * next
  call MPI_File_read_at_all(file, place, n, 1, MPI_INTEGER, status)
  call check(29, n == next)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call check(30, n == 1)
  call MPI_File_close(file)
  call check(31, file == MPI_FILE_NULL)
  bytes = 4
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [1])
  memory(1) = -1
  call MPI_Win_fence(0, win)
  call MPI_Put(rank, 1, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(32, memory(1) == prev)
  call MPI_Win_free(win)

  call MPI_Info_free(info)
  call MPI_Comm_free(dup)
  call check(33, MPI_Wtime() >= begin)
  call MPI_Finalize()
  if (rank == 0) print *, 'ok'

contains

  subroutine check(which, holds)
    integer, intent(in) :: which
    logical, intent(in) :: holds
    if (.not. holds) then
      print *, 'check', which, 'fails on rank', rank
      error stop 1
    end if
  end subroutine

  subroutine largest(in, inout, length, datatype)
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    if (datatype /= MPI_INTEGER) error stop 2
    b = max(a, b)
  end subroutine

  subroutine deleted(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    handled = int(attribute_val + extra_state)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine raised(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm /= dup) error stop 3
    call MPI_Error_class(error_code, handled)
  end subroutine

end program
