
/* Integers, handles and statuses of Fortran. The names are not part of the ABI. */

typedef int MPI_Fint;
typedef MPI_Status MPI_F08_status;

#define MPI_Comm_c2f(comm)               MPI_Comm_toint(comm)
#define MPI_Comm_f2c(comm)               MPI_Comm_fromint(comm)
#define MPI_Errhandler_c2f(errhandler)   MPI_Errhandler_toint(errhandler)
#define MPI_Errhandler_f2c(errhandler)   MPI_Errhandler_fromint(errhandler)
#define MPI_File_c2f(file)               MPI_File_toint(file)
#define MPI_File_f2c(file)               MPI_File_fromint(file)
#define MPI_Group_c2f(group)             MPI_Group_toint(group)
#define MPI_Group_f2c(group)             MPI_Group_fromint(group)
#define MPI_Info_c2f(info)               MPI_Info_toint(info)
#define MPI_Info_f2c(info)               MPI_Info_fromint(info)
#define MPI_Message_c2f(message)         MPI_Message_toint(message)
#define MPI_Message_f2c(message)         MPI_Message_fromint(message)
#define MPI_Op_c2f(op)                   MPI_Op_toint(op)
#define MPI_Op_f2c(op)                   MPI_Op_fromint(op)
#define MPI_Request_c2f(request)         MPI_Request_toint(request)
#define MPI_Request_f2c(request)         MPI_Request_fromint(request)
#define MPI_Session_c2f(session)         MPI_Session_toint(session)
#define MPI_Session_f2c(session)         MPI_Session_fromint(session)
#define MPI_Type_c2f(datatype)           MPI_Type_toint(datatype)
#define MPI_Type_f2c(datatype)           MPI_Type_fromint(datatype)
#define MPI_Win_c2f(win)                 MPI_Win_toint(win)
#define MPI_Win_f2c(win)                 MPI_Win_fromint(win)

/* A status is eight integers in all three forms. */
static __inline__ int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    int i;
    f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
    f_status[MPI_F_TAG] = c_status->MPI_TAG;
    f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
    for (i = 0; i < 5; i++)
        f_status[3 + i] = c_status->MPI_internal[i];
    return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    int i;
    c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
    c_status->MPI_TAG = f_status[MPI_F_TAG];
    c_status->MPI_ERROR = f_status[MPI_F_ERROR];
    for (i = 0; i < 5; i++)
        c_status->MPI_internal[i] = f_status[3 + i];
    return MPI_SUCCESS;
}

static __inline__ int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    *f08_status = *c_status;
    return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    *c_status = *f08_status;
    return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return MPI_Status_f2c(f_status, f08_status);
}

static __inline__ int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return MPI_Status_c2f(f08_status, f_status);
}
