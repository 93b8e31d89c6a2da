/* predict.c - scores, and the class they speak for. */
#include "model/model.h"

#include "base/event.h"
#include "op/stats.h"
#include "problem/votes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns that the model does not know ---------------------------------------------------- */

/* The first columns of a matrix, and what lies beyond them: features that occur in the data and not
 * in the training data. They are left out, as if they had never been there, also where rows are
 * divided by their length. */
typedef struct narrowed {
    mgvi_matrix X;             /* at most `cols` columns; borrows from the matrix and the arena */
    int64_t entries, features; /* left out: entries that are not 0, and the columns they are in */
} narrowed;

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Different numbers; sorts them. */
static int64_t count_different(int32_t *numbers, int64_t count)
{
    int64_t different = 0;
    qsort(numbers, (size_t)count, sizeof *numbers, by_number);
    for (int64_t t = 0; t < count; t++)
        different += t == 0 || numbers[t] != numbers[t - 1];
    return different;
}

static void narrow_dense(const mgvi_matrix *X, int64_t cols, narrowed *out)
{
    for (int64_t j = cols; j < X->cols; j++) {
        int64_t entries = 0;
        for (int64_t i = 0; i < X->rows; i++)
            entries += mgvi_matrix_value(X, i * X->row_stride + j * X->col_stride) != 0;
        out->entries += entries;
        out->features += entries > 0;
    }
    out->X.nnz = X->rows * cols;
}

static void narrow_csc(const mgvi_matrix *X, int64_t cols, narrowed *out)
{
    for (int64_t j = cols; j < X->cols; j++)
        out->features += X->ptr[j + 1] > X->ptr[j];
    out->X.nnz = X->ptr[cols];
    out->entries = X->nnz - out->X.nnz;
}

/* Copies the entries that stay. */
static mgv_status narrow_csr(mgvi_arena *arena, const mgvi_matrix *X, int64_t cols, narrowed *out)
{
    const size_t size = mgvi_dtype_size(X->dtype);
    int64_t kept = 0, beyond = 0;
    for (int64_t t = 0; t < X->nnz; t++)
        kept += X->idx[t] < cols;
    int64_t *ptr = mgvi_arena_array(arena, (size_t)X->rows + 1, sizeof *ptr);
    int32_t *idx = mgvi_arena_array(arena, (size_t)kept + 1, sizeof *idx);
    int32_t *left = mgvi_arena_array(arena, (size_t)(X->nnz - kept) + 1, sizeof *left);
    char *val = mgvi_arena_array(arena, (size_t)kept + 1, size);
    if (!ptr || !idx || !left || !val)
        return MGV_E_MEMORY;
    kept = 0;
    for (int64_t i = 0; i < X->rows; i++) {
        for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++) {
            if (X->idx[t] >= cols) {
                left[beyond++] = X->idx[t];
                continue;
            }
            memcpy(val + (size_t)kept * size, (const char *)X->val + (size_t)t * size, size);
            idx[kept++] = X->idx[t];
        }
        ptr[i + 1] = kept;
    }
    out->entries = beyond;
    out->features = count_different(left, beyond);
    out->X.nnz = kept;
    out->X.ptr = ptr;
    out->X.idx = idx;
    out->X.val = val;
    return MGV_OK;
}

static mgv_status narrow_to(mgvi_arena *arena, const mgvi_matrix *X, int64_t cols, narrowed *out)
{
    *out = (narrowed){.X = *X};
    if (X->cols <= cols)
        return MGV_OK;
    out->X.cols = cols;
    out->X.size = NULL; /* of other columns */
    if (X->layout == MGV_CSR)
        return narrow_csr(arena, X, cols, out);
    (X->layout == MGV_CSC ? narrow_csc : narrow_dense)(X, cols, out);
    return MGV_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Weights or values near the end of the numbers: an answer made of their sum would mean nothing.
 * `first` is the data's row of scores[0]. */
static mgv_status check_scores(mgv_ctx *ctx, const mgv_model *m, int64_t first, int64_t rows,
                               const double *scores)
{
    for (int64_t i = 0; i < rows * m->outputs; i++)
        if (!isfinite(scores[i]))
            return MGVI_FAIL(ctx, MGV_E_NUMERIC,
                             "the score of row %" PRId64 " is %g: the model's weights or the "
                             "row's values are too large; divide them by a constant",
                             first + i / m->outputs + 1, scores[i]);
    return MGV_OK;
}

/* Scores are rows x outputs. Rows are divided by their length first when the fit did so. */
static mgv_status add_intercepts(mgv_ctx *ctx, const mgv_model *m, const mgvi_matrix *X,
                                 double *scores)
{
    mgv_status st = MGV_OK;
    double *norm = NULL;
    if (m->row_norm && m->support < 0) { /* with support vectors they have been divided */
        norm = mgvi_alloc(ctx, (size_t)X->rows, sizeof *norm);
        if (!norm)
            return MGV_E_MEMORY;
        st = mgvi_matrix_row_norms(ctx, X, norm);
    }
    for (int64_t i = 0; st == MGV_OK && i < X->rows; i++) {
        const double length = norm && norm[i] > 0 ? norm[i] : 1;
        for (int64_t k = 0; k < m->outputs; k++)
            scores[i * m->outputs + k] = scores[i * m->outputs + k] / length + m->intercept[k];
    }
    mgvi_release(ctx, norm);
    return st;
}

/* The first `cols` features of every output, as the lanes of one block; of one output no copy. */
static mgv_status gather_outputs(mgvi_arena *arena, const mgv_model *m, int64_t cols, mgvi_vec *out)
{
    if (m->outputs == 1) {
        *out = mgvi_vec_wrap(m->coef, cols, MGVI_COLS);
        return MGV_OK;
    }
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, cols, (int32_t)m->outputs, out));
    for (int64_t k = 0; k < m->outputs; k++)
        for (int64_t j = 0; j < cols; j++)
            out->x[j * m->outputs + k] = m->coef[k * m->features + j];
    return MGV_OK;
}

/* X coef + intercept for the rows of X. */
static mgv_status linear_scores(mgv_ctx *ctx, const mgv_model *model, const mgvi_matrix *X,
                                double *scores)
{
    mgv_status st = MGV_OK;
    mgvi_op *op = NULL;
    mgvi_arena arena;
    mgvi_vec coef, z = mgvi_vec_wrap(scores, X->rows, MGVI_ROWS);
    z.k = (int32_t)model->outputs;
    mgvi_arena_init(&arena, ctx);
    MGVI_CHECK(st, done, gather_outputs(&arena, model, X->cols, &coef));
    MGVI_CHECK(st, done, mgvi_op_from_matrix(ctx, X, (int32_t)model->outputs, &op));
    mgvi_op_mul(op, 1, &coef, 0, &z);
    MGVI_CHECK(st, done, add_intercepts(ctx, model, X, scores));
done:
    mgvi_op_free(op);
    mgvi_arena_free(&arena);
    return st;
}

static mgv_status score(mgv_ctx *ctx, const mgv_model *model, const mgvi_matrix *X, double *scores)
{
    if (model->support < 0) {
        MGVI_TRY(linear_scores(ctx, model, X, scores));
    } else {
        MGVI_TRY(mgvi_model_kernel_scores(ctx, model, X, scores));
        MGVI_TRY(add_intercepts(ctx, model, X, scores));
    }
    return check_scores(ctx, model, 0, X->rows, scores);
}

/* Sparse data that never uses the last features has fewer columns than the model: the product runs
 * over those both have. Features beyond the model's have no weight. */
mgv_status mgvi_model_scores(mgv_ctx *ctx, const mgv_model *model, mgv_data *data, double *scores)
{
    mgvi_arena arena;
    narrowed narrow;
    MGVI_TRY(mgvi_model_check_columns(ctx, model, data));
    MGVI_TRY(mgvi_data_check_once(ctx, data));
    mgvi_arena_init(&arena, ctx);
    mgv_status st = narrow_to(&arena, &data->X, model->features, &narrow);
    if (st == MGV_OK && narrow.entries > 0)
        mgvi_log(ctx, MGV_WARNING, "%" PRId64 " entr%s of %" PRId64 " unknown feature%s %s ignored",
                 narrow.entries, narrow.entries == 1 ? "y" : "ies", narrow.features,
                 narrow.features == 1 ? "" : "s", narrow.entries == 1 ? "is" : "are");
    if (st == MGV_OK)
        st = score(ctx, model, &narrow.X, scores);
    mgvi_arena_free(&arena);
    return st;
}

mgv_status mgvi_model_dense_scores(mgv_ctx *ctx, const mgv_model *model, const mgvi_matrix *X,
                                   int64_t first, int64_t count, double *scores)
{
    mgvi_matrix part = *X;
    const size_t offset = (size_t)(first * X->row_stride) * mgvi_dtype_size(X->dtype);
    part.rows = count;
    part.nnz = count * X->cols;
    part.val = (const char *)X->val + offset;
    MGVI_TRY(linear_scores(ctx, model, &part, scores));
    return check_scores(ctx, model, first, count, scores);
}

int64_t mgvi_model_decide(const mgv_model *model, const double *scores)
{
    if (model->outputs == 1 && !model->pairwise)
        return model->classify && scores[0] > 0;
    return mgvi_classes_decide(scores, model->classes, model->pairwise);
}
