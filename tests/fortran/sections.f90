! Sections of arrays as buffers: with gaps, of rank 15, of no size, of assumed size, not allocated;
! with types of the program, in blocking and in non-blocking calls.
! run: -n 2 ; says ok
! run: -n 3 ; says ok
program sections
  use mpi_f08
  implicit none
  integer, allocatable :: none(:)
  integer, target :: a(20, 6), b(20, 6), deep(2, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4)
  integer :: got(2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2), sent(2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)
  integer :: rank, size, next, prev, i, j, count, displs(3), counts(3), total(20, 6)
  integer, pointer :: p(:, :)
  double precision :: x(10)
  complex :: z(8)
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: every, gap
  type(MPI_Status) :: status
  type point
    sequence
    integer :: x, y, z
  end type
  type(point) :: points(5)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  do j = 1, 6
    a(:, j) = rank * 1000 + [(i * 10 + j, i = 1, 20)]
  end do

  ! Rows, both ways, and one into the other.
  b = -1
  call MPI_Irecv(b(1:20:2, :), 60, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(a(20:1:-2, :), 60, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(1, all(b(1:20:2, :) == a(20:1:-2, :) + (prev - rank) * 1000))
  call check(2, all(b(2:20:2, :) == -1))

  ! Fewer elements than the section has: the first ones, in array element order.
  b = -1
  call MPI_Sendrecv(a(2:6, 2:3), 7, MPI_INTEGER, next, 2, b(11:15, 4:5), 10, MPI_INTEGER, prev, 2, &
                    MPI_COMM_WORLD, status)
  call MPI_Get_elements(status, MPI_INTEGER, count)
  call check(3, count == 7)
  call check(4, all(b(11:15, 4) == a(2:6, 2) + (prev - rank) * 1000) .and. all(b(14:15, 5) == -1))
  call check(5, all(b(11:12, 5) == a(2:3, 3) + (prev - rank) * 1000) .and. all(b(13:15, 5) == -1))

  ! A type with gaps of its own on a section with gaps: each second of every third.
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, &
                               int(storage_size(0) / 4, MPI_ADDRESS_KIND), every)
  call MPI_Type_commit(every)
  b = -1
  call MPI_Sendrecv(a(1:20:3, 1), 3, every, next, 3, b(1:20:2, 6), 3, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, status)
  call check(6, all(b(1:5:2, 6) == a(1:13:6, 1) + (prev - rank) * 1000))
  call check(7, all(b(2:6:2, 6) == -1) .and. all(b(7:, 6) == -1))
  call MPI_Type_free(every)
  ! One type of several elements, without gaps.
  call MPI_Type_contiguous(3, MPI_INTEGER, gap)
  call MPI_Type_commit(gap)
  b = -1
  call MPI_Sendrecv(a(1:20:3, 2), 2, gap, next, 4, b(2:20:3, 1), 6, MPI_INTEGER, prev, 4, MPI_COMM_WORLD, status)
  call check(8, all(b(2:17:3, 1) == a(1:16:3, 2) + (prev - rank) * 1000) .and. b(20, 1) == -1)
  call MPI_Type_free(gap)
  ! Several of a type make one element.
  z = [(cmplx(rank * 100 + i, -i), i = 1, 8)]
  x = 0
  call MPI_Sendrecv_replace(z(1:8:2), 8, MPI_REAL, next, 5, prev, 5, MPI_COMM_WORLD, status)
  call check(9, all(real(z(1:8:2)) == prev * 100 + [1, 3, 5, 7]) .and. all(real(z(2:8:2)) == rank * 100 + [2, 4, 6, 8]))

  ! A component of an array of a type.
  points = point(rank, rank + 10, rank + 20)
  call MPI_Bcast(points%y, 5, MPI_INTEGER, size - 1, MPI_COMM_WORLD)
  call check(10, all(points%y == size + 9) .and. all(points%x == rank) .and. all(points%z == rank + 20))

  ! Rank 15.
  deep = reshape([(rank * 1000 + i, i = 1, 32)], shape(deep))
  sent = deep(:, 2:2, :, :, :, :, :, :, :, :, :, :, :, :, 1:4:2)
  got = -1
  call MPI_Sendrecv(deep(:, 2:2, :, :, :, :, :, :, :, :, :, :, :, :, 1:4:2), 8, MPI_INTEGER, next, 6, &
                    got, 8, MPI_INTEGER, prev, 6, MPI_COMM_WORLD, status)
  call check(11, all(got == sent + (prev - rank) * 1000))

  ! Reductions and collectives with displacements.
  do j = 1, 6
    total(:, j) = [(i * 10 + j, i = 1, 20)]
  end do
  b = -1
  call MPI_Allreduce(a(2:20:3, 2:6:2), b(1:20:3, 1:3), 21, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(12, all(b(1:19:3, 1:3) == size * total(2:20:3, 2:6:2) + 1000 * (size * (size - 1) / 2)))
  call check(13, all(b(2:20:3, :) == -1) .and. all(b(:, 4:) == -1))
  call MPI_Reduce(a(2:20:3, 1), b(1:20:3, 4), 7, MPI_INTEGER, MPI_MAX, 1, MPI_COMM_WORLD)
  call check(14, rank /= 1 .or. all(b(1:20:3, 4) == total(2:20:3, 1) + 1000 * (size - 1)))
  b = -1
  call MPI_Allgather(a(1:4:2, 3), 2, MPI_INTEGER, b(1:20:3, 2), 2, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    call check(15, all(b(6*i-5:6*i-2:3, 2) == [13, 33] + (i - 1) * 1000))
  end do
  counts = 1
  displs = [2, 0, 4]
  b = -1
  call MPI_Iallgatherv(a(5:5, 1), 1, MPI_INTEGER, b(3, :), counts, displs, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call check(16, all(b(3, displs(1:size) + 1) == 51 + [(i * 1000, i = 0, size - 1)]) .and. b(3, 2) == -1)
  call MPI_Gather(a(3:4, 1), 2, MPI_INTEGER, b(1:20:2, 6), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (rank == 0) call check(17, all(b(1:2*size*2:4, 6) == 31 + [(i * 1000, i = 0, size - 1)]))

  ! Nothing, and what is not there.
  call MPI_Sendrecv(a(1:0, :), 0, MPI_INTEGER, next, 7, none, 0, MPI_INTEGER, prev, 7, MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call check(18, count == 0)
  nullify(p)
  call MPI_Bcast(p, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
  p => b(2:20:2, 2:6:2)
  p = rank
  call MPI_Bcast(p, 30, MPI_INTEGER, 1, MPI_COMM_WORLD)
  call check(19, all(p == 1))
  call assumed(a, 120)
  call check(20, all(a == reshape([(j, j = 1, 120)], [20, 6])))

  ! More elements than the section has are refused.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(a(1:20:2, 1), 11, MPI_INTEGER, next, 8, MPI_COMM_WORLD, i)
  call MPI_Error_class(i, j)
  call check(21, j == MPI_ERR_BUFFER)

  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print *, 'ok'
  call MPI_Finalize()
contains
  subroutine assumed(v, n)
    integer, intent(in) :: n
    integer :: v(10, *)
    integer :: k
    if (rank == 0) v(:, 1:n/10) = reshape([(k, k = 1, n)], [10, n / 10])
    call MPI_Bcast(v, n, MPI_INTEGER, 0, MPI_COMM_WORLD)
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
