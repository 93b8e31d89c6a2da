/* kernel_model.c - models with support vectors: making, saving, loading, scores. */
#include "model/model.h"

#include "op/rows.h"
#include "op/stats.h"

#include <math.h>
#include <string.h>

int64_t mgvi_model_nonzeros(const mgv_model *m)
{
    return m->support < 0 ? mgvi_count_nonzeros(m->coef, m->outputs * m->features) : m->support;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The rows in `index` of a matrix stored by rows, copied. */
static mgv_status copy_rows(mgvi_arena *arena, const mgvi_matrix *m, const int64_t *index,
                            int64_t count, mgvi_matrix *out)
{
    const size_t size = mgvi_dtype_size(m->dtype);
    const bool sparse = m->layout != MGV_DENSE;
    int64_t nnz = sparse ? 0 : count * m->cols;
    for (int64_t t = 0; sparse && t < count; t++)
        nnz += m->ptr[index[t] + 1] - m->ptr[index[t]];
    char *val = mgvi_arena_array(arena, (size_t)nnz, size);
    int64_t *ptr = sparse ? mgvi_arena_array(arena, (size_t)count + 1, sizeof *ptr) : NULL;
    int32_t *idx = sparse ? mgvi_arena_array(arena, (size_t)nnz, sizeof *idx) : NULL;
    if (!val || (sparse && (!ptr || !idx)))
        return MGV_E_MEMORY;
    int64_t at = 0;
    for (int64_t t = 0; t < count; t++) {
        const int64_t first = sparse ? m->ptr[index[t]] : index[t] * m->row_stride;
        const int64_t length = sparse ? m->ptr[index[t] + 1] - first : m->cols;
        memcpy(val + (size_t)at * size, (const char *)m->val + (size_t)first * size,
               (size_t)length * size);
        if (sparse)
            memcpy(idx + at, m->idx + first, (size_t)length * sizeof *idx);
        at += length;
        if (sparse)
            ptr[t + 1] = at;
    }
    *out = (mgvi_matrix){.layout = sparse ? MGV_CSR : MGV_DENSE,
                         .dtype = m->dtype,
                         .rows = count,
                         .cols = m->cols,
                         .nnz = nnz,
                         .val = val,
                         .row_stride = m->cols,
                         .col_stride = 1,
                         .ptr = ptr,
                         .idx = idx};
    return MGV_OK;
}

static mgv_status copy_scaling(mgv_model *m, const mgv_problem *p)
{
    const size_t d = (size_t)m->features;
    if (p->view.scale && !(m->scale = mgvi_arena_array(&m->arena, d, sizeof *m->scale)))
        return MGV_E_MEMORY;
    if (p->view.scale)
        memcpy(m->scale, p->view.scale, d * sizeof *m->scale);
    if (!p->view.centre)
        return MGV_OK;
    MGVI_TRY(MGVI_ARRAY(&m->arena, m->centre, d));
    memcpy(m->centre, p->view.centre, d * sizeof *m->centre);
    return MGV_OK;
}

mgv_status mgvi_model_take_support(mgv_model *m, const mgv_problem *p, const double *coef)
{
    const int64_t n = p->data->X.rows;
    mgvi_matrix X;
    mgv_status st = MGV_OK;
    mgvi_arena scratch;
    mgvi_arena_init(&scratch, m->ctx);
    int64_t *index = mgvi_arena_array(&scratch, (size_t)n, sizeof *index);
    m->support = 0;
    for (int64_t i = 0; index && i < n; i++) {
        bool used = false;
        for (int64_t k = 0; k < m->outputs; k++)
            used = used || coef[k * n + i] != 0;
        if (used)
            index[m->support++] = i;
    }
    m->coef = mgvi_arena_array(&m->arena, (size_t)(m->support * m->outputs), sizeof *m->coef);
    if (!index || !m->coef)
        MGVI_CHECK(st, done, MGV_E_MEMORY);
    for (int64_t k = 0; k < m->outputs; k++)
        for (int64_t t = 0; t < m->support; t++)
            m->coef[k * m->support + t] = coef[k * n + index[t]];
    MGVI_CHECK(st, done, mgvi_matrix_rows(&scratch, &p->data->X, &X));
    MGVI_CHECK(st, done, copy_rows(&m->arena, &X, index, m->support, &m->sv));
    st = copy_scaling(m, p);
done:
    mgvi_arena_free(&scratch);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

int mgvi_model_kernel_tensors(const mgv_model *m, mgvi_tensor *out)
{
    const mgvi_tensor_type type = m->sv.dtype == MGV_F32 ? MGVI_T_F32 : MGVI_T_F64;
    int count = 0;
    out[count++] = (mgvi_tensor){
        .name = "norm", .type = MGVI_T_F64, .rank = 1, .shape = {m->outputs}, .data = m->norm};
    if (m->support < 0)
        return count;
    if (m->sv.layout == MGV_DENSE) {
        out[count++] = (mgvi_tensor){.name = "sv",
                                     .type = type,
                                     .rank = 2,
                                     .shape = {m->support, m->features},
                                     .data = m->sv.val};
    } else {
        out[count++] = (mgvi_tensor){
            .name = "sv_values", .type = type, .rank = 1, .shape = {m->sv.nnz}, .data = m->sv.val};
        out[count++] = (mgvi_tensor){.name = "sv_indices",
                                     .type = MGVI_T_I32,
                                     .rank = 1,
                                     .shape = {m->sv.nnz},
                                     .data = m->sv.idx};
        out[count++] = (mgvi_tensor){.name = "sv_pointers",
                                     .type = MGVI_T_I64,
                                     .rank = 1,
                                     .shape = {m->support + 1},
                                     .data = m->sv.ptr};
    }
    const struct {
        const char *name;
        const double *values;
    } columns[] = {{"scale", m->scale}, {"centre", m->centre}};
    for (int k = 0; k < 2; k++)
        if (columns[k].values) {
            out[count] = (mgvi_tensor){
                .type = MGVI_T_F64, .rank = 1, .shape = {m->features}, .data = columns[k].values};
            strcpy(out[count++].name, columns[k].name);
        }
    return count;
}

static void *keep(mgv_model *m, const void *from, int64_t count, size_t size)
{
    void *copy = mgvi_arena_array(&m->arena, (size_t)count, size);
    return copy ? memcpy(copy, from, (size_t)count * size) : NULL;
}

/* A number of the metadata, within bounds. */
static mgv_status parse_number(mgv_model *m, const char *path, const mgvi_tensors *file,
                               const char *key, double low, double high, double *out)
{
    const char *text = mgvi_tensors_meta(file, key);
    if (!text || !mgvi_parse_real(text, out) || !(*out >= low && *out <= high))
        return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: the kernel's %s is '%.30s'", path, key,
                         text ? text : "missing");
    return MGV_OK;
}

static mgv_status parse_spec(mgv_model *m, const char *path, const mgvi_tensors *file)
{
    double degree;
    MGVI_TRY(parse_number(m, path, file, "sigma2", 1e-300, 1e300, &m->kernel.sigma2));
    MGVI_TRY(parse_number(m, path, file, "offset", 0, 1e300, &m->kernel.offset));
    MGVI_TRY(parse_number(m, path, file, "degree", 1, 100, &degree));
    m->kernel.degree = (int)degree;
    const char *origin = mgvi_tensors_meta(file, "origin");
    if (!origin || strcmp(origin, mgvi_origin_name(MGVI_ORIGIN_NONE)) == 0)
        return MGV_OK; /* models made before there were any do not say */
    if (m->kernel.kind != MGVI_KERNEL_POLY || !mgvi_origin_find(origin, &m->kernel.origin))
        return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: origin '%.20s' is not known here", path, origin);
    return MGV_OK;
}

static mgv_status parse_sparse(mgv_model *m, const mgvi_tensors *file)
{
    mgv_ctx *ctx = m->ctx;
    const mgvi_tensor *values = mgvi_tensors_find(file, "sv_values");
    const void *val, *idx, *ptr;
    const bool f32 = values && values->type == MGVI_T_F32;
    MGVI_TRY(
        mgvi_tensors_need(ctx, file, "sv_values", f32 ? MGVI_T_F32 : MGVI_T_F64, 1, -1, -1, &val));
    const int64_t nnz = values->shape[0];
    MGVI_TRY(mgvi_tensors_need(ctx, file, "sv_indices", MGVI_T_I32, 1, nnz, -1, &idx));
    MGVI_TRY(mgvi_tensors_need(ctx, file, "sv_pointers", MGVI_T_I64, 1, m->support + 1, -1, &ptr));
    m->sv = (mgvi_matrix){.layout = MGV_CSR,
                          .dtype = f32 ? MGV_F32 : MGV_F64,
                          .rows = m->support,
                          .cols = m->features,
                          .nnz = nnz,
                          .val = keep(m, val, nnz, f32 ? 4 : 8),
                          .ptr = keep(m, ptr, m->support + 1, 8),
                          .idx = keep(m, idx, nnz, 4)};
    return m->sv.val && m->sv.ptr && m->sv.idx ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status parse_dense(mgv_model *m, const mgvi_tensors *file)
{
    const bool f32 = mgvi_tensors_find(file, "sv")->type == MGVI_T_F32;
    const void *val;
    MGVI_TRY(mgvi_tensors_need(m->ctx, file, "sv", f32 ? MGVI_T_F32 : MGVI_T_F64, 2, m->support,
                               m->features, &val));
    m->sv = (mgvi_matrix){.layout = MGV_DENSE,
                          .dtype = f32 ? MGV_F32 : MGV_F64,
                          .rows = m->support,
                          .cols = m->features,
                          .nnz = m->support * m->features,
                          .val = keep(m, val, m->support * m->features, f32 ? 4 : 8),
                          .row_stride = m->features,
                          .col_stride = 1};
    return m->sv.val ? MGV_OK : MGV_E_MEMORY;
}

/* `count` finite numbers at least `low`, copied; absent: NULL. */
static mgv_status parse_columns(mgv_model *m, const char *path, const mgvi_tensors *file,
                                const char *name, double low, double **out)
{
    const void *data;
    if (!mgvi_tensors_find(file, name))
        return MGV_OK;
    MGVI_TRY(mgvi_tensors_need(m->ctx, file, name, MGVI_T_F64, 1, m->features, -1, &data));
    if (!(*out = keep(m, data, m->features, sizeof **out)))
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < m->features; j++)
        if (!isfinite((*out)[j]) || (*out)[j] < low)
            return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: %s of feature %" PRId64 " is %g", path, name,
                             j + 1, (*out)[j]);
    return MGV_OK;
}

mgv_status mgvi_model_parse_kernel(mgv_model *m, const char *path, const mgvi_tensors *file)
{
    const void *norm;
    MGVI_TRY(mgvi_tensors_need(m->ctx, file, "norm", MGVI_T_F64, 1, m->outputs, -1, &norm));
    memcpy(m->norm, norm, (size_t)m->outputs * sizeof *m->norm);
    for (int64_t k = 0; k < m->outputs; k++)
        if (!(m->norm[k] >= 0) || isinf(m->norm[k]))
            return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: the norm is %g", path, m->norm[k]);
    if (m->support < 0)
        return MGV_OK;
    MGVI_TRY(parse_spec(m, path, file));
    MGVI_TRY(mgvi_tensors_find(file, "sv") ? parse_dense(m, file) : parse_sparse(m, file));
    MGVI_TRY(mgvi_matrix_check(m->ctx, &m->sv, NULL, NULL));
    MGVI_TRY(parse_columns(m, path, file, "scale", 0, &m->scale));
    MGVI_TRY(parse_columns(m, path, file, "centre", -INFINITY, &m->centre));
    if (m->kernel.origin == MGVI_ORIGIN_CENTRE && !m->centre)
        return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: the origin is a centre, and there is none",
                         path);
    return MGV_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* 1 / |x|, for fits that divide rows by their lengths. */
static mgv_status row_scales(mgvi_arena *arena, const mgvi_matrix *X, const double **out)
{
    double *norm;
    MGVI_TRY(MGVI_ARRAY(arena, norm, X->rows));
    MGVI_TRY(mgvi_matrix_row_norms(arena->ctx, X, norm));
    for (int64_t i = 0; i < X->rows; i++)
        norm[i] = norm[i] > 0 ? 1 / norm[i] : 1;
    *out = norm;
    return MGV_OK;
}

static mgv_status make_points(mgvi_arena *arena, const mgv_model *m, const mgvi_matrix *X,
                              bool centred, mgvi_points **out)
{
    mgvi_point_scaling scaling = {.view.centre = centred ? m->centre : NULL,
                                  .view.scale = m->scale,
                                  .origin = m->kernel.origin == MGVI_ORIGIN_CENTRE};
    if (m->row_norm)
        MGVI_TRY(row_scales(arena, X, &scaling.view.row_scale));
    return mgvi_points_new(arena->ctx, X, &scaling, MGV_F64, mgvi_kernel_moves(&m->kernel), out);
}

static bool stays_short(const mgvi_matrix *X, double centred)
{
    return X->layout == MGV_DENSE || centred * (double)X->rows <= 2 * (double)X->nnz;
}

/* Differences do not see the centre: it saves taking them pair by pair, and is left out where it
 * would make sparse data twice as long. */
static bool can_centre(const mgv_model *m, const mgvi_matrix *X)
{
    double count = 0;
    for (int64_t j = 0; m->centre && j < m->features; j++)
        count += m->centre[j] != 0;
    return X->cols == m->features && stays_short(X, count) && stays_short(&m->sv, count);
}

/* Rows as wide as the model, whose last columns no row of sparse data need have. */
static mgv_status widen(mgvi_arena *arena, const mgv_model *m, const mgvi_matrix *X,
                        mgvi_matrix *out)
{
    *out = *X;
    if (X->layout == MGV_DENSE || X->cols >= m->features)
        return MGV_OK;
    MGVI_TRY(mgvi_matrix_rows(arena, X, out));
    out->cols = m->features;
    return MGV_OK;
}

mgv_status mgvi_model_kernel_scores(mgv_ctx *ctx, const mgv_model *m, const mgvi_matrix *data,
                                    double *scores)
{
    mgv_status st = MGV_OK;
    mgvi_arena arena;
    mgvi_matrix own;
    const mgvi_matrix *X = &own;
    mgvi_points *sv = NULL, *points = NULL;
    double *sums = NULL;
    if (m->centre && m->kernel.kind == MGVI_KERNEL_POLY && data->layout == MGV_DENSE &&
        data->cols < m->features)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "the data has %" PRId64
                         " features; a centred poly kernel needs all %" PRId64,
                         data->cols, m->features);
    mgvi_arena_init(&arena, ctx);
    MGVI_CHECK(st, done, widen(&arena, m, data, &own));
    const bool centred = m->kernel.kind == MGVI_KERNEL_POLY || can_centre(m, X);
    MGVI_CHECK(st, done, make_points(&arena, m, &m->sv, centred, &sv));
    MGVI_CHECK(st, done, make_points(&arena, m, X, centred, &points));
    sums = mgvi_zeros(ctx, (size_t)(m->outputs * X->rows) + 1, sizeof *sums);
    if (!sums)
        MGVI_CHECK(st, done, MGV_E_MEMORY);
    const mgvi_point_list p = {.points = sv, .count = m->support};
    const mgvi_point_list q = {.points = points, .count = X->rows};
    st = mgvi_kernel_sums(ctx, &m->kernel, &p, m->coef, m->outputs, &q, sums, X->rows);
    for (int64_t i = 0; st == MGV_OK && i < X->rows; i++)
        for (int64_t k = 0; k < m->outputs; k++)
            scores[i * m->outputs + k] = sums[k * X->rows + i];
done:
    mgvi_release(ctx, sums);
    mgvi_points_free(points);
    mgvi_points_free(sv);
    mgvi_arena_free(&arena);
    return st;
}
