/* predict.c - scores and metrics. */
#include "model/model.h"

#include "op/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mgv_status divide_by_row_norms(mgv_ctx *ctx, const mgvi_matrix *X, double intercept,
                                      double *scores)
{
    double *norm = mgvi_alloc(ctx, (size_t)X->rows, sizeof *norm);
    if (!norm)
        return MGV_E_MEMORY;
    const mgv_status st = mgvi_matrix_row_norms(ctx, X, norm);
    for (int64_t i = 0; st == MGV_OK && i < X->rows; i++)
        scores[i] = (norm[i] > 0 ? scores[i] / norm[i] : scores[i]) + intercept;
    mgvi_release(ctx, norm);
    return st;
}

/* Files that never use the last features have fewer columns than the model, others more: the
 * product runs over the columns both have, and a row that uses a feature beyond the model is an
 * error, because its score would be wrong without a word. */
static mgv_status matching_columns(mgv_ctx *ctx, const mgv_model *model, const mgvi_matrix *X)
{
    if (X->cols <= model->features)
        return MGV_OK;
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "the data has %" PRId64 " features, the model knows %" PRId64, X->cols,
                     model->features);
}

mgv_status mgvi_model_scores(mgv_ctx *ctx, const mgv_model *model, mgv_data *data, double *scores)
{
    mgvi_op *op = NULL;
    mgvi_matrix X = data->X;
    MGVI_TRY(matching_columns(ctx, model, &X));
    MGVI_TRY(mgvi_data_check_once(ctx, data));
    MGVI_TRY(mgvi_op_from_matrix(ctx, &X, 1, &op));
    const mgvi_vec coef = mgvi_vec_wrap(model->coef, X.cols, MGVI_COLS);
    mgvi_vec z = mgvi_vec_wrap(scores, X.rows, MGVI_ROWS);
    mgvi_op_mul(op, 1, &coef, 0, &z);
    mgvi_op_free(op);
    if (model->row_norm)
        return divide_by_row_norms(ctx, &X, model->intercept, scores);
    for (int64_t i = 0; i < X.rows; i++)
        scores[i] += model->intercept;
    return MGV_OK;
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* The model's class of row i's label, -1 when the model has never seen it. */
static int class_of(const mgv_model *m, const mgv_data *data, const int *map, int64_t i)
{
    if (map) {
        const double *end = data->class_value + data->classes;
        for (const double *c = data->class_value; c < end; c++)
            if (*c == data->labels[i])
                return map[c - data->class_value];
        return -1;
    }
    for (int c = 0; c < (int)m->classes; c++)
        if (m->class_value[c] == data->labels[i])
            return c;
    return -1;
}

/* The model's number of each class of the data: by value, or by spelling for words. */
static void map_classes(const mgv_model *m, const mgv_data *data, int *map)
{
    for (int64_t c = 0; c < data->classes; c++) {
        map[c] = -1;
        for (int k = 0; k < (int)m->classes; k++) {
            const bool same = data->text_labels || isnan(m->class_value[k])
                                  ? strcmp(data->class_text[c], m->class_text[k]) == 0
                                  : data->class_value[c] == m->class_value[k];
            if (same)
                map[c] = k;
        }
    }
}

typedef struct scored {
    double score;
    int positive;
} scored;

static int by_score(const void *a, const void *b)
{
    const double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* Area under the ROC curve = probability that a positive scores above a negative, ties half. */
static double area_under_curve(scored *s, int64_t n)
{
    double pairs = 0, wins = 0, negatives = 0;
    qsort(s, (size_t)n, sizeof *s, by_score);
    for (int64_t i = 0; i < n;) {
        double plus = 0, minus = 0;
        int64_t j = i;
        for (; j < n && s[j].score == s[i].score; j++)
            s[j].positive ? plus++ : minus++;
        wins += plus * (negatives + 0.5 * minus);
        pairs += plus;
        negatives += minus;
        i = j;
    }
    return pairs > 0 && negatives > 0 ? wins / (pairs * negatives) : NAN;
}

static mgv_status classification(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data,
                                 const double *scores, mgv_metrics *out)
{
    const int64_t n = data->X.rows;
    int *map = mgvi_alloc(ctx, (size_t)data->classes + 1, sizeof *map);
    scored *s = map ? mgvi_alloc(ctx, (size_t)n, sizeof *s) : NULL;
    if (!s) {
        mgvi_release(ctx, map);
        return MGV_E_MEMORY;
    }
    map_classes(m, data, map);
    double right[2] = {0, 0}, total[2] = {0, 0};
    int64_t known = 0;
    for (int64_t i = 0; i < n; i++) {
        const int c = class_of(m, data, data->classes ? map : NULL, i);
        if (c < 0)
            continue;
        total[c]++;
        right[c] += (scores[i] > 0) == c;
        s[known++] = (scored){scores[i], c};
    }
    out->accuracy = n > 0 ? (right[0] + right[1]) / (double)n : NAN;
    out->balanced_accuracy =
        total[0] > 0 && total[1] > 0 ? 0.5 * (right[0] / total[0] + right[1] / total[1]) : NAN;
    out->auc = area_under_curve(s, known);
    mgvi_release(ctx, s);
    mgvi_release(ctx, map);
    return MGV_OK;
}

static void regression(const mgv_data *data, const double *scores, mgv_metrics *out)
{
    const int64_t n = data->X.rows;
    double mean = 0, error = 0, spread = 0;
    for (int64_t i = 0; i < n; i++)
        mean += data->labels[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double e = data->labels[i] - scores[i], v = data->labels[i] - mean;
        error += e * e;
        spread += v * v;
    }
    out->mse = error / (double)n;
    out->r2 = spread > 0 ? 1 - error / spread : NAN;
}

mgv_status mgvi_model_evaluate(mgv_ctx *ctx, const mgv_model *model, const mgv_data *data,
                               const double *scores, mgv_metrics *out)
{
    if (!data->labels)
        return MGVI_FAIL(ctx, MGV_E_ARG, "the data has no labels to compare with");
    if (!model->classify && data->text_labels)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "the model predicts a quantity, the labels are words");
    mgv_metrics metrics = {.rows = data->X.rows,
                           .accuracy = NAN,
                           .balanced_accuracy = NAN,
                           .auc = NAN,
                           .mse = NAN,
                           .r2 = NAN};
    if (model->classify)
        MGVI_TRY(classification(ctx, model, data, scores, &metrics));
    else
        regression(data, scores, &metrics);
    mgvi_copy_out(out, &metrics, sizeof metrics);
    return MGV_OK;
}
