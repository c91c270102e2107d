! Sections that are shorter than the count are refused; types with gaps of their own on sections name the same elements as on
! arrays without gaps.
! compiler: gfortran
! run: -n 1 ; says ok
program sections_counted
  use mpi_f08
  implicit none
  integer :: c(8), d(8), one(1), m(3, 4) = 0, ierror
  double precision :: x(4) = 0
  character, asynchronous :: sink(64)
  type(MPI_Request) :: request
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call short_ones()
  call types_with_gaps()
  call MPI_Finalize()
  print '(a)', 'ok'

contains

  subroutine short_ones()
    integer :: whole(8)
    ! Nothing behind the section is written, and the message is there for the next call.
    d = [1, 2, 3, 4, 5, 6, 7, 8]
    c = 0
    call MPI_Isend(d, 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request)
    call MPI_Recv(c(1:3), 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status, ierror)
    call check(1, refused() .and. all(c == 0))
    call MPI_Recv(c(1:5), 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, status, ierror)
    call check(2, ierror == MPI_SUCCESS .and. all(c(1:5) == d(1:5)) .and. all(c(6:8) == 0))
    call MPI_Wait(request, status)
    call MPI_Send(x, 5, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, ierror)
    call check(3, refused())
    call MPI_Irecv(sink, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(x, 4, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, ierror)
    call check(4, ierror == MPI_SUCCESS)
    call MPI_Wait(request, status)
    call MPI_Irecv(m, 13, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request, ierror)
    call check(5, refused())
    call MPI_Irecv(sink, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(m(:, 2:3), 6, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call check(6, ierror == MPI_SUCCESS)
    call MPI_Wait(request, status)
    call MPI_Send(m(:, 2:3), 7, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call check(7, refused())
    ! As bytes; of a type with more bytes; of another type with as many.
    call MPI_Irecv(sink, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(c, 32, MPI_BYTE, 0, 0, MPI_COMM_SELF, ierror)
    call check(8, ierror == MPI_SUCCESS)
    call MPI_Wait(request, status)
    call MPI_Send(c, 5, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, ierror)
    call check(9, refused())
    call MPI_Irecv(sink, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(x, 8, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call check(10, ierror == MPI_SUCCESS)
    call MPI_Wait(request, status)
    ! An element stands for what follows it, and an array of one element does in old programs; the size may be unknown.
    call MPI_Irecv(sink, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(c(3), 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call check(11, ierror == MPI_SUCCESS)
    call MPI_Wait(request, status)
    call MPI_Send_init(one, 5, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request, ierror)
    call check(12, ierror == MPI_SUCCESS)
    call MPI_Request_free(request)
    call of_assumed_size(c)
    ! A collective has buffers that mean nothing at some ranks.
    whole = 0
    call MPI_Gather(d, 8, MPI_INTEGER, whole, 8, MPI_INTEGER, 0, MPI_COMM_SELF, ierror)
    call check(14, ierror == MPI_SUCCESS .and. all(whole == d))
  end subroutine

  subroutine of_assumed_size(a)
    integer :: a(*)
    call MPI_Irecv(sink, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, request)
    call MPI_Send(a, 8, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call check(13, ierror == MPI_SUCCESS)
    call MPI_Wait(request, status)
  end subroutine

  logical function refused()
    integer :: class
    call MPI_Error_class(ierror, class)
    refused = class == MPI_ERR_BUFFER
  end function

  subroutine types_with_gaps()
    integer, parameter :: most = 60
    integer :: line(2 * most), grid(24, 12), i, k, n
    type(MPI_Datatype) :: types(5)
    integer(MPI_ADDRESS_KIND) :: bytes
    line = [(i, i = 1, 2 * most)]
    grid = reshape([(1000 + i, i = 1, 24 * 12)], [24, 12])
    bytes = storage_size(i) / 8
    ! One of two; the first and third of four; bytes whose places come again after several elements; one whose elements
    ! reach into the next; and one whose places never come again at an element's begin soon.
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 2 * bytes, types(1))
    call pattern([0_MPI_ADDRESS_KIND, 2 * bytes], 4 * bytes, types(2))
    call pattern([0_MPI_ADDRESS_KIND, bytes + 2], 10_MPI_ADDRESS_KIND, types(3))
    call pattern([0_MPI_ADDRESS_KIND, 4 * bytes], 2 * bytes, types(4))
    call pattern([0_MPI_ADDRESS_KIND, bytes + 1], 3 * bytes + 1, types(5))
    do k = 1, size(types)
      call MPI_Type_commit(types(k))
      do n = 0, 12
        call same(100 * k + n, line(1:2*most:2), n, types(k), pack(line(1:2*most:2), .true.))
        call same(200 * k + n, line(2*most:1:-2), n, types(k), pack(line(2*most:1:-2), .true.))
        call same(300 * k + n, grid(1:24:2, 1:12:3), n, types(k), pack(grid(1:24:2, 1:12:3), .true.))
        call same(400 * k + n, grid(3:22, :), n, types(k), pack(grid(3:22, :), .true.))
      end do
      call MPI_Type_free(types(k))
    end do
  end subroutine

  ! Integers at two places.
  subroutine pattern(places, extent, made)
    integer(MPI_ADDRESS_KIND), intent(in) :: places(2), extent
    type(MPI_Datatype), intent(out) :: made
    type(MPI_Datatype) :: inner
    call MPI_Type_create_hindexed_block(2, 1, places, MPI_INTEGER, inner)
    call MPI_Type_create_resized(inner, 0_MPI_ADDRESS_KIND, extent, made)
    call MPI_Type_free(inner)
  end subroutine

  subroutine same(number, section, n, type, dense)
    integer, intent(in) :: number, n, dense(:)
    integer :: section(..)
    type(MPI_Datatype), intent(in) :: type
    integer :: position, there, bytes
    character :: from_section(4096), from_dense(4096)
    integer(MPI_ADDRESS_KIND) :: lb, extent
    call MPI_Type_get_true_extent(type, lb, extent)
    there = 0
    if (n > 0) then
      call MPI_Type_size(type, bytes)
      there = n * bytes
    end if
    position = 0
    call MPI_Pack(dense, n, type, from_dense, 4096, position, MPI_COMM_SELF, ierror)
    call check(number, ierror == MPI_SUCCESS .and. position == there)
    position = 0
    call MPI_Pack(section, n, type, from_section, 4096, position, MPI_COMM_SELF, ierror)
    call check(number, ierror == MPI_SUCCESS .and. position == there)
    call check(number, all(from_section(:there) == from_dense(:there)))
  end subroutine

  subroutine check(number, right)
    integer, intent(in) :: number
    logical, intent(in) :: right
    if (.not. right) then
      print *, 'check', number, 'failed', ierror
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end subroutine
end program
