/* path.c - paths into models and out of their files. */
#include "model/model.h"

#include <math.h>
#include <string.h>

/* The arrays of `count` numbers, or of that many for every output, by name. */
#define COLUMNS(X)                                                                                 \
    X(intercept, p->outputs) X(mu, 1) X(lambda, 1) X(iteration, 1) X(score, 1) X(score_se, 1)

static mgv_status allocate(mgvi_arena *arena, mgvi_model_path *p)
{
    p->first = mgvi_arena_array(arena, (size_t)p->count + 1, sizeof *p->first);
    p->index = mgvi_arena_array(arena, (size_t)p->entries, sizeof *p->index);
    p->value = mgvi_arena_array(arena, (size_t)p->entries, sizeof *p->value);
#define ALLOCATE(name, each)                                                                       \
    p->name = mgvi_arena_array(arena, (size_t)(p->count * (each)), sizeof *p->name);
    COLUMNS(ALLOCATE)
#undef ALLOCATE
    bool all = p->first && p->index && p->value;
#define CHECK_ONE(name, each) all = all && p->name;
    COLUMNS(CHECK_ONE)
#undef CHECK_ONE
    return all ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_model_path_copy(mgvi_arena *arena, const mgv_selection *s, mgvi_model_path *out)
{
    *out = (mgvi_model_path){0};
    if (!s)
        return MGV_OK;
    const mgvi_path *path = mgvi_selection_path(s);
    out->outputs = path->outputs;
    out->count = path->count;
    out->entries = mgvi_count_nonzeros(path->value, path->entries);
    MGVI_TRY(allocate(arena, out));
    int64_t used = 0;
    for (int64_t k = 0; k < path->count; k++) {
        const mgvi_path_point *p = &path->point[k];
        for (int64_t t = p->first; t < p->first + p->kept; t++)
            if (path->value[t] != 0) { /* not of the folds alone */
                out->index[used] = path->index[t];
                out->value[used++] = path->value[t];
            }
        out->first[k + 1] = used;
        for (int64_t o = 0; o < out->outputs; o++)
            out->intercept[k * out->outputs + o] =
                path->intercepts ? path->intercepts[k * out->outputs + o] : p->intercept;
        out->mu[k] = p->mu;
        out->lambda[k] = p->lambda;
        out->iteration[k] = (double)p->iteration;
        out->score[k] = s->probe->classify ? 1 - p->error : p->error;
        out->score_se[k] = p->error_se;
    }
    return MGV_OK;
}

void mgvi_model_path_tensors(const mgvi_model_path *p, mgvi_tensor out[MGVI_PATH_TENSORS])
{
    int n = 0;
    out[n++] = (mgvi_tensor){"path_first", MGVI_T_I64, 1, {p->count + 1}, p->first};
    out[n++] = (mgvi_tensor){"path_index", MGVI_T_I32, 1, {p->entries}, p->index};
    out[n++] = (mgvi_tensor){"path_value", MGVI_T_F64, 1, {p->entries}, p->value};
#define TENSOR(name, each)                                                                         \
    out[n++] = (mgvi_tensor){"path_" #name, MGVI_T_F64, 1, {p->count * (each)}, p->name};
    COLUMNS(TENSOR)
#undef TENSOR
}

/* Offsets that increase and stay inside, columns of the model, finite weights. */
static bool sound(const mgvi_model_path *p, int64_t features)
{
    if (p->first[0] != 0 || p->first[p->count] != p->entries)
        return false;
    for (int64_t k = 0; k < p->count; k++)
        if (p->first[k + 1] < p->first[k])
            return false;
    for (int64_t k = 0; k < p->count * p->outputs; k++)
        if (!isfinite(p->intercept[k]))
            return false;
    for (int64_t t = 0; t < p->entries; t++)
        if (p->index[t] < 0 || p->index[t] >= p->outputs * features || !isfinite(p->value[t]))
            return false;
    return true;
}

mgv_status mgvi_model_path_parse(mgvi_arena *arena, const char *file, const mgvi_tensors *tensors,
                                 int64_t outputs, int64_t features, mgvi_model_path *p)
{
    mgv_ctx *ctx = arena->ctx;
    const void *data;
    *p = (mgvi_model_path){0};
    const mgvi_tensor *first = mgvi_tensors_find(tensors, "path_first");
    if (!first)
        return MGV_OK;
    const mgvi_tensor *value = mgvi_tensors_find(tensors, "path_value");
    const mgvi_tensor *intercept = mgvi_tensors_find(tensors, "path_intercept");
    p->count = first->rank == 1 ? first->shape[0] - 1 : 0;
    p->entries = value && value->rank == 1 ? value->shape[0] : 0;
    if (p->count < 1)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the path has no points", file);
    /* a curve without models has one number for each of its points */
    p->outputs = intercept && intercept->shape[0] == p->count ? 1 : outputs;
    MGVI_TRY(mgvi_tensors_need(ctx, tensors, "path_first", MGVI_T_I64, 1, -1, -1, &data));
    const void *index, *values;
    MGVI_TRY(mgvi_tensors_need(ctx, tensors, "path_index", MGVI_T_I32, 1, p->entries, -1, &index));
    MGVI_TRY(mgvi_tensors_need(ctx, tensors, "path_value", MGVI_T_F64, 1, p->entries, -1, &values));
    MGVI_TRY(allocate(arena, p));
    memcpy(p->first, data, (size_t)(p->count + 1) * sizeof *p->first);
    memcpy(p->index, index, (size_t)p->entries * sizeof *p->index);
    memcpy(p->value, values, (size_t)p->entries * sizeof *p->value);
#define TAKE(name, each)                                                                           \
    MGVI_TRY(mgvi_tensors_need(ctx, tensors, "path_" #name, MGVI_T_F64, 1, p->count *(each), -1,   \
                               &data));                                                            \
    memcpy(p->name, data, (size_t)(p->count * (each)) * sizeof *p->name);
    COLUMNS(TAKE)
#undef TAKE
    return sound(p, features) ? MGV_OK
                              : MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the path is damaged", file);
}
