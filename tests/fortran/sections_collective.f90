! In collectives, too, sections with gaps that are shorter than what counts and displacements name are refused, where the
! buffer means something; and those that are as long are not.
! compiler: gfortran
! run: -n 1 ; says ok
! run: -n 3 ; says ok
program sections_collective
  use mpi_f08
  implicit none
  integer, parameter :: many = 200000
  integer :: n, rank, i, left, ierror, number = 0, position
  integer, allocatable :: dense(:), counts(:), places(:), bytes(:)
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Comm) :: world, ring, other, part
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, world)
  call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN)
  call MPI_Comm_size(world, n)
  call MPI_Comm_rank(world, rank)
  allocate(dense(many * n), counts(n), places(n), bytes(n), types(n))
  types = MPI_INTEGER
  dense = 0
  ! The first call has a section of three elements, the second one that is just long enough.
  do left = 0, 1
    counts = many
    do i = 1, n
      places(i) = (i - 1) * many
    end do
    bytes = 4 * places
    call all_of_them(left == 1)
  end do
  call only_displacements()
  call where_nothing_is_meant()
  call MPI_Finalize()
  print '(a)', 'ok'

contains

  ! Sections of `short(1, :)`, which have gaps: of one block, and of one for each rank.
  subroutine all_of_them(fits)
    logical, intent(in) :: fits
    integer :: one, each
    integer, allocatable :: a(:, :), b(:, :), c(:, :, :)
    one = merge(many, 3, fits)
    each = merge(many * n, 3, fits)
    allocate(a(2, one), b(2, each), c(3, 2, (each + 1) / 2))
    a = 0
    b = 0
    c = 0
    number = merge(1000, 0, fits)
    call MPI_Allgather(dense, many, MPI_INTEGER, b(1, :), many, MPI_INTEGER, world, ierror)
    call told(fits)
    call MPI_Allgatherv(dense, many, MPI_INTEGER, b(1, :), counts, places, MPI_INTEGER, world, ierror)
    call told(fits)
    call MPI_Alltoall(dense, many, MPI_INTEGER, b(1, :), many, MPI_INTEGER, world, ierror)
    call told(fits)
    call MPI_Alltoall(b(1, :), many, MPI_INTEGER, dense, many, MPI_INTEGER, world, ierror)
    call told(fits)
    call MPI_Alltoallv(dense, counts, places, MPI_INTEGER, b(1, :), counts, places, MPI_INTEGER, world, ierror)
    call told(fits)
    call MPI_Alltoallw(dense, counts, bytes, types, b(1, :), counts, bytes, types, world, ierror)
    call told(fits)
    call MPI_Reduce_scatter(b(1, :), dense, counts, MPI_INTEGER, MPI_SUM, world, ierror)
    call told(fits)
    call MPI_Reduce_scatter(dense, a(1, :), counts, MPI_INTEGER, MPI_SUM, world, ierror)
    call told(fits)
    call MPI_Reduce_scatter(MPI_IN_PLACE, b(1, :), counts, MPI_INTEGER, MPI_SUM, world, ierror)
    call told(fits)
    call MPI_Reduce_scatter_block(b(1, :), dense, many, MPI_INTEGER, MPI_SUM, world, ierror)
    call told(fits)
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, b(1, :), many, MPI_INTEGER, MPI_SUM, world, ierror)
    call told(fits)
    call MPI_Allreduce(dense, a(1, :), many, MPI_INTEGER, MPI_SUM, world, ierror)
    call told(fits)
    call MPI_Bcast(a(1, :), many, MPI_INTEGER, 0, world, ierror)
    call told(fits)
    position = 0
    call MPI_Pack(dense, many, MPI_INTEGER, a(1, :), 4 * many, position, world, ierror)
    call told(fits)
    position = 0
    call MPI_Unpack(a(1, :), 4 * many, position, dense, many, MPI_INTEGER, world, ierror)
    call told(fits)
    ! A section whose distances differ is copied for the time that the operation takes.
    call MPI_Iallgather(dense, many, MPI_INTEGER, b(1, :), many, MPI_INTEGER, world, request, ierror)
    call told_and_waited(fits)
    call MPI_Iallgather(dense, many, MPI_INTEGER, c(1:2, 1, :), many, MPI_INTEGER, world, request, ierror)
    call told_and_waited(fits)
    call MPI_Iallgatherv(dense, many, MPI_INTEGER, c(1:2, 1, :), counts, places, MPI_INTEGER, world, request, ierror)
    call told_and_waited(fits)
    call MPI_Ialltoallv(dense, counts, places, MPI_INTEGER, b(1, :), counts, places, MPI_INTEGER, world, request, ierror)
    call told_and_waited(fits)
    call MPI_Ialltoallw(dense, counts, bytes, types, b(1, :), counts, bytes, types, world, request, ierror)
    call told_and_waited(fits)
    call MPI_Ireduce_scatter(dense, a(1, :), counts, MPI_INTEGER, MPI_SUM, world, request, ierror)
    call told_and_waited(fits)
    call MPI_Allgather_init(dense, many, MPI_INTEGER, b(1, :), many, MPI_INTEGER, world, MPI_INFO_NULL, request, ierror)
    call told(fits)
    if (ierror == MPI_SUCCESS) call MPI_Request_free(request)
    ! At one rank alone, as the others would wait for what does not come.
    if (n > 1 .and. .not. fits) return
    call MPI_Gather(dense, many, MPI_INTEGER, b(1, :), many, MPI_INTEGER, 0, world, ierror)
    call told(fits)
    call MPI_Gatherv(dense, many, MPI_INTEGER, b(1, :), counts, places, MPI_INTEGER, 0, world, ierror)
    call told(fits)
    call MPI_Scatter(b(1, :), many, MPI_INTEGER, dense, many, MPI_INTEGER, 0, world, ierror)
    call told(fits)
    call MPI_Scatterv(b(1, :), counts, places, MPI_INTEGER, dense, many, MPI_INTEGER, 0, world, ierror)
    call told(fits)
    call MPI_Reduce(dense, a(1, :), many, MPI_INTEGER, MPI_SUM, 0, world, ierror)
    call told(fits)
    call MPI_Igatherv(dense, many, MPI_INTEGER, b(1, :), counts, places, MPI_INTEGER, 0, world, request, ierror)
    call told_and_waited(fits)
    call neighbors(b, fits)
  end subroutine

  ! Two neighbours of each rank, of which one rank alone is both.
  subroutine neighbors(b, fits)
    integer, intent(inout) :: b(:, :)
    logical, intent(in) :: fits
    integer :: parts(2), from(2)
    parts = many / 2
    from = [0, many / 2]
    call MPI_Cart_create(world, 1, [n], [.true.], .false., ring)
    call MPI_Neighbor_allgather(dense, many / 2, MPI_INTEGER, b(1, :), many / 2, MPI_INTEGER, ring, ierror)
    call told(fits)
    call MPI_Neighbor_alltoallv(dense, parts, from, MPI_INTEGER, b(1, :), parts, from, MPI_INTEGER, ring, ierror)
    call told(fits)
    call MPI_Comm_free(ring)
  end subroutine

  ! Few elements that lie behind the section, or before it.
  subroutine only_displacements()
    integer :: a(2, 10)
    number = 2000
    counts = 1
    places = 10
    call MPI_Allgatherv(dense, 1, MPI_INTEGER, a(1, :), counts, places, MPI_INTEGER, world, ierror)
    call told(.false.)
    places = -1
    call MPI_Allgatherv(dense, 1, MPI_INTEGER, a(1, :), counts, places, MPI_INTEGER, world, ierror)
    call told(.false.)
    bytes = 38
    places = 0
    call MPI_Alltoallw(dense, counts, places, types, a(1, :), counts, bytes, types, world, ierror)
    call told(.false.)
    do i = 1, n
      bytes(i) = 40 - 4 * i
    end do
    call MPI_Alltoallw(dense, counts, places, types, a(1, :), counts, bytes, types, world, ierror)
    call told(.true.)
    ! A count of none may have any place and any type.
    counts = 0
    places = -100
    call MPI_Allgatherv(dense, 0, MPI_INTEGER, a(1, :), counts, places, MPI_INTEGER, world, ierror)
    call told(.true.)
  end subroutine

  subroutine where_nothing_is_meant()
    integer :: a(2, 3)
    number = 3000
    a = 7
    counts = 100
    do i = 1, n
      places(i) = 100 * (i - 1)
    end do
    if (n == 1) return
    if (rank == 0) then
      call MPI_Gather(dense, 100, MPI_INTEGER, dense(1001:), 100, MPI_INTEGER, 0, world, ierror)
      call told(.true.)
      call MPI_Gatherv(dense, 100, MPI_INTEGER, dense(1001:), counts, places, MPI_INTEGER, 0, world, ierror)
      call told(.true.)
      call MPI_Scatter(dense, 100, MPI_INTEGER, dense(1001:), 100, MPI_INTEGER, 0, world, ierror)
      call told(.true.)
      call MPI_Reduce(dense, dense(1001:), 100, MPI_INTEGER, MPI_SUM, 0, world, ierror)
      call told(.true.)
      call MPI_Exscan(dense, a(1, :), 100, MPI_INTEGER, MPI_SUM, world, ierror)
      call told(.true.)
    else
      call MPI_Gather(dense, 100, MPI_INTEGER, a(1, :), 100, MPI_INTEGER, 0, world, ierror)
      call told(.true.)
      call MPI_Gatherv(dense, 100, MPI_INTEGER, a(1, :), counts, places, MPI_INTEGER, 0, world, ierror)
      call told(.true.)
      call MPI_Scatter(a(1, :), 100, MPI_INTEGER, dense, 100, MPI_INTEGER, 0, world, ierror)
      call told(.true.)
      call MPI_Reduce(dense, a(1, :), 100, MPI_INTEGER, MPI_SUM, 0, world, ierror)
      call told(.true.)
      call MPI_Exscan(dense, dense(1001:), 100, MPI_INTEGER, MPI_SUM, world, ierror)
      call told(.true.)
    end if
    ! In the group of the root, only the root's counts. A root is a rank of the other group.
    call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 0), 0, part)
    call MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, merge(1, 0, rank == 0), 0, other)
    call MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN)
    if (rank == 0) then
      call MPI_Reduce(a(1, :), dense, 100, MPI_INTEGER, MPI_SUM, MPI_ROOT, other, ierror)
      call told(.true.)
      call MPI_Gather(a(1, :), 100, MPI_INTEGER, dense, 100, MPI_INTEGER, MPI_ROOT, other, ierror)
      call told(.true.)
    else
      call MPI_Reduce(dense, a(1, :), 100, MPI_INTEGER, MPI_SUM, 0, other, ierror)
      call told(.true.)
      call MPI_Gather(dense, 100, MPI_INTEGER, a(1, :), 100, MPI_INTEGER, 0, other, ierror)
      call told(.true.)
    end if
    call MPI_Comm_free(other)
    if (any(a /= 7)) call MPI_Abort(MPI_COMM_WORLD, 2)
  end subroutine

  subroutine told_and_waited(fits)
    logical, intent(in) :: fits
    call told(fits)
    if (ierror == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine told(fits)
    logical, intent(in) :: fits
    integer :: class
    call MPI_Error_class(ierror, class)
    number = number + 1
    if (class /= merge(MPI_SUCCESS, MPI_ERR_BUFFER, fits)) then
      print *, 'check', number, 'failed: class', class
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end subroutine
end program
