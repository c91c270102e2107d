/* One-sided operations that notify.
 * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. */

#include "extensions.h"

#ifndef INTEGER_8

extern int C(Accumulate_notify)(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win) __attribute__((weak));
void D(accumulate_notify)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!C(Accumulate_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Accumulate_notify)(buffer(origin_addr->base_addr), (int)typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, INT(*target_count), Type_of(*target_datatype), Op_of(*op), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(accumulate_notify)

extern int C(Accumulate_notify_c)(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win) __attribute__((weak));
void D_LARGE(accumulate_notify)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *op, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!C(Accumulate_notify_c)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Accumulate_notify_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

extern int C(Get_accumulate_notify)(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win) __attribute__((weak));
void D(get_accumulate_notify)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const struct descriptor *result_addr, const Fint *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *op, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    struct typed typed_result_addr = {*result_count, Type_of(*result_datatype), 0};
    int class_result_addr = MPI_SUCCESS;
    int code;
    if (!C(Get_accumulate_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    if (!is_run(result_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_result_addr = mpifort_section(result_addr, &typed_result_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_result_addr);
        goto done;
    }
    code = C(Get_accumulate_notify)(buffer(origin_addr->base_addr), (int)typed_origin_addr.count, typed_origin_addr.type, buffer(result_addr->base_addr), (int)typed_result_addr.count, typed_result_addr.type, INT(*target_rank), *target_disp, INT(*target_count), Type_of(*target_datatype), Op_of(*op), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    free_typed(&typed_result_addr);
    finish(ierror, code);
}
NAMES_FTS(get_accumulate_notify)

extern int C(Get_accumulate_notify_c)(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win) __attribute__((weak));
void D_LARGE(get_accumulate_notify)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const struct descriptor *result_addr, const MPI_Count *result_count, const Fint *result_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *op, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    struct typed typed_result_addr = {*result_count, Type_of(*result_datatype), 0};
    int class_result_addr = MPI_SUCCESS;
    int code;
    if (!C(Get_accumulate_notify_c)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    if (!is_run(result_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_result_addr = mpifort_section(result_addr, &typed_result_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_result_addr);
        goto done;
    }
    code = C(Get_accumulate_notify_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, buffer(result_addr->base_addr), typed_result_addr.count, typed_result_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), Op_of(*op), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    free_typed(&typed_result_addr);
    finish(ierror, code);
}

extern int C(Get_notify)(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win) __attribute__((weak));
void D(get_notify)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!C(Get_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Get_notify)(buffer(origin_addr->base_addr), (int)typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, INT(*target_count), Type_of(*target_datatype), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(get_notify)

extern int C(Get_notify_c)(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win) __attribute__((weak));
void D_LARGE(get_notify)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!C(Get_notify_c)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Get_notify_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

extern int C(Put_notify)(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win) __attribute__((weak));
void D(put_notify)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!C(Put_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Put_notify)(buffer(origin_addr->base_addr), (int)typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, INT(*target_count), Type_of(*target_datatype), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(put_notify)

extern int C(Put_notify_c)(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win) __attribute__((weak));
void D_LARGE(put_notify)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    int code;
    if (!C(Put_notify_c)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Put_notify_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), INT(*notification_idx), Win_of(*win));
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

extern int C(Rget_notify)(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request *request) __attribute__((weak));
void D(rget_notify)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!C(Rget_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Rget_notify)(buffer(origin_addr->base_addr), (int)typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, INT(*target_count), Type_of(*target_datatype), INT(*notification_idx), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(rget_notify)

extern int C(Rget_notify_c)(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request *request) __attribute__((weak));
void D_LARGE(rget_notify)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!C(Rget_notify_c)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Rget_notify_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), INT(*notification_idx), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

extern int C(Rput_notify)(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request *request) __attribute__((weak));
void D(rput_notify)(const struct descriptor *origin_addr, const Fint *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const Fint *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!C(Rput_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Rput_notify)(buffer(origin_addr->base_addr), (int)typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, INT(*target_count), Type_of(*target_datatype), INT(*notification_idx), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}
NAMES_FTS(rput_notify)

extern int C(Rput_notify_c)(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request *request) __attribute__((weak));
void D_LARGE(rput_notify)(const struct descriptor *origin_addr, const MPI_Count *origin_count, const Fint *origin_datatype, const Fint *target_rank, const MPI_Aint *target_disp, const MPI_Count *target_count, const Fint *target_datatype, const Fint *notification_idx, const Fint *win, Fint *request, Fint *ierror)
{
    struct typed typed_origin_addr = {*origin_count, Type_of(*origin_datatype), 0};
    int class_origin_addr = MPI_SUCCESS;
    MPI_Request c_request = 0;
    int code;
    if (!C(Rput_notify_c)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    if (!is_run(origin_addr) && INT(*target_rank) != MPI_PROC_NULL && (class_origin_addr = mpifort_section(origin_addr, &typed_origin_addr))) {
        code = mpifort_raise(MPI_COMM_SELF, class_origin_addr);
        goto done;
    }
    code = C(Rput_notify_c)(buffer(origin_addr->base_addr), typed_origin_addr.count, typed_origin_addr.type, INT(*target_rank), *target_disp, *target_count, Type_of(*target_datatype), INT(*notification_idx), Win_of(*win), &c_request);
    if (c_request)
        *request = Request_int(c_request);
done:
    free_typed(&typed_origin_addr);
    finish(ierror, code);
}

extern int C(Win_get_notify_value)(MPI_Win win, int notification_idx, MPI_Count *value) __attribute__((weak));
void F(win_get_notify_value)(const Fint *win, const Fint *notification_idx, MPI_Count *value, Fint *ierror)
{
    int code;
    if (!C(Win_get_notify_value)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Win_get_notify_value)(Win_of(*win), INT(*notification_idx), value);
done:
    finish(ierror, code);
}
NAMES_X(win_get_notify_value)

extern int C(Win_get_num_notify)(MPI_Win win, int rank, int *num) __attribute__((weak));
void F(win_get_num_notify)(const Fint *win, const Fint *rank, Fint *num, Fint *ierror)
{
    INTEGER(num)
    int code;
    if (!C(Win_get_num_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Win_get_num_notify)(Win_of(*win), INT(*rank), AT(num));
    RETURN_INTEGER(num)
done:
    finish(ierror, code);
}
NAMES_X(win_get_num_notify)

extern int C(Win_reset_notify_value)(MPI_Win win, int notification_idx, MPI_Count *value) __attribute__((weak));
void F(win_reset_notify_value)(const Fint *win, const Fint *notification_idx, MPI_Count *value, Fint *ierror)
{
    int code;
    if (!C(Win_reset_notify_value)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Win_reset_notify_value)(Win_of(*win), INT(*notification_idx), value);
done:
    finish(ierror, code);
}
NAMES_X(win_reset_notify_value)

extern int C(Win_set_num_notify)(MPI_Win win, MPI_Info info, int num) __attribute__((weak));
void F(win_set_num_notify)(const Fint *win, const Fint *info, const Fint *num, Fint *ierror)
{
    int code;
    if (!C(Win_set_num_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Win_set_num_notify)(Win_of(*win), Info_of(*info), INT(*num));
done:
    finish(ierror, code);
}
NAMES_X(win_set_num_notify)

extern int C(Win_test_notify)(MPI_Win win, int notification_idx, MPI_Count threshold, int *flag) __attribute__((weak));
void F(win_test_notify)(const Fint *win, const Fint *notification_idx, const MPI_Count *threshold, Flogical *flag, Fint *ierror)
{
    int c_flag = 0;
    int code;
    if (!C(Win_test_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Win_test_notify)(Win_of(*win), INT(*notification_idx), *threshold, &c_flag);
    *flag = logical(c_flag);
done:
    finish(ierror, code);
}
NAMES_X(win_test_notify)

extern int C(Win_wait_notify)(MPI_Win win, int notification_idx, MPI_Count threshold) __attribute__((weak));
void F(win_wait_notify)(const Fint *win, const Fint *notification_idx, const MPI_Count *threshold, Fint *ierror)
{
    int code;
    if (!C(Win_wait_notify)) {
        code = mpifort_raise(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
        goto done;
    }
    code = C(Win_wait_notify)(Win_of(*win), INT(*notification_idx), *threshold);
done:
    finish(ierror, code);
}
NAMES_X(win_wait_notify)

#endif
