! The comparisons of handles as the module of Open MPI 5 that has the types defines them. What is compiled of it is
! not linked: a program finds them in the library, under the names that gfortran makes of this.
module mpi_types
  implicit none
  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type
  type, bind(C) :: MPI_Request
    integer :: MPI_VAL
  end type
  interface operator (==)
    module procedure ompi_comm_op_eq, ompi_request_op_eq
  end interface
  interface operator (/=)
    module procedure ompi_comm_op_ne, ompi_request_op_ne
  end interface
contains
  logical function ompi_comm_op_eq(a, b)
    type(MPI_Comm), intent(in) :: a, b
    ompi_comm_op_eq = a%MPI_VAL == b%MPI_VAL
  end function
  logical function ompi_comm_op_ne(a, b)
    type(MPI_Comm), intent(in) :: a, b
    ompi_comm_op_ne = a%MPI_VAL /= b%MPI_VAL
  end function
  logical function ompi_request_op_eq(a, b)
    type(MPI_Request), intent(in) :: a, b
    ompi_request_op_eq = a%MPI_VAL == b%MPI_VAL
  end function
  logical function ompi_request_op_ne(a, b)
    type(MPI_Request), intent(in) :: a, b
    ompi_request_op_ne = a%MPI_VAL /= b%MPI_VAL
  end function
end module
