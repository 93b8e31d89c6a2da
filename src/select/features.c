/* features.c - the columns of the final model in the order of their weights. */
#include "select/selection.h"

#include "problem/member.h"

#include <math.h>
#include <stdlib.h>

static int by_weight(const void *a, const void *b)
{
    const mgvi_feature *x = a, *y = b;
    const double p = fabs(x->coef), q = fabs(y->coef);
    return p != q ? (p < q) - (p > q) : (x->column > y->column) - (x->column < y->column);
}

/* How many folds have the column at the chosen point: its entries are in order of columns or not.
 */
static void count_folds(mgv_selection *s)
{
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *point = mgvi_selection_point(s);
    for (int64_t k = 0; k < s->feature_count; k++)
        s->feature[k].folds = path->full > 1 ? 0 : -1;
    for (int64_t t = point->first; path->full > 1 && t < point->first + point->kept; t++) {
        int64_t low = 0, high = s->feature_count - 1; /* still sorted by column */
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (s->feature[middle].column < path->index[t])
                low = middle + 1;
            else
                high = middle;
        }
        if (high >= 0 && s->feature[low].column == path->index[t])
            s->feature[low].folds = mgvi_path_folds(path, t);
    }
}

static mgv_status list_features(mgv_selection *s)
{
    const bool linear = s->problem->kernel.kind == MGVI_KERNEL_LINEAR;
    /* of one output, with columns to show */
    const int64_t d = mgvi_model_outputs(s->problem) == 1 && linear ? s->data->X.cols : 0;
    double intercept, *coef = mgvi_alloc(s->ctx, (size_t)d, sizeof *coef);
    if (!coef)
        return MGV_E_MEMORY;
    if (d > 0)
        mgvi_problem_user_weights(s->problem, s->solver->answer.w.x, coef, &intercept);
    const int64_t count = mgvi_count_nonzeros(coef, d);
    s->feature = mgvi_arena_array(&s->arena, (size_t)count + 1, sizeof *s->feature);
    for (int64_t j = 0; s->feature && j < d; j++)
        if (coef[j] != 0)
            s->feature[s->feature_count++] = (mgvi_feature){.column = j, .coef = coef[j]};
    mgvi_release(s->ctx, coef);
    if (!s->feature)
        return MGV_E_MEMORY;
    count_folds(s);
    qsort(s->feature, (size_t)count, sizeof *s->feature, by_weight);
    return MGV_OK;
}

mgv_status mgvi_selection_feature(mgv_selection *s, int64_t index, const mgvi_feature **out)
{
    *out = NULL;
    if (!s->feature)
        MGVI_TRY(list_features(s));
    if (index >= 0 && index < s->feature_count)
        *out = &s->feature[index];
    return MGV_OK;
}
