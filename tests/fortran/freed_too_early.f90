! Memory that is freed while a request uses it, which `mpirun --check` finds; and that nothing is found where all is well.
! run: -n 2 --check -- receive ; fails ; says rank 1: (free|munmap) .* \d+ bytes at 0x\w+ are given back, in which the buffer \w+ of a pending MPI_Irecv lies \(3996 bytes ; says the request was made by ; never says not found
! run: -n 2 --check -- send ; fails ; says rank 1: (free|munmap) .* a pending MPI_Isend lies \(8000000 bytes ; never says not found
! run: -n 2 --check -- copy ; fails ; says rank 1: (free|munmap) .* a pending MPI_Iallreduce lies ; never says not found
! run: -n 2 --check -- local ; fails ; says rank 1: (free|munmap) .* a pending MPI_Irecv lies \(400 bytes ; never says not found
! run: -n 2 --check -- moved ; fails ; says rank 1: (free|realloc) .* a pending MPI_Irecv lies \(4000 bytes ; never says not found
! run: -n 2 --check -- persistent ; fails ; says rank 1: (free|munmap) .* a pending MPI_Recv_init lies ; never says not found
! run: -n 2 --check -- right ; says all is well
! run: -n 2 -- right ; says all is well
! run: -n 3 --check -- right ; says all is well
program freed_too_early
  use mpi_f08
  implicit none
  character(16) :: what
  integer :: rank, size, other, i
  type(MPI_Request) :: request
  integer, allocatable :: a(:), b(:, :)
  integer :: total(5, 4)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call get_command_argument(1, what)
  if (what == "right") then
    do i = 1, 3
      call right()
    end do
    if (rank == 0) print '(a)', "all is well"
    call MPI_Finalize()
    stop
  end if
  other = 1 - rank
  allocate (a(1000), b(10, 4))
  a = rank
  b = rank
  if (rank == 0) then
    ! What ends this rank is the end of the other one.
    call MPI_Recv(a, 1000, MPI_INTEGER, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  select case (what)
  case ("receive")
    call MPI_Irecv(a(1:1000:2), 500, MPI_INTEGER, other, 0, MPI_COMM_WORLD, request)
    deallocate (a)
  case ("send")
    deallocate (a)
    allocate (a(2000000))
    a = 1
    call MPI_Isend(a, 2000000, MPI_INTEGER, other, 0, MPI_COMM_WORLD, request)
    deallocate (a)
  case ("copy")
    call MPI_Iallreduce(b(1:10:2, :), total, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    deallocate (b)
  case ("local")
    call begin(request)
  case ("moved")
    call MPI_Irecv(a, 1000, MPI_INTEGER, other, 0, MPI_COMM_WORLD, request)
    a = [a, (i, i = 1, 1000000)]
  case ("persistent")
    call MPI_Recv_init(a, 1000, MPI_INTEGER, other, 0, MPI_COMM_WORLD, request)
    call MPI_Start(request)
    deallocate (a)
  end select
  print '(a)', "not found"
  call MPI_Wait(request, MPI_STATUS_IGNORE)
contains
  subroutine begin(request)
    type(MPI_Request), intent(out) :: request
    integer, allocatable :: mine(:)
    allocate (mine(100))
    call MPI_Irecv(mine, 100, MPI_INTEGER, other, 0, MPI_COMM_WORLD, request)
  end subroutine begin

  ! Each way to learn of the end, after which the memory is freed.
  subroutine right()
    integer, allocatable :: from(:), to(:, :), many(:, :)
    integer, asynchronous, allocatable :: kept(:)
    type(MPI_Request) :: requests(4)
    integer :: next, before, k, done, indices(4)
    logical :: flag
    next = mod(rank + 1, size)
    before = mod(rank - 1 + size, size)

    allocate (from(1000), to(1000, 2))
    from = rank
    call MPI_Irecv(to(1:1000:2, 1), 500, MPI_INTEGER, before, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(from(1:500), 500, MPI_INTEGER, next, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (any(to(1:1000:2, 1) /= before)) error stop 1
    deallocate (from, to)

    ! Of one after the other.
    allocate (from(400), many(100, 4))
    from = rank
    do k = 1, 4
      call MPI_Irecv(many(:, k), 100, MPI_INTEGER, before, k, MPI_COMM_WORLD, requests(k))
    end do
    do k = 1, 4
      call MPI_Send(from(k:400:4), 100, MPI_INTEGER, next, k, MPI_COMM_WORLD)
    end do
    call MPI_Waitany(4, requests, k, MPI_STATUS_IGNORE)
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(4, requests, k, flag, MPI_STATUS_IGNORE)
    end do
    done = 0
    do while (done /= MPI_UNDEFINED)
      call MPI_Waitsome(4, requests, done, indices, MPI_STATUSES_IGNORE)
    end do
    if (any(many /= before)) error stop 2
    deallocate (from, many)

    ! A persistent one, which is not active.
    allocate (kept(100), from(100))
    from = rank
    call MPI_Recv_init(kept, 100, MPI_INTEGER, before, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Start(requests(1))
    call MPI_Send(from, 100, MPI_INTEGER, next, 5, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    if (any(kept /= before)) error stop 3
    deallocate (kept)
    call MPI_Request_free(requests(1))

    ! Copies of sections, and memory of each rank.
    allocate (to(10, 4), many(10, 4))
    to = rank
    call MPI_Iallreduce(to(1:10:2, :), many(2:10:2, :), 20, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(1))
    call MPI_Ibcast(from, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(3))
    requests(4) = MPI_REQUEST_NULL
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    if (any(many(2:10:2, :) /= size - 1) .or. any(from /= 0)) error stop 4
    deallocate (to, many, from)

    allocate (from(size), to(size, 1))
    from = rank
    call MPI_Ialltoallv(from, [(1, k = 1, size)], [(k - 1, k = 1, size)], MPI_INTEGER, to, [(1, k = 1, size)], &
      [(k - 1, k = 1, size)], MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    flag = .false.
    do while (.not. flag)
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
    end do
    if (any(to(:, 1) /= [(k - 1, k = 1, size)])) error stop 5
    deallocate (from, to)
  end subroutine right
end program freed_too_early
