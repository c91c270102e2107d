! What is right is not refused: where a buffer means nothing its counts and types are not looked at, neighbours that are nobody
! need no room, elements may lie one before the other, and what is no type the call itself tells. Handlers of errors of
! MPI_COMM_WORLD and MPI_COMM_SELF end the program.
! run: -n 1 ; says ok
! run: -n 2 ; says ok
! run: -n 3 ; says ok
program sections_permitted
  use mpi_f08
  implicit none
  integer :: n, rank, i, j, ierror, number = 0
  integer :: own(4)
  type(MPI_Comm) :: world
  type(MPI_Datatype) :: absent(4), freed, back
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, world)
  call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN)
  call MPI_Comm_size(world, n)
  call MPI_Comm_rank(world, rank)
  own = 100 * rank + [1, 2, 3, 4]
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, -4_MPI_ADDRESS_KIND, back)
  call MPI_Type_commit(back)
  call MPI_Type_contiguous(3, MPI_INTEGER, freed)
  call MPI_Type_commit(freed)
  absent(1) = MPI_DATATYPE_NULL
  absent(2)%MPI_VAL = 123456789
  absent(3)%MPI_VAL = 5
  absent(4) = freed
  call MPI_Type_free(freed)
  do i = 1, size(absent)
    call only_at_the_root(absent(i))
    call told_by_the_call(absent(i))
  end do
  call nobody_beside()
  call one_before_the_other()
  call nobody_there()
  call MPI_Finalize()
  print '(a)', 'ok'

contains

  ! At the other ranks neither the buffer nor its counts nor its type mean anything; two kinds of sections.
  subroutine only_at_the_root(none)
    type(MPI_Datatype), intent(in) :: none
    integer :: wide(2, 3 * n), deep(3, 2, 3), counts(n), places(n), got(3), k
    number = 1000
    counts = 3
    places = [(3 * (j - 1), j = 1, n)]
    do k = 1, 8
      wide = -1
      wide(1, :) = [(j, j = 1, 3 * n)]
      deep = -1
      got = -1
      if (rank == 0) then
        select case (k)
        case (1)
          call MPI_Igather(own, 3, MPI_INTEGER, wide(1, :), 3, MPI_INTEGER, 0, world, request, ierror)
        case (2)
          call MPI_Igatherv(own, 3, MPI_INTEGER, wide(1, :), counts, places, MPI_INTEGER, 0, world, request, ierror)
        case (3)
          call MPI_Gather_init(own, 3, MPI_INTEGER, wide(1, :), 3, MPI_INTEGER, 0, world, MPI_INFO_NULL, request, ierror)
        case (4)
          call MPI_Gatherv_init(own, 3, MPI_INTEGER, wide(1, :), counts, places, MPI_INTEGER, 0, world, MPI_INFO_NULL, &
            request, ierror)
        case (5)
          call MPI_Iscatter(wide(1, :), 3, MPI_INTEGER, got, 3, MPI_INTEGER, 0, world, request, ierror)
        case (6)
          call MPI_Iscatterv(wide(1, :), counts, places, MPI_INTEGER, got, 3, MPI_INTEGER, 0, world, request, ierror)
        case (7)
          call MPI_Scatter_init(wide(1, :), 3, MPI_INTEGER, got, 3, MPI_INTEGER, 0, world, MPI_INFO_NULL, request, ierror)
        case (8)
          call MPI_Scatterv_init(wide(1, :), counts, places, MPI_INTEGER, got, 3, MPI_INTEGER, 0, world, MPI_INFO_NULL, &
            request, ierror)
        end select
      else
        select case (k)
        case (1)
          call MPI_Igather(own, 3, MPI_INTEGER, deep(1, 1, :), 99, none, 0, world, request, ierror)
        case (2)
          call MPI_Igatherv(own, 3, MPI_INTEGER, deep(1:2, 1, :), [99], [99], none, 0, world, request, ierror)
        case (3)
          call MPI_Gather_init(own, 3, MPI_INTEGER, deep(1:2, 1, :), 99, none, 0, world, MPI_INFO_NULL, request, ierror)
        case (4)
          call MPI_Gatherv_init(own, 3, MPI_INTEGER, deep(1, 1, :), [99], [99], none, 0, world, MPI_INFO_NULL, request, &
            ierror)
        case (5)
          call MPI_Iscatter(deep(1:2, 1, :), 99, none, got, 3, MPI_INTEGER, 0, world, request, ierror)
        case (6)
          call MPI_Iscatterv(deep(1, 1, :), [99], [99], none, got, 3, MPI_INTEGER, 0, world, request, ierror)
        case (7)
          call MPI_Scatter_init(deep(1, 1, :), 99, none, got, 3, MPI_INTEGER, 0, world, MPI_INFO_NULL, request, ierror)
        case (8)
          call MPI_Scatterv_init(deep(1:2, 1, :), [99], [99], none, got, 3, MPI_INTEGER, 0, world, MPI_INFO_NULL, request, &
            ierror)
        end select
      end if
      call told(MPI_SUCCESS)
      if (mod(k - 1, 4) >= 2) call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (mod(k - 1, 4) >= 2) call MPI_Request_free(request)
      if (k <= 4) then
        call check(rank /= 0 .or. all(wide(1, :) == [((100 * i + j, j = 1, 3), i = 0, n - 1)]))
      else
        call check(all(got == 3 * rank + [1, 2, 3]))
      end if
      call check(all(deep == -1) .and. all(wide(2, :) == -1))
    end do
  end subroutine

  ! The handler of the communicator gets the error, which has the same class as without gaps; no type is asked for of no elements.
  subroutine told_by_the_call(none)
    type(MPI_Datatype), intent(in) :: none
    integer :: wide(2, 3 * n), dense(3 * n), counts(n), places(n)
    type(MPI_Datatype) :: types(n)
    number = 2000
    wide = 7
    counts = 0
    places = 99
    types = none
    call MPI_Allgather(own, 3, MPI_INTEGER, dense, 3, none, world, ierror)
    call told(MPI_ERR_TYPE)
    call MPI_Allgather(own, 3, MPI_INTEGER, wide(1, :), 3, none, world, ierror)
    call told(MPI_ERR_TYPE)
    call MPI_Iallgather(own, 3, MPI_INTEGER, wide(1, :), 3, none, world, request, ierror)
    call told(MPI_ERR_TYPE)
    call MPI_Send(wide(1, :), 3, none, rank, 0, world, ierror)
    call told(MPI_ERR_TYPE)
    call MPI_Psend_init(wide(1, :), 3, 1_MPI_COUNT_KIND, none, rank, 0, world, MPI_INFO_NULL, request, ierror)
    call told(MPI_ERR_TYPE)
    if (none /= MPI_DATATYPE_NULL) return
    call MPI_Alltoallw(dense, counts, places, types, wide(1, :), counts, places, types, world, ierror)
    call told(MPI_SUCCESS)
    call MPI_Allgatherv(own, 0, MPI_INTEGER, dense, counts, places, none, world, ierror)
    call told(MPI_SUCCESS)
    call MPI_Allgatherv(own, 0, MPI_INTEGER, wide(1, :), counts, places, none, world, ierror)
    call told(MPI_SUCCESS)
    call MPI_Iallgatherv(own, 0, MPI_INTEGER, wide(1, :), counts, places, none, world, request, ierror)
    call told(MPI_SUCCESS)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(wide == 7))
  end subroutine

  ! At the ends of a line. What there is to receive lies in the first two places.
  subroutine nobody_beside()
    integer :: wide(2, 4), counts(2), places(2), bytes(2), kind, last
    integer(MPI_ADDRESS_KIND) :: far(2)
    type(MPI_Datatype) :: types(2)
    type(MPI_Comm) :: line
    logical :: is(2)
    number = 3000
    call MPI_Cart_create(world, 1, [n], [.false.], .false., line)
    call MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN)
    is = [rank > 0, rank < n - 1]
    counts = merge(2, 999, is)
    places = merge([0, merge(2, 0, rank > 0)], -99, is)
    bytes = 4 * places
    far = bytes
    types = MPI_INTEGER
    last = 2 * count(is)
    do kind = 1, 4
      wide = -1
      select case (kind)
      case (1)
        call MPI_Neighbor_alltoallv(own, [2, 2], [0, 2], MPI_INTEGER, wide(1, 1:last), counts, places, MPI_INTEGER, line, ierror)
      case (2)
        call MPI_Ineighbor_alltoallv(own, [2, 2], [0, 2], MPI_INTEGER, wide(1, 1:last), counts, places, MPI_INTEGER, line, &
          request, ierror)
      case (3)
        call MPI_Neighbor_alltoallw(own, [2, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], &
          wide(1, 1:last), counts, far, types, line, ierror)
      case (4)
        call MPI_Ineighbor_alltoallw(own, [2, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], &
          wide(1, 1:last), counts, far, types, line, request, ierror)
      end select
      call told(MPI_SUCCESS)
      if (mod(kind, 2) == 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (is(1)) call check(all(wide(1, 1:2) == 100 * (rank - 1) + [3, 4]))
      if (is(2)) call check(all(wide(1, last - 1:last) == 100 * (rank + 1) + [1, 2]))
      call check(all(wide(1, last + 1:) == -1) .and. all(wide(2, :) == -1))
    end do
    ! Blocks one behind the other: only the one at the end may be missing.
    last = merge(4, 2 * merge(1, 0, is(1)), is(2))
    wide = -1
    call MPI_Neighbor_allgather(own, 2, MPI_INTEGER, wide(1, 1:last), 2, MPI_INTEGER, line, ierror)
    call told(MPI_SUCCESS)
    if (is(1)) call check(all(wide(1, 1:2) == 100 * (rank - 1) + [1, 2]))
    if (is(2)) call check(all(wide(1, 3:4) == 100 * (rank + 1) + [1, 2]))
    call MPI_Ineighbor_alltoall(wide(1, 1:last), 2, MPI_INTEGER, own, 0, MPI_INTEGER, world, request, ierror)
    call told(MPI_ERR_TOPOLOGY)
    ! Those who are somebody need their room.
    if (n > 1) then
      call MPI_Neighbor_alltoallv(own, [2, 2], [0, 2], MPI_INTEGER, wide(1, :), merge(5, 0, is), [0, 0], MPI_INTEGER, line, &
        ierror)
      call told(MPI_ERR_BUFFER)
      call MPI_Neighbor_allgather(own, 5, MPI_INTEGER, wide(1, :), 5, MPI_INTEGER, line, ierror)
      call told(MPI_ERR_BUFFER)
    end if
    call MPI_Comm_free(line)
  end subroutine

  ! Types with an extent of minus one element. Of a single one it does not matter, and displacements are counted in it.
  subroutine one_before_the_other()
    integer :: wide(2, n + 2), counts(n), places(n), three(3)
    type(MPI_Datatype) :: third, ahead
    number = 4000
    counts = 1
    places = [(1 - i, i = 1, n)]
    wide = -1
    call MPI_Allgatherv(own, 1, MPI_INTEGER, wide(1, :), counts, places, back, world, ierror)
    call told(MPI_SUCCESS)
    call check(all(wide(1, :) == [[(100 * i + 1, i = 0, n - 1)], -1, -1]))
    wide = -1
    call MPI_Iallgatherv(own, 1, MPI_INTEGER, wide(1, :), counts, places, back, world, request, ierror)
    call told(MPI_SUCCESS)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(wide(1, :) == [[(100 * i + 1, i = 0, n - 1)], -1, -1]))
    wide(1, 1:3) = [1, 2, 3]
    call MPI_Sendrecv(wide(1, :), 1, back, rank, 0, three, 1, MPI_INTEGER, rank, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call check(three(1) == 1)
    ! From the third element on to the first.
    call MPI_Type_create_hindexed(1, [1], [8_MPI_ADDRESS_KIND], MPI_INTEGER, third)
    call MPI_Type_create_resized(third, 0_MPI_ADDRESS_KIND, -4_MPI_ADDRESS_KIND, ahead)
    call MPI_Type_commit(ahead)
    call MPI_Sendrecv(wide(1, :), 3, ahead, rank, 0, three, 3, MPI_INTEGER, rank, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call check(all(three == [3, 2, 1]))
    wide = -1
    call MPI_Sendrecv(three, 3, MPI_INTEGER, rank, 0, wide(1, :), 3, ahead, rank, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call check(all(wide(1, 1:3) == [1, 2, 3]) .and. all(wide(2, :) == -1) .and. all(wide(1, 4:) == -1))
    ! The last one would lie before the section.
    call MPI_Send(wide(1, :), 4, ahead, rank, 0, world, ierror)
    call told(MPI_ERR_BUFFER)
    places = [(i, i = 1, n)]
    call MPI_Allgatherv(own, 1, MPI_INTEGER, wide(1, :), counts, places, back, world, ierror)
    call told(MPI_ERR_BUFFER)
    call MPI_Type_free(ahead)
    call MPI_Type_free(third)
  end subroutine

  ! Nothing goes to MPI_PROC_NULL, and nothing comes from there.
  subroutine nobody_there()
    integer :: wide(2, 4), got(4)
    type(MPI_Message) :: message
    type(MPI_Win) :: win
    number = 5000
    wide = -1
    got = -1
    call MPI_Recv(got(1:2), 99, MPI_INTEGER, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call MPI_Recv(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call MPI_Irecv(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0, world, request, ierror)
    call told(MPI_SUCCESS)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Send(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0, world, ierror)
    call told(MPI_SUCCESS)
    call MPI_Send_init(got(1:2), 99, MPI_INTEGER, MPI_PROC_NULL, 0, world, request, ierror)
    call told(MPI_SUCCESS)
    call MPI_Request_free(request)
    call MPI_Precv_init(wide(1, :), 3, 5_MPI_COUNT_KIND, MPI_INTEGER, MPI_PROC_NULL, 0, world, MPI_INFO_NULL, request, ierror)
    call told(MPI_SUCCESS)
    call MPI_Request_free(request)
    call MPI_Mprobe(MPI_PROC_NULL, 0, world, message, MPI_STATUS_IGNORE)
    call MPI_Mrecv(wide(1, :), 99, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call MPI_Sendrecv_replace(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call check(all(wide == -1) .and. all(got == -1))
    ! At one side alone.
    call MPI_Isend(own, 4, MPI_INTEGER, rank, 1, world, request)
    call MPI_Sendrecv(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0, wide(2, :), 4, MPI_INTEGER, rank, 1, world, &
      MPI_STATUS_IGNORE, ierror)
    call told(MPI_SUCCESS)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(wide(2, :) == own) .and. all(wide(1, :) == -1))
    call MPI_Sendrecv(wide(1, :), 99, MPI_INTEGER, rank, 0, got, 99, MPI_INTEGER, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE, &
      ierror)
    call told(MPI_ERR_BUFFER)
    call MPI_Sendrecv_replace(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0, rank, 0, world, MPI_STATUS_IGNORE, ierror)
    call told(MPI_ERR_BUFFER)
    ! To and from windows.
    call MPI_Win_create(own, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, world, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0_MPI_ADDRESS_KIND, 99, MPI_INTEGER, win)
    call MPI_Get(got(1:2), 99, MPI_INTEGER, MPI_PROC_NULL, 0_MPI_ADDRESS_KIND, 99, MPI_INTEGER, win)
    call MPI_Accumulate(wide(1, :), 99, MPI_INTEGER, MPI_PROC_NULL, 0_MPI_ADDRESS_KIND, 99, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call check(all(got == -1) .and. all(wide(1, :) == -1))
  end subroutine

  subroutine told(class)
    integer, intent(in) :: class
    integer :: was
    call MPI_Error_class(ierror, was)
    number = number + 1
    if (was /= class) then
      print *, 'check', number, 'failed: class', was, 'and not', class
      flush(6)
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end subroutine

  subroutine check(is_right)
    logical, intent(in) :: is_right
    number = number + 1
    if (is_right) return
    print *, 'check', number, 'failed: wrong numbers'
    flush(6)
    call MPI_Abort(MPI_COMM_WORLD, 2)
  end subroutine
end program
