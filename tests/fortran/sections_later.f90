! Sections with gaps in non-blocking and persistent collectives that take a copy of them: reductions,
! and calls with counts per rank on sections of two strides. All ways to learn of the end.
! run: -n 2 ; says ok
! run: -n 3 ; says ok
program sections_later
  use mpi_f08
  implicit none
  integer :: a(20, 6), b(20, 6), total(20, 6), c(20, 6), ranks, rank, size, i, j, k, done, indices(3)
  integer :: deep(2, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4), counts(3), displs(3), offsets(3)
  integer, allocatable :: none(:, :), many(:, :)
  type(MPI_Datatype) :: types(3)
  type(MPI_Request) :: request, requests(3)
  type(MPI_Status) :: statuses(3)
  logical :: flag

  if (.not. MPI_SUBARRAYS_SUPPORTED) error stop 2
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  ranks = size * (size - 1) / 2
  do j = 1, 6
    total(:, j) = [(i * 10 + j, i = 1, 20)]
  end do
  a = total + rank * 1000

  ! Sections on one side, on both, and into the buffer itself.
  b = -1
  call MPI_Iallreduce(a(1:20:2, :), b(2:20:2, :), 60, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(1, all(b(2:20:2, :) == size * total(1:20:2, :) + 1000 * ranks))
  call check(2, all(b(1:20:2, :) == -1))
  b = a
  call MPI_Iallreduce(MPI_IN_PLACE, b(20:1:-3, 1:6:2), 21, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(request, flag, MPI_STATUS_IGNORE)
  end do
  call check(3, all(b(20:1:-3, 1:6:2) == size * total(20:1:-3, 1:6:2) + 1000 * ranks))
  call check(4, all(b(:, 2:6:2) == a(:, 2:6:2)) .and. all(b(19:1:-3, :) == a(19:1:-3, :)))

  ! Fewer elements than the section has: those beyond keep their values.
  b = -1
  call MPI_Iallreduce(a(1:20:2, 1:2), b(1:20:2, 1:2), 13, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(5, all(b(1:20:2, 1) == size * total(1:20:2, 1) + 1000 * ranks))
  call check(6, all(b(1:5:2, 2) == size * total(1:5:2, 2) + 1000 * ranks) .and. all(b(7:, 2) == -1))

  ! Several at once, in every order of completion; what is freed early is not looked at again.
  b = -1
  call MPI_Iallreduce(a(1:20:2, 1:2), b(1:20:2, 1:2), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
  call MPI_Ireduce(a(1:20:2, 3:4), b(1:20:2, 3:4), 20, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, requests(2))
  call MPI_Iscan(a(2:20:2, 5:6), b(2:20:2, 5:6), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3))
  done = 0
  do while (done < 3)
    call MPI_Waitsome(3, requests, k, indices, statuses)
    done = done + k
  end do
  call several(7)
  b = -1
  call MPI_Iallreduce(a(1:20:2, 1:2), b(1:20:2, 1:2), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
  call MPI_Ireduce(a(1:20:2, 3:4), b(1:20:2, 3:4), 20, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, requests(2))
  call MPI_Iscan(a(2:20:2, 5:6), b(2:20:2, 5:6), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3))
  do i = 1, 3
    call MPI_Waitany(3, requests, k, MPI_STATUS_IGNORE)
  end do
  call several(8)

  ! The status alone tells that the result is there; the request is freed later.
  b = -1
  call MPI_Iallreduce(a(1:20:2, 1:2), b(1:20:2, 1:2), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE)
  end do
  call check(9, all(b(1:20:2, 1:2) == size * total(1:20:2, 1:2) + 1000 * ranks))
  b(1, 1) = 7
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(10, b(1, 1) == 7)

  ! Persistent: what is sent is read at each start, what comes is there at each end.
  c = a
  b = -1
  call MPI_Allreduce_init(c(1:20:2, :), b(1:20:2, :), 60, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  call MPI_Bcast_init(b(2:20:2, :), 60, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
  call check(11, all(b == -1))
  do k = 1, 3
    c = a + k
    b = rank + k
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(12, all(b(1:20:2, :) == size * (total(1:20:2, :) + k) + 1000 * ranks))
    call check(13, all(b(2:20:2, :) == k))
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  call check(14, requests(1) == MPI_REQUEST_NULL)

  ! Counts and displacements per rank, on sections of two strides.
  counts = 4
  displs = [8, 0, 4]
  b = -1
  call MPI_Iallgatherv(a(1:4:3, 1:4:3), 4, MPI_INTEGER, b(1:20:5, 1:6:2), counts, displs, MPI_INTEGER, &
                       MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  do i = 0, size - 1
    j = displs(i + 1) / 4 * 2 + 1
    call check(15, all(b(1:20:5, j) == [11, 41, 14, 44] + i * 1000))
  end do
  call check(16, all(b(2:5, :) == -1) .and. all(b(:, 2:6:2) == -1))
  c = -1
  displs = [0, 4, 8]
  call MPI_Ialltoallv(a(1:20:5, 1:6:2), counts, displs, MPI_INTEGER, c(2:20:5, 2:6:2), counts, displs, MPI_INTEGER, &
                      MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  do i = 0, size - 1
    call check(17, all(c(2:20:5, 2 * i + 2) == total(1:20:5, 2 * rank + 1) + i * 1000))
  end do
  c = -1
  types = MPI_INTEGER
  offsets = displs * (storage_size(0) / 8)
  call MPI_Ialltoallw(a(1:20:5, 1:6:2), counts, offsets, types, c(2:20:5, 2:6:2), counts, offsets, types, &
                      MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  do i = 0, size - 1
    call check(18, all(c(2:20:5, 2 * i + 2) == total(1:20:5, 2 * rank + 1) + i * 1000))
  end do
  call check(19, all(c(:, 1:6:2) == -1) .and. all(c(1, :) == -1))

  ! Rank 15; nothing; what is not allocated; assumed size.
  deep = reshape([(i, i = 1, 32)], shape(deep))
  call MPI_Iallreduce(MPI_IN_PLACE, deep(:, 2:2, :, :, :, :, :, :, :, :, :, :, :, :, 1:4:2), 8, MPI_INTEGER, &
                      MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(20, sum(deep) == 528 + (size - 1) * (3 + 4 + 7 + 8 + 19 + 20 + 23 + 24))
  call MPI_Iallreduce(a(1:0, :), b(20:1:2, 1:6:2), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Iallreduce(none, none, 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  c = a
  call assumed(c)
  call check(21, all(c == size * total + 1000 * ranks))

  ! More requests than are kept on the stack.
  allocate (many(2, 80))
  many = rank + 1
  block
    type(MPI_Request) :: plenty(40)
    do i = 1, 40
      call MPI_Iallreduce(MPI_IN_PLACE, many(1:2:2, i:80:40), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, plenty(i))
    end do
    call MPI_Waitall(40, plenty, MPI_STATUSES_IGNORE)
  end block
  call check(22, all(many(1, :) == ranks + size) .and. all(many(2, :) == rank + 1))

  ! More elements than the section has are refused.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Iallreduce(a(1:20:2, 1), b(1:20:2, 1), 11, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, i)
  call MPI_Error_class(i, j)
  call check(23, j == MPI_ERR_BUFFER)
  call MPI_Allreduce(a(1:20:2, 1), b(1:20:2, 1), 11, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, i)
  call MPI_Error_class(i, j)
  call check(24, j == MPI_ERR_BUFFER)

  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize()
contains
  subroutine several(number)
    integer, intent(in) :: number
    call check(number, all(b(1:20:2, 1:2) == size * total(1:20:2, 1:2) + 1000 * ranks))
    if (rank == 0) call check(number, all(b(1:20:2, 3:4) == total(1:20:2, 3:4) + 1000 * (size - 1)))
    call check(number, all(b(2:20:2, 5:6) == (rank + 1) * total(2:20:2, 5:6) + 1000 * (rank * (rank + 1) / 2)))
    call check(number, all(b(2:20:2, 1:4) == -1) .and. all(b(1:20:2, 5:6) == -1))
  end subroutine

  subroutine assumed(v)
    integer :: v(20, *)
    call MPI_Iallreduce(MPI_IN_PLACE, v, 120, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine check(number, right)
    integer, intent(in) :: number
    logical, intent(in) :: right
    if (.not. right) then
      print *, 'check', number, 'fails on rank', rank
      error stop 1
    end if
  end subroutine
end program
