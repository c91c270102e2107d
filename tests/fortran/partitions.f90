! Partitioned communication of sections with gaps: each partition is filled where it lies, after the start.
! run: -n 2 ; says ok
! run: -n 3 ; says ok
program partitions
  use mpi_f08
  implicit none
  integer, parameter :: parts = 6, each = 5
  integer, asynchronous :: a(2, parts * each), b(3, 0:parts * each), whole(parts * each)
  integer, asynchronous :: columns(9, 7), table(7, 12)
  integer :: rank, size, next, before, i, k, round, error, class, each_has
  type(MPI_Request) :: requests(2), refused
  logical :: flag, seen(parts)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  before = mod(rank - 1 + size, size)

  ! A row of one array arrives in a row of another one, backwards, twice.
  call MPI_Psend_init(a(2, :), parts, int(each, MPI_COUNT_KIND), MPI_INTEGER, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(1))
  call MPI_Precv_init(b(3, parts * each:1:-1), parts, int(each, MPI_COUNT_KIND), MPI_INTEGER, before, 1, &
    MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
  do round = 1, 2
    a = -1
    b = -2
    call MPI_Startall(2, requests)
    do k = parts, 1, -1
      do i = (k - 1) * each + 1, k * each
        a(2, i) = 1000 * round + 100 * rank + i
      end do
      call MPI_Pready(k - 1, requests(1))
    end do
    seen = .false.
    do while (.not. all(seen))
      do k = 1, parts
        if (seen(k)) cycle
        call MPI_Parrived(requests(2), k - 1, flag)
        if (.not. flag) cycle
        seen(k) = .true.
        do i = (k - 1) * each + 1, k * each
          call check(b(3, parts * each + 1 - i) == 1000 * round + 100 * before + i, 1)
        end do
      end do
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(b(1:2, :) == -2) .and. b(3, 0) == -2 .and. all(a(1, :) == -1), 2)
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! A row arrives in an array without gaps.
  call MPI_Psend_init(a(2, :), parts, int(each, MPI_COUNT_KIND), MPI_INTEGER, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(1))
  call MPI_Precv_init(whole, parts, int(each, MPI_COUNT_KIND), MPI_INTEGER, before, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(2))
  call MPI_Startall(2, requests)
  a(2, :) = rank
  call MPI_Pready_range(0, parts - 1, requests(1))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(whole == before), 3)
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! Partitions of one, two and three columns of which every second element counts; the columns are equally far apart.
  do each_has = 1, 3
    table = -1
    call MPI_Psend_init(columns(1:9:2, 1:7:1), 6 / each_has, int(5 * each_has, MPI_COUNT_KIND), MPI_INTEGER, next, 4, &
      MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(table(2:6, 12:1:-2), 6 / each_has, int(5 * each_has, MPI_COUNT_KIND), MPI_INTEGER, before, 4, &
      MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    do k = 6 / each_has, 1, -1
      do i = (k - 1) * each_has + 1, k * each_has
        columns(:, i) = rank * 1000 + i * 10 + [0, 1, 2, 3, 4, 5, 6, 7, 8]
      end do
      call MPI_Pready(k - 1, requests(1))
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    do i = 1, 6
      call check(all(table(2:6, 14 - 2 * i) == before * 1000 + i * 10 + [0, 2, 4, 6, 8]), 5)
      call check(all(table(:, 13 - 2 * i) == -1) .and. all(table([1, 7], 14 - 2 * i) == -1), 6)
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end do
  ! One partition may be any section, and one of the first elements.
  table = -1
  call MPI_Psend_init(columns(1:9:2, 1:7:2), 1, 13_MPI_COUNT_KIND, MPI_INTEGER, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(1))
  call MPI_Precv_init(whole, 1, 13_MPI_COUNT_KIND, MPI_INTEGER, before, 5, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
  call MPI_Startall(2, requests)
  call MPI_Pready(0, requests(1))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(whole(1:13) == before * 1000 + &
    [([(i * 10 + k, k = 0, 8, 2)], i = 1, 3, 2), 50, 52, 54]), 7)
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! Partitions that lie differently, and more of them than there are.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Psend_init(b(1:2, 1:5), 2, 5_MPI_COUNT_KIND, MPI_INTEGER, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, refused, error)
  call MPI_Error_class(error, class)
  call check(class == MPI_ERR_BUFFER, 4)
  call MPI_Psend_init(columns(1:9:2, 1:6), 7, 5_MPI_COUNT_KIND, MPI_INTEGER, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &
    refused, error)
  call MPI_Error_class(error, class)
  call check(class == MPI_ERR_BUFFER, 8)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', "ok"
  call MPI_Finalize()
contains
  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (.not. right) then
      print *, "rank", rank, "check", number
      error stop 1
    end if
  end subroutine check
end program partitions
