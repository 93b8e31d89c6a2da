/* member.c - binds members of a family and takes their numbers back to the whole. */
#include "problem/member.h"

#include "data/subset.h"
#include "op/rows.h"

#include <string.h>

int64_t mgvi_class_pairs(int64_t classes) { return classes * (classes - 1) / 2; }

mgvi_class_pair mgvi_class_pair_at(int64_t classes, int64_t index)
{
    int64_t first = 0;
    while (index >= classes - 1 - first)
        index -= classes - 1 - first++;
    return (mgvi_class_pair){first, first + 1 + index};
}

int64_t mgvi_model_outputs(const mgv_problem *p)
{
    const int64_t k = p->data->classes;
    return !p->many ? p->outputs : p->pairwise ? mgvi_class_pairs(k) : k;
}

/* The rows of the classes, in order. */
static mgv_status list_rows(mgv_ctx *ctx, const mgv_data *data, const int64_t *classes,
                            int64_t class_count, mgvi_member *out, int64_t *count)
{
    *count = 0;
    out->rows = mgvi_alloc(ctx, (size_t)data->X.rows, sizeof *out->rows);
    if (!out->rows)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < data->X.rows; i++)
        for (int64_t c = 0; c < class_count; c++)
            if (data->labels[i] == data->class_value[classes[c]]) {
                out->rows[(*count)++] = i;
                break;
            }
    return MGV_OK;
}

mgv_status mgvi_member_rows(mgv_ctx *ctx, const mgv_problem *head, const int64_t *classes,
                            int64_t class_count, mgvi_member *out)
{
    mgv_data whole = *head->data;
    mgvi_subset subset = {.classes = classes,
                          .class_count = class_count,
                          .square = head->kernel.kind == MGVI_KERNEL_PRECOMPUTED};
    mgvi_arena arena;
    mgvi_arena_init(&arena, ctx);
    mgv_status st = list_rows(ctx, head->data, classes, class_count, out, &subset.count);
    subset.rows = out->rows;
    double *weights = mgvi_arena_array(&arena, (size_t)whole.X.rows, sizeof *weights);
    if (!weights)
        st = MGV_E_MEMORY;
    for (int64_t i = 0; st == MGV_OK && i < whole.X.rows; i++)
        weights[i] = mgvi_coef_pick(&head->row.scale, i, 0) *
                     (head->loss->can & MGVI_HARD ? 1 : head->total_weight);
    subset.weights = weights;
    if (st == MGV_OK)
        st = mgvi_matrix_rows(&arena, &head->data->X, &whole.X);
    if (st == MGV_OK)
        st = mgvi_data_subset(ctx, &whole, &subset, &out->data);
    mgvi_arena_free(&arena);
    return st;
}

/* Scaling and the kernel's width are those of the whole. */
static mgv_status bind_pair(mgv_ctx *ctx, const mgv_problem *head, const mgv_settings *settings,
                            mgvi_class_pair pair, mgvi_member *out)
{
    mgv_settings own = *settings;
    const int64_t classes[2] = {pair.first, pair.second};
    MGVI_TRY(mgvi_member_rows(ctx, head, classes, 2, out));
    own.class_weight = "";
    own.sigma2 = head->kernel.kind == MGVI_KERNEL_LINEAR ? own.sigma2 : head->kernel.sigma2;
    return mgvi_problem_new_like(ctx, out->data, &own, head, &out->problem);
}

mgv_settings mgvi_member_settings(const mgv_problem *head, const mgv_settings *settings)
{
    mgv_settings own = *settings;
    own.C = head->settings.C;
    own.lambda = head->settings.lambda;
    own.mu = head->settings.mu;
    return own;
}

/* The rows of member `index` whose weight is more than `least`. */
static int64_t count_rows(const mgv_problem *head, int64_t index, double least)
{
    const mgv_data *data = head->data;
    const mgvi_class_pair pair = mgvi_class_pair_at(data->classes, index);
    const double a = data->class_value[pair.first], b = data->class_value[pair.second];
    int64_t rows = 0;
    for (int64_t i = 0; i < data->X.rows; i++)
        rows += (data->labels[i] == a || data->labels[i] == b) &&
                mgvi_coef_pick(&head->row.scale, i, 0) > least;
    return rows;
}

int64_t mgvi_member_row_count(const mgv_problem *head, int64_t index)
{
    return head->pairwise ? count_rows(head, index, -1) : head->A->rows;
}

mgv_status mgvi_member_block(mgv_ctx *ctx, const mgvi_member *m, const mgv_problem *head,
                             const mgv_settings *settings, const mgvi_lane *lane, int32_t count,
                             mgv_problem **out)
{
    mgv_settings own = mgvi_member_settings(head, settings);
    if (head->pairwise)
        own.class_weight = ""; /* it is in the weights */
    return mgvi_problem_new_block(ctx, m->data ? m->data : head->data, &own, lane, count, head,
                                  out);
}

bool mgvi_member_weighs(const mgv_problem *head, int64_t index)
{
    return !head->pairwise || count_rows(head, index, 0) > 0;
}

mgv_status mgvi_member_new(mgv_ctx *ctx, const mgv_problem *head, const mgv_settings *settings,
                           int64_t index, mgvi_member *out)
{
    const mgv_settings own = mgvi_member_settings(head, settings);
    *out = (mgvi_member){0};
    mgv_status st;
    if (head->pairwise)
        st = bind_pair(ctx, head, &own, mgvi_class_pair_at(head->data->classes, index), out);
    else
        st = mgvi_problem_new_member(ctx, head, &own, index, &out->problem);
    if (st != MGV_OK)
        mgvi_member_free(ctx, out);
    return st;
}

void mgvi_member_free(mgv_ctx *ctx, mgvi_member *m)
{
    mgvi_problem_free(m->problem);
    mgvi_data_free(ctx, m->data);
    mgvi_release(ctx, m->rows);
    *m = (mgvi_member){0};
}

void mgvi_member_spread(const mgvi_member *m, const double *from, int64_t whole, double *to)
{
    if (!m->rows) {
        memcpy(to, from, (size_t)whole * sizeof *to);
        return;
    }
    memset(to, 0, (size_t)whole * sizeof *to);
    for (int64_t t = 0; t < m->data->X.rows; t++)
        to[m->rows[t]] = from[t];
}

mgv_status mgvi_member_weights(mgv_ctx *ctx, const mgvi_member *m, const mgv_problem *head,
                               const double *w, double *coef, double *intercept)
{
    const mgv_problem *p = m->problem;
    if (!m->rows || p->kernel.kind == MGVI_KERNEL_LINEAR) {
        mgvi_problem_user_weights(p, w, coef, intercept);
        return MGV_OK;
    }
    double *own = mgvi_alloc(ctx, (size_t)mgvi_problem_coefs(p), sizeof *own);
    if (!own)
        return MGV_E_MEMORY;
    mgvi_problem_user_weights(p, w, own, intercept);
    mgvi_member_spread(m, own, mgvi_problem_coefs(head), coef);
    mgvi_release(ctx, own);
    return MGV_OK;
}
