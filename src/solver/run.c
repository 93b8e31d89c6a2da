/* run.c - what solvers ask of their run: vectors, arrays, and what a checkpoint keeps. */
#include "op/kernel.h"
#include "solver/driver.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_run_vec(mgvi_run *run, mgvi_space space, mgvi_vec *out)
{
    return MGVI_RUN_VECS(run, space, out);
}

mgv_status mgvi_run_vecs(mgvi_run *run, mgvi_space space, mgvi_vec *const *out)
{
    const mgvi_op *A = run->problem->A;
    return mgvi_vecs_new(&run->arena, space, space == MGVI_ROWS ? A->rows : A->cols,
                         run->problem->lanes, out);
}

void *mgvi_run_array(mgvi_run *run, size_t count, size_t size)
{
    return mgvi_arena_array(&run->arena, count, size);
}

int64_t mgvi_run_draws(const mgvi_run *run, int64_t rows)
{
    const int64_t draws = run->settings->draws;
    return draws > 0 && draws < rows ? draws : rows;
}

int64_t mgvi_run_pass(const mgvi_run *run, int64_t rows)
{
    const int64_t draws = mgvi_run_draws(run, rows);
    return draws > 0 ? (rows + draws - 1) / draws : 1;
}

void mgvi_run_expect_products(mgvi_run *run)
{
    mgvi_kernel_op *kernel = mgvi_problem_kernel(run->problem);
    if (kernel)
        mgvi_kernel_expect_all(kernel, false);
}

mgv_status mgvi_run_check_rows(mgvi_run *run)
{
    const int64_t rows = run->problem->A->rows;
    return rows <= INT32_MAX ? MGV_OK
                             : MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                                         "solver %s takes at most 2^31 rows; there are %" PRId64,
                                         run->ops->name, rows);
}

mgv_status mgvi_run_keep(mgvi_run *run, const char *name, mgvi_tensor_type type, void *data,
                         int64_t count)
{
    if (!run->kept)
        return MGV_OK;
    if (run->kept_count == MGVI_MOST_KEPT)
        return MGVI_FAIL(run->ctx, MGV_E_INTERNAL, "solver %s keeps more than %d arrays",
                         run->ops->name, MGVI_MOST_KEPT);
    mgvi_kept *kept = &run->kept[run->kept_count++];
    *kept = (mgvi_kept){.tensor = {.type = type, .rank = 1, .shape = {count}, .data = data}};
    strncpy(kept->tensor.name, name, sizeof kept->tensor.name - 1);
    return MGV_OK;
}

mgv_status mgvi_run_keep_vec(mgvi_run *run, const char *name, mgvi_vec *x)
{
    MGVI_TRY(mgvi_run_keep(run, name, MGVI_T_F64, x->x, x->n * x->k));
    if (run->kept && x->at)
        run->kept[run->kept_count - 1].vec = x;
    return MGV_OK;
}

mgv_status mgvi_run_keep_vecs(mgvi_run *run, const mgvi_named_vec *list)
{
    for (; list->name; list++)
        MGVI_TRY(mgvi_run_keep_vec(run, list->name, list->vec));
    return MGV_OK;
}

mgv_status mgvi_run_check_kept(mgvi_run *run, const mgvi_vec *x)
{
    for (int64_t j = 0; j < x->n; j++)
        if (!isfinite(x->x[j]))
            return MGVI_FAIL(run->ctx, MGV_E_INPUT, "weight %" PRId64 " of the checkpoint is %g",
                             j + 1, x->x[j]);
    return MGV_OK;
}

bool mgvi_run_row_moves(mgvi_run *run, int64_t i, bool curved, double *u)
{
    const mgv_problem *p = run->problem;
    const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
    if (c.scale == 0 || curved)
        return c.scale != 0;
    const double ray = p->loss->dual_step(c, 0, 0, 0);
    u[i] = isinf(ray) ? copysign(1, ray) : ray;
    run->suspicious = isinf(ray);
    return false;
}

mgv_status mgvi_run_check_list(mgvi_run *run, const int32_t *list, int64_t count, int64_t most)
{
    bool sound = count >= 0 && count <= most;
    for (int64_t t = 0; sound && t < count; t++)
        sound = list[t] >= 0 && list[t] < run->problem->A->rows;
    return sound ? MGV_OK
                 : MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's list of rows is damaged");
}
