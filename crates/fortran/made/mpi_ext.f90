! The module mpi_ext: what mpi lacks, as no version of the standard has it yet: programs that go on when
! processes die (`catena help faults`), and operations that notify (`catena help windows`).
! Made by `cargo xtask gen` from crates/abi/tables: edit those.
module mpi_ext
  use mpi_abi_base
  implicit none
  private
  integer, parameter, public :: MPIX_HAVE_FT = 1
  integer, parameter, public :: MPIX_HAVE_NOTIFY = 1
  integer, parameter, public :: MPIX_ERR_PROC_FAILED = 16321
  integer, parameter, public :: MPIX_ERR_PROC_FAILED_PENDING = 16322
  integer, parameter, public :: MPIX_ERR_REVOKED = 16323
  integer, parameter, public :: MPIX_FT = 599
  public :: MPIX_Comm_ack_failed
  public :: MPIX_Comm_agree
  public :: MPIX_Comm_failure_ack
  public :: MPIX_Comm_failure_get_acked
  public :: MPIX_Comm_get_failed
  public :: MPIX_Comm_iagree
  public :: MPIX_Comm_is_revoked
  public :: MPIX_Comm_ishrink
  public :: MPIX_Comm_revoke
  public :: MPIX_Comm_shrink
  public :: MPIX_Accumulate_notify
  public :: MPIX_Get_accumulate_notify
  public :: MPIX_Get_notify
  public :: MPIX_Put_notify
  public :: MPIX_Rget_notify
  public :: MPIX_Rput_notify
  public :: MPIX_Win_get_notify_value
  public :: MPIX_Win_get_num_notify
  public :: MPIX_Win_reset_notify_value
  public :: MPIX_Win_set_num_notify
  public :: MPIX_Win_test_notify
  public :: MPIX_Win_wait_notify
  public :: PMPIX_Comm_ack_failed
  public :: PMPIX_Comm_agree
  public :: PMPIX_Comm_failure_ack
  public :: PMPIX_Comm_failure_get_acked
  public :: PMPIX_Comm_get_failed
  public :: PMPIX_Comm_iagree
  public :: PMPIX_Comm_is_revoked
  public :: PMPIX_Comm_ishrink
  public :: PMPIX_Comm_revoke
  public :: PMPIX_Comm_shrink
  public :: PMPIX_Accumulate_notify
  public :: PMPIX_Get_accumulate_notify
  public :: PMPIX_Get_notify
  public :: PMPIX_Put_notify
  public :: PMPIX_Rget_notify
  public :: PMPIX_Rput_notify
  public :: PMPIX_Win_get_notify_value
  public :: PMPIX_Win_get_num_notify
  public :: PMPIX_Win_reset_notify_value
  public :: PMPIX_Win_set_num_notify
  public :: PMPIX_Win_test_notify
  public :: PMPIX_Win_wait_notify
  interface
    subroutine MPIX_Comm_ack_failed(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_ack_failed
  end interface
  interface
    subroutine MPIX_Comm_agree(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_agree
  end interface
  interface
    subroutine MPIX_Comm_failure_ack(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_failure_ack
  end interface
  interface
    subroutine MPIX_Comm_failure_get_acked(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_failure_get_acked
  end interface
  interface
    subroutine MPIX_Comm_get_failed(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_get_failed
  end interface
  interface
    subroutine MPIX_Comm_iagree(comm, flag, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout), asynchronous :: flag
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_iagree
  end interface
  interface
    subroutine MPIX_Comm_is_revoked(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_is_revoked
  end interface
  interface
    subroutine MPIX_Comm_ishrink(comm, newcomm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out), asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_ishrink
  end interface
  interface
    subroutine MPIX_Comm_revoke(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_revoke
  end interface
  interface
    subroutine MPIX_Comm_shrink(comm, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine MPIX_Comm_shrink
  end interface
  interface
    subroutine MPIX_Accumulate_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="mpix_accumulate_notify_fts")
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
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPIX_Accumulate_notify
  end interface
  interface
    subroutine MPIX_Get_accumulate_notify(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="mpix_get_accumulate_notify_fts")
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
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPIX_Get_accumulate_notify
  end interface
  interface
    subroutine MPIX_Get_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="mpix_get_notify_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPIX_Get_notify
  end interface
  interface
    subroutine MPIX_Put_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="mpix_put_notify_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine MPIX_Put_notify
  end interface
  interface
    subroutine MPIX_Rget_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="mpix_rget_notify_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPIX_Rget_notify
  end interface
  interface
    subroutine MPIX_Rput_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="mpix_rput_notify_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine MPIX_Rput_notify
  end interface
  interface
    subroutine MPIX_Win_get_notify_value(win, notification_idx, value, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, intent(out) :: ierror
    end subroutine MPIX_Win_get_notify_value
  end interface
  interface
    subroutine MPIX_Win_get_num_notify(win, rank, num, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer, intent(out) :: num
      integer, intent(out) :: ierror
    end subroutine MPIX_Win_get_num_notify
  end interface
  interface
    subroutine MPIX_Win_reset_notify_value(win, notification_idx, value, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, intent(out) :: ierror
    end subroutine MPIX_Win_reset_notify_value
  end interface
  interface
    subroutine MPIX_Win_set_num_notify(win, info, num, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: info
      integer, intent(in) :: num
      integer, intent(out) :: ierror
    end subroutine MPIX_Win_set_num_notify
  end interface
  interface
    subroutine MPIX_Win_test_notify(win, notification_idx, threshold, flag, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine MPIX_Win_test_notify
  end interface
  interface
    subroutine MPIX_Win_wait_notify(win, notification_idx, threshold, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      integer, intent(out) :: ierror
    end subroutine MPIX_Win_wait_notify
  end interface
  interface
    subroutine PMPIX_Comm_ack_failed(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_ack_failed
  end interface
  interface
    subroutine PMPIX_Comm_agree(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_agree
  end interface
  interface
    subroutine PMPIX_Comm_failure_ack(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_failure_ack
  end interface
  interface
    subroutine PMPIX_Comm_failure_get_acked(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_failure_get_acked
  end interface
  interface
    subroutine PMPIX_Comm_get_failed(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_get_failed
  end interface
  interface
    subroutine PMPIX_Comm_iagree(comm, flag, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout), asynchronous :: flag
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_iagree
  end interface
  interface
    subroutine PMPIX_Comm_is_revoked(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_is_revoked
  end interface
  interface
    subroutine PMPIX_Comm_ishrink(comm, newcomm, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out), asynchronous :: newcomm
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_ishrink
  end interface
  interface
    subroutine PMPIX_Comm_revoke(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_revoke
  end interface
  interface
    subroutine PMPIX_Comm_shrink(comm, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine PMPIX_Comm_shrink
  end interface
  interface
    subroutine PMPIX_Accumulate_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="pmpix_accumulate_notify_fts")
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
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPIX_Accumulate_notify
  end interface
  interface
    subroutine PMPIX_Get_accumulate_notify(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="pmpix_get_accumulate_notify_fts")
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
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPIX_Get_accumulate_notify
  end interface
  interface
    subroutine PMPIX_Get_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="pmpix_get_notify_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPIX_Get_notify
  end interface
  interface
    subroutine PMPIX_Put_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="pmpix_put_notify_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: ierror
    end subroutine PMPIX_Put_notify
  end interface
  interface
    subroutine PMPIX_Rget_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="pmpix_rget_notify_fts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPIX_Rget_notify
  end interface
  interface
    subroutine PMPIX_Rput_notify(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="pmpix_rput_notify_fts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      integer, intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      integer, intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      integer, intent(in) :: win
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine PMPIX_Rput_notify
  end interface
  interface
    subroutine PMPIX_Win_get_notify_value(win, notification_idx, value, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, intent(out) :: ierror
    end subroutine PMPIX_Win_get_notify_value
  end interface
  interface
    subroutine PMPIX_Win_get_num_notify(win, rank, num, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: rank
      integer, intent(out) :: num
      integer, intent(out) :: ierror
    end subroutine PMPIX_Win_get_num_notify
  end interface
  interface
    subroutine PMPIX_Win_reset_notify_value(win, notification_idx, value, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, intent(out) :: ierror
    end subroutine PMPIX_Win_reset_notify_value
  end interface
  interface
    subroutine PMPIX_Win_set_num_notify(win, info, num, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: info
      integer, intent(in) :: num
      integer, intent(out) :: ierror
    end subroutine PMPIX_Win_set_num_notify
  end interface
  interface
    subroutine PMPIX_Win_test_notify(win, notification_idx, threshold, flag, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine PMPIX_Win_test_notify
  end interface
  interface
    subroutine PMPIX_Win_wait_notify(win, notification_idx, threshold, ierror)
      import
      implicit none
      integer, intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      integer, intent(out) :: ierror
    end subroutine PMPIX_Win_wait_notify
  end interface
end module mpi_ext
