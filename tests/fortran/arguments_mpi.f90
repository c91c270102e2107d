! Texts, logicals, arrays of handles and what else changes its form between Fortran and C, by mpi.
! run: -n 2 ; says ok
! run: -n 4 ; says ok
program arguments
  use mpi
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  implicit none
  integer :: rank, size, ierror, info, length, i, n, cart, comm, other, keys, group, dims(2), coords(2)
  integer :: requests(40), statuses(MPI_STATUS_SIZE, 40), indices(40), values(40), got(40), types(8), back(3)
  integer, allocatable :: sendtypes(:), recvtypes(:), counts(:), displs(:), sent(:), received(:)
  integer(kind=MPI_ADDRESS_KIND) :: address, bytes(2)
  logical :: flag, periods(2), remain(2), is_periodic(2)
  character(len=7) :: short
  character(len=80) :: text
  character(len=300) :: long
  type(c_ptr) :: memory
  double precision, pointer :: x(:)
  integer :: numbers(4), newtype

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, i, ierror)
  call check(1, i >= MPI_THREAD_SINGLE .and. i <= MPI_THREAD_MULTIPLE)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)

  ! Texts: no blanks around keys and values, blanks behind what comes back, cut where it is short.
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  key ', ' a value with blanks   ', ierror)
  call MPI_Info_get(info, 'key', len(text), text, flag, ierror)
  call check(2, flag .and. text == 'a value with blanks')
  call MPI_Info_get(info, 'key', 7, short, flag, ierror)
  call check(3, flag .and. short == 'a value')
  call MPI_Info_get_valuelen(info, 'key', length, flag, ierror)
  call check(4, flag .and. length == 19)
  length = 0
  call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
  call check(5, flag .and. length == 19)
  text = repeat('x', 80)
  call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
  call check(6, flag .and. length == 19 .and. text == 'a value with blanks')
  text = 'untouched'
  call MPI_Info_get(info, 'other', len(text), text, flag, ierror)
  call check(7, .not. flag .and. text == 'untouched')
  call MPI_Info_get_nkeys(info, keys, ierror)
  call MPI_Info_get_nthkey(info, 0, text, ierror)
  call check(8, keys == 1 .and. text == 'key')
  call MPI_Info_free(info, ierror)
  call check(9, info == MPI_INFO_NULL)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_name(comm, '  a name, not cut at the front  ', ierror)
  call MPI_Comm_get_name(comm, text, length, ierror)
  call check(10, text == '  a name, not cut at the front' .and. length == 30)
  call MPI_Comm_get_name(comm, short, length, ierror)
  call check(11, short == '  a nam' .and. length == 7)
  call MPI_Get_library_version(long, length, ierror)
  call check(12, length > 0 .and. length <= len(long))

  ! Logicals.
  dims = 0
  call MPI_Dims_create(size, 2, dims, ierror)
  call MPI_Cart_create(comm, 2, dims, [.true., .false.], .false., cart, ierror)
  call MPI_Cart_get(cart, 2, dims, periods, coords, ierror)
  call check(13, (periods(1) .eqv. .true.) .and. (periods(2) .eqv. .false.))
  is_periodic = [.not. periods(2), .not. periods(1)]
  call check(14, is_periodic(1) .and. .not. is_periodic(2))
  remain = [.false., .true.]
  call MPI_Cart_sub(cart, remain, other, ierror)
  call MPI_Comm_size(other, i, ierror)
  call check(15, i == dims(2))
  call MPI_Comm_free(other, ierror)
  call MPI_Comm_test_inter(cart, flag, ierror)
  call check(16, .not. flag)
  call MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, ieor(rank, 1), rank / 2, other, ierror)
  call MPI_Comm_test_inter(other, flag, ierror)
  call check(17, flag)

  ! Types for each rank of the remote group; the local one has one rank.
  allocate (sendtypes(1), recvtypes(1), counts(1), displs(1))
  sendtypes = MPI_INTEGER; recvtypes = MPI_INTEGER; counts = 1; displs = 0
  call MPI_Alltoallw([rank], counts, displs, sendtypes, got, counts, displs, recvtypes, other, ierror)
  call check(18, got(1) == ieor(rank, 1))
  call MPI_Comm_free(other, ierror)
  deallocate (sendtypes, recvtypes, counts, displs)
  allocate (sendtypes(size), recvtypes(size), counts(size), displs(size), sent(size), received(size))
  sendtypes = MPI_INTEGER; recvtypes = MPI_INTEGER; counts = 1; displs = [(storage_size(i) / 8 * i, i = 0, size - 1)]
  sent = [(rank * 100 + i, i = 0, size - 1)]
  call MPI_Ialltoallw(sent, counts, displs, sendtypes, received, counts, displs, recvtypes, comm, requests(1), ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call check(19, all(received == [(i * 100 + rank, i = 0, size - 1)]))
  call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, sendtypes, received, counts, displs, recvtypes, comm, ierror)
  call check(20, all(received == sent))

  ! Many requests, more than fit on the stack, some at a time.
  values = [(rank * 1000 + i, i = 1, 40)]
  do i = 1, 40
    call MPI_Irecv(got(i), 1, MPI_INTEGER, ieor(rank, 1), i, comm, requests(i), ierror)
  end do
  do i = 40, 1, -1
    call MPI_Send(values(i), 1, MPI_INTEGER, ieor(rank, 1), i, comm, ierror)
  end do
  n = 0
  do while (n < 40)
    call MPI_Waitsome(40, requests, length, indices, statuses, ierror)
    call check(21, length >= 1 .and. all(indices(1:length) >= 1 .and. indices(1:length) <= 40))
    call check(22, all(statuses(MPI_TAG, 1:length) == indices(1:length)))
    call check(23, all(requests(indices(1:length)) == MPI_REQUEST_NULL))
    n = n + length
  end do
  call check(24, all(got == values + (ieor(rank, 1) - rank) * 1000))
  call MPI_Waitsome(40, requests, length, indices, statuses, ierror)
  call check(25, length == MPI_UNDEFINED)
  call MPI_Waitall(40, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Testall(40, requests, flag, MPI_STATUSES_IGNORE, ierror)
  call check(26, flag)

  ! A type with arrays of types, taken apart again.
  types(1:2) = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  bytes = [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND]
  call MPI_Type_create_struct(2, [1, 3], bytes, types, newtype, ierror)
  call MPI_Type_get_contents(newtype, 3, 2, 2, back, bytes, types(3:4), ierror)
  call check(27, all(back == [2, 1, 3]) .and. all(types(3:4) == types(1:2)))
  call MPI_Type_size(newtype, i, ierror)
  call check(28, i == 24 + storage_size(i) / 8)
  call MPI_Type_free(newtype, ierror)
  call MPI_Type_create_f90_real(15, 307, newtype, ierror)
  call MPI_Type_size(newtype, i, ierror)
  call check(29, i == 8)
  call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, newtype, ierror)
  call check(30, newtype == MPI_INTEGER2)
  call MPI_Sizeof(bytes, i, ierror)
  call check(31, i == 8)
  call MPI_Sizeof(cmplx(1.0, 2.0), i, ierror)
  call check(32, i == 8)

  ! Ranges, groups, addresses, memory.
  call MPI_Comm_group(comm, group, ierror)
  call MPI_Group_range_incl(group, 1, reshape([size - 1, 0, -1], [3, 1]), i, ierror)
  call MPI_Group_translate_ranks(i, 1, [0], group, back, ierror)
  call check(33, back(1) == size - 1)
  call MPI_Group_free(group, ierror)
  call MPI_Group_free(i, ierror)
  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory, ierror)
  call c_f_pointer(memory, x, [10])
  x = rank
  call MPI_Get_address(x, address, ierror)
  call check(34, address /= 0)
  call MPI_Free_mem(x, ierror)
  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierror)
  call check(35, address /= 0)

  ! A graph with weights, and without.
  call MPI_Dist_graph_create_adjacent(comm, 1, [ieor(rank, 1)], [5], 1, [ieor(rank, 1)], [6], &
                                      MPI_INFO_NULL, .false., other, ierror)
  call MPI_Dist_graph_neighbors_count(other, i, n, flag, ierror)
  call check(36, i == 1 .and. n == 1 .and. flag)
  call MPI_Dist_graph_neighbors(other, 1, numbers(1:1), numbers(2:2), 1, numbers(3:3), numbers(4:4), ierror)
  call check(37, all(numbers == [ieor(rank, 1), 5, ieor(rank, 1), 6]))
  bytes = 0
  call MPI_Neighbor_alltoallw([rank], [1], bytes(1:1), [MPI_INTEGER], got, [1], bytes(1:1), [MPI_INTEGER], other, ierror)
  call check(38, got(1) == ieor(rank, 1))
  call MPI_Comm_free(other, ierror)
  call MPI_Dist_graph_create_adjacent(comm, 0, [0], MPI_WEIGHTS_EMPTY, 0, [0], MPI_WEIGHTS_EMPTY, &
                                      MPI_INFO_NULL, .false., other, ierror)
  call MPI_Comm_free(other, ierror)
  call MPI_Dist_graph_create(comm, 1, [rank], [1], [ieor(rank, 1)], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., other, ierror)
  call MPI_Dist_graph_neighbors_count(other, i, n, flag, ierror)
  call check(39, i == 1 .and. n == 1 .and. .not. flag)
  call MPI_Comm_free(other, ierror)

  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_free(cart, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
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
