! The module mpi_f08_ext: what mpi_f08 lacks, as no version of the standard has it yet: programs that go on when
! processes die (`catena help faults`), and operations that notify (`catena help windows`).
! Made by `cargo xtask gen` from crates/abi/tables: edit those.
module mpi_f08_ext
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
  interface MPIX_Comm_ack_failed
    subroutine MPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_ack_failed_f08
  end interface
  interface MPIX_Comm_agree
    subroutine MPIX_Comm_agree_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_agree_f08
  end interface
  interface MPIX_Comm_failure_ack
    subroutine MPIX_Comm_failure_ack_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_failure_ack_f08
  end interface
  interface MPIX_Comm_failure_get_acked
    subroutine MPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_failure_get_acked_f08
  end interface
  interface MPIX_Comm_get_failed
    subroutine MPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_get_failed_f08
  end interface
  interface MPIX_Comm_iagree
    subroutine MPIX_Comm_iagree_f08(comm, flag, request, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout), asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_iagree_f08
  end interface
  interface MPIX_Comm_is_revoked
    subroutine MPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_is_revoked_f08
  end interface
  interface MPIX_Comm_ishrink
    subroutine MPIX_Comm_ishrink_f08(comm, newcomm, request, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out), asynchronous :: newcomm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_ishrink_f08
  end interface
  interface MPIX_Comm_revoke
    subroutine MPIX_Comm_revoke_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_revoke_f08
  end interface
  interface MPIX_Comm_shrink
    subroutine MPIX_Comm_shrink_f08(comm, newcomm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Comm_shrink_f08
  end interface
  interface MPIX_Accumulate_notify
    subroutine MPIX_Accumulate_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="mpix_accumulate_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Accumulate_notify_f08ts
    subroutine MPIX_Accumulate_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="mpix_accumulate_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Accumulate_notify_c_f08ts
  end interface
  interface MPIX_Get_accumulate_notify
    subroutine MPIX_Get_accumulate_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="mpix_get_accumulate_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Get_accumulate_notify_f08ts
    subroutine MPIX_Get_accumulate_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="mpix_get_accumulate_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Get_accumulate_notify_c_f08ts
  end interface
  interface MPIX_Get_notify
    subroutine MPIX_Get_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="mpix_get_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Get_notify_f08ts
    subroutine MPIX_Get_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="mpix_get_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Get_notify_c_f08ts
  end interface
  interface MPIX_Put_notify
    subroutine MPIX_Put_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="mpix_put_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Put_notify_f08ts
    subroutine MPIX_Put_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="mpix_put_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Put_notify_c_f08ts
  end interface
  interface MPIX_Rget_notify
    subroutine MPIX_Rget_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="mpix_rget_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Rget_notify_f08ts
    subroutine MPIX_Rget_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="mpix_rget_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Rget_notify_c_f08ts
  end interface
  interface MPIX_Rput_notify
    subroutine MPIX_Rput_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="mpix_rput_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Rput_notify_f08ts
    subroutine MPIX_Rput_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="mpix_rput_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Rput_notify_c_f08ts
  end interface
  interface MPIX_Win_get_notify_value
    subroutine MPIX_Win_get_notify_value_f08(win, notification_idx, value, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Win_get_notify_value_f08
  end interface
  interface MPIX_Win_get_num_notify
    subroutine MPIX_Win_get_num_notify_f08(win, rank, num, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: rank
      integer, intent(out) :: num
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Win_get_num_notify_f08
  end interface
  interface MPIX_Win_reset_notify_value
    subroutine MPIX_Win_reset_notify_value_f08(win, notification_idx, value, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Win_reset_notify_value_f08
  end interface
  interface MPIX_Win_set_num_notify
    subroutine MPIX_Win_set_num_notify_f08(win, info, num, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: num
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Win_set_num_notify_f08
  end interface
  interface MPIX_Win_test_notify
    subroutine MPIX_Win_test_notify_f08(win, notification_idx, threshold, flag, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Win_test_notify_f08
  end interface
  interface MPIX_Win_wait_notify
    subroutine MPIX_Win_wait_notify_f08(win, notification_idx, threshold, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      integer, optional, intent(out) :: ierror
    end subroutine MPIX_Win_wait_notify_f08
  end interface
  interface PMPIX_Comm_ack_failed
    subroutine PMPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_ack_failed_f08
  end interface
  interface PMPIX_Comm_agree
    subroutine PMPIX_Comm_agree_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_agree_f08
  end interface
  interface PMPIX_Comm_failure_ack
    subroutine PMPIX_Comm_failure_ack_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_failure_ack_f08
  end interface
  interface PMPIX_Comm_failure_get_acked
    subroutine PMPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_failure_get_acked_f08
  end interface
  interface PMPIX_Comm_get_failed
    subroutine PMPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_get_failed_f08
  end interface
  interface PMPIX_Comm_iagree
    subroutine PMPIX_Comm_iagree_f08(comm, flag, request, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout), asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_iagree_f08
  end interface
  interface PMPIX_Comm_is_revoked
    subroutine PMPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_is_revoked_f08
  end interface
  interface PMPIX_Comm_ishrink
    subroutine PMPIX_Comm_ishrink_f08(comm, newcomm, request, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out), asynchronous :: newcomm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_ishrink_f08
  end interface
  interface PMPIX_Comm_revoke
    subroutine PMPIX_Comm_revoke_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_revoke_f08
  end interface
  interface PMPIX_Comm_shrink
    subroutine PMPIX_Comm_shrink_f08(comm, newcomm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Comm_shrink_f08
  end interface
  interface PMPIX_Accumulate_notify
    subroutine PMPIX_Accumulate_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="pmpix_accumulate_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Accumulate_notify_f08ts
    subroutine PMPIX_Accumulate_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="pmpix_accumulate_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Accumulate_notify_c_f08ts
  end interface
  interface PMPIX_Get_accumulate_notify
    subroutine PMPIX_Get_accumulate_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="pmpix_get_accumulate_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer, intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Get_accumulate_notify_f08ts
    subroutine PMPIX_Get_accumulate_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
        target_datatype, op, notification_idx, win, ierror) &
        bind(C, name="pmpix_get_accumulate_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      type(*), dimension(..), asynchronous :: result_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: result_count
      type(MPI_Datatype), intent(in) :: result_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      type(MPI_Op), intent(in) :: op
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Get_accumulate_notify_c_f08ts
  end interface
  interface PMPIX_Get_notify
    subroutine PMPIX_Get_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="pmpix_get_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Get_notify_f08ts
    subroutine PMPIX_Get_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="pmpix_get_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Get_notify_c_f08ts
  end interface
  interface PMPIX_Put_notify
    subroutine PMPIX_Put_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="pmpix_put_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Put_notify_f08ts
    subroutine PMPIX_Put_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, ierror) &
        bind(C, name="pmpix_put_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Put_notify_c_f08ts
  end interface
  interface PMPIX_Rget_notify
    subroutine PMPIX_Rget_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="pmpix_rget_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Rget_notify_f08ts
    subroutine PMPIX_Rget_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="pmpix_rget_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Rget_notify_c_f08ts
  end interface
  interface PMPIX_Rput_notify
    subroutine PMPIX_Rput_notify_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="pmpix_rput_notify_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer, intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer, intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Rput_notify_f08ts
    subroutine PMPIX_Rput_notify_c_f08ts(origin_addr, origin_count, origin_datatype, &
        target_rank, target_disp, target_count, target_datatype, notification_idx, win, request, &
        ierror) &
        bind(C, name="pmpix_rput_notify_c_f08ts")
      import
      implicit none
      type(*), dimension(..), intent(in), asynchronous :: origin_addr
      integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
      type(MPI_Datatype), intent(in) :: origin_datatype
      integer, intent(in) :: target_rank
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
      integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
      type(MPI_Datatype), intent(in) :: target_datatype
      integer, intent(in) :: notification_idx
      type(MPI_Win), intent(in) :: win
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Rput_notify_c_f08ts
  end interface
  interface PMPIX_Win_get_notify_value
    subroutine PMPIX_Win_get_notify_value_f08(win, notification_idx, value, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Win_get_notify_value_f08
  end interface
  interface PMPIX_Win_get_num_notify
    subroutine PMPIX_Win_get_num_notify_f08(win, rank, num, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: rank
      integer, intent(out) :: num
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Win_get_num_notify_f08
  end interface
  interface PMPIX_Win_reset_notify_value
    subroutine PMPIX_Win_reset_notify_value_f08(win, notification_idx, value, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(out) :: value
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Win_reset_notify_value_f08
  end interface
  interface PMPIX_Win_set_num_notify
    subroutine PMPIX_Win_set_num_notify_f08(win, info, num, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      type(MPI_Info), intent(in) :: info
      integer, intent(in) :: num
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Win_set_num_notify_f08
  end interface
  interface PMPIX_Win_test_notify
    subroutine PMPIX_Win_test_notify_f08(win, notification_idx, threshold, flag, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Win_test_notify_f08
  end interface
  interface PMPIX_Win_wait_notify
    subroutine PMPIX_Win_wait_notify_f08(win, notification_idx, threshold, ierror)
      import
      implicit none
      type(MPI_Win), intent(in) :: win
      integer, intent(in) :: notification_idx
      integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
      integer, optional, intent(out) :: ierror
    end subroutine PMPIX_Win_wait_notify_f08
  end interface
end module mpi_f08_ext
