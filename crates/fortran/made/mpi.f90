! The module mpi of MPI 5.0 with the standard ABI.
! Made by `cargo xtask gen` from crates/abi/tables: edit those.
module mpi
  use, intrinsic :: iso_c_binding, only : c_ptr
  use mpi_abi_base
  implicit none
  private :: c_ptr
  integer, parameter :: MPI_OP_NULL = 32
  integer, parameter :: MPI_SUM = 33
  integer, parameter :: MPI_MIN = 34
  integer, parameter :: MPI_MAX = 35
  integer, parameter :: MPI_PROD = 36
  integer, parameter :: MPI_BAND = 40
  integer, parameter :: MPI_BOR = 41
  integer, parameter :: MPI_BXOR = 42
  integer, parameter :: MPI_LAND = 48
  integer, parameter :: MPI_LOR = 49
  integer, parameter :: MPI_LXOR = 50
  integer, parameter :: MPI_MINLOC = 56
  integer, parameter :: MPI_MAXLOC = 57
  integer, parameter :: MPI_REPLACE = 60
  integer, parameter :: MPI_NO_OP = 61
  integer, parameter :: MPI_COMM_NULL = 256
  integer, parameter :: MPI_COMM_WORLD = 257
  integer, parameter :: MPI_COMM_SELF = 258
  integer, parameter :: MPI_GROUP_NULL = 264
  integer, parameter :: MPI_GROUP_EMPTY = 265
  integer, parameter :: MPI_WIN_NULL = 272
  integer, parameter :: MPI_FILE_NULL = 280
  integer, parameter :: MPI_SESSION_NULL = 288
  integer, parameter :: MPI_MESSAGE_NULL = 296
  integer, parameter :: MPI_MESSAGE_NO_PROC = 297
  integer, parameter :: MPI_INFO_NULL = 304
  integer, parameter :: MPI_INFO_ENV = 305
  integer, parameter :: MPI_ERRHANDLER_NULL = 320
  integer, parameter :: MPI_ERRORS_ARE_FATAL = 321
  integer, parameter :: MPI_ERRORS_ABORT = 322
  integer, parameter :: MPI_ERRORS_RETURN = 323
  integer, parameter :: MPI_REQUEST_NULL = 384
  integer, parameter :: MPI_DATATYPE_NULL = 512
  integer, parameter :: MPI_AINT = 513
  integer, parameter :: MPI_COUNT = 514
  integer, parameter :: MPI_OFFSET = 515
  integer, parameter :: MPI_PACKED = 519
  integer, parameter :: MPI_SHORT = 520
  integer, parameter :: MPI_INT = 521
  integer, parameter :: MPI_LONG = 522
  integer, parameter :: MPI_LONG_LONG = 523
  integer, parameter :: MPI_LONG_LONG_INT = 523
  integer, parameter :: MPI_UNSIGNED_SHORT = 524
  integer, parameter :: MPI_UNSIGNED = 525
  integer, parameter :: MPI_UNSIGNED_LONG = 526
  integer, parameter :: MPI_UNSIGNED_LONG_LONG = 527
  integer, parameter :: MPI_FLOAT = 528
  integer, parameter :: MPI_C_COMPLEX = 530
  integer, parameter :: MPI_C_FLOAT_COMPLEX = 530
  integer, parameter :: MPI_CXX_FLOAT_COMPLEX = 531
  integer, parameter :: MPI_DOUBLE = 532
  integer, parameter :: MPI_C_DOUBLE_COMPLEX = 534
  integer, parameter :: MPI_CXX_DOUBLE_COMPLEX = 535
  integer, parameter :: MPI_LOGICAL = 536
  integer, parameter :: MPI_INTEGER = 537
  integer, parameter :: MPI_REAL = 538
  integer, parameter :: MPI_COMPLEX = 539
  integer, parameter :: MPI_DOUBLE_PRECISION = 540
  integer, parameter :: MPI_DOUBLE_COMPLEX = 541
  integer, parameter :: MPI_CHARACTER = 542
  integer, parameter :: MPI_LONG_DOUBLE = 544
  integer, parameter :: MPI_C_LONG_DOUBLE_COMPLEX = 548
  integer, parameter :: MPI_CXX_LONG_DOUBLE_COMPLEX = 549
  integer, parameter :: MPI_FLOAT_INT = 552
  integer, parameter :: MPI_DOUBLE_INT = 553
  integer, parameter :: MPI_LONG_INT = 554
  integer, parameter :: MPI_2INT = 555
  integer, parameter :: MPI_SHORT_INT = 556
  integer, parameter :: MPI_LONG_DOUBLE_INT = 557
  integer, parameter :: MPI_2REAL = 560
  integer, parameter :: MPI_2DOUBLE_PRECISION = 561
  integer, parameter :: MPI_2INTEGER = 562
  integer, parameter :: MPI_C_BOOL = 568
  integer, parameter :: MPI_CXX_BOOL = 569
  integer, parameter :: MPI_WCHAR = 572
  integer, parameter :: MPI_INT8_T = 576
  integer, parameter :: MPI_UINT8_T = 577
  integer, parameter :: MPI_CHAR = 579
  integer, parameter :: MPI_SIGNED_CHAR = 580
  integer, parameter :: MPI_UNSIGNED_CHAR = 581
  integer, parameter :: MPI_BYTE = 583
  integer, parameter :: MPI_INT16_T = 584
  integer, parameter :: MPI_UINT16_T = 585
  integer, parameter :: MPI_INT32_T = 592
  integer, parameter :: MPI_UINT32_T = 593
  integer, parameter :: MPI_INT64_T = 600
  integer, parameter :: MPI_UINT64_T = 601
  integer, parameter :: MPI_LOGICAL1 = 704
  integer, parameter :: MPI_INTEGER1 = 705
  integer, parameter :: MPI_LOGICAL2 = 712
  integer, parameter :: MPI_INTEGER2 = 713
  integer, parameter :: MPI_REAL2 = 714
  integer, parameter :: MPI_LOGICAL4 = 720
  integer, parameter :: MPI_INTEGER4 = 721
  integer, parameter :: MPI_REAL4 = 722
  integer, parameter :: MPI_COMPLEX4 = 723
  integer, parameter :: MPI_LOGICAL8 = 728
  integer, parameter :: MPI_INTEGER8 = 729
  integer, parameter :: MPI_REAL8 = 730
  integer, parameter :: MPI_COMPLEX8 = 731
  integer, parameter :: MPI_LOGICAL16 = 736
  integer, parameter :: MPI_INTEGER16 = 737
  integer, parameter :: MPI_REAL16 = 738
  integer, parameter :: MPI_COMPLEX16 = 739
  integer, parameter :: MPI_COMPLEX32 = 747
  integer :: MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
  common /mpifort_status_ignore/ MPI_STATUS_IGNORE
  bind(C, name="mpifort_status_ignore") :: /mpifort_status_ignore/
  integer :: MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
  common /mpifort_statuses_ignore/ MPI_STATUSES_IGNORE
  bind(C, name="mpifort_statuses_ignore") :: /mpifort_statuses_ignore/
  external :: MPI_NULL_COPY_FN
  external :: MPI_DUP_FN
  external :: MPI_NULL_DELETE_FN
  external :: MPI_COMM_NULL_COPY_FN
  external :: MPI_COMM_DUP_FN
  external :: MPI_COMM_NULL_DELETE_FN
  external :: MPI_TYPE_NULL_COPY_FN
  external :: MPI_TYPE_DUP_FN
  external :: MPI_TYPE_NULL_DELETE_FN
  external :: MPI_WIN_NULL_COPY_FN
  external :: MPI_WIN_DUP_FN
  external :: MPI_WIN_NULL_DELETE_FN
  external :: MPI_CONVERSION_FN_NULL
  external :: MPI_CONVERSION_FN_NULL_C
  interface
    subroutine MPI_Abort(comm, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Abort
  end interface
  interface MPI_Alloc_mem
    subroutine MPI_Alloc_mem(size, info, baseptr, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: info
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine MPI_Alloc_mem
    subroutine MPI_Alloc_mem_cptr(size, info, baseptr, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: info
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine MPI_Alloc_mem_cptr
  end interface
  interface
    subroutine MPI_Finalize(ierror)
      import
      implicit none
      integer, intent(out) :: ierror
    end subroutine MPI_Finalize
  end interface
  interface
    subroutine MPI_Finalized(flag, ierror)
      import
      implicit none
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Finalized
  end interface
  interface
    subroutine MPI_Free_mem(base, ierror) &
        bind(C, name="mpi_free_mem_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: base
      integer, intent(out) :: ierror
    end subroutine MPI_Free_mem
  end interface
  interface
    subroutine MPI_Get_hw_resource_info(hw_info, ierror)
      import
      implicit none
      integer, intent(out) :: hw_info
      integer, intent(out) :: ierror
    end subroutine MPI_Get_hw_resource_info
  end interface
  interface
    subroutine MPI_Get_library_version(version, resultlen, ierror)
      import
      implicit none
      character(len=*), intent(out) :: version
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Get_library_version
  end interface
  interface
    subroutine MPI_Get_processor_name(name, resultlen, ierror)
      import
      implicit none
      character(len=*), intent(out) :: name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Get_processor_name
  end interface
  interface
    subroutine MPI_Get_version(version, subversion, ierror)
      import
      implicit none
      integer, intent(out) :: version
      integer, intent(out) :: subversion
      integer, intent(out) :: ierror
    end subroutine MPI_Get_version
  end interface
  interface
    subroutine MPI_Init(ierror)
      import
      implicit none
      integer, intent(out) :: ierror
    end subroutine MPI_Init
  end interface
  interface
    subroutine MPI_Init_thread(required, provided, ierror)
      import
      implicit none
      integer, intent(in) :: required
      integer, intent(out) :: provided
      integer, intent(out) :: ierror
    end subroutine MPI_Init_thread
  end interface
  interface
    subroutine MPI_Initialized(flag, ierror)
      import
      implicit none
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Initialized
  end interface
  interface
    function MPI_Wtick()
      import
      implicit none
      double precision :: MPI_Wtick
    end function MPI_Wtick
  end interface
  interface
    function MPI_Wtime()
      import
      implicit none
      double precision :: MPI_Wtime
    end function MPI_Wtime
  end interface
  interface
    subroutine MPI_Bsend(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="mpi_bsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Bsend
  end interface
  interface
    subroutine MPI_Bsend_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_bsend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Bsend_init
  end interface
  interface
    subroutine MPI_Buffer_attach(buffer, size, ierror) &
        bind(C, name="mpi_buffer_attach_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_attach
  end interface
  interface
    subroutine MPI_Buffer_detach(buffer_addr, size, ierror) &
        bind(C, name="mpi_buffer_detach_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buffer_addr
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_detach
  end interface
  interface
    subroutine MPI_Buffer_flush(ierror)
      import
      implicit none
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_flush
  end interface
  interface
    subroutine MPI_Buffer_iflush(request, ierror)
      import
      implicit none
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Buffer_iflush
  end interface
  interface
    subroutine MPI_Cancel(request, ierror)
      import
      implicit none
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Cancel
  end interface
  interface
    subroutine MPI_Comm_attach_buffer(comm, buffer, size, ierror) &
        bind(C, name="mpi_comm_attach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: comm
      type(*), dimension(..), intent(in), asynchronous :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_attach_buffer
  end interface
  interface
    subroutine MPI_Comm_detach_buffer(comm, buffer_addr, size, ierror) &
        bind(C, name="mpi_comm_detach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: comm
      type(*), dimension(..), asynchronous :: buffer_addr
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_detach_buffer
  end interface
  interface
    subroutine MPI_Comm_flush_buffer(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_flush_buffer
  end interface
  interface
    subroutine MPI_Comm_iflush_buffer(comm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_iflush_buffer
  end interface
  interface
    subroutine MPI_Get_count(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(out) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Get_count
  end interface
  interface
    subroutine MPI_Ibsend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_ibsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ibsend
  end interface
  interface
    subroutine MPI_Improbe(source, tag, comm, flag, message, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Improbe
  end interface
  interface
    subroutine MPI_Imrecv(buf, count, datatype, message, request, ierror) &
        bind(C, name="mpi_imrecv_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(inout) :: message
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Imrecv
  end interface
  interface
    subroutine MPI_Iprobe(source, tag, comm, flag, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Iprobe
  end interface
  interface
    subroutine MPI_Irecv(buf, count, datatype, source, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_irecv_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Irecv
  end interface
  interface
    subroutine MPI_Irsend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_irsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Irsend
  end interface
  interface
    subroutine MPI_Isend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_isend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Isend
  end interface
  interface
    subroutine MPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, &
        recvbuf, recvcount, recvtype, source, recvtag, comm, request, ierror) &
        bind(C, name="mpi_isendrecv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Isendrecv
  end interface
  interface
    subroutine MPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, &
        recvtag, comm, request, ierror) &
        bind(C, name="mpi_isendrecv_replace_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Isendrecv_replace
  end interface
  interface
    subroutine MPI_Issend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_issend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Issend
  end interface
  interface
    subroutine MPI_Mprobe(source, tag, comm, message, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Mprobe
  end interface
  interface
    subroutine MPI_Mrecv(buf, count, datatype, message, status, ierror) &
        bind(C, name="mpi_mrecv_fts")
      import
      implicit none
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(inout) :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Mrecv
  end interface
  interface
    subroutine MPI_Probe(source, tag, comm, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Probe
  end interface
  interface
    subroutine MPI_Recv(buf, count, datatype, source, tag, comm, status, &
        ierror) &
        bind(C, name="mpi_recv_fts")
      import
      implicit none
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Recv
  end interface
  interface
    subroutine MPI_Recv_init(buf, count, datatype, source, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_recv_init_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Recv_init
  end interface
  interface
    subroutine MPI_Request_free(request, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Request_free
  end interface
  interface
    subroutine MPI_Request_get_status(request, flag, status, ierror)
      import
      implicit none
      integer, intent(in) :: request
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status
  end interface
  interface
    subroutine MPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_requests(*)
      logical, intent(out) :: flag
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status_all
  end interface
  interface
    subroutine MPI_Request_get_status_any(count, array_of_requests, index, flag, status, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_requests(*)
      integer, intent(out) :: index
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status_any
  end interface
  interface
    subroutine MPI_Request_get_status_some(incount, array_of_requests, outcount, &
        array_of_indices, array_of_statuses, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(in) :: array_of_requests(*)
      integer, intent(out) :: outcount
      integer, intent(out) :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Request_get_status_some
  end interface
  interface
    subroutine MPI_Rsend(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="mpi_rsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Rsend
  end interface
  interface
    subroutine MPI_Rsend_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_rsend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rsend_init
  end interface
  interface
    subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="mpi_send_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Send
  end interface
  interface
    subroutine MPI_Send_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_send_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Send_init
  end interface
  interface
    subroutine MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, &
        recvbuf, recvcount, recvtype, source, recvtag, comm, status, ierror) &
        bind(C, name="mpi_sendrecv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Sendrecv
  end interface
  interface
    subroutine MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, &
        recvtag, comm, status, ierror) &
        bind(C, name="mpi_sendrecv_replace_fts")
      import
      implicit none
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Sendrecv_replace
  end interface
  interface
    subroutine MPI_Session_attach_buffer(session, buffer, size, ierror) &
        bind(C, name="mpi_session_attach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: session
      type(*), dimension(..), intent(in), asynchronous :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Session_attach_buffer
  end interface
  interface
    subroutine MPI_Session_detach_buffer(session, buffer_addr, size, ierror) &
        bind(C, name="mpi_session_detach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: session
      type(*), dimension(..), asynchronous :: buffer_addr
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Session_detach_buffer
  end interface
  interface
    subroutine MPI_Session_flush_buffer(session, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: ierror
    end subroutine MPI_Session_flush_buffer
  end interface
  interface
    subroutine MPI_Session_iflush_buffer(session, request, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Session_iflush_buffer
  end interface
  interface
    subroutine MPI_Ssend(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="mpi_ssend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Ssend
  end interface
  interface
    subroutine MPI_Ssend_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="mpi_ssend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ssend_init
  end interface
  interface
    subroutine MPI_Start(request, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Start
  end interface
  interface
    subroutine MPI_Startall(count, array_of_requests, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Startall
  end interface
  interface
    subroutine MPI_Test(request, flag, status, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Test
  end interface
  interface
    subroutine MPI_Test_cancelled(status, flag, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Test_cancelled
  end interface
  interface
    subroutine MPI_Testall(count, array_of_requests, flag, array_of_statuses, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      logical, intent(out) :: flag
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Testall
  end interface
  interface
    subroutine MPI_Testany(count, array_of_requests, index, flag, status, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: index
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Testany
  end interface
  interface
    subroutine MPI_Testsome(incount, array_of_requests, outcount, &
        array_of_indices, array_of_statuses, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: outcount
      integer, intent(out) :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Testsome
  end interface
  interface
    subroutine MPI_Wait(request, status, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Wait
  end interface
  interface
    subroutine MPI_Waitall(count, array_of_requests, array_of_statuses, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Waitall
  end interface
  interface
    subroutine MPI_Waitany(count, array_of_requests, index, status, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: index
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Waitany
  end interface
  interface
    subroutine MPI_Waitsome(incount, array_of_requests, outcount, &
        array_of_indices, array_of_statuses, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: outcount
      integer, intent(out) :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine MPI_Waitsome
  end interface
  interface
    subroutine MPI_Parrived(request, partition, flag, ierror)
      import
      implicit none
      integer, intent(in) :: request
      integer, intent(in) :: partition
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Parrived
  end interface
  interface
    subroutine MPI_Pready(partition, request, ierror)
      import
      implicit none
      integer, intent(in) :: partition
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Pready
  end interface
  interface
    subroutine MPI_Pready_list(length, array_of_partitions, request, ierror)
      import
      implicit none
      integer, intent(in) :: length
      integer, intent(in) :: array_of_partitions(*)
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Pready_list
  end interface
  interface
    subroutine MPI_Pready_range(partition_low, partition_high, request, ierror)
      import
      implicit none
      integer, intent(in) :: partition_low
      integer, intent(in) :: partition_high
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Pready_range
  end interface
  interface
    subroutine MPI_Precv_init(buf, partitions, count, datatype, dest, tag, comm, &
        info, request, ierror) &
        bind(C, name="mpi_precv_init_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: partitions
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Precv_init
  end interface
  interface
    subroutine MPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, &
        info, request, ierror) &
        bind(C, name="mpi_psend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: partitions
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Psend_init
  end interface
  interface
    function MPI_Aint_add(base, disp)
      import
      implicit none
      integer(kind=mpi_address_kind) :: MPI_Aint_add
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
    end function MPI_Aint_add
  end interface
  interface
    function MPI_Aint_diff(addr1, addr2)
      import
      implicit none
      integer(kind=mpi_address_kind) :: MPI_Aint_diff
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr2
    end function MPI_Aint_diff
  end interface
  interface
    subroutine MPI_Get_address(location, address, ierror) &
        bind(C, name="mpi_get_address_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: location
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: address
      integer, intent(out) :: ierror
    end subroutine MPI_Get_address
  end interface
  interface
    subroutine MPI_Get_elements(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(out) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Get_elements
  end interface
  interface
    subroutine MPI_Get_elements_x(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Get_elements_x
  end interface
  interface
    subroutine MPI_Pack(inbuf, incount, datatype, outbuf, outsize, &
        position, comm, ierror) &
        bind(C, name="mpi_pack_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      type(*), dimension(..) :: outbuf
      integer, intent(in) :: outsize
      integer, intent(inout) :: position
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Pack
  end interface
  interface
    subroutine MPI_Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, &
        position, ierror) &
        bind(C, name="mpi_pack_external_fts")
      import
      implicit none
      character(len=*), intent(in) :: datarep
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      type(*), dimension(..) :: outbuf
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: outsize
      integer(kind=MPI_ADDRESS_KIND), intent(inout) :: position
      integer, intent(out) :: ierror
    end subroutine MPI_Pack_external
  end interface
  interface
    subroutine MPI_Pack_external_size(datarep, incount, datatype, size, ierror)
      import
      implicit none
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Pack_external_size
  end interface
  interface
    subroutine MPI_Pack_size(incount, datatype, comm, size, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      integer, intent(in) :: comm
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Pack_size
  end interface
  interface
    subroutine MPI_Type_commit(datatype, ierror)
      import
      implicit none
      integer, intent(inout) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_commit
  end interface
  interface
    subroutine MPI_Type_contiguous(count, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_contiguous
  end interface
  interface
    subroutine MPI_Type_create_darray(size, rank, ndims, array_of_gsizes, &
        array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: size
      integer, intent(in) :: rank
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_gsizes(*)
      integer, intent(in) :: array_of_distribs(*)
      integer, intent(in) :: array_of_dargs(*)
      integer, intent(in) :: array_of_psizes(*)
      integer, intent(in) :: order
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_darray
  end interface
  interface
    subroutine MPI_Type_create_f90_complex(p, r, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: p
      integer, intent(in) :: r
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_complex
  end interface
  interface
    subroutine MPI_Type_create_f90_integer(r, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: r
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_integer
  end interface
  interface
    subroutine MPI_Type_create_f90_real(p, r, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: p
      integer, intent(in) :: r
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_f90_real
  end interface
  interface
    subroutine MPI_Type_create_hindexed(count, array_of_blocklengths, &
        array_of_displacements, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed
  end interface
  interface
    subroutine MPI_Type_create_hindexed_block(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_hindexed_block
  end interface
  interface
    subroutine MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: stride
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_hvector
  end interface
  interface
    subroutine MPI_Type_create_indexed_block(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_indexed_block
  end interface
  interface
    subroutine MPI_Type_create_resized(oldtype, lb, extent, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: oldtype
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: lb
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extent
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_resized
  end interface
  interface
    subroutine MPI_Type_create_struct(count, array_of_blocklengths, &
        array_of_displacements, array_of_types, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: array_of_types(*)
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_struct
  end interface
  interface
    subroutine MPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, &
        array_of_starts, order, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_sizes(*)
      integer, intent(in) :: array_of_subsizes(*)
      integer, intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_subarray
  end interface
  interface
    subroutine MPI_Type_dup(oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_dup
  end interface
  interface
    subroutine MPI_Type_free(datatype, ierror)
      import
      implicit none
      integer, intent(inout) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_free
  end interface
  interface
    subroutine MPI_Type_get_contents(datatype, max_integers, max_addresses, &
        max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: max_integers
      integer, intent(in) :: max_addresses
      integer, intent(in) :: max_datatypes
      integer, intent(out) :: array_of_integers(*)
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: array_of_addresses(*)
      integer, intent(out) :: array_of_datatypes(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_contents
  end interface
  interface
    subroutine MPI_Type_get_envelope(datatype, num_integers, num_addresses, &
        num_datatypes, combiner, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: num_integers
      integer, intent(out) :: num_addresses
      integer, intent(out) :: num_datatypes
      integer, intent(out) :: combiner
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_envelope
  end interface
  interface
    subroutine MPI_Type_get_extent(datatype, lb, extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: lb
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_extent
  end interface
  interface
    subroutine MPI_Type_get_extent_x(datatype, lb, extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: lb
      integer(kind=MPI_COUNT_KIND), intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_extent_x
  end interface
  interface
    subroutine MPI_Type_get_name(datatype, type_name, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      character(len=*), intent(out) :: type_name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_name
  end interface
  interface
    subroutine MPI_Type_get_true_extent(datatype, true_lb, true_extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: true_lb
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: true_extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_true_extent
  end interface
  interface
    subroutine MPI_Type_get_true_extent_x(datatype, true_lb, true_extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: true_lb
      integer(kind=MPI_COUNT_KIND), intent(out) :: true_extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_true_extent_x
  end interface
  interface
    subroutine MPI_Type_get_value_index(value_type, index_type, pair_type, ierror)
      import
      implicit none
      integer, intent(in) :: value_type
      integer, intent(in) :: index_type
      integer, intent(out) :: pair_type
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_value_index
  end interface
  interface
    subroutine MPI_Type_indexed(count, array_of_blocklengths, &
        array_of_displacements, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_indexed
  end interface
  interface
    subroutine MPI_Type_match_size(typeclass, size, datatype, ierror)
      import
      implicit none
      integer, intent(in) :: typeclass
      integer, intent(in) :: size
      integer, intent(out) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_match_size
  end interface
  interface
    subroutine MPI_Type_set_name(datatype, type_name, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      character(len=*), intent(in) :: type_name
      integer, intent(out) :: ierror
    end subroutine MPI_Type_set_name
  end interface
  interface
    subroutine MPI_Type_size(datatype, size, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Type_size
  end interface
  interface
    subroutine MPI_Type_size_x(datatype, size, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Type_size_x
  end interface
  interface
    subroutine MPI_Type_vector(count, blocklength, stride, oldtype, newtype, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_vector
  end interface
  interface
    subroutine MPI_Unpack(inbuf, insize, position, outbuf, outcount, &
        datatype, comm, ierror) &
        bind(C, name="mpi_unpack_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: insize
      integer, intent(inout) :: position
      type(*), dimension(..) :: outbuf
      integer, intent(in) :: outcount
      integer, intent(in) :: datatype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Unpack
  end interface
  interface
    subroutine MPI_Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, &
        datatype, ierror) &
        bind(C, name="mpi_unpack_external_fts")
      import
      implicit none
      character(len=*), intent(in) :: datarep
      type(*), dimension(..), intent(in) :: inbuf
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: insize
      integer(kind=MPI_ADDRESS_KIND), intent(inout) :: position
      type(*), dimension(..) :: outbuf
      integer, intent(in) :: outcount
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_Unpack_external
  end interface
  interface
    subroutine MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="mpi_allgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Allgather
  end interface
  interface
    subroutine MPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_allgather_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Allgather_init
  end interface
  interface
    subroutine MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, ierror) &
        bind(C, name="mpi_allgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Allgatherv
  end interface
  interface
    subroutine MPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_allgatherv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Allgatherv_init
  end interface
  interface
    subroutine MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, &
        ierror) &
        bind(C, name="mpi_allreduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Allreduce
  end interface
  interface
    subroutine MPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, &
        request, ierror) &
        bind(C, name="mpi_allreduce_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Allreduce_init
  end interface
  interface
    subroutine MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="mpi_alltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoall
  end interface
  interface
    subroutine MPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_alltoall_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoall_init
  end interface
  interface
    subroutine MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror) &
        bind(C, name="mpi_alltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallv
  end interface
  interface
    subroutine MPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_alltoallv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallv_init
  end interface
  interface
    subroutine MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror) &
        bind(C, name="mpi_alltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      integer, intent(in) :: sendtypes(*)
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      integer, intent(in) :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallw
  end interface
  interface
    subroutine MPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="mpi_alltoallw_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Alltoallw_init
  end interface
  interface
    subroutine MPI_Barrier(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Barrier
  end interface
  interface
    subroutine MPI_Barrier_init(comm, info, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Barrier_init
  end interface
  interface
    subroutine MPI_Bcast(buffer, count, datatype, root, comm, ierror) &
        bind(C, name="mpi_bcast_fts")
      import
      implicit none
      type(*), dimension(..) :: buffer
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Bcast
  end interface
  interface
    subroutine MPI_Bcast_init(buffer, count, datatype, root, comm, info, request, &
        ierror) &
        bind(C, name="mpi_bcast_init_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buffer
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Bcast_init
  end interface
  interface
    subroutine MPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm, &
        ierror) &
        bind(C, name="mpi_exscan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Exscan
  end interface
  interface
    subroutine MPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, &
        request, ierror) &
        bind(C, name="mpi_exscan_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Exscan_init
  end interface
  interface
    subroutine MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, ierror) &
        bind(C, name="mpi_gather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Gather
  end interface
  interface
    subroutine MPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror) &
        bind(C, name="mpi_gather_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Gather_init
  end interface
  interface
    subroutine MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, root, comm, ierror) &
        bind(C, name="mpi_gatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Gatherv
  end interface
  interface
    subroutine MPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, root, comm, info, request, ierror) &
        bind(C, name="mpi_gatherv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Gatherv_init
  end interface
  interface
    subroutine MPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="mpi_iallgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iallgather
  end interface
  interface
    subroutine MPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror) &
        bind(C, name="mpi_iallgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iallgatherv
  end interface
  interface
    subroutine MPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, &
        request, ierror) &
        bind(C, name="mpi_iallreduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iallreduce
  end interface
  interface
    subroutine MPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="mpi_ialltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ialltoall
  end interface
  interface
    subroutine MPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror) &
        bind(C, name="mpi_ialltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ialltoallv
  end interface
  interface
    subroutine MPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror) &
        bind(C, name="mpi_ialltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ialltoallw
  end interface
  interface
    subroutine MPI_Ibarrier(comm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ibarrier
  end interface
  interface
    subroutine MPI_Ibcast(buffer, count, datatype, root, comm, request, &
        ierror) &
        bind(C, name="mpi_ibcast_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buffer
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ibcast
  end interface
  interface
    subroutine MPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, &
        request, ierror) &
        bind(C, name="mpi_iexscan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iexscan
  end interface
  interface
    subroutine MPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, request, ierror) &
        bind(C, name="mpi_igather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Igather
  end interface
  interface
    subroutine MPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, root, comm, request, ierror) &
        bind(C, name="mpi_igatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Igatherv
  end interface
  interface
    subroutine MPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, &
        request, ierror) &
        bind(C, name="mpi_ireduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ireduce
  end interface
  interface
    subroutine MPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        request, ierror) &
        bind(C, name="mpi_ireduce_scatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter
  end interface
  interface
    subroutine MPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        request, ierror) &
        bind(C, name="mpi_ireduce_scatter_block_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ireduce_scatter_block
  end interface
  interface
    subroutine MPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, &
        request, ierror) &
        bind(C, name="mpi_iscan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iscan
  end interface
  interface
    subroutine MPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, request, ierror) &
        bind(C, name="mpi_iscatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iscatter
  end interface
  interface
    subroutine MPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, &
        recvcount, recvtype, root, comm, request, ierror) &
        bind(C, name="mpi_iscatterv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Iscatterv
  end interface
  interface
    subroutine MPI_Op_commutative(op, commute, ierror)
      import
      implicit none
      integer, intent(in) :: op
      logical, intent(out) :: commute
      integer, intent(out) :: ierror
    end subroutine MPI_Op_commutative
  end interface
  interface
    subroutine MPI_Op_create(user_fn, commute, op, ierror)
      import
      implicit none
      external :: user_fn
      logical, intent(in) :: commute
      integer, intent(out) :: op
      integer, intent(out) :: ierror
    end subroutine MPI_Op_create
  end interface
  interface
    subroutine MPI_Op_free(op, ierror)
      import
      implicit none
      integer, intent(inout) :: op
      integer, intent(out) :: ierror
    end subroutine MPI_Op_free
  end interface
  interface
    subroutine MPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm, &
        ierror) &
        bind(C, name="mpi_reduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce
  end interface
  interface
    subroutine MPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, &
        info, request, ierror) &
        bind(C, name="mpi_reduce_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_init
  end interface
  interface
    subroutine MPI_Reduce_local(inbuf, inoutbuf, count, datatype, op, ierror) &
        bind(C, name="mpi_reduce_local_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: inbuf
      type(*), dimension(..) :: inoutbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_local
  end interface
  interface
    subroutine MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        ierror) &
        bind(C, name="mpi_reduce_scatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter
  end interface
  interface
    subroutine MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        ierror) &
        bind(C, name="mpi_reduce_scatter_block_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block
  end interface
  interface
    subroutine MPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpi_reduce_scatter_block_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_block_init
  end interface
  interface
    subroutine MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpi_reduce_scatter_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Reduce_scatter_init
  end interface
  interface
    subroutine MPI_Scan(sendbuf, recvbuf, count, datatype, op, comm, &
        ierror) &
        bind(C, name="mpi_scan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Scan
  end interface
  interface
    subroutine MPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, &
        request, ierror) &
        bind(C, name="mpi_scan_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Scan_init
  end interface
  interface
    subroutine MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, ierror) &
        bind(C, name="mpi_scatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Scatter
  end interface
  interface
    subroutine MPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror) &
        bind(C, name="mpi_scatter_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Scatter_init
  end interface
  interface
    subroutine MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, &
        recvcount, recvtype, root, comm, ierror) &
        bind(C, name="mpi_scatterv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Scatterv
  end interface
  interface
    subroutine MPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, &
        recvcount, recvtype, root, comm, info, request, ierror) &
        bind(C, name="mpi_scatterv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Scatterv_init
  end interface
  interface
    subroutine MPI_Group_compare(group1, group2, result, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: result
      integer, intent(out) :: ierror
    end subroutine MPI_Group_compare
  end interface
  interface
    subroutine MPI_Group_difference(group1, group2, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_difference
  end interface
  interface
    subroutine MPI_Group_excl(group, n, ranks, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_excl
  end interface
  interface
    subroutine MPI_Group_free(group, ierror)
      import
      implicit none
      integer, intent(inout) :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Group_free
  end interface
  interface
    subroutine MPI_Group_incl(group, n, ranks, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_incl
  end interface
  interface
    subroutine MPI_Group_intersection(group1, group2, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_intersection
  end interface
  interface
    subroutine MPI_Group_range_excl(group, n, ranges, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_range_excl
  end interface
  interface
    subroutine MPI_Group_range_incl(group, n, ranges, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_range_incl
  end interface
  interface
    subroutine MPI_Group_rank(group, rank, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(out) :: rank
      integer, intent(out) :: ierror
    end subroutine MPI_Group_rank
  end interface
  interface
    subroutine MPI_Group_size(group, size, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Group_size
  end interface
  interface
    subroutine MPI_Group_translate_ranks(group1, n, ranks1, group2, ranks2, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: n
      integer, intent(in) :: ranks1(*)
      integer, intent(in) :: group2
      integer, intent(out) :: ranks2(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Group_translate_ranks
  end interface
  interface
    subroutine MPI_Group_union(group1, group2, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_union
  end interface
  interface
    subroutine MPI_Comm_compare(comm1, comm2, result, ierror)
      import
      implicit none
      integer, intent(in) :: comm1
      integer, intent(in) :: comm2
      integer, intent(out) :: result
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_compare
  end interface
  interface
    subroutine MPI_Comm_create(comm, group, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: group
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create
  end interface
  interface
    subroutine MPI_Comm_create_group(comm, group, tag, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: group
      integer, intent(in) :: tag
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_group
  end interface
  interface
    subroutine MPI_Comm_dup(comm, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_dup
  end interface
  interface
    subroutine MPI_Comm_dup_with_info(comm, info, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_dup_with_info
  end interface
  interface
    subroutine MPI_Comm_free(comm, ierror)
      import
      implicit none
      integer, intent(inout) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_free
  end interface
  interface
    subroutine MPI_Comm_get_info(comm, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_info
  end interface
  interface
    subroutine MPI_Comm_get_name(comm, comm_name, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      character(len=*), intent(out) :: comm_name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_name
  end interface
  interface
    subroutine MPI_Comm_group(comm, group, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_group
  end interface
  interface
    subroutine MPI_Comm_idup(comm, newcomm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out), asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_idup
  end interface
  interface
    subroutine MPI_Comm_idup_with_info(comm, info, newcomm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out), asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_idup_with_info
  end interface
  interface
    subroutine MPI_Comm_rank(comm, rank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: rank
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_rank
  end interface
  interface
    subroutine MPI_Comm_remote_group(comm, group, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_remote_group
  end interface
  interface
    subroutine MPI_Comm_remote_size(comm, size, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_remote_size
  end interface
  interface
    subroutine MPI_Comm_set_info(comm, info, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_info
  end interface
  interface
    subroutine MPI_Comm_set_name(comm, comm_name, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      character(len=*), intent(in) :: comm_name
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_name
  end interface
  interface
    subroutine MPI_Comm_size(comm, size, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_size
  end interface
  interface
    subroutine MPI_Comm_split(comm, color, key, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: color
      integer, intent(in) :: key
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_split
  end interface
  interface
    subroutine MPI_Comm_split_type(comm, split_type, key, info, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: split_type
      integer, intent(in) :: key
      integer, intent(in) :: info
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_split_type
  end interface
  interface
    subroutine MPI_Comm_test_inter(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_test_inter
  end interface
  interface
    subroutine MPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, &
        tag, newintercomm, ierror)
      import
      implicit none
      integer, intent(in) :: local_comm
      integer, intent(in) :: local_leader
      integer, intent(in) :: peer_comm
      integer, intent(in) :: remote_leader
      integer, intent(in) :: tag
      integer, intent(out) :: newintercomm
      integer, intent(out) :: ierror
    end subroutine MPI_Intercomm_create
  end interface
  interface
    subroutine MPI_Intercomm_merge(intercomm, high, newintracomm, ierror)
      import
      implicit none
      integer, intent(in) :: intercomm
      logical, intent(in) :: high
      integer, intent(out) :: newintracomm
      integer, intent(out) :: ierror
    end subroutine MPI_Intercomm_merge
  end interface
  interface
    subroutine MPI_Attr_delete(comm, keyval, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Attr_delete
  end interface
  interface
    subroutine MPI_Attr_get(comm, keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Attr_get
  end interface
  interface
    subroutine MPI_Attr_put(comm, keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Attr_put
  end interface
  interface
    subroutine MPI_Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, &
        comm_keyval, extra_state, ierror)
      import
      implicit none
      external :: comm_copy_attr_fn
      external :: comm_delete_attr_fn
      integer, intent(out) :: comm_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_keyval
  end interface
  interface
    subroutine MPI_Comm_delete_attr(comm, comm_keyval, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_delete_attr
  end interface
  interface
    subroutine MPI_Comm_free_keyval(comm_keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: comm_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_free_keyval
  end interface
  interface
    subroutine MPI_Comm_get_attr(comm, comm_keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_attr
  end interface
  interface
    subroutine MPI_Comm_set_attr(comm, comm_keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_attr
  end interface
  interface
    subroutine MPI_Keyval_create(copy_fn, delete_fn, keyval, extra_state, ierror)
      import
      implicit none
      external :: copy_fn
      external :: delete_fn
      integer, intent(out) :: keyval
      integer, intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Keyval_create
  end interface
  interface
    subroutine MPI_Keyval_free(keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Keyval_free
  end interface
  interface
    subroutine MPI_Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, &
        type_keyval, extra_state, ierror)
      import
      implicit none
      external :: type_copy_attr_fn
      external :: type_delete_attr_fn
      integer, intent(out) :: type_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Type_create_keyval
  end interface
  interface
    subroutine MPI_Type_delete_attr(datatype, type_keyval, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Type_delete_attr
  end interface
  interface
    subroutine MPI_Type_free_keyval(type_keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: type_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Type_free_keyval
  end interface
  interface
    subroutine MPI_Type_get_attr(datatype, type_keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Type_get_attr
  end interface
  interface
    subroutine MPI_Type_set_attr(datatype, type_keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Type_set_attr
  end interface
  interface
    subroutine MPI_Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, &
        extra_state, ierror)
      import
      implicit none
      external :: win_copy_attr_fn
      external :: win_delete_attr_fn
      integer, intent(out) :: win_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create_keyval
  end interface
  interface
    subroutine MPI_Win_delete_attr(win, win_keyval, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Win_delete_attr
  end interface
  interface
    subroutine MPI_Win_free_keyval(win_keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: win_keyval
      integer, intent(out) :: ierror
    end subroutine MPI_Win_free_keyval
  end interface
  interface
    subroutine MPI_Win_get_attr(win, win_keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_attr
  end interface
  interface
    subroutine MPI_Win_set_attr(win, win_keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_attr
  end interface
  interface
    subroutine MPI_Cart_coords(comm, rank, maxdims, coords, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxdims
      integer, intent(out) :: coords(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_coords
  end interface
  interface
    subroutine MPI_Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart, &
        ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_cart
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_create
  end interface
  interface
    subroutine MPI_Cart_get(comm, maxdims, dims, periods, coords, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: maxdims
      integer, intent(out) :: dims(*)
      logical, intent(out) :: periods(*)
      integer, intent(out) :: coords(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_get
  end interface
  interface
    subroutine MPI_Cart_map(comm, ndims, dims, periods, newrank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      integer, intent(out) :: newrank
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_map
  end interface
  interface
    subroutine MPI_Cart_rank(comm, coords, rank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: coords(*)
      integer, intent(out) :: rank
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_rank
  end interface
  interface
    subroutine MPI_Cart_shift(comm, direction, disp, rank_source, rank_dest, &
        ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: direction
      integer, intent(in) :: disp
      integer, intent(out) :: rank_source
      integer, intent(out) :: rank_dest
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_shift
  end interface
  interface
    subroutine MPI_Cart_sub(comm, remain_dims, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(in) :: remain_dims(*)
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Cart_sub
  end interface
  interface
    subroutine MPI_Cartdim_get(comm, ndims, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ndims
      integer, intent(out) :: ierror
    end subroutine MPI_Cartdim_get
  end interface
  interface
    subroutine MPI_Dims_create(nnodes, ndims, dims, ierror)
      import
      implicit none
      integer, intent(in) :: nnodes
      integer, intent(in) :: ndims
      integer, intent(inout) :: dims(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Dims_create
  end interface
  interface
    subroutine MPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, &
        weights, info, reorder, comm_dist_graph, ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: n
      integer, intent(in) :: sources(*)
      integer, intent(in) :: degrees(*)
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: weights(*)
      integer, intent(in) :: info
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_dist_graph
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_create
  end interface
  interface
    subroutine MPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, &
        outdegree, destinations, destweights, info, reorder, comm_dist_graph, ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: indegree
      integer, intent(in) :: sources(*)
      integer, intent(in) :: sourceweights(*)
      integer, intent(in) :: outdegree
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: destweights(*)
      integer, intent(in) :: info
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_dist_graph
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_create_adjacent
  end interface
  interface
    subroutine MPI_Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, &
        maxoutdegree, destinations, destweights, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: maxindegree
      integer, intent(out) :: sources(*)
      integer, intent(out) :: sourceweights(*)
      integer, intent(in) :: maxoutdegree
      integer, intent(out) :: destinations(*)
      integer, intent(out) :: destweights(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_neighbors
  end interface
  interface
    subroutine MPI_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: indegree
      integer, intent(out) :: outdegree
      logical, intent(out) :: weighted
      integer, intent(out) :: ierror
    end subroutine MPI_Dist_graph_neighbors_count
  end interface
  interface
    subroutine MPI_Graph_create(comm_old, nnodes, index, edges, reorder, &
        comm_graph, ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_graph
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_create
  end interface
  interface
    subroutine MPI_Graph_get(comm, maxindex, maxedges, index, edges, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: maxindex
      integer, intent(in) :: maxedges
      integer, intent(out) :: index(*)
      integer, intent(out) :: edges(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_get
  end interface
  interface
    subroutine MPI_Graph_map(comm, nnodes, index, edges, newrank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      integer, intent(out) :: newrank
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_map
  end interface
  interface
    subroutine MPI_Graph_neighbors(comm, rank, maxneighbors, neighbors, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxneighbors
      integer, intent(out) :: neighbors(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_neighbors
  end interface
  interface
    subroutine MPI_Graph_neighbors_count(comm, rank, nneighbors, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(out) :: nneighbors
      integer, intent(out) :: ierror
    end subroutine MPI_Graph_neighbors_count
  end interface
  interface
    subroutine MPI_Graphdims_get(comm, nnodes, nedges, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: nnodes
      integer, intent(out) :: nedges
      integer, intent(out) :: ierror
    end subroutine MPI_Graphdims_get
  end interface
  interface
    subroutine MPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="mpi_ineighbor_allgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgather
  end interface
  interface
    subroutine MPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror) &
        bind(C, name="mpi_ineighbor_allgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_allgatherv
  end interface
  interface
    subroutine MPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="mpi_ineighbor_alltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoall
  end interface
  interface
    subroutine MPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror) &
        bind(C, name="mpi_ineighbor_alltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallv
  end interface
  interface
    subroutine MPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror) &
        bind(C, name="mpi_ineighbor_alltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Ineighbor_alltoallw
  end interface
  interface
    subroutine MPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="mpi_neighbor_allgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather
  end interface
  interface
    subroutine MPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_neighbor_allgather_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgather_init
  end interface
  interface
    subroutine MPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, ierror) &
        bind(C, name="mpi_neighbor_allgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv
  end interface
  interface
    subroutine MPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_neighbor_allgatherv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_allgatherv_init
  end interface
  interface
    subroutine MPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="mpi_neighbor_alltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall
  end interface
  interface
    subroutine MPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_neighbor_alltoall_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoall_init
  end interface
  interface
    subroutine MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror) &
        bind(C, name="mpi_neighbor_alltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv
  end interface
  interface
    subroutine MPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="mpi_neighbor_alltoallv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallv_init
  end interface
  interface
    subroutine MPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror) &
        bind(C, name="mpi_neighbor_alltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      integer, intent(in) :: sendtypes(*)
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      integer, intent(in) :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw
  end interface
  interface
    subroutine MPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="mpi_neighbor_alltoallw_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Neighbor_alltoallw_init
  end interface
  interface
    subroutine MPI_Topo_test(comm, status, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: status
      integer, intent(out) :: ierror
    end subroutine MPI_Topo_test
  end interface
  interface
    subroutine MPI_Add_error_class(errorclass, ierror)
      import
      implicit none
      integer, intent(out) :: errorclass
      integer, intent(out) :: ierror
    end subroutine MPI_Add_error_class
  end interface
  interface
    subroutine MPI_Add_error_code(errorclass, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: errorclass
      integer, intent(out) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Add_error_code
  end interface
  interface
    subroutine MPI_Add_error_string(errorcode, string, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      character(len=*), intent(in) :: string
      integer, intent(out) :: ierror
    end subroutine MPI_Add_error_string
  end interface
  interface
    subroutine MPI_Comm_call_errhandler(comm, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_call_errhandler
  end interface
  interface
    subroutine MPI_Comm_create_errhandler(comm_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: comm_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_errhandler
  end interface
  interface
    subroutine MPI_Comm_get_errhandler(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_errhandler
  end interface
  interface
    subroutine MPI_Comm_set_errhandler(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_set_errhandler
  end interface
  interface
    subroutine MPI_Errhandler_free(errhandler, ierror)
      import
      implicit none
      integer, intent(inout) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Errhandler_free
  end interface
  interface
    subroutine MPI_Error_class(errorcode, errorclass, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      integer, intent(out) :: errorclass
      integer, intent(out) :: ierror
    end subroutine MPI_Error_class
  end interface
  interface
    subroutine MPI_Error_string(errorcode, string, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      character(len=*), intent(out) :: string
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Error_string
  end interface
  interface
    subroutine MPI_Remove_error_class(errorclass, ierror)
      import
      implicit none
      integer, intent(in) :: errorclass
      integer, intent(out) :: ierror
    end subroutine MPI_Remove_error_class
  end interface
  interface
    subroutine MPI_Remove_error_code(errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Remove_error_code
  end interface
  interface
    subroutine MPI_Remove_error_string(errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Remove_error_string
  end interface
  interface
    subroutine MPI_Session_call_errhandler(session, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Session_call_errhandler
  end interface
  interface
    subroutine MPI_Session_create_errhandler(session_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: session_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Session_create_errhandler
  end interface
  interface
    subroutine MPI_Session_get_errhandler(session, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_errhandler
  end interface
  interface
    subroutine MPI_Session_set_errhandler(session, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Session_set_errhandler
  end interface
  interface
    subroutine MPI_Win_call_errhandler(win, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_Win_call_errhandler
  end interface
  interface
    subroutine MPI_Win_create_errhandler(win_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: win_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create_errhandler
  end interface
  interface
    subroutine MPI_Win_get_errhandler(win, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_errhandler
  end interface
  interface
    subroutine MPI_Win_set_errhandler(win, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_errhandler
  end interface
  interface
    subroutine MPI_Info_create(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Info_create
  end interface
  interface
    subroutine MPI_Info_create_env(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Info_create_env
  end interface
  interface
    subroutine MPI_Info_delete(info, key, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(out) :: ierror
    end subroutine MPI_Info_delete
  end interface
  interface
    subroutine MPI_Info_dup(info, newinfo, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(out) :: newinfo
      integer, intent(out) :: ierror
    end subroutine MPI_Info_dup
  end interface
  interface
    subroutine MPI_Info_free(info, ierror)
      import
      implicit none
      integer, intent(inout) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Info_free
  end interface
  interface
    subroutine MPI_Info_get(info, key, valuelen, value, flag, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(in) :: valuelen
      character(len=*), intent(out) :: value
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get
  end interface
  interface
    subroutine MPI_Info_get_nkeys(info, nkeys, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(out) :: nkeys
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_nkeys
  end interface
  interface
    subroutine MPI_Info_get_nthkey(info, n, key, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(in) :: n
      character(len=*), intent(out) :: key
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_nthkey
  end interface
  interface
    subroutine MPI_Info_get_string(info, key, buflen, value, flag, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(inout) :: buflen
      character(len=*), intent(out) :: value
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_string
  end interface
  interface
    subroutine MPI_Info_get_valuelen(info, key, valuelen, flag, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(out) :: valuelen
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Info_get_valuelen
  end interface
  interface
    subroutine MPI_Info_set(info, key, value, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      character(len=*), intent(in) :: value
      integer, intent(out) :: ierror
    end subroutine MPI_Info_set
  end interface
  interface
    subroutine MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm, &
        ierror)
      import
      implicit none
      integer, intent(in) :: group
      character(len=*), intent(in) :: stringtag
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_create_from_group
  end interface
  interface
    subroutine MPI_Group_from_session_pset(session, pset_name, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine MPI_Group_from_session_pset
  end interface
  interface
    subroutine MPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, &
        remote_leader, stringtag, info, errhandler, newintercomm, ierror)
      import
      implicit none
      integer, intent(in) :: local_group
      integer, intent(in) :: local_leader
      integer, intent(in) :: remote_group
      integer, intent(in) :: remote_leader
      character(len=*), intent(in) :: stringtag
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer, intent(out) :: newintercomm
      integer, intent(out) :: ierror
    end subroutine MPI_Intercomm_create_from_groups
  end interface
  interface
    subroutine MPI_Session_finalize(session, ierror)
      import
      implicit none
      integer, intent(inout) :: session
      integer, intent(out) :: ierror
    end subroutine MPI_Session_finalize
  end interface
  interface
    subroutine MPI_Session_get_info(session, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_info
  end interface
  interface
    subroutine MPI_Session_get_nth_pset(session, info, n, pset_len, pset_name, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: info
      integer, intent(in) :: n
      integer, intent(inout) :: pset_len
      character(len=*), intent(out) :: pset_name
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_nth_pset
  end interface
  interface
    subroutine MPI_Session_get_num_psets(session, info, npset_names, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: info
      integer, intent(out) :: npset_names
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_num_psets
  end interface
  interface
    subroutine MPI_Session_get_pset_info(session, pset_name, info, ierror)
      import
      implicit none
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Session_get_pset_info
  end interface
  interface
    subroutine MPI_Session_init(info, errhandler, session, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer, intent(out) :: session
      integer, intent(out) :: ierror
    end subroutine MPI_Session_init
  end interface
  interface
    subroutine MPI_Close_port(port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Close_port
  end interface
  interface
    subroutine MPI_Comm_accept(port_name, info, root, comm, newcomm, ierror)
      import
      implicit none
      character(len=*), intent(in) :: port_name
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_accept
  end interface
  interface
    subroutine MPI_Comm_connect(port_name, info, root, comm, newcomm, ierror)
      import
      implicit none
      character(len=*), intent(in) :: port_name
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_connect
  end interface
  interface
    subroutine MPI_Comm_disconnect(comm, ierror)
      import
      implicit none
      integer, intent(inout) :: comm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_disconnect
  end interface
  interface
    subroutine MPI_Comm_get_parent(parent, ierror)
      import
      implicit none
      integer, intent(out) :: parent
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_get_parent
  end interface
  interface
    subroutine MPI_Comm_join(fd, intercomm, ierror)
      import
      implicit none
      integer, intent(in) :: fd
      integer, intent(out) :: intercomm
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_join
  end interface
  interface
    subroutine MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, &
        intercomm, array_of_errcodes, ierror)
      import
      implicit none
      character(len=*), intent(in) :: command
      character(len=*), intent(in) :: argv(*)
      integer, intent(in) :: maxprocs
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: intercomm
      integer, intent(out) :: array_of_errcodes(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_spawn
  end interface
  interface
    subroutine MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, &
        array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes, ierror)
      import
      implicit none
      integer, intent(in) :: count
      character(len=*), intent(in) :: array_of_commands(*)
      character(len=*), intent(in) :: array_of_argv(count, *)
      integer, intent(in) :: array_of_maxprocs(*)
      integer, intent(in) :: array_of_info(*)
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: intercomm
      integer, intent(out) :: array_of_errcodes(*)
      integer, intent(out) :: ierror
    end subroutine MPI_Comm_spawn_multiple
  end interface
  interface
    subroutine MPI_Lookup_name(service_name, info, port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(out) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Lookup_name
  end interface
  interface
    subroutine MPI_Open_port(info, port_name, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(out) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Open_port
  end interface
  interface
    subroutine MPI_Publish_name(service_name, info, port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Publish_name
  end interface
  interface
    subroutine MPI_Unpublish_name(service_name, info, port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine MPI_Unpublish_name
  end interface
  interface
    subroutine MPI_Accumulate(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, win, ierror) &
        bind(C, name="mpi_accumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Accumulate
  end interface
  interface
    subroutine MPI_Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, &
        target_rank, target_disp, win, ierror) &
        bind(C, name="mpi_compare_and_swap_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      type(*), dimension(..), intent(in), asynchronous :: compare_addr
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Compare_and_swap
  end interface
  interface
    subroutine MPI_Fetch_and_op(origin_addr, result_addr, datatype, target_rank, &
        target_disp, op, win, ierror) &
        bind(C, name="mpi_fetch_and_op_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Fetch_and_op
  end interface
  interface
    subroutine MPI_Get(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, ierror) &
        bind(C, name="mpi_get_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Get
  end interface
  interface
    subroutine MPI_Get_accumulate(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, win, ierror) &
        bind(C, name="mpi_get_accumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: result_count
      integer, intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Get_accumulate
  end interface
  interface
    subroutine MPI_Put(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, ierror) &
        bind(C, name="mpi_put_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Put
  end interface
  interface
    subroutine MPI_Raccumulate(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, win, request, ierror) &
        bind(C, name="mpi_raccumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Raccumulate
  end interface
  interface
    subroutine MPI_Rget(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, request, ierror) &
        bind(C, name="mpi_rget_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rget
  end interface
  interface
    subroutine MPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, win, request, ierror) &
        bind(C, name="mpi_rget_accumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: result_count
      integer, intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rget_accumulate
  end interface
  interface
    subroutine MPI_Rput(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, request, ierror) &
        bind(C, name="mpi_rput_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Rput
  end interface
  interface MPI_Win_allocate
    subroutine MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_allocate
    subroutine MPI_Win_allocate_cptr(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_allocate_cptr
  end interface
  interface MPI_Win_allocate_shared
    subroutine MPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_allocate_shared
    subroutine MPI_Win_allocate_shared_cptr(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_allocate_shared_cptr
  end interface
  interface
    subroutine MPI_Win_attach(win, base, size, ierror) &
        bind(C, name="mpi_win_attach_fts")
      import
      implicit none
      integer, intent(in) :: win
      type(*), dimension(..), intent(in), asynchronous :: base
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_Win_attach
  end interface
  interface
    subroutine MPI_Win_complete(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_complete
  end interface
  interface
    subroutine MPI_Win_create(base, size, disp_unit, info, comm, win, ierror) &
        bind(C, name="mpi_win_create_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: base
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create
  end interface
  interface
    subroutine MPI_Win_create_dynamic(info, comm, win, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_create_dynamic
  end interface
  interface
    subroutine MPI_Win_detach(win, base, ierror) &
        bind(C, name="mpi_win_detach_fts")
      import
      implicit none
      integer, intent(in) :: win
      type(*), dimension(..), intent(in), asynchronous :: base
      integer, intent(out) :: ierror
    end subroutine MPI_Win_detach
  end interface
  interface
    subroutine MPI_Win_fence(assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_fence
  end interface
  interface
    subroutine MPI_Win_flush(rank, win, ierror)
      import
      implicit none
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush
  end interface
  interface
    subroutine MPI_Win_flush_all(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush_all
  end interface
  interface
    subroutine MPI_Win_flush_local(rank, win, ierror)
      import
      implicit none
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush_local
  end interface
  interface
    subroutine MPI_Win_flush_local_all(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_flush_local_all
  end interface
  interface
    subroutine MPI_Win_free(win, ierror)
      import
      implicit none
      integer, intent(inout) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_free
  end interface
  interface
    subroutine MPI_Win_get_group(win, group, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_group
  end interface
  interface
    subroutine MPI_Win_get_info(win, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_info
  end interface
  interface
    subroutine MPI_Win_get_name(win, win_name, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: win
      character(len=*), intent(out) :: win_name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine MPI_Win_get_name
  end interface
  interface
    subroutine MPI_Win_lock(lock_type, rank, assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: lock_type
      integer, intent(in) :: rank
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_lock
  end interface
  interface
    subroutine MPI_Win_lock_all(assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_lock_all
  end interface
  interface
    subroutine MPI_Win_post(group, assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_post
  end interface
  interface
    subroutine MPI_Win_set_info(win, info, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_info
  end interface
  interface
    subroutine MPI_Win_set_name(win, win_name, ierror)
      import
      implicit none
      integer, intent(in) :: win
      character(len=*), intent(in) :: win_name
      integer, intent(out) :: ierror
    end subroutine MPI_Win_set_name
  end interface
  interface MPI_Win_shared_query
    subroutine MPI_Win_shared_query(win, rank, size, disp_unit, baseptr, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: size
      integer, intent(out) :: disp_unit
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine MPI_Win_shared_query
    subroutine MPI_Win_shared_query_cptr(win, rank, size, disp_unit, baseptr, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: size
      integer, intent(out) :: disp_unit
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine MPI_Win_shared_query_cptr
  end interface
  interface
    subroutine MPI_Win_start(group, assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_start
  end interface
  interface
    subroutine MPI_Win_sync(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_sync
  end interface
  interface
    subroutine MPI_Win_test(win, flag, ierror)
      import
      implicit none
      integer, intent(in) :: win
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Win_test
  end interface
  interface
    subroutine MPI_Win_unlock(rank, win, ierror)
      import
      implicit none
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_unlock
  end interface
  interface
    subroutine MPI_Win_unlock_all(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_unlock_all
  end interface
  interface
    subroutine MPI_Win_wait(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPI_Win_wait
  end interface
  interface
    subroutine MPI_Grequest_complete(request, ierror)
      import
      implicit none
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Grequest_complete
  end interface
  interface
    subroutine MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request, &
        ierror)
      import
      implicit none
      external :: query_fn
      external :: free_fn
      external :: cancel_fn
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_Grequest_start
  end interface
  interface
    subroutine MPI_Is_thread_main(flag, ierror)
      import
      implicit none
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Is_thread_main
  end interface
  interface
    subroutine MPI_Query_thread(provided, ierror)
      import
      implicit none
      integer, intent(out) :: provided
      integer, intent(out) :: ierror
    end subroutine MPI_Query_thread
  end interface
  interface
    subroutine MPI_Status_get_error(status, error, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: error
      integer, intent(out) :: ierror
    end subroutine MPI_Status_get_error
  end interface
  interface
    subroutine MPI_Status_get_source(status, source, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: source
      integer, intent(out) :: ierror
    end subroutine MPI_Status_get_source
  end interface
  interface
    subroutine MPI_Status_get_tag(status, tag, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: tag
      integer, intent(out) :: ierror
    end subroutine MPI_Status_get_tag
  end interface
  interface
    subroutine MPI_Status_set_cancelled(status, flag, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      logical, intent(in) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_cancelled
  end interface
  interface
    subroutine MPI_Status_set_elements(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(in) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_elements
  end interface
  interface
    subroutine MPI_Status_set_elements_x(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(in) :: count
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_elements_x
  end interface
  interface
    subroutine MPI_Status_set_error(status, error, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: error
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_error
  end interface
  interface
    subroutine MPI_Status_set_source(status, source, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: source
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_source
  end interface
  interface
    subroutine MPI_Status_set_tag(status, tag, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: tag
      integer, intent(out) :: ierror
    end subroutine MPI_Status_set_tag
  end interface
  interface
    subroutine MPI_File_call_errhandler(fh, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine MPI_File_call_errhandler
  end interface
  interface
    subroutine MPI_File_close(fh, ierror)
      import
      implicit none
      integer, intent(inout) :: fh
      integer, intent(out) :: ierror
    end subroutine MPI_File_close
  end interface
  interface
    subroutine MPI_File_create_errhandler(file_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: file_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_File_create_errhandler
  end interface
  interface
    subroutine MPI_File_delete(filename, info, ierror)
      import
      implicit none
      character(len=*), intent(in) :: filename
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_File_delete
  end interface
  interface
    subroutine MPI_File_get_amode(fh, amode, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: amode
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_amode
  end interface
  interface
    subroutine MPI_File_get_atomicity(fh, flag, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_atomicity
  end interface
  interface
    subroutine MPI_File_get_byte_offset(fh, offset, disp, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      integer(kind=MPI_OFFSET_KIND), intent(out) :: disp
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_byte_offset
  end interface
  interface
    subroutine MPI_File_get_errhandler(file, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: file
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_errhandler
  end interface
  interface
    subroutine MPI_File_get_group(fh, group, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_group
  end interface
  interface
    subroutine MPI_File_get_info(fh, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_info
  end interface
  interface
    subroutine MPI_File_get_position(fh, offset, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: offset
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_position
  end interface
  interface
    subroutine MPI_File_get_position_shared(fh, offset, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: offset
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_position_shared
  end interface
  interface
    subroutine MPI_File_get_size(fh, size, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_size
  end interface
  interface
    subroutine MPI_File_get_type_extent(fh, datatype, extent, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_type_extent
  end interface
  interface
    subroutine MPI_File_get_view(fh, disp, etype, filetype, datarep, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: disp
      integer, intent(out) :: etype
      integer, intent(out) :: filetype
      character(len=*), intent(out) :: datarep
      integer, intent(out) :: ierror
    end subroutine MPI_File_get_view
  end interface
  interface
    subroutine MPI_File_iread(fh, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iread_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread
  end interface
  interface
    subroutine MPI_File_iread_all(fh, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iread_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_all
  end interface
  interface
    subroutine MPI_File_iread_at(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iread_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_at
  end interface
  interface
    subroutine MPI_File_iread_at_all(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iread_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_at_all
  end interface
  interface
    subroutine MPI_File_iread_shared(fh, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iread_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iread_shared
  end interface
  interface
    subroutine MPI_File_iwrite(fh, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iwrite_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite
  end interface
  interface
    subroutine MPI_File_iwrite_all(fh, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iwrite_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_all
  end interface
  interface
    subroutine MPI_File_iwrite_at(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iwrite_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at
  end interface
  interface
    subroutine MPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iwrite_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_at_all
  end interface
  interface
    subroutine MPI_File_iwrite_shared(fh, buf, count, datatype, request, ierror) &
        bind(C, name="mpi_file_iwrite_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPI_File_iwrite_shared
  end interface
  interface
    subroutine MPI_File_open(comm, filename, amode, info, fh, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      character(len=*), intent(in) :: filename
      integer, intent(in) :: amode
      integer, intent(in) :: info
      integer, intent(out) :: fh
      integer, intent(out) :: ierror
    end subroutine MPI_File_open
  end interface
  interface
    subroutine MPI_File_preallocate(fh, size, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_File_preallocate
  end interface
  interface
    subroutine MPI_File_read(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_read_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read
  end interface
  interface
    subroutine MPI_File_read_all(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_read_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_all
  end interface
  interface
    subroutine MPI_File_read_all_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="mpi_file_read_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_all_begin
  end interface
  interface
    subroutine MPI_File_read_all_end(fh, buf, status, ierror) &
        bind(C, name="mpi_file_read_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_all_end
  end interface
  interface
    subroutine MPI_File_read_at(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_read_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at
  end interface
  interface
    subroutine MPI_File_read_at_all(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_read_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at_all
  end interface
  interface
    subroutine MPI_File_read_at_all_begin(fh, offset, buf, count, datatype, ierror) &
        bind(C, name="mpi_file_read_at_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_begin
  end interface
  interface
    subroutine MPI_File_read_at_all_end(fh, buf, status, ierror) &
        bind(C, name="mpi_file_read_at_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_at_all_end
  end interface
  interface
    subroutine MPI_File_read_ordered(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_read_ordered_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_ordered
  end interface
  interface
    subroutine MPI_File_read_ordered_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="mpi_file_read_ordered_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_begin
  end interface
  interface
    subroutine MPI_File_read_ordered_end(fh, buf, status, ierror) &
        bind(C, name="mpi_file_read_ordered_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_ordered_end
  end interface
  interface
    subroutine MPI_File_read_shared(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_read_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_read_shared
  end interface
  interface
    subroutine MPI_File_seek(fh, offset, whence, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, intent(out) :: ierror
    end subroutine MPI_File_seek
  end interface
  interface
    subroutine MPI_File_seek_shared(fh, offset, whence, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, intent(out) :: ierror
    end subroutine MPI_File_seek_shared
  end interface
  interface
    subroutine MPI_File_set_atomicity(fh, flag, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      logical, intent(in) :: flag
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_atomicity
  end interface
  interface
    subroutine MPI_File_set_errhandler(file, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: file
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_errhandler
  end interface
  interface
    subroutine MPI_File_set_info(fh, info, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_info
  end interface
  interface
    subroutine MPI_File_set_size(fh, size, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_size
  end interface
  interface
    subroutine MPI_File_set_view(fh, disp, etype, filetype, datarep, info, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: disp
      integer, intent(in) :: etype
      integer, intent(in) :: filetype
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_File_set_view
  end interface
  interface
    subroutine MPI_File_sync(fh, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: ierror
    end subroutine MPI_File_sync
  end interface
  interface
    subroutine MPI_File_write(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_write_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write
  end interface
  interface
    subroutine MPI_File_write_all(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_write_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_all
  end interface
  interface
    subroutine MPI_File_write_all_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="mpi_file_write_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_all_begin
  end interface
  interface
    subroutine MPI_File_write_all_end(fh, buf, status, ierror) &
        bind(C, name="mpi_file_write_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_all_end
  end interface
  interface
    subroutine MPI_File_write_at(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_write_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at
  end interface
  interface
    subroutine MPI_File_write_at_all(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_write_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at_all
  end interface
  interface
    subroutine MPI_File_write_at_all_begin(fh, offset, buf, count, datatype, ierror) &
        bind(C, name="mpi_file_write_at_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_begin
  end interface
  interface
    subroutine MPI_File_write_at_all_end(fh, buf, status, ierror) &
        bind(C, name="mpi_file_write_at_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_at_all_end
  end interface
  interface
    subroutine MPI_File_write_ordered(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_write_ordered_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_ordered
  end interface
  interface
    subroutine MPI_File_write_ordered_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="mpi_file_write_ordered_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_begin
  end interface
  interface
    subroutine MPI_File_write_ordered_end(fh, buf, status, ierror) &
        bind(C, name="mpi_file_write_ordered_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_ordered_end
  end interface
  interface
    subroutine MPI_File_write_shared(fh, buf, count, datatype, status, ierror) &
        bind(C, name="mpi_file_write_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_File_write_shared
  end interface
  interface
    subroutine MPI_Register_datarep(datarep, read_conversion_fn, write_conversion_fn, &
        dtype_file_extent_fn, extra_state, ierror)
      import
      implicit none
      character(len=*), intent(in) :: datarep
      external :: read_conversion_fn
      external :: write_conversion_fn
      external :: dtype_file_extent_fn
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine MPI_Register_datarep
  end interface
  interface
    subroutine MPI_Pcontrol(level)
      import
      implicit none
      integer, intent(in) :: level
    end subroutine MPI_Pcontrol
  end interface
  interface
    subroutine MPI_Abi_get_fortran_booleans(logical_size, logical_true, logical_false, is_set, &
        ierror) &
        bind(C, name="mpi_abi_get_fortran_booleans_fts")
      import
      implicit none
      integer, intent(in) :: logical_size
      type(*), dimension(..) :: logical_true
      type(*), dimension(..) :: logical_false
      logical, intent(out) :: is_set
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_fortran_booleans
  end interface
  interface
    subroutine MPI_Abi_get_fortran_info(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_fortran_info
  end interface
  interface
    subroutine MPI_Abi_get_info(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_info
  end interface
  interface
    subroutine MPI_Abi_get_version(abi_major, abi_minor, ierror)
      import
      implicit none
      integer, intent(out) :: abi_major
      integer, intent(out) :: abi_minor
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_get_version
  end interface
  interface
    subroutine MPI_Abi_set_fortran_booleans(logical_size, logical_true, logical_false, ierror) &
        bind(C, name="mpi_abi_set_fortran_booleans_fts")
      import
      implicit none
      integer, intent(in) :: logical_size
      type(*), dimension(..), intent(in) :: logical_true
      type(*), dimension(..), intent(in) :: logical_false
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_set_fortran_booleans
  end interface
  interface
    subroutine MPI_Abi_set_fortran_info(info, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine MPI_Abi_set_fortran_info
  end interface
  interface
    subroutine MPI_Address(location, address, ierror) &
        bind(C, name="mpi_address_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: location
      integer, intent(out) :: address
      integer, intent(out) :: ierror
    end subroutine MPI_Address
  end interface
  interface
    subroutine MPI_Errhandler_create(handler_function, errhandler, ierror)
      import
      implicit none
      external :: handler_function
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Errhandler_create
  end interface
  interface
    subroutine MPI_Errhandler_get(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Errhandler_get
  end interface
  interface
    subroutine MPI_Errhandler_set(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine MPI_Errhandler_set
  end interface
  interface
    subroutine MPI_Type_extent(datatype, extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine MPI_Type_extent
  end interface
  interface
    subroutine MPI_Type_hindexed(count, array_of_blocklengths, &
        array_of_displacements, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_hindexed
  end interface
  interface
    subroutine MPI_Type_hvector(count, blocklength, stride, oldtype, newtype, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_hvector
  end interface
  interface
    subroutine MPI_Type_lb(datatype, displacement, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: displacement
      integer, intent(out) :: ierror
    end subroutine MPI_Type_lb
  end interface
  interface
    subroutine MPI_Type_struct(count, array_of_blocklengths, &
        array_of_displacements, array_of_types, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: array_of_types(*)
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine MPI_Type_struct
  end interface
  interface
    subroutine MPI_Type_ub(datatype, displacement, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: displacement
      integer, intent(out) :: ierror
    end subroutine MPI_Type_ub
  end interface
  interface MPI_Sizeof
    subroutine MPI_Sizeof(x, size, ierror) &
        bind(C, name="mpi_sizeof_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: x
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface MPI_Status_f2f08
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      implicit none
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface MPI_Status_f082f
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      implicit none
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPI_Abort(comm, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Abort
  end interface
  interface PMPI_Alloc_mem
    subroutine PMPI_Alloc_mem(size, info, baseptr, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: info
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine PMPI_Alloc_mem
    subroutine PMPI_Alloc_mem_cptr(size, info, baseptr, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: info
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine PMPI_Alloc_mem_cptr
  end interface
  interface
    subroutine PMPI_Finalize(ierror)
      import
      implicit none
      integer, intent(out) :: ierror
    end subroutine PMPI_Finalize
  end interface
  interface
    subroutine PMPI_Finalized(flag, ierror)
      import
      implicit none
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Finalized
  end interface
  interface
    subroutine PMPI_Free_mem(base, ierror) &
        bind(C, name="pmpi_free_mem_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: base
      integer, intent(out) :: ierror
    end subroutine PMPI_Free_mem
  end interface
  interface
    subroutine PMPI_Get_hw_resource_info(hw_info, ierror)
      import
      implicit none
      integer, intent(out) :: hw_info
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_hw_resource_info
  end interface
  interface
    subroutine PMPI_Get_library_version(version, resultlen, ierror)
      import
      implicit none
      character(len=*), intent(out) :: version
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_library_version
  end interface
  interface
    subroutine PMPI_Get_processor_name(name, resultlen, ierror)
      import
      implicit none
      character(len=*), intent(out) :: name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_processor_name
  end interface
  interface
    subroutine PMPI_Get_version(version, subversion, ierror)
      import
      implicit none
      integer, intent(out) :: version
      integer, intent(out) :: subversion
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_version
  end interface
  interface
    subroutine PMPI_Init(ierror)
      import
      implicit none
      integer, intent(out) :: ierror
    end subroutine PMPI_Init
  end interface
  interface
    subroutine PMPI_Init_thread(required, provided, ierror)
      import
      implicit none
      integer, intent(in) :: required
      integer, intent(out) :: provided
      integer, intent(out) :: ierror
    end subroutine PMPI_Init_thread
  end interface
  interface
    subroutine PMPI_Initialized(flag, ierror)
      import
      implicit none
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Initialized
  end interface
  interface
    function PMPI_Wtick()
      import
      implicit none
      double precision :: PMPI_Wtick
    end function PMPI_Wtick
  end interface
  interface
    function PMPI_Wtime()
      import
      implicit none
      double precision :: PMPI_Wtime
    end function PMPI_Wtime
  end interface
  interface
    subroutine PMPI_Bsend(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="pmpi_bsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Bsend
  end interface
  interface
    subroutine PMPI_Bsend_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_bsend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Bsend_init
  end interface
  interface
    subroutine PMPI_Buffer_attach(buffer, size, ierror) &
        bind(C, name="pmpi_buffer_attach_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Buffer_attach
  end interface
  interface
    subroutine PMPI_Buffer_detach(buffer_addr, size, ierror) &
        bind(C, name="pmpi_buffer_detach_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buffer_addr
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Buffer_detach
  end interface
  interface
    subroutine PMPI_Buffer_flush(ierror)
      import
      implicit none
      integer, intent(out) :: ierror
    end subroutine PMPI_Buffer_flush
  end interface
  interface
    subroutine PMPI_Buffer_iflush(request, ierror)
      import
      implicit none
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Buffer_iflush
  end interface
  interface
    subroutine PMPI_Cancel(request, ierror)
      import
      implicit none
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Cancel
  end interface
  interface
    subroutine PMPI_Comm_attach_buffer(comm, buffer, size, ierror) &
        bind(C, name="pmpi_comm_attach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: comm
      type(*), dimension(..), intent(in), asynchronous :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_attach_buffer
  end interface
  interface
    subroutine PMPI_Comm_detach_buffer(comm, buffer_addr, size, ierror) &
        bind(C, name="pmpi_comm_detach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: comm
      type(*), dimension(..), asynchronous :: buffer_addr
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_detach_buffer
  end interface
  interface
    subroutine PMPI_Comm_flush_buffer(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_flush_buffer
  end interface
  interface
    subroutine PMPI_Comm_iflush_buffer(comm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_iflush_buffer
  end interface
  interface
    subroutine PMPI_Get_count(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(out) :: count
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_count
  end interface
  interface
    subroutine PMPI_Ibsend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_ibsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ibsend
  end interface
  interface
    subroutine PMPI_Improbe(source, tag, comm, flag, message, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Improbe
  end interface
  interface
    subroutine PMPI_Imrecv(buf, count, datatype, message, request, ierror) &
        bind(C, name="pmpi_imrecv_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(inout) :: message
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Imrecv
  end interface
  interface
    subroutine PMPI_Iprobe(source, tag, comm, flag, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Iprobe
  end interface
  interface
    subroutine PMPI_Irecv(buf, count, datatype, source, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_irecv_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Irecv
  end interface
  interface
    subroutine PMPI_Irsend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_irsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Irsend
  end interface
  interface
    subroutine PMPI_Isend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_isend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Isend
  end interface
  interface
    subroutine PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, &
        recvbuf, recvcount, recvtype, source, recvtag, comm, request, ierror) &
        bind(C, name="pmpi_isendrecv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Isendrecv
  end interface
  interface
    subroutine PMPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, &
        recvtag, comm, request, ierror) &
        bind(C, name="pmpi_isendrecv_replace_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Isendrecv_replace
  end interface
  interface
    subroutine PMPI_Issend(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_issend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Issend
  end interface
  interface
    subroutine PMPI_Mprobe(source, tag, comm, message, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Mprobe
  end interface
  interface
    subroutine PMPI_Mrecv(buf, count, datatype, message, status, ierror) &
        bind(C, name="pmpi_mrecv_fts")
      import
      implicit none
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(inout) :: message
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Mrecv
  end interface
  interface
    subroutine PMPI_Probe(source, tag, comm, status, ierror)
      import
      implicit none
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Probe
  end interface
  interface
    subroutine PMPI_Recv(buf, count, datatype, source, tag, comm, status, &
        ierror) &
        bind(C, name="pmpi_recv_fts")
      import
      implicit none
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Recv
  end interface
  interface
    subroutine PMPI_Recv_init(buf, count, datatype, source, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_recv_init_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: source
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Recv_init
  end interface
  interface
    subroutine PMPI_Request_free(request, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Request_free
  end interface
  interface
    subroutine PMPI_Request_get_status(request, flag, status, ierror)
      import
      implicit none
      integer, intent(in) :: request
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Request_get_status
  end interface
  interface
    subroutine PMPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_requests(*)
      logical, intent(out) :: flag
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine PMPI_Request_get_status_all
  end interface
  interface
    subroutine PMPI_Request_get_status_any(count, array_of_requests, index, flag, status, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_requests(*)
      integer, intent(out) :: index
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Request_get_status_any
  end interface
  interface
    subroutine PMPI_Request_get_status_some(incount, array_of_requests, outcount, &
        array_of_indices, array_of_statuses, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(in) :: array_of_requests(*)
      integer, intent(out) :: outcount
      integer, intent(out) :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine PMPI_Request_get_status_some
  end interface
  interface
    subroutine PMPI_Rsend(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="pmpi_rsend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Rsend
  end interface
  interface
    subroutine PMPI_Rsend_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_rsend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Rsend_init
  end interface
  interface
    subroutine PMPI_Send(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="pmpi_send_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Send
  end interface
  interface
    subroutine PMPI_Send_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_send_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Send_init
  end interface
  interface
    subroutine PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, &
        recvbuf, recvcount, recvtype, source, recvtag, comm, status, ierror) &
        bind(C, name="pmpi_sendrecv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Sendrecv
  end interface
  interface
    subroutine PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, &
        recvtag, comm, status, ierror) &
        bind(C, name="pmpi_sendrecv_replace_fts")
      import
      implicit none
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: sendtag
      integer, intent(in) :: source
      integer, intent(in) :: recvtag
      integer, intent(in) :: comm
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Sendrecv_replace
  end interface
  interface
    subroutine PMPI_Session_attach_buffer(session, buffer, size, ierror) &
        bind(C, name="pmpi_session_attach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: session
      type(*), dimension(..), intent(in), asynchronous :: buffer
      integer, intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_attach_buffer
  end interface
  interface
    subroutine PMPI_Session_detach_buffer(session, buffer_addr, size, ierror) &
        bind(C, name="pmpi_session_detach_buffer_fts")
      import
      implicit none
      integer, intent(in) :: session
      type(*), dimension(..), asynchronous :: buffer_addr
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_detach_buffer
  end interface
  interface
    subroutine PMPI_Session_flush_buffer(session, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_flush_buffer
  end interface
  interface
    subroutine PMPI_Session_iflush_buffer(session, request, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_iflush_buffer
  end interface
  interface
    subroutine PMPI_Ssend(buf, count, datatype, dest, tag, comm, ierror) &
        bind(C, name="pmpi_ssend_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Ssend
  end interface
  interface
    subroutine PMPI_Ssend_init(buf, count, datatype, dest, tag, comm, request, &
        ierror) &
        bind(C, name="pmpi_ssend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ssend_init
  end interface
  interface
    subroutine PMPI_Start(request, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Start
  end interface
  interface
    subroutine PMPI_Startall(count, array_of_requests, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Startall
  end interface
  interface
    subroutine PMPI_Test(request, flag, status, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Test
  end interface
  interface
    subroutine PMPI_Test_cancelled(status, flag, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Test_cancelled
  end interface
  interface
    subroutine PMPI_Testall(count, array_of_requests, flag, array_of_statuses, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      logical, intent(out) :: flag
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine PMPI_Testall
  end interface
  interface
    subroutine PMPI_Testany(count, array_of_requests, index, flag, status, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: index
      logical, intent(out) :: flag
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Testany
  end interface
  interface
    subroutine PMPI_Testsome(incount, array_of_requests, outcount, &
        array_of_indices, array_of_statuses, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: outcount
      integer, intent(out) :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine PMPI_Testsome
  end interface
  interface
    subroutine PMPI_Wait(request, status, ierror)
      import
      implicit none
      integer, intent(inout) :: request
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Wait
  end interface
  interface
    subroutine PMPI_Waitall(count, array_of_requests, array_of_statuses, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine PMPI_Waitall
  end interface
  interface
    subroutine PMPI_Waitany(count, array_of_requests, index, status, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: index
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Waitany
  end interface
  interface
    subroutine PMPI_Waitsome(incount, array_of_requests, outcount, &
        array_of_indices, array_of_statuses, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(inout) :: array_of_requests(*)
      integer, intent(out) :: outcount
      integer, intent(out) :: array_of_indices(*)
      integer :: array_of_statuses(MPI_STATUS_SIZE, *)
      integer, intent(out) :: ierror
    end subroutine PMPI_Waitsome
  end interface
  interface
    subroutine PMPI_Parrived(request, partition, flag, ierror)
      import
      implicit none
      integer, intent(in) :: request
      integer, intent(in) :: partition
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Parrived
  end interface
  interface
    subroutine PMPI_Pready(partition, request, ierror)
      import
      implicit none
      integer, intent(in) :: partition
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Pready
  end interface
  interface
    subroutine PMPI_Pready_list(length, array_of_partitions, request, ierror)
      import
      implicit none
      integer, intent(in) :: length
      integer, intent(in) :: array_of_partitions(*)
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Pready_list
  end interface
  interface
    subroutine PMPI_Pready_range(partition_low, partition_high, request, ierror)
      import
      implicit none
      integer, intent(in) :: partition_low
      integer, intent(in) :: partition_high
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Pready_range
  end interface
  interface
    subroutine PMPI_Precv_init(buf, partitions, count, datatype, dest, tag, comm, &
        info, request, ierror) &
        bind(C, name="pmpi_precv_init_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: partitions
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Precv_init
  end interface
  interface
    subroutine PMPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, &
        info, request, ierror) &
        bind(C, name="pmpi_psend_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: partitions
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: dest
      integer, intent(in) :: tag
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Psend_init
  end interface
  interface
    function PMPI_Aint_add(base, disp)
      import
      implicit none
      integer(kind=mpi_address_kind) :: PMPI_Aint_add
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
    end function PMPI_Aint_add
  end interface
  interface
    function PMPI_Aint_diff(addr1, addr2)
      import
      implicit none
      integer(kind=mpi_address_kind) :: PMPI_Aint_diff
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr2
    end function PMPI_Aint_diff
  end interface
  interface
    subroutine PMPI_Get_address(location, address, ierror) &
        bind(C, name="pmpi_get_address_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: location
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: address
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_address
  end interface
  interface
    subroutine PMPI_Get_elements(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(out) :: count
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_elements
  end interface
  interface
    subroutine PMPI_Get_elements_x(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: count
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_elements_x
  end interface
  interface
    subroutine PMPI_Pack(inbuf, incount, datatype, outbuf, outsize, &
        position, comm, ierror) &
        bind(C, name="pmpi_pack_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      type(*), dimension(..) :: outbuf
      integer, intent(in) :: outsize
      integer, intent(inout) :: position
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Pack
  end interface
  interface
    subroutine PMPI_Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, &
        position, ierror) &
        bind(C, name="pmpi_pack_external_fts")
      import
      implicit none
      character(len=*), intent(in) :: datarep
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      type(*), dimension(..) :: outbuf
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: outsize
      integer(kind=MPI_ADDRESS_KIND), intent(inout) :: position
      integer, intent(out) :: ierror
    end subroutine PMPI_Pack_external
  end interface
  interface
    subroutine PMPI_Pack_external_size(datarep, incount, datatype, size, ierror)
      import
      implicit none
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Pack_external_size
  end interface
  interface
    subroutine PMPI_Pack_size(incount, datatype, comm, size, ierror)
      import
      implicit none
      integer, intent(in) :: incount
      integer, intent(in) :: datatype
      integer, intent(in) :: comm
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Pack_size
  end interface
  interface
    subroutine PMPI_Type_commit(datatype, ierror)
      import
      implicit none
      integer, intent(inout) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_commit
  end interface
  interface
    subroutine PMPI_Type_contiguous(count, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_contiguous
  end interface
  interface
    subroutine PMPI_Type_create_darray(size, rank, ndims, array_of_gsizes, &
        array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: size
      integer, intent(in) :: rank
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_gsizes(*)
      integer, intent(in) :: array_of_distribs(*)
      integer, intent(in) :: array_of_dargs(*)
      integer, intent(in) :: array_of_psizes(*)
      integer, intent(in) :: order
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_darray
  end interface
  interface
    subroutine PMPI_Type_create_f90_complex(p, r, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: p
      integer, intent(in) :: r
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_f90_complex
  end interface
  interface
    subroutine PMPI_Type_create_f90_integer(r, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: r
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_f90_integer
  end interface
  interface
    subroutine PMPI_Type_create_f90_real(p, r, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: p
      integer, intent(in) :: r
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_f90_real
  end interface
  interface
    subroutine PMPI_Type_create_hindexed(count, array_of_blocklengths, &
        array_of_displacements, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_hindexed
  end interface
  interface
    subroutine PMPI_Type_create_hindexed_block(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_hindexed_block
  end interface
  interface
    subroutine PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: stride
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_hvector
  end interface
  interface
    subroutine PMPI_Type_create_indexed_block(count, blocklength, array_of_displacements, &
        oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_indexed_block
  end interface
  interface
    subroutine PMPI_Type_create_resized(oldtype, lb, extent, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: oldtype
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: lb
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extent
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_resized
  end interface
  interface
    subroutine PMPI_Type_create_struct(count, array_of_blocklengths, &
        array_of_displacements, array_of_types, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: array_of_displacements(*)
      integer, intent(in) :: array_of_types(*)
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_struct
  end interface
  interface
    subroutine PMPI_Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, &
        array_of_starts, order, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: ndims
      integer, intent(in) :: array_of_sizes(*)
      integer, intent(in) :: array_of_subsizes(*)
      integer, intent(in) :: array_of_starts(*)
      integer, intent(in) :: order
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_subarray
  end interface
  interface
    subroutine PMPI_Type_dup(oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_dup
  end interface
  interface
    subroutine PMPI_Type_free(datatype, ierror)
      import
      implicit none
      integer, intent(inout) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_free
  end interface
  interface
    subroutine PMPI_Type_get_contents(datatype, max_integers, max_addresses, &
        max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: max_integers
      integer, intent(in) :: max_addresses
      integer, intent(in) :: max_datatypes
      integer, intent(out) :: array_of_integers(*)
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: array_of_addresses(*)
      integer, intent(out) :: array_of_datatypes(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_contents
  end interface
  interface
    subroutine PMPI_Type_get_envelope(datatype, num_integers, num_addresses, &
        num_datatypes, combiner, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: num_integers
      integer, intent(out) :: num_addresses
      integer, intent(out) :: num_datatypes
      integer, intent(out) :: combiner
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_envelope
  end interface
  interface
    subroutine PMPI_Type_get_extent(datatype, lb, extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: lb
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_extent
  end interface
  interface
    subroutine PMPI_Type_get_extent_x(datatype, lb, extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: lb
      integer(kind=MPI_COUNT_KIND), intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_extent_x
  end interface
  interface
    subroutine PMPI_Type_get_name(datatype, type_name, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      character(len=*), intent(out) :: type_name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_name
  end interface
  interface
    subroutine PMPI_Type_get_true_extent(datatype, true_lb, true_extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: true_lb
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: true_extent
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_true_extent
  end interface
  interface
    subroutine PMPI_Type_get_true_extent_x(datatype, true_lb, true_extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: true_lb
      integer(kind=MPI_COUNT_KIND), intent(out) :: true_extent
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_true_extent_x
  end interface
  interface
    subroutine PMPI_Type_get_value_index(value_type, index_type, pair_type, ierror)
      import
      implicit none
      integer, intent(in) :: value_type
      integer, intent(in) :: index_type
      integer, intent(out) :: pair_type
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_value_index
  end interface
  interface
    subroutine PMPI_Type_indexed(count, array_of_blocklengths, &
        array_of_displacements, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_indexed
  end interface
  interface
    subroutine PMPI_Type_match_size(typeclass, size, datatype, ierror)
      import
      implicit none
      integer, intent(in) :: typeclass
      integer, intent(in) :: size
      integer, intent(out) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_match_size
  end interface
  interface
    subroutine PMPI_Type_set_name(datatype, type_name, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      character(len=*), intent(in) :: type_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_set_name
  end interface
  interface
    subroutine PMPI_Type_size(datatype, size, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_size
  end interface
  interface
    subroutine PMPI_Type_size_x(datatype, size, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_size_x
  end interface
  interface
    subroutine PMPI_Type_vector(count, blocklength, stride, oldtype, newtype, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_vector
  end interface
  interface
    subroutine PMPI_Unpack(inbuf, insize, position, outbuf, outcount, &
        datatype, comm, ierror) &
        bind(C, name="pmpi_unpack_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: insize
      integer, intent(inout) :: position
      type(*), dimension(..) :: outbuf
      integer, intent(in) :: outcount
      integer, intent(in) :: datatype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Unpack
  end interface
  interface
    subroutine PMPI_Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, &
        datatype, ierror) &
        bind(C, name="pmpi_unpack_external_fts")
      import
      implicit none
      character(len=*), intent(in) :: datarep
      type(*), dimension(..), intent(in) :: inbuf
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: insize
      integer(kind=MPI_ADDRESS_KIND), intent(inout) :: position
      type(*), dimension(..) :: outbuf
      integer, intent(in) :: outcount
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_Unpack_external
  end interface
  interface
    subroutine PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="pmpi_allgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Allgather
  end interface
  interface
    subroutine PMPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_allgather_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Allgather_init
  end interface
  interface
    subroutine PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, ierror) &
        bind(C, name="pmpi_allgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Allgatherv
  end interface
  interface
    subroutine PMPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_allgatherv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Allgatherv_init
  end interface
  interface
    subroutine PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, &
        ierror) &
        bind(C, name="pmpi_allreduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Allreduce
  end interface
  interface
    subroutine PMPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, &
        request, ierror) &
        bind(C, name="pmpi_allreduce_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Allreduce_init
  end interface
  interface
    subroutine PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="pmpi_alltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Alltoall
  end interface
  interface
    subroutine PMPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_alltoall_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Alltoall_init
  end interface
  interface
    subroutine PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror) &
        bind(C, name="pmpi_alltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Alltoallv
  end interface
  interface
    subroutine PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_alltoallv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Alltoallv_init
  end interface
  interface
    subroutine PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror) &
        bind(C, name="pmpi_alltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      integer, intent(in) :: sendtypes(*)
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      integer, intent(in) :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Alltoallw
  end interface
  interface
    subroutine PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="pmpi_alltoallw_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Alltoallw_init
  end interface
  interface
    subroutine PMPI_Barrier(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Barrier
  end interface
  interface
    subroutine PMPI_Barrier_init(comm, info, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Barrier_init
  end interface
  interface
    subroutine PMPI_Bcast(buffer, count, datatype, root, comm, ierror) &
        bind(C, name="pmpi_bcast_fts")
      import
      implicit none
      type(*), dimension(..) :: buffer
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Bcast
  end interface
  interface
    subroutine PMPI_Bcast_init(buffer, count, datatype, root, comm, info, request, &
        ierror) &
        bind(C, name="pmpi_bcast_init_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buffer
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Bcast_init
  end interface
  interface
    subroutine PMPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm, &
        ierror) &
        bind(C, name="pmpi_exscan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Exscan
  end interface
  interface
    subroutine PMPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, &
        request, ierror) &
        bind(C, name="pmpi_exscan_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Exscan_init
  end interface
  interface
    subroutine PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, ierror) &
        bind(C, name="pmpi_gather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Gather
  end interface
  interface
    subroutine PMPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror) &
        bind(C, name="pmpi_gather_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Gather_init
  end interface
  interface
    subroutine PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, root, comm, ierror) &
        bind(C, name="pmpi_gatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Gatherv
  end interface
  interface
    subroutine PMPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, root, comm, info, request, ierror) &
        bind(C, name="pmpi_gatherv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Gatherv_init
  end interface
  interface
    subroutine PMPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="pmpi_iallgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iallgather
  end interface
  interface
    subroutine PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror) &
        bind(C, name="pmpi_iallgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iallgatherv
  end interface
  interface
    subroutine PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, &
        request, ierror) &
        bind(C, name="pmpi_iallreduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iallreduce
  end interface
  interface
    subroutine PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="pmpi_ialltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ialltoall
  end interface
  interface
    subroutine PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror) &
        bind(C, name="pmpi_ialltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ialltoallv
  end interface
  interface
    subroutine PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror) &
        bind(C, name="pmpi_ialltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ialltoallw
  end interface
  interface
    subroutine PMPI_Ibarrier(comm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ibarrier
  end interface
  interface
    subroutine PMPI_Ibcast(buffer, count, datatype, root, comm, request, &
        ierror) &
        bind(C, name="pmpi_ibcast_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: buffer
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ibcast
  end interface
  interface
    subroutine PMPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, &
        request, ierror) &
        bind(C, name="pmpi_iexscan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iexscan
  end interface
  interface
    subroutine PMPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, request, ierror) &
        bind(C, name="pmpi_igather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Igather
  end interface
  interface
    subroutine PMPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, root, comm, request, ierror) &
        bind(C, name="pmpi_igatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Igatherv
  end interface
  interface
    subroutine PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, &
        request, ierror) &
        bind(C, name="pmpi_ireduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ireduce
  end interface
  interface
    subroutine PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        request, ierror) &
        bind(C, name="pmpi_ireduce_scatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ireduce_scatter
  end interface
  interface
    subroutine PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        request, ierror) &
        bind(C, name="pmpi_ireduce_scatter_block_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ireduce_scatter_block
  end interface
  interface
    subroutine PMPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, &
        request, ierror) &
        bind(C, name="pmpi_iscan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iscan
  end interface
  interface
    subroutine PMPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, request, ierror) &
        bind(C, name="pmpi_iscatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iscatter
  end interface
  interface
    subroutine PMPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, &
        recvcount, recvtype, root, comm, request, ierror) &
        bind(C, name="pmpi_iscatterv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Iscatterv
  end interface
  interface
    subroutine PMPI_Op_commutative(op, commute, ierror)
      import
      implicit none
      integer, intent(in) :: op
      logical, intent(out) :: commute
      integer, intent(out) :: ierror
    end subroutine PMPI_Op_commutative
  end interface
  interface
    subroutine PMPI_Op_create(user_fn, commute, op, ierror)
      import
      implicit none
      external :: user_fn
      logical, intent(in) :: commute
      integer, intent(out) :: op
      integer, intent(out) :: ierror
    end subroutine PMPI_Op_create
  end interface
  interface
    subroutine PMPI_Op_free(op, ierror)
      import
      implicit none
      integer, intent(inout) :: op
      integer, intent(out) :: ierror
    end subroutine PMPI_Op_free
  end interface
  interface
    subroutine PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm, &
        ierror) &
        bind(C, name="pmpi_reduce_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce
  end interface
  interface
    subroutine PMPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, &
        info, request, ierror) &
        bind(C, name="pmpi_reduce_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce_init
  end interface
  interface
    subroutine PMPI_Reduce_local(inbuf, inoutbuf, count, datatype, op, ierror) &
        bind(C, name="pmpi_reduce_local_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: inbuf
      type(*), dimension(..) :: inoutbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce_local
  end interface
  interface
    subroutine PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        ierror) &
        bind(C, name="pmpi_reduce_scatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter
  end interface
  interface
    subroutine PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        ierror) &
        bind(C, name="pmpi_reduce_scatter_block_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_block
  end interface
  interface
    subroutine PMPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, &
        info, request, ierror) &
        bind(C, name="pmpi_reduce_scatter_block_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_block_init
  end interface
  interface
    subroutine PMPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, &
        info, request, ierror) &
        bind(C, name="pmpi_reduce_scatter_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Reduce_scatter_init
  end interface
  interface
    subroutine PMPI_Scan(sendbuf, recvbuf, count, datatype, op, comm, &
        ierror) &
        bind(C, name="pmpi_scan_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Scan
  end interface
  interface
    subroutine PMPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, &
        request, ierror) &
        bind(C, name="pmpi_scan_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(in) :: op
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Scan_init
  end interface
  interface
    subroutine PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, ierror) &
        bind(C, name="pmpi_scatter_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Scatter
  end interface
  interface
    subroutine PMPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, root, comm, info, request, ierror) &
        bind(C, name="pmpi_scatter_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Scatter_init
  end interface
  interface
    subroutine PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, &
        recvcount, recvtype, root, comm, ierror) &
        bind(C, name="pmpi_scatterv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Scatterv
  end interface
  interface
    subroutine PMPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, &
        recvcount, recvtype, root, comm, info, request, ierror) &
        bind(C, name="pmpi_scatterv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Scatterv_init
  end interface
  interface
    subroutine PMPI_Group_compare(group1, group2, result, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: result
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_compare
  end interface
  interface
    subroutine PMPI_Group_difference(group1, group2, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_difference
  end interface
  interface
    subroutine PMPI_Group_excl(group, n, ranks, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_excl
  end interface
  interface
    subroutine PMPI_Group_free(group, ierror)
      import
      implicit none
      integer, intent(inout) :: group
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_free
  end interface
  interface
    subroutine PMPI_Group_incl(group, n, ranks, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranks(*)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_incl
  end interface
  interface
    subroutine PMPI_Group_intersection(group1, group2, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_intersection
  end interface
  interface
    subroutine PMPI_Group_range_excl(group, n, ranges, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_range_excl
  end interface
  interface
    subroutine PMPI_Group_range_incl(group, n, ranges, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: n
      integer, intent(in) :: ranges(3, *)
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_range_incl
  end interface
  interface
    subroutine PMPI_Group_rank(group, rank, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(out) :: rank
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_rank
  end interface
  interface
    subroutine PMPI_Group_size(group, size, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_size
  end interface
  interface
    subroutine PMPI_Group_translate_ranks(group1, n, ranks1, group2, ranks2, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: n
      integer, intent(in) :: ranks1(*)
      integer, intent(in) :: group2
      integer, intent(out) :: ranks2(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_translate_ranks
  end interface
  interface
    subroutine PMPI_Group_union(group1, group2, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: group1
      integer, intent(in) :: group2
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_union
  end interface
  interface
    subroutine PMPI_Comm_compare(comm1, comm2, result, ierror)
      import
      implicit none
      integer, intent(in) :: comm1
      integer, intent(in) :: comm2
      integer, intent(out) :: result
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_compare
  end interface
  interface
    subroutine PMPI_Comm_create(comm, group, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: group
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_create
  end interface
  interface
    subroutine PMPI_Comm_create_group(comm, group, tag, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: group
      integer, intent(in) :: tag
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_create_group
  end interface
  interface
    subroutine PMPI_Comm_dup(comm, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_dup
  end interface
  interface
    subroutine PMPI_Comm_dup_with_info(comm, info, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_dup_with_info
  end interface
  interface
    subroutine PMPI_Comm_free(comm, ierror)
      import
      implicit none
      integer, intent(inout) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_free
  end interface
  interface
    subroutine PMPI_Comm_get_info(comm, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_get_info
  end interface
  interface
    subroutine PMPI_Comm_get_name(comm, comm_name, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      character(len=*), intent(out) :: comm_name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_get_name
  end interface
  interface
    subroutine PMPI_Comm_group(comm, group, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_group
  end interface
  interface
    subroutine PMPI_Comm_idup(comm, newcomm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out), asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_idup
  end interface
  interface
    subroutine PMPI_Comm_idup_with_info(comm, info, newcomm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out), asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_idup_with_info
  end interface
  interface
    subroutine PMPI_Comm_rank(comm, rank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: rank
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_rank
  end interface
  interface
    subroutine PMPI_Comm_remote_group(comm, group, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_remote_group
  end interface
  interface
    subroutine PMPI_Comm_remote_size(comm, size, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_remote_size
  end interface
  interface
    subroutine PMPI_Comm_set_info(comm, info, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_set_info
  end interface
  interface
    subroutine PMPI_Comm_set_name(comm, comm_name, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      character(len=*), intent(in) :: comm_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_set_name
  end interface
  interface
    subroutine PMPI_Comm_size(comm, size, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_size
  end interface
  interface
    subroutine PMPI_Comm_split(comm, color, key, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: color
      integer, intent(in) :: key
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_split
  end interface
  interface
    subroutine PMPI_Comm_split_type(comm, split_type, key, info, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: split_type
      integer, intent(in) :: key
      integer, intent(in) :: info
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_split_type
  end interface
  interface
    subroutine PMPI_Comm_test_inter(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_test_inter
  end interface
  interface
    subroutine PMPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, &
        tag, newintercomm, ierror)
      import
      implicit none
      integer, intent(in) :: local_comm
      integer, intent(in) :: local_leader
      integer, intent(in) :: peer_comm
      integer, intent(in) :: remote_leader
      integer, intent(in) :: tag
      integer, intent(out) :: newintercomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Intercomm_create
  end interface
  interface
    subroutine PMPI_Intercomm_merge(intercomm, high, newintracomm, ierror)
      import
      implicit none
      integer, intent(in) :: intercomm
      logical, intent(in) :: high
      integer, intent(out) :: newintracomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Intercomm_merge
  end interface
  interface
    subroutine PMPI_Attr_delete(comm, keyval, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Attr_delete
  end interface
  interface
    subroutine PMPI_Attr_get(comm, keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Attr_get
  end interface
  interface
    subroutine PMPI_Attr_put(comm, keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: keyval
      integer, intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine PMPI_Attr_put
  end interface
  interface
    subroutine PMPI_Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, &
        comm_keyval, extra_state, ierror)
      import
      implicit none
      external :: comm_copy_attr_fn
      external :: comm_delete_attr_fn
      integer, intent(out) :: comm_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_create_keyval
  end interface
  interface
    subroutine PMPI_Comm_delete_attr(comm, comm_keyval, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_delete_attr
  end interface
  interface
    subroutine PMPI_Comm_free_keyval(comm_keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: comm_keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_free_keyval
  end interface
  interface
    subroutine PMPI_Comm_get_attr(comm, comm_keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_get_attr
  end interface
  interface
    subroutine PMPI_Comm_set_attr(comm, comm_keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: comm_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_set_attr
  end interface
  interface
    subroutine PMPI_Keyval_create(copy_fn, delete_fn, keyval, extra_state, ierror)
      import
      implicit none
      external :: copy_fn
      external :: delete_fn
      integer, intent(out) :: keyval
      integer, intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine PMPI_Keyval_create
  end interface
  interface
    subroutine PMPI_Keyval_free(keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Keyval_free
  end interface
  interface
    subroutine PMPI_Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, &
        type_keyval, extra_state, ierror)
      import
      implicit none
      external :: type_copy_attr_fn
      external :: type_delete_attr_fn
      integer, intent(out) :: type_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_create_keyval
  end interface
  interface
    subroutine PMPI_Type_delete_attr(datatype, type_keyval, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_delete_attr
  end interface
  interface
    subroutine PMPI_Type_free_keyval(type_keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: type_keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_free_keyval
  end interface
  interface
    subroutine PMPI_Type_get_attr(datatype, type_keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_get_attr
  end interface
  interface
    subroutine PMPI_Type_set_attr(datatype, type_keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(in) :: type_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_set_attr
  end interface
  interface
    subroutine PMPI_Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, &
        extra_state, ierror)
      import
      implicit none
      external :: win_copy_attr_fn
      external :: win_delete_attr_fn
      integer, intent(out) :: win_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_create_keyval
  end interface
  interface
    subroutine PMPI_Win_delete_attr(win, win_keyval, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_delete_attr
  end interface
  interface
    subroutine PMPI_Win_free_keyval(win_keyval, ierror)
      import
      implicit none
      integer, intent(inout) :: win_keyval
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_free_keyval
  end interface
  interface
    subroutine PMPI_Win_get_attr(win, win_keyval, attribute_val, flag, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: attribute_val
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_get_attr
  end interface
  interface
    subroutine PMPI_Win_set_attr(win, win_keyval, attribute_val, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: win_keyval
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: attribute_val
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_set_attr
  end interface
  interface
    subroutine PMPI_Cart_coords(comm, rank, maxdims, coords, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxdims
      integer, intent(out) :: coords(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_coords
  end interface
  interface
    subroutine PMPI_Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart, &
        ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_cart
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_create
  end interface
  interface
    subroutine PMPI_Cart_get(comm, maxdims, dims, periods, coords, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: maxdims
      integer, intent(out) :: dims(*)
      logical, intent(out) :: periods(*)
      integer, intent(out) :: coords(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_get
  end interface
  interface
    subroutine PMPI_Cart_map(comm, ndims, dims, periods, newrank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: ndims
      integer, intent(in) :: dims(*)
      logical, intent(in) :: periods(*)
      integer, intent(out) :: newrank
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_map
  end interface
  interface
    subroutine PMPI_Cart_rank(comm, coords, rank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: coords(*)
      integer, intent(out) :: rank
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_rank
  end interface
  interface
    subroutine PMPI_Cart_shift(comm, direction, disp, rank_source, rank_dest, &
        ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: direction
      integer, intent(in) :: disp
      integer, intent(out) :: rank_source
      integer, intent(out) :: rank_dest
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_shift
  end interface
  interface
    subroutine PMPI_Cart_sub(comm, remain_dims, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(in) :: remain_dims(*)
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Cart_sub
  end interface
  interface
    subroutine PMPI_Cartdim_get(comm, ndims, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ndims
      integer, intent(out) :: ierror
    end subroutine PMPI_Cartdim_get
  end interface
  interface
    subroutine PMPI_Dims_create(nnodes, ndims, dims, ierror)
      import
      implicit none
      integer, intent(in) :: nnodes
      integer, intent(in) :: ndims
      integer, intent(inout) :: dims(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Dims_create
  end interface
  interface
    subroutine PMPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, &
        weights, info, reorder, comm_dist_graph, ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: n
      integer, intent(in) :: sources(*)
      integer, intent(in) :: degrees(*)
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: weights(*)
      integer, intent(in) :: info
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_dist_graph
      integer, intent(out) :: ierror
    end subroutine PMPI_Dist_graph_create
  end interface
  interface
    subroutine PMPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, &
        outdegree, destinations, destweights, info, reorder, comm_dist_graph, ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: indegree
      integer, intent(in) :: sources(*)
      integer, intent(in) :: sourceweights(*)
      integer, intent(in) :: outdegree
      integer, intent(in) :: destinations(*)
      integer, intent(in) :: destweights(*)
      integer, intent(in) :: info
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_dist_graph
      integer, intent(out) :: ierror
    end subroutine PMPI_Dist_graph_create_adjacent
  end interface
  interface
    subroutine PMPI_Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, &
        maxoutdegree, destinations, destweights, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: maxindegree
      integer, intent(out) :: sources(*)
      integer, intent(out) :: sourceweights(*)
      integer, intent(in) :: maxoutdegree
      integer, intent(out) :: destinations(*)
      integer, intent(out) :: destweights(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Dist_graph_neighbors
  end interface
  interface
    subroutine PMPI_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: indegree
      integer, intent(out) :: outdegree
      logical, intent(out) :: weighted
      integer, intent(out) :: ierror
    end subroutine PMPI_Dist_graph_neighbors_count
  end interface
  interface
    subroutine PMPI_Graph_create(comm_old, nnodes, index, edges, reorder, &
        comm_graph, ierror)
      import
      implicit none
      integer, intent(in) :: comm_old
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      logical, intent(in) :: reorder
      integer, intent(out) :: comm_graph
      integer, intent(out) :: ierror
    end subroutine PMPI_Graph_create
  end interface
  interface
    subroutine PMPI_Graph_get(comm, maxindex, maxedges, index, edges, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: maxindex
      integer, intent(in) :: maxedges
      integer, intent(out) :: index(*)
      integer, intent(out) :: edges(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Graph_get
  end interface
  interface
    subroutine PMPI_Graph_map(comm, nnodes, index, edges, newrank, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: nnodes
      integer, intent(in) :: index(*)
      integer, intent(in) :: edges(*)
      integer, intent(out) :: newrank
      integer, intent(out) :: ierror
    end subroutine PMPI_Graph_map
  end interface
  interface
    subroutine PMPI_Graph_neighbors(comm, rank, maxneighbors, neighbors, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(in) :: maxneighbors
      integer, intent(out) :: neighbors(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Graph_neighbors
  end interface
  interface
    subroutine PMPI_Graph_neighbors_count(comm, rank, nneighbors, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: rank
      integer, intent(out) :: nneighbors
      integer, intent(out) :: ierror
    end subroutine PMPI_Graph_neighbors_count
  end interface
  interface
    subroutine PMPI_Graphdims_get(comm, nnodes, nedges, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: nnodes
      integer, intent(out) :: nedges
      integer, intent(out) :: ierror
    end subroutine PMPI_Graphdims_get
  end interface
  interface
    subroutine PMPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="pmpi_ineighbor_allgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_allgather
  end interface
  interface
    subroutine PMPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, request, ierror) &
        bind(C, name="pmpi_ineighbor_allgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_allgatherv
  end interface
  interface
    subroutine PMPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, request, ierror) &
        bind(C, name="pmpi_ineighbor_alltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoall
  end interface
  interface
    subroutine PMPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, request, ierror) &
        bind(C, name="pmpi_ineighbor_alltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoallv
  end interface
  interface
    subroutine PMPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, request, ierror) &
        bind(C, name="pmpi_ineighbor_alltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Ineighbor_alltoallw
  end interface
  interface
    subroutine PMPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="pmpi_neighbor_allgather_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgather
  end interface
  interface
    subroutine PMPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_neighbor_allgather_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgather_init
  end interface
  interface
    subroutine PMPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, ierror) &
        bind(C, name="pmpi_neighbor_allgatherv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgatherv
  end interface
  interface
    subroutine PMPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, &
        displs, recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_neighbor_allgatherv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: displs(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_allgatherv_init
  end interface
  interface
    subroutine PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, ierror) &
        bind(C, name="pmpi_neighbor_alltoall_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoall
  end interface
  interface
    subroutine PMPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_neighbor_alltoall_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in) :: sendcount
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in) :: recvcount
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoall_init
  end interface
  interface
    subroutine PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, ierror) &
        bind(C, name="pmpi_neighbor_alltoallv_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer, intent(in) :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer, intent(in) :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallv
  end interface
  interface
    subroutine PMPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, &
        recvcounts, rdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="pmpi_neighbor_alltoallv_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer, intent(in), asynchronous :: sdispls(*)
      integer, intent(in) :: sendtype
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer, intent(in), asynchronous :: rdispls(*)
      integer, intent(in) :: recvtype
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallv_init
  end interface
  interface
    subroutine PMPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, ierror) &
        bind(C, name="pmpi_neighbor_alltoallw_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: sendbuf
      integer, intent(in) :: sendcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: sdispls(*)
      integer, intent(in) :: sendtypes(*)
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: recvcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: rdispls(*)
      integer, intent(in) :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallw
  end interface
  interface
    subroutine PMPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="pmpi_neighbor_alltoallw_init_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      integer, intent(in), asynchronous :: sendcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: sdispls(*)
      integer, intent(in), asynchronous :: sendtypes(*)
      type(*), dimension(..), asynchronous :: recvbuf
      integer, intent(in), asynchronous :: recvcounts(*)
      integer(kind=MPI_ADDRESS_KIND), intent(in), asynchronous :: rdispls(*)
      integer, intent(in), asynchronous :: recvtypes(*)
      integer, intent(in) :: comm
      integer, intent(in) :: info
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Neighbor_alltoallw_init
  end interface
  interface
    subroutine PMPI_Topo_test(comm, status, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: status
      integer, intent(out) :: ierror
    end subroutine PMPI_Topo_test
  end interface
  interface
    subroutine PMPI_Add_error_class(errorclass, ierror)
      import
      implicit none
      integer, intent(out) :: errorclass
      integer, intent(out) :: ierror
    end subroutine PMPI_Add_error_class
  end interface
  interface
    subroutine PMPI_Add_error_code(errorclass, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: errorclass
      integer, intent(out) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Add_error_code
  end interface
  interface
    subroutine PMPI_Add_error_string(errorcode, string, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      character(len=*), intent(in) :: string
      integer, intent(out) :: ierror
    end subroutine PMPI_Add_error_string
  end interface
  interface
    subroutine PMPI_Comm_call_errhandler(comm, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_call_errhandler
  end interface
  interface
    subroutine PMPI_Comm_create_errhandler(comm_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: comm_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_create_errhandler
  end interface
  interface
    subroutine PMPI_Comm_get_errhandler(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_get_errhandler
  end interface
  interface
    subroutine PMPI_Comm_set_errhandler(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_set_errhandler
  end interface
  interface
    subroutine PMPI_Errhandler_free(errhandler, ierror)
      import
      implicit none
      integer, intent(inout) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Errhandler_free
  end interface
  interface
    subroutine PMPI_Error_class(errorcode, errorclass, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      integer, intent(out) :: errorclass
      integer, intent(out) :: ierror
    end subroutine PMPI_Error_class
  end interface
  interface
    subroutine PMPI_Error_string(errorcode, string, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      character(len=*), intent(out) :: string
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine PMPI_Error_string
  end interface
  interface
    subroutine PMPI_Remove_error_class(errorclass, ierror)
      import
      implicit none
      integer, intent(in) :: errorclass
      integer, intent(out) :: ierror
    end subroutine PMPI_Remove_error_class
  end interface
  interface
    subroutine PMPI_Remove_error_code(errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Remove_error_code
  end interface
  interface
    subroutine PMPI_Remove_error_string(errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Remove_error_string
  end interface
  interface
    subroutine PMPI_Session_call_errhandler(session, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_call_errhandler
  end interface
  interface
    subroutine PMPI_Session_create_errhandler(session_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: session_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_create_errhandler
  end interface
  interface
    subroutine PMPI_Session_get_errhandler(session, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_get_errhandler
  end interface
  interface
    subroutine PMPI_Session_set_errhandler(session, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_set_errhandler
  end interface
  interface
    subroutine PMPI_Win_call_errhandler(win, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_call_errhandler
  end interface
  interface
    subroutine PMPI_Win_create_errhandler(win_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: win_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_create_errhandler
  end interface
  interface
    subroutine PMPI_Win_get_errhandler(win, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_get_errhandler
  end interface
  interface
    subroutine PMPI_Win_set_errhandler(win, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_set_errhandler
  end interface
  interface
    subroutine PMPI_Info_create(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_create
  end interface
  interface
    subroutine PMPI_Info_create_env(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_create_env
  end interface
  interface
    subroutine PMPI_Info_delete(info, key, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_delete
  end interface
  interface
    subroutine PMPI_Info_dup(info, newinfo, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(out) :: newinfo
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_dup
  end interface
  interface
    subroutine PMPI_Info_free(info, ierror)
      import
      implicit none
      integer, intent(inout) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_free
  end interface
  interface
    subroutine PMPI_Info_get(info, key, valuelen, value, flag, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(in) :: valuelen
      character(len=*), intent(out) :: value
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_get
  end interface
  interface
    subroutine PMPI_Info_get_nkeys(info, nkeys, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(out) :: nkeys
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_get_nkeys
  end interface
  interface
    subroutine PMPI_Info_get_nthkey(info, n, key, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(in) :: n
      character(len=*), intent(out) :: key
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_get_nthkey
  end interface
  interface
    subroutine PMPI_Info_get_string(info, key, buflen, value, flag, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(inout) :: buflen
      character(len=*), intent(out) :: value
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_get_string
  end interface
  interface
    subroutine PMPI_Info_get_valuelen(info, key, valuelen, flag, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      integer, intent(out) :: valuelen
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_get_valuelen
  end interface
  interface
    subroutine PMPI_Info_set(info, key, value, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(in) :: key
      character(len=*), intent(in) :: value
      integer, intent(out) :: ierror
    end subroutine PMPI_Info_set
  end interface
  interface
    subroutine PMPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm, &
        ierror)
      import
      implicit none
      integer, intent(in) :: group
      character(len=*), intent(in) :: stringtag
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_create_from_group
  end interface
  interface
    subroutine PMPI_Group_from_session_pset(session, pset_name, newgroup, ierror)
      import
      implicit none
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: newgroup
      integer, intent(out) :: ierror
    end subroutine PMPI_Group_from_session_pset
  end interface
  interface
    subroutine PMPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, &
        remote_leader, stringtag, info, errhandler, newintercomm, ierror)
      import
      implicit none
      integer, intent(in) :: local_group
      integer, intent(in) :: local_leader
      integer, intent(in) :: remote_group
      integer, intent(in) :: remote_leader
      character(len=*), intent(in) :: stringtag
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer, intent(out) :: newintercomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Intercomm_create_from_groups
  end interface
  interface
    subroutine PMPI_Session_finalize(session, ierror)
      import
      implicit none
      integer, intent(inout) :: session
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_finalize
  end interface
  interface
    subroutine PMPI_Session_get_info(session, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_get_info
  end interface
  interface
    subroutine PMPI_Session_get_nth_pset(session, info, n, pset_len, pset_name, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: info
      integer, intent(in) :: n
      integer, intent(inout) :: pset_len
      character(len=*), intent(out) :: pset_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_get_nth_pset
  end interface
  interface
    subroutine PMPI_Session_get_num_psets(session, info, npset_names, ierror)
      import
      implicit none
      integer, intent(in) :: session
      integer, intent(in) :: info
      integer, intent(out) :: npset_names
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_get_num_psets
  end interface
  interface
    subroutine PMPI_Session_get_pset_info(session, pset_name, info, ierror)
      import
      implicit none
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_get_pset_info
  end interface
  interface
    subroutine PMPI_Session_init(info, errhandler, session, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(in) :: errhandler
      integer, intent(out) :: session
      integer, intent(out) :: ierror
    end subroutine PMPI_Session_init
  end interface
  interface
    subroutine PMPI_Close_port(port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Close_port
  end interface
  interface
    subroutine PMPI_Comm_accept(port_name, info, root, comm, newcomm, ierror)
      import
      implicit none
      character(len=*), intent(in) :: port_name
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_accept
  end interface
  interface
    subroutine PMPI_Comm_connect(port_name, info, root, comm, newcomm, ierror)
      import
      implicit none
      character(len=*), intent(in) :: port_name
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_connect
  end interface
  interface
    subroutine PMPI_Comm_disconnect(comm, ierror)
      import
      implicit none
      integer, intent(inout) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_disconnect
  end interface
  interface
    subroutine PMPI_Comm_get_parent(parent, ierror)
      import
      implicit none
      integer, intent(out) :: parent
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_get_parent
  end interface
  interface
    subroutine PMPI_Comm_join(fd, intercomm, ierror)
      import
      implicit none
      integer, intent(in) :: fd
      integer, intent(out) :: intercomm
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_join
  end interface
  interface
    subroutine PMPI_Comm_spawn(command, argv, maxprocs, info, root, comm, &
        intercomm, array_of_errcodes, ierror)
      import
      implicit none
      character(len=*), intent(in) :: command
      character(len=*), intent(in) :: argv(*)
      integer, intent(in) :: maxprocs
      integer, intent(in) :: info
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: intercomm
      integer, intent(out) :: array_of_errcodes(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_spawn
  end interface
  interface
    subroutine PMPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, &
        array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes, ierror)
      import
      implicit none
      integer, intent(in) :: count
      character(len=*), intent(in) :: array_of_commands(*)
      character(len=*), intent(in) :: array_of_argv(count, *)
      integer, intent(in) :: array_of_maxprocs(*)
      integer, intent(in) :: array_of_info(*)
      integer, intent(in) :: root
      integer, intent(in) :: comm
      integer, intent(out) :: intercomm
      integer, intent(out) :: array_of_errcodes(*)
      integer, intent(out) :: ierror
    end subroutine PMPI_Comm_spawn_multiple
  end interface
  interface
    subroutine PMPI_Lookup_name(service_name, info, port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(out) :: port_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Lookup_name
  end interface
  interface
    subroutine PMPI_Open_port(info, port_name, ierror)
      import
      implicit none
      integer, intent(in) :: info
      character(len=*), intent(out) :: port_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Open_port
  end interface
  interface
    subroutine PMPI_Publish_name(service_name, info, port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Publish_name
  end interface
  interface
    subroutine PMPI_Unpublish_name(service_name, info, port_name, ierror)
      import
      implicit none
      character(len=*), intent(in) :: service_name
      integer, intent(in) :: info
      character(len=*), intent(in) :: port_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Unpublish_name
  end interface
  interface
    subroutine PMPI_Accumulate(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, win, ierror) &
        bind(C, name="pmpi_accumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Accumulate
  end interface
  interface
    subroutine PMPI_Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, &
        target_rank, target_disp, win, ierror) &
        bind(C, name="pmpi_compare_and_swap_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      type(*), dimension(..), intent(in), asynchronous :: compare_addr
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Compare_and_swap
  end interface
  interface
    subroutine PMPI_Fetch_and_op(origin_addr, result_addr, datatype, target_rank, &
        target_disp, op, win, ierror) &
        bind(C, name="pmpi_fetch_and_op_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Fetch_and_op
  end interface
  interface
    subroutine PMPI_Get(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, ierror) &
        bind(C, name="pmpi_get_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Get
  end interface
  interface
    subroutine PMPI_Get_accumulate(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, win, ierror) &
        bind(C, name="pmpi_get_accumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: result_count
      integer, intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Get_accumulate
  end interface
  interface
    subroutine PMPI_Put(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, ierror) &
        bind(C, name="pmpi_put_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Put
  end interface
  interface
    subroutine PMPI_Raccumulate(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, win, request, ierror) &
        bind(C, name="pmpi_raccumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Raccumulate
  end interface
  interface
    subroutine PMPI_Rget(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, request, ierror) &
        bind(C, name="pmpi_rget_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Rget
  end interface
  interface
    subroutine PMPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, win, request, ierror) &
        bind(C, name="pmpi_rget_accumulate_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: result_count
      integer, intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: op
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Rget_accumulate
  end interface
  interface
    subroutine PMPI_Rput(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, win, request, ierror) &
        bind(C, name="pmpi_rput_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Rput
  end interface
  interface PMPI_Win_allocate
    subroutine PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_allocate
    subroutine PMPI_Win_allocate_cptr(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_allocate_cptr
  end interface
  interface PMPI_Win_allocate_shared
    subroutine PMPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_allocate_shared
    subroutine PMPI_Win_allocate_shared_cptr(size, disp_unit, info, comm, baseptr, win, ierror)
      import
      implicit none
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_allocate_shared_cptr
  end interface
  interface
    subroutine PMPI_Win_attach(win, base, size, ierror) &
        bind(C, name="pmpi_win_attach_fts")
      import
      implicit none
      integer, intent(in) :: win
      type(*), dimension(..), intent(in), asynchronous :: base
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_attach
  end interface
  interface
    subroutine PMPI_Win_complete(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_complete
  end interface
  interface
    subroutine PMPI_Win_create(base, size, disp_unit, info, comm, win, ierror) &
        bind(C, name="pmpi_win_create_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: base
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: size
      integer, intent(in) :: disp_unit
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_create
  end interface
  interface
    subroutine PMPI_Win_create_dynamic(info, comm, win, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(in) :: comm
      integer, intent(out) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_create_dynamic
  end interface
  interface
    subroutine PMPI_Win_detach(win, base, ierror) &
        bind(C, name="pmpi_win_detach_fts")
      import
      implicit none
      integer, intent(in) :: win
      type(*), dimension(..), intent(in), asynchronous :: base
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_detach
  end interface
  interface
    subroutine PMPI_Win_fence(assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_fence
  end interface
  interface
    subroutine PMPI_Win_flush(rank, win, ierror)
      import
      implicit none
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_flush
  end interface
  interface
    subroutine PMPI_Win_flush_all(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_flush_all
  end interface
  interface
    subroutine PMPI_Win_flush_local(rank, win, ierror)
      import
      implicit none
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_flush_local
  end interface
  interface
    subroutine PMPI_Win_flush_local_all(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_flush_local_all
  end interface
  interface
    subroutine PMPI_Win_free(win, ierror)
      import
      implicit none
      integer, intent(inout) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_free
  end interface
  interface
    subroutine PMPI_Win_get_group(win, group, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_get_group
  end interface
  interface
    subroutine PMPI_Win_get_info(win, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_get_info
  end interface
  interface
    subroutine PMPI_Win_get_name(win, win_name, resultlen, ierror)
      import
      implicit none
      integer, intent(in) :: win
      character(len=*), intent(out) :: win_name
      integer, intent(out) :: resultlen
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_get_name
  end interface
  interface
    subroutine PMPI_Win_lock(lock_type, rank, assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: lock_type
      integer, intent(in) :: rank
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_lock
  end interface
  interface
    subroutine PMPI_Win_lock_all(assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_lock_all
  end interface
  interface
    subroutine PMPI_Win_post(group, assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_post
  end interface
  interface
    subroutine PMPI_Win_set_info(win, info, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_set_info
  end interface
  interface
    subroutine PMPI_Win_set_name(win, win_name, ierror)
      import
      implicit none
      integer, intent(in) :: win
      character(len=*), intent(in) :: win_name
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_set_name
  end interface
  interface PMPI_Win_shared_query
    subroutine PMPI_Win_shared_query(win, rank, size, disp_unit, baseptr, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: size
      integer, intent(out) :: disp_unit
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_shared_query
    subroutine PMPI_Win_shared_query_cptr(win, rank, size, disp_unit, baseptr, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: size
      integer, intent(out) :: disp_unit
      type(c_ptr), intent(out) :: baseptr
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_shared_query_cptr
  end interface
  interface
    subroutine PMPI_Win_start(group, assert, win, ierror)
      import
      implicit none
      integer, intent(in) :: group
      integer, intent(in) :: assert
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_start
  end interface
  interface
    subroutine PMPI_Win_sync(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_sync
  end interface
  interface
    subroutine PMPI_Win_test(win, flag, ierror)
      import
      implicit none
      integer, intent(in) :: win
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_test
  end interface
  interface
    subroutine PMPI_Win_unlock(rank, win, ierror)
      import
      implicit none
      integer, intent(in) :: rank
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_unlock
  end interface
  interface
    subroutine PMPI_Win_unlock_all(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_unlock_all
  end interface
  interface
    subroutine PMPI_Win_wait(win, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPI_Win_wait
  end interface
  interface
    subroutine PMPI_Grequest_complete(request, ierror)
      import
      implicit none
      integer, intent(in) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Grequest_complete
  end interface
  interface
    subroutine PMPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request, &
        ierror)
      import
      implicit none
      external :: query_fn
      external :: free_fn
      external :: cancel_fn
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_Grequest_start
  end interface
  interface
    subroutine PMPI_Is_thread_main(flag, ierror)
      import
      implicit none
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Is_thread_main
  end interface
  interface
    subroutine PMPI_Query_thread(provided, ierror)
      import
      implicit none
      integer, intent(out) :: provided
      integer, intent(out) :: ierror
    end subroutine PMPI_Query_thread
  end interface
  interface
    subroutine PMPI_Status_get_error(status, error, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: error
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_get_error
  end interface
  interface
    subroutine PMPI_Status_get_source(status, source, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: source
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_get_source
  end interface
  interface
    subroutine PMPI_Status_get_tag(status, tag, ierror)
      import
      implicit none
      integer, intent(in) :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: tag
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_get_tag
  end interface
  interface
    subroutine PMPI_Status_set_cancelled(status, flag, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      logical, intent(in) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_set_cancelled
  end interface
  interface
    subroutine PMPI_Status_set_elements(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer, intent(in) :: count
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_set_elements
  end interface
  interface
    subroutine PMPI_Status_set_elements_x(status, datatype, count, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: datatype
      integer(kind=MPI_COUNT_KIND), intent(in) :: count
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_set_elements_x
  end interface
  interface
    subroutine PMPI_Status_set_error(status, error, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: error
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_set_error
  end interface
  interface
    subroutine PMPI_Status_set_source(status, source, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: source
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_set_source
  end interface
  interface
    subroutine PMPI_Status_set_tag(status, tag, ierror)
      import
      implicit none
      integer, intent(inout) :: status(MPI_STATUS_SIZE)
      integer, intent(in) :: tag
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_set_tag
  end interface
  interface
    subroutine PMPI_File_call_errhandler(fh, errorcode, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(in) :: errorcode
      integer, intent(out) :: ierror
    end subroutine PMPI_File_call_errhandler
  end interface
  interface
    subroutine PMPI_File_close(fh, ierror)
      import
      implicit none
      integer, intent(inout) :: fh
      integer, intent(out) :: ierror
    end subroutine PMPI_File_close
  end interface
  interface
    subroutine PMPI_File_create_errhandler(file_errhandler_fn, errhandler, ierror)
      import
      implicit none
      external :: file_errhandler_fn
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_File_create_errhandler
  end interface
  interface
    subroutine PMPI_File_delete(filename, info, ierror)
      import
      implicit none
      character(len=*), intent(in) :: filename
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_File_delete
  end interface
  interface
    subroutine PMPI_File_get_amode(fh, amode, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: amode
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_amode
  end interface
  interface
    subroutine PMPI_File_get_atomicity(fh, flag, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_atomicity
  end interface
  interface
    subroutine PMPI_File_get_byte_offset(fh, offset, disp, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      integer(kind=MPI_OFFSET_KIND), intent(out) :: disp
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_byte_offset
  end interface
  interface
    subroutine PMPI_File_get_errhandler(file, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: file
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_errhandler
  end interface
  interface
    subroutine PMPI_File_get_group(fh, group, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: group
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_group
  end interface
  interface
    subroutine PMPI_File_get_info(fh, info_used, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: info_used
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_info
  end interface
  interface
    subroutine PMPI_File_get_position(fh, offset, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: offset
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_position
  end interface
  interface
    subroutine PMPI_File_get_position_shared(fh, offset, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: offset
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_position_shared
  end interface
  interface
    subroutine PMPI_File_get_size(fh, size, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_size
  end interface
  interface
    subroutine PMPI_File_get_type_extent(fh, datatype, extent, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(in) :: datatype
      integer(kind=MPI_ADDRESS_KIND), intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_type_extent
  end interface
  interface
    subroutine PMPI_File_get_view(fh, disp, etype, filetype, datarep, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(out) :: disp
      integer, intent(out) :: etype
      integer, intent(out) :: filetype
      character(len=*), intent(out) :: datarep
      integer, intent(out) :: ierror
    end subroutine PMPI_File_get_view
  end interface
  interface
    subroutine PMPI_File_iread(fh, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iread_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iread
  end interface
  interface
    subroutine PMPI_File_iread_all(fh, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iread_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iread_all
  end interface
  interface
    subroutine PMPI_File_iread_at(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iread_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iread_at
  end interface
  interface
    subroutine PMPI_File_iread_at_all(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iread_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iread_at_all
  end interface
  interface
    subroutine PMPI_File_iread_shared(fh, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iread_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iread_shared
  end interface
  interface
    subroutine PMPI_File_iwrite(fh, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iwrite_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iwrite
  end interface
  interface
    subroutine PMPI_File_iwrite_all(fh, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iwrite_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_all
  end interface
  interface
    subroutine PMPI_File_iwrite_at(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iwrite_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_at
  end interface
  interface
    subroutine PMPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iwrite_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_at_all
  end interface
  interface
    subroutine PMPI_File_iwrite_shared(fh, buf, count, datatype, request, ierror) &
        bind(C, name="pmpi_file_iwrite_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPI_File_iwrite_shared
  end interface
  interface
    subroutine PMPI_File_open(comm, filename, amode, info, fh, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      character(len=*), intent(in) :: filename
      integer, intent(in) :: amode
      integer, intent(in) :: info
      integer, intent(out) :: fh
      integer, intent(out) :: ierror
    end subroutine PMPI_File_open
  end interface
  interface
    subroutine PMPI_File_preallocate(fh, size, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_File_preallocate
  end interface
  interface
    subroutine PMPI_File_read(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_read_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read
  end interface
  interface
    subroutine PMPI_File_read_all(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_read_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_all
  end interface
  interface
    subroutine PMPI_File_read_all_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="pmpi_file_read_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_all_begin
  end interface
  interface
    subroutine PMPI_File_read_all_end(fh, buf, status, ierror) &
        bind(C, name="pmpi_file_read_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_all_end
  end interface
  interface
    subroutine PMPI_File_read_at(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_read_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_at
  end interface
  interface
    subroutine PMPI_File_read_at_all(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_read_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all
  end interface
  interface
    subroutine PMPI_File_read_at_all_begin(fh, offset, buf, count, datatype, ierror) &
        bind(C, name="pmpi_file_read_at_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all_begin
  end interface
  interface
    subroutine PMPI_File_read_at_all_end(fh, buf, status, ierror) &
        bind(C, name="pmpi_file_read_at_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_at_all_end
  end interface
  interface
    subroutine PMPI_File_read_ordered(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_read_ordered_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered
  end interface
  interface
    subroutine PMPI_File_read_ordered_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="pmpi_file_read_ordered_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered_begin
  end interface
  interface
    subroutine PMPI_File_read_ordered_end(fh, buf, status, ierror) &
        bind(C, name="pmpi_file_read_ordered_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_ordered_end
  end interface
  interface
    subroutine PMPI_File_read_shared(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_read_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_read_shared
  end interface
  interface
    subroutine PMPI_File_seek(fh, offset, whence, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, intent(out) :: ierror
    end subroutine PMPI_File_seek
  end interface
  interface
    subroutine PMPI_File_seek_shared(fh, offset, whence, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      integer, intent(in) :: whence
      integer, intent(out) :: ierror
    end subroutine PMPI_File_seek_shared
  end interface
  interface
    subroutine PMPI_File_set_atomicity(fh, flag, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      logical, intent(in) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPI_File_set_atomicity
  end interface
  interface
    subroutine PMPI_File_set_errhandler(file, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: file
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_File_set_errhandler
  end interface
  interface
    subroutine PMPI_File_set_info(fh, info, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_File_set_info
  end interface
  interface
    subroutine PMPI_File_set_size(fh, size, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: size
      integer, intent(out) :: ierror
    end subroutine PMPI_File_set_size
  end interface
  interface
    subroutine PMPI_File_set_view(fh, disp, etype, filetype, datarep, info, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: disp
      integer, intent(in) :: etype
      integer, intent(in) :: filetype
      character(len=*), intent(in) :: datarep
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_File_set_view
  end interface
  interface
    subroutine PMPI_File_sync(fh, ierror)
      import
      implicit none
      integer, intent(in) :: fh
      integer, intent(out) :: ierror
    end subroutine PMPI_File_sync
  end interface
  interface
    subroutine PMPI_File_write(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_write_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write
  end interface
  interface
    subroutine PMPI_File_write_all(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_write_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_all
  end interface
  interface
    subroutine PMPI_File_write_all_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="pmpi_file_write_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_all_begin
  end interface
  interface
    subroutine PMPI_File_write_all_end(fh, buf, status, ierror) &
        bind(C, name="pmpi_file_write_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_all_end
  end interface
  interface
    subroutine PMPI_File_write_at(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_write_at_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_at
  end interface
  interface
    subroutine PMPI_File_write_at_all(fh, offset, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_write_at_all_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all
  end interface
  interface
    subroutine PMPI_File_write_at_all_begin(fh, offset, buf, count, datatype, ierror) &
        bind(C, name="pmpi_file_write_at_all_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      integer(kind=MPI_OFFSET_KIND), intent(in) :: offset
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all_begin
  end interface
  interface
    subroutine PMPI_File_write_at_all_end(fh, buf, status, ierror) &
        bind(C, name="pmpi_file_write_at_all_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_at_all_end
  end interface
  interface
    subroutine PMPI_File_write_ordered(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_write_ordered_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered
  end interface
  interface
    subroutine PMPI_File_write_ordered_begin(fh, buf, count, datatype, ierror) &
        bind(C, name="pmpi_file_write_ordered_begin_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered_begin
  end interface
  interface
    subroutine PMPI_File_write_ordered_end(fh, buf, status, ierror) &
        bind(C, name="pmpi_file_write_ordered_end_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in), asynchronous :: buf
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_ordered_end
  end interface
  interface
    subroutine PMPI_File_write_shared(fh, buf, count, datatype, status, ierror) &
        bind(C, name="pmpi_file_write_shared_fts")
      import
      implicit none
      integer, intent(in) :: fh
      type(*), dimension(..), intent(in) :: buf
      integer, intent(in) :: count
      integer, intent(in) :: datatype
      integer :: status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_File_write_shared
  end interface
  interface
    subroutine PMPI_Register_datarep(datarep, read_conversion_fn, write_conversion_fn, &
        dtype_file_extent_fn, extra_state, ierror)
      import
      implicit none
      character(len=*), intent(in) :: datarep
      external :: read_conversion_fn
      external :: write_conversion_fn
      external :: dtype_file_extent_fn
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: extra_state
      integer, intent(out) :: ierror
    end subroutine PMPI_Register_datarep
  end interface
  interface
    subroutine PMPI_Pcontrol(level)
      import
      implicit none
      integer, intent(in) :: level
    end subroutine PMPI_Pcontrol
  end interface
  interface
    subroutine PMPI_Abi_get_fortran_booleans(logical_size, logical_true, logical_false, is_set, &
        ierror) &
        bind(C, name="pmpi_abi_get_fortran_booleans_fts")
      import
      implicit none
      integer, intent(in) :: logical_size
      type(*), dimension(..) :: logical_true
      type(*), dimension(..) :: logical_false
      logical, intent(out) :: is_set
      integer, intent(out) :: ierror
    end subroutine PMPI_Abi_get_fortran_booleans
  end interface
  interface
    subroutine PMPI_Abi_get_fortran_info(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Abi_get_fortran_info
  end interface
  interface
    subroutine PMPI_Abi_get_info(info, ierror)
      import
      implicit none
      integer, intent(out) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Abi_get_info
  end interface
  interface
    subroutine PMPI_Abi_get_version(abi_major, abi_minor, ierror)
      import
      implicit none
      integer, intent(out) :: abi_major
      integer, intent(out) :: abi_minor
      integer, intent(out) :: ierror
    end subroutine PMPI_Abi_get_version
  end interface
  interface
    subroutine PMPI_Abi_set_fortran_booleans(logical_size, logical_true, logical_false, ierror) &
        bind(C, name="pmpi_abi_set_fortran_booleans_fts")
      import
      implicit none
      integer, intent(in) :: logical_size
      type(*), dimension(..), intent(in) :: logical_true
      type(*), dimension(..), intent(in) :: logical_false
      integer, intent(out) :: ierror
    end subroutine PMPI_Abi_set_fortran_booleans
  end interface
  interface
    subroutine PMPI_Abi_set_fortran_info(info, ierror)
      import
      implicit none
      integer, intent(in) :: info
      integer, intent(out) :: ierror
    end subroutine PMPI_Abi_set_fortran_info
  end interface
  interface
    subroutine PMPI_Address(location, address, ierror) &
        bind(C, name="pmpi_address_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: location
      integer, intent(out) :: address
      integer, intent(out) :: ierror
    end subroutine PMPI_Address
  end interface
  interface
    subroutine PMPI_Errhandler_create(handler_function, errhandler, ierror)
      import
      implicit none
      external :: handler_function
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Errhandler_create
  end interface
  interface
    subroutine PMPI_Errhandler_get(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Errhandler_get
  end interface
  interface
    subroutine PMPI_Errhandler_set(comm, errhandler, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: errhandler
      integer, intent(out) :: ierror
    end subroutine PMPI_Errhandler_set
  end interface
  interface
    subroutine PMPI_Type_extent(datatype, extent, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: extent
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_extent
  end interface
  interface
    subroutine PMPI_Type_hindexed(count, array_of_blocklengths, &
        array_of_displacements, oldtype, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_hindexed
  end interface
  interface
    subroutine PMPI_Type_hvector(count, blocklength, stride, oldtype, newtype, &
        ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: blocklength
      integer, intent(in) :: stride
      integer, intent(in) :: oldtype
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_hvector
  end interface
  interface
    subroutine PMPI_Type_lb(datatype, displacement, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: displacement
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_lb
  end interface
  interface
    subroutine PMPI_Type_struct(count, array_of_blocklengths, &
        array_of_displacements, array_of_types, newtype, ierror)
      import
      implicit none
      integer, intent(in) :: count
      integer, intent(in) :: array_of_blocklengths(*)
      integer, intent(in) :: array_of_displacements(*)
      integer, intent(in) :: array_of_types(*)
      integer, intent(out) :: newtype
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_struct
  end interface
  interface
    subroutine PMPI_Type_ub(datatype, displacement, ierror)
      import
      implicit none
      integer, intent(in) :: datatype
      integer, intent(out) :: displacement
      integer, intent(out) :: ierror
    end subroutine PMPI_Type_ub
  end interface
  interface PMPI_Sizeof
    subroutine PMPI_Sizeof(x, size, ierror) &
        bind(C, name="pmpi_sizeof_fts")
      import
      implicit none
      type(*), dimension(..), intent(in) :: x
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPI_Status_f2f08
    subroutine PMPI_Status_f2f08(f_status, f08_status, ierror)
      import
      implicit none
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPI_Status_f082f
    subroutine PMPI_Status_f082f(f08_status, f_status, ierror)
      import
      implicit none
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine
  end interface
end module mpi
