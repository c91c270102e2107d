! Of sections that are copied, only what an operation has received is written back: the rest is the program's, or another
! operation's.
! run: -n 2 ; says ok
! run: -n 3 ; says ok
! run: -n 3 --set LINK=tcp ; says ok
program sections_apart
    use mpi_f08
    implicit none
    integer, parameter :: n = 2000
    integer :: rank, size, i, outcount, wrong
    integer :: indices(64), room(0:65)
    integer, allocatable :: from(:, :), into(:, :, :), both(:, :, :), counts(:), places(:), again(:)
    type(MPI_Request) :: one, two, some(2)
    type(MPI_Status) :: statuses(2)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    wrong = 0

    ! At other members than the root the buffer for the result means nothing, and is used meanwhile.
    allocate(from(2, n), into(3, 2, n))
    from = 1
    into = -7
    call MPI_Ireduce(from(1, :), into(1, 1, :), n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, one)
    if (rank /= 0) into(1, 1, :) = -rank
    call MPI_Wait(one, MPI_STATUS_IGNORE)
    if (rank == 0) then
        wrong = wrong + count(into(1, 1, :) /= size)
    else
        wrong = wrong + count(into(1, 1, :) /= -rank)
    end if

    ! What lies behind the count.
    into = -7
    call MPI_Iallreduce(from(2, :), into(2, 1, :), n / 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, one)
    into(2, 1, n / 2 + 1:) = 5
    call MPI_Wait(one, MPI_STATUS_IGNORE)
    wrong = wrong + count(into(2, 1, :n / 2) /= size) + count(into(2, 1, n / 2 + 1:) /= 5)

    ! Two operations with parts of one section that has more than one stride; the one that was started last is complete first.
    allocate(both(3, 2, n), counts(size), places(size), again(2 * n))
    do i = 1, size
        counts(i) = 10
        places(i) = 10 * (i - 1)
    end do
    both = -1
    again = 100 + rank
    call MPI_Iallgatherv(again, 10, MPI_INTEGER, both(1:2, 1, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD, one)
    again = 100 + rank
    places = places + n
    call MPI_Iallgatherv(again, 10, MPI_INTEGER, both(1:2, 1, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD, two)
    call MPI_Wait(two, MPI_STATUS_IGNORE)
    call MPI_Wait(one, MPI_STATUS_IGNORE)
    do i = 1, 10 * size
        ! Element i of a section whose first dimension has two elements.
        if (both(1 + mod(i - 1, 2), 1, 1 + (i - 1) / 2) /= 100 + (i - 1) / 10) wrong = wrong + 1
        if (both(1 + mod(n + i - 1, 2), 1, 1 + (n + i - 1) / 2) /= 100 + (i - 1) / 10) wrong = wrong + 1
    end do
    wrong = wrong + count(both(3, :, :) /= -1) + count(both(:, 2, :) /= -1)

    ! A persistent one, with other values each time.
    call MPI_Allreduce_init(from(1, :), into(1, 2, :), n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, one)
    do i = 1, 5
        from(1, :) = i * (rank + 1)
        into(1, 2, :) = -i
        call MPI_Start(one)
        call MPI_Wait(one, MPI_STATUS_IGNORE)
        wrong = wrong + count(into(1, 2, :) /= i * size)
    end do
    call MPI_Request_free(one)

    ! Of a call that fails nothing is counted.
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    room = 77
    indices = 77
    outcount = 60
    some = MPI_REQUEST_NULL
    call MPI_Waitsome(-1, some, outcount, indices, statuses, i)
    if (i == MPI_SUCCESS) wrong = wrong + 1
    wrong = wrong + count(indices /= 77)
    outcount = 60
    call MPI_Testsome(-1, some, outcount, indices, statuses, i)
    if (i == MPI_SUCCESS) wrong = wrong + 1
    wrong = wrong + count(indices /= 77)

    if (wrong /= 0) then
        print *, 'rank', rank, wrong, 'are wrong'
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    if (rank == 0) print *, 'ok'
    call MPI_Finalize()
end program
