! The temperature of a plate whose rim has a fixed temperature, on a grid of ranks that exchange their edges.
!
!     mpifort -O2 halo.f90 -o halo
!     mpirun -n 4 ./halo
!
! Each rank has a block of the plate with a frame one point wide around it: its halo. In each step it gets the halo
! from its neighbours and replaces every point by the mean of the four around it. Rows and columns are sections of the
! array, which MPI takes without a copy. The rim is x*y, so the answer is x*y everywhere, and is checked.
program halo
    use mpi_f08
    implicit none
    integer, parameter :: n = 48, steps = 6000
    type(MPI_Comm) :: grid
    integer :: dims(2) = 0, at(2), first(2), last(2), rank, ranks, west, east, south, north, step, i, j
    double precision, allocatable :: u(:, :), next(:, :)
    double precision :: error

    call MPI_Init()
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid)
    call MPI_Comm_rank(grid, rank)
    call MPI_Cart_coords(grid, rank, 2, at)
    call MPI_Cart_shift(grid, 0, 1, west, east)
    call MPI_Cart_shift(grid, 1, 1, south, north)

    first = n * at / dims + 1
    last = n * (at + 1) / dims
    allocate (u(first(1)-1:last(1)+1, first(2)-1:last(2)+1))
    u = 0
    do j = first(2) - 1, last(2) + 1
        do i = first(1) - 1, last(1) + 1
            if (i == 0 .or. i == n + 1 .or. j == 0 .or. j == n + 1) u(i, j) = exact(i, j)
        end do
    end do
    next = u

    do step = 1, steps
        call exchange()
        do j = first(2), last(2)
            do i = first(1), last(1)
                next(i, j) = (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1)) / 4
            end do
        end do
        u = next
    end do

    error = 0
    do j = first(2), last(2)
        do i = first(1), last(1)
            error = max(error, abs(u(i, j) - exact(i, j)))
        end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid)
    if (rank == 0) print '("a grid of ", i0, " x ", i0, " ranks: the plate is ", a)', dims, &
        trim(merge('right', 'wrong', error < 1d-4))
    call MPI_Finalize()

contains

    double precision function exact(i, j)
        integer, intent(in) :: i, j
        exact = dble(i) * j / (n + 1)**2
    end function exact

    ! Neighbours that do not exist are MPI_PROC_NULL: nothing is sent to them, and the rim stays.
    subroutine exchange()
        integer :: x0, x1, y0, y1
        x0 = first(1); x1 = last(1); y0 = first(2); y1 = last(2)
        call MPI_Sendrecv(u(x1, y0:y1), y1-y0+1, MPI_DOUBLE_PRECISION, east, 0, &
            u(x0-1, y0:y1), y1-y0+1, MPI_DOUBLE_PRECISION, west, 0, grid, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(u(x0, y0:y1), y1-y0+1, MPI_DOUBLE_PRECISION, west, 1, &
            u(x1+1, y0:y1), y1-y0+1, MPI_DOUBLE_PRECISION, east, 1, grid, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(u(x0:x1, y1), x1-x0+1, MPI_DOUBLE_PRECISION, north, 2, &
            u(x0:x1, y0-1), x1-x0+1, MPI_DOUBLE_PRECISION, south, 2, grid, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(u(x0:x1, y0), x1-x0+1, MPI_DOUBLE_PRECISION, south, 3, &
            u(x0:x1, y1+1), x1-x0+1, MPI_DOUBLE_PRECISION, north, 3, grid, MPI_STATUS_IGNORE)
    end subroutine exchange
end program halo
