! The module mpi_ext: what mpi lacks, as no version of the standard has it yet: programs that go on when
! processes die (docs/fault-tolerance.md). MPIX_HAVE_FT says that it is there.
module mpi_ext
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
  interface
    subroutine MPIX_Comm_revoke(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_is_revoked(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_get_failed(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_ack_failed(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_agree(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_iagree(comm, flag, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_shrink(comm, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_failure_ack(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPIX_Comm_failure_get_acked(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_revoke(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_is_revoked(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_get_failed(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_ack_failed(comm, num_to_ack, num_acked, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_agree(comm, flag, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_iagree(comm, flag, request, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: request
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_shrink(comm, newcomm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_failure_ack(comm, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine PMPIX_Comm_failure_get_acked(comm, failedgrp, ierror)
      import
      implicit none
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp
      integer, intent(out) :: ierror
    end subroutine
  end interface
end module mpi_ext
