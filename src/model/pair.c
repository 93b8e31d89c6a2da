/* pair.c - the pair (w, u) of the run, in the problem's own units, which a model may carry so that
 * later runs can be measured from it. */
#include "model/model.h"

#include <string.h>

static mgv_status copy(mgvi_arena *arena, const double *x, int64_t count, mgvi_pair_part *out)
{
    double *own;
    MGVI_TRY(MGVI_ARRAY(arena, own, count));
    memcpy(own, x, (size_t)count * sizeof *own);
    *out = (mgvi_pair_part){own, count};
    return MGV_OK;
}

mgv_status mgvi_model_keep_pair(mgv_model *model, const mgv_solver *solver)
{
    const mgvi_pair *answer = &solver->answer;
    if (solver->family || solver->run.ops->primal_only)
        return MGVI_FAIL(model->ctx, MGV_E_UNSUPPORTED,
                         "only one run with a dual point leaves a pair; this one (%s) has %s",
                         solver->family ? "many classes" : solver->run.ops->name,
                         solver->family ? "a run for each" : "none");
    MGVI_TRY(copy(&model->arena, answer->w.x, answer->w.n * answer->w.k, &model->pair.w));
    return copy(&model->arena, answer->u.x, answer->u.n * answer->u.k, &model->pair.u);
}

int mgvi_model_pair_tensors(const mgv_model *model, mgvi_tensor *out)
{
    const mgvi_model_pair *pair = &model->pair;
    if (!pair->w.x)
        return 0;
    out[0] = (mgvi_tensor){"pair_w", MGVI_T_F64, 1, {pair->w.count}, pair->w.x};
    out[1] = (mgvi_tensor){"pair_u", MGVI_T_F64, 1, {pair->u.count}, pair->u.x};
    return MGVI_MODEL_PAIR_TENSORS;
}

static mgv_status parse_one(mgv_model *m, const char *path, const mgvi_tensors *file,
                            const char *name, mgvi_pair_part *out)
{
    const void *x;
    MGVI_TRY(mgvi_tensors_need(m->ctx, file, name, MGVI_T_F64, 1, -1, -1, &x));
    const int64_t count = mgvi_tensors_find(file, name)->shape[0];
    if (count < 1)
        return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: %s has no numbers", path, name);
    return copy(&m->arena, x, count, out);
}

mgv_status mgvi_model_parse_pair(mgv_model *model, const char *path, const mgvi_tensors *file)
{
    if (!mgvi_tensors_find(file, "pair_w"))
        return MGV_OK;
    MGVI_TRY(parse_one(model, path, file, "pair_w", &model->pair.w));
    return parse_one(model, path, file, "pair_u", &model->pair.u);
}
