! Threads that complete requests with copies of sections in all ways, at the same time as others make theirs, whose numbers are
! used again; and two that look at one request.
! cc: -fopenmp
! compiler: gfortran
! run: -n 2 ; says 0 ok ; says 1 ok
program sections_threads
  use mpi_f08
  implicit none
  integer, parameter :: threads = 4, n = 50, rounds = 1000
  integer :: level, rank, size, t, i, k, wrong, outn, idx, ind(3)
  type(MPI_Comm) :: comms(threads)
  integer :: from(2, n), into(3, n, threads, 3)
  type(MPI_Request) :: r(3)
  logical :: flag
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  if (level /= MPI_THREAD_MULTIPLE) error stop 'no threads'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  do t = 1, threads
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(t))
  end do
  from = 1
  wrong = 0
  into = 0
  !$omp parallel do num_threads(threads) private(i, k, r, flag, outn, idx, ind) reduction(+:wrong) schedule(static,1)
  do t = 1, threads
    do i = 1, rounds
      do k = 1, 3
        into(:, :, t, k) = -i
        call MPI_Iallreduce(from(1, :), into(2, :, t, k), n - k, MPI_INTEGER, MPI_SUM, comms(t), r(k))
      end do
      select case (mod(i + t, 6))
      case (0)
        call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
      case (1)
        do k = 1, 3
          call MPI_Waitany(3, r, idx, MPI_STATUS_IGNORE)
          if (any(into(2, 1:n-idx, t, idx) /= size)) wrong = wrong + 1
        end do
      case (2)
        flag = .false.
        do while (.not. flag)
          call MPI_Testall(3, r, flag, MPI_STATUSES_IGNORE)
        end do
      case (3)
        k = 0
        do while (k < 3)
          call MPI_Testsome(3, r, outn, ind, MPI_STATUSES_IGNORE)
          k = k + outn
        end do
      case (4)
        do k = 3, 1, -1
          flag = .false.
          do while (.not. flag)
            call MPI_Request_get_status(r(k), flag, MPI_STATUS_IGNORE)
          end do
          if (any(into(2, 1:n-k, t, k) /= size)) wrong = wrong + 1
          call MPI_Wait(r(k), MPI_STATUS_IGNORE)
        end do
      case (5)
        do k = 1, 3
          call MPI_Wait(r(k), MPI_STATUS_IGNORE)
        end do
      end select
      do k = 1, 3
        if (any(into(2, 1:n-k, t, k) /= size)) wrong = wrong + 1
        if (any(into(2, n-k+1:, t, k) /= -i)) wrong = wrong + 1
        if (any(into(1, :, t, k) /= -i)) wrong = wrong + 1
      end do
    end do
  end do
  if (wrong /= 0) call failed('values of their own')
  ! Two threads look at one request.
  wrong = 0
  do i = 1, rounds
    into(2, :, 1, 1) = -i
    call MPI_Iallreduce(from(1, :), into(2, :, 1, 1), n, MPI_INTEGER, MPI_SUM, comms(1), r(1))
    !$omp parallel num_threads(2) private(flag) reduction(+:wrong)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(r(1), flag, MPI_STATUS_IGNORE)
    end do
    if (any(into(2, :, 1, 1) /= size)) wrong = wrong + 1
    !$omp end parallel
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
  end do
  if (wrong /= 0) call failed('values that two have looked for')
  print '(i0, a)', rank, ' ok'
  call MPI_Finalize()

contains

  subroutine failed(what)
    character(len=*), intent(in) :: what
    print '(i0, a, i0, 2a)', rank, ': ', wrong, ' times other than ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
