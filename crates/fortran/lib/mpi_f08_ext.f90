! The module mpi_f08_ext: what mpi_f08 lacks, as no version of the standard has it yet: programs that go on when
! processes die (docs/fault-tolerance.md). MPIX_HAVE_FT says that it is there.
module mpi_f08_ext
  use mpi_abi_base
  implicit none
  private
  integer, parameter, public :: MPIX_HAVE_FT = 1
  integer, parameter, public :: MPIX_ERR_PROC_FAILED = 16321
  integer, parameter, public :: MPIX_ERR_PROC_FAILED_PENDING = 16322
  integer, parameter, public :: MPIX_ERR_REVOKED = 16323
  integer, parameter, public :: MPIX_FT = 599
  public :: MPIX_Comm_revoke
  public :: MPIX_Comm_is_revoked
  public :: MPIX_Comm_get_failed
  public :: MPIX_Comm_ack_failed
  public :: MPIX_Comm_agree
  public :: MPIX_Comm_iagree
  public :: MPIX_Comm_shrink
  public :: MPIX_Comm_failure_ack
  public :: MPIX_Comm_failure_get_acked
  public :: PMPIX_Comm_revoke
  public :: PMPIX_Comm_is_revoked
  public :: PMPIX_Comm_get_failed
  public :: PMPIX_Comm_ack_failed
  public :: PMPIX_Comm_agree
  public :: PMPIX_Comm_iagree
  public :: PMPIX_Comm_shrink
  public :: PMPIX_Comm_failure_ack
  public :: PMPIX_Comm_failure_get_acked
  interface MPIX_Comm_revoke
    subroutine MPIX_Comm_revoke_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_is_revoked
    subroutine MPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_get_failed
    subroutine MPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_ack_failed
    subroutine MPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_agree
    subroutine MPIX_Comm_agree_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_iagree
    subroutine MPIX_Comm_iagree_f08(comm, flag, request, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_shrink
    subroutine MPIX_Comm_shrink_f08(comm, newcomm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_failure_ack
    subroutine MPIX_Comm_failure_ack_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_failure_get_acked
    subroutine MPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_revoke
    subroutine PMPIX_Comm_revoke_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_is_revoked
    subroutine PMPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_get_failed
    subroutine PMPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_ack_failed
    subroutine PMPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_agree
    subroutine PMPIX_Comm_agree_f08(comm, flag, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_iagree
    subroutine PMPIX_Comm_iagree_f08(comm, flag, request, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_shrink
    subroutine PMPIX_Comm_shrink_f08(comm, newcomm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_failure_ack
    subroutine PMPIX_Comm_failure_ack_f08(comm, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_failure_get_acked
    subroutine PMPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module mpi_f08_ext
