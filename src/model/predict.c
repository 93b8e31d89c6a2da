/* predict.c - scores, and the class they speak for. */
#include "model/model.h"

#include "base/event.h"
#include "model/narrow.h"
#include "op/stats.h"
#include "problem/votes.h"

#include <math.h>

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
    mgvi_narrow narrow;
    MGVI_TRY(mgvi_model_check_columns(ctx, model, data));
    MGVI_TRY(mgvi_data_check_once(ctx, data));
    mgvi_arena_init(&arena, ctx);
    mgv_status st = mgvi_narrow_to(&arena, &data->X, model->features, &narrow);
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
