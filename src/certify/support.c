/* support.c - the rows of a proof and their sum, in twofold numbers. */
#include "certify/support.h"

#include "base/limit.h"

#include <string.h>

/* How far the entries of the scaled row may be from the product of the numbers at hand: norms are
 * sums of `cols` squares. */
static double fuzz_of(const mgvi_rows *base)
{
    return base->view.row_scale && base->view.intercept ? 0x1p-52 * ((double)base->m.cols + 8) : 0;
}

static bool is_intercept(const mgvi_rows *base, int64_t j, int64_t k)
{
    return j / k == base->m.cols;
}

static mgv_status collect_rows(mgvi_proof_support *s, mgvi_arena *arena, const double *u)
{
    const mgvi_rows *base = mgvi_raw_base(s->rows);
    const int64_t k = s->rows->example ? s->rows->classes : 1;
    for (int64_t i = 0; i < s->rows->count; i++)
        s->m += u[i] != 0;
    MGVI_TRY(MGVI_VECTORS(arena, s->m, &s->dual, &s->weight, &s->factor));
    MGVI_TRY(MGVI_ARRAY(arena, s->row, s->m));
    for (int64_t i = 0, t = 0; i < s->rows->count; i++) {
        if (u[i] == 0)
            continue;
        const double scale = mgvi_view_row_scale(&base->view, i / k);
        s->row[t] = i;
        s->dual[t] = u[i];
        s->factor[t] = base->view.intercept ? scale : 1;
        s->weight[t++] = base->view.intercept ? u[i] : u[i] * scale;
    }
    return MGV_OK;
}

/* Of contrasts the last class's columns are minus the sum of the others': they say nothing. */
static mgv_status collect_columns(mgvi_proof_support *s, mgvi_arena *arena)
{
    const mgvi_rows *base = mgvi_raw_base(s->rows);
    const int64_t k = s->rows->example ? s->rows->classes : 1;
    const int64_t cols = (base->m.cols + (base->view.intercept ? 1 : 0)) * k;
    MGVI_TRY(MGVI_ARRAY(arena, s->at, cols));
    for (int64_t t = 0; t < s->m && !mgvi_ctx_cut_row(arena->ctx, t); t++)
        for (mgvi_raw_entry e = mgvi_raw_begin(s->rows, s->row[t]); mgvi_raw_next(&e);)
            s->at[e.j] = !(e.rival >= 0 && e.class == k - 1);
    for (int64_t j = 0; j < cols; j++)
        s->c += s->at[j];
    MGVI_TRY(MGVI_VECTORS(arena, s->c, &s->centre, &s->sum, &s->size));
    MGVI_TRY(MGVI_ARRAY(arena, s->col, s->c));
    for (int64_t j = 0, t = 0; j < cols; j++) {
        const bool live = s->at[j];
        s->at[j] = live ? (int32_t)t : -1;
        if (!live)
            continue;
        const bool one = is_intercept(base, j, k);
        s->col[t] = j;
        s->centre[t++] = one ? 0 : mgvi_view_centre(&base->view, j / k);
    }
    return MGV_OK;
}

/* What is subtracted from the columns of class c, summed: sum_i u_i y_i factor_i over its rows. */
static void add_heads(const mgvi_proof_support *s, mgvi_two *head, double *size)
{
    for (int64_t t = 0; t < s->m; t++) {
        mgvi_raw_entry e = mgvi_raw_begin(s->rows, s->row[t]);
        if (e.class == e.rival)
            continue;
        for (int side = 0; side < (e.rival < 0 ? 1 : 2); side++) {
            const int32_t class = side ? e.rival : e.class;
            const double y = side ? -e.sign : e.sign;
            head[class] = mgvi_two_fma(head[class], y * s->weight[t], s->factor[t]);
            size[class] += fabs(s->weight[t] * s->factor[t]);
        }
    }
}

/* Every step of a sum errs by at most MGVI_TWO_UNIT of its terms' absolute sum. */
static double rounding_of(const mgvi_proof_support *s, double size)
{
    return ((double)s->m + 8) * (MGVI_TWO_UNIT * size * (1 + 0x1p-20) + MGVI_TWO_TINY);
}

static mgv_status add_up(mgvi_proof_support *s, mgvi_arena *arena)
{
    const int64_t k = s->rows->example ? s->rows->classes : 1;
    mgvi_two *sum = mgvi_arena_array(arena, (size_t)(s->c + k), sizeof *sum), *head = sum + s->c;
    double *heads = mgvi_arena_array(arena, (size_t)k, sizeof *heads);
    if (!sum || !heads)
        return MGV_E_MEMORY;
    add_heads(s, head, heads);
    for (int64_t t = 0; t < s->m && !mgvi_ctx_cut_row(arena->ctx, t); t++)
        for (mgvi_raw_entry e = mgvi_raw_begin(s->rows, s->row[t]); mgvi_raw_next(&e);) {
            const int32_t j = s->at[e.j];
            if (j < 0)
                continue;
            const double x = e.t == e.n ? e.x : e.x * s->factor[t]; /* 1: exact */
            sum[j] = mgvi_two_fma(sum[j], s->weight[t], x);
            s->size[j] += fabs(s->weight[t] * x);
        }
    for (int64_t j = 0; j < s->c; j++) {
        const int64_t class = s->col[j] % k;
        const double c = s->centre[j];
        s->size[j] = (s->size[j] + fabs(c) * heads[class]) * (1 + 0x1p-20);
        const mgvi_two r = mgvi_two_sub(sum[j], mgvi_two_mul_real(head[class], c));
        s->sum[j] = fabs(mgvi_two_real(r)) * (1 + 0x1p-50) + rounding_of(s, s->size[j]) +
                    s->fuzz * s->size[j];
    }
    return MGV_OK;
}

mgv_status mgvi_support_open(mgvi_proof_support *s, mgvi_arena *arena, const mgvi_rows *rows,
                             double fuzz, const double *u)
{
    *s = (mgvi_proof_support){.rows = rows, .fuzz = fuzz + fuzz_of(mgvi_raw_base(rows))};
    MGVI_TRY(collect_rows(s, arena, u));
    MGVI_TRY(collect_columns(s, arena));
    MGVI_TRY(mgvi_ctx_whole(arena->ctx));
    return add_up(s, arena);
}

void mgvi_support_raw_row(const mgvi_proof_support *s, int64_t t, double *out)
{
    memset(out, 0, (size_t)s->c * sizeof *out);
    for (mgvi_raw_entry e = mgvi_raw_begin(s->rows, s->row[t]); mgvi_raw_next(&e);)
        if (s->at[e.j] >= 0)
            out[s->at[e.j]] = e.t == e.n ? e.x : e.x * s->factor[t];
}

void mgvi_support_row(const mgvi_proof_support *s, int64_t t, double *out)
{
    const mgvi_rows *base = mgvi_raw_base(s->rows);
    const mgvi_raw_entry head = mgvi_raw_begin(s->rows, s->row[t]);
    const int64_t k = head.k;
    mgvi_support_raw_row(s, t, out);
    if (!base->view.centre || head.class == head.rival)
        return;
    for (int64_t j = 0; j < s->c; j++) {
        const int64_t class = s->col[j] % k;
        const double sign = class == head.class ? head.sign : class == head.rival ? -head.sign : 0;
        out[j] -= sign * s->centre[j]; /* one rounding of an exact difference */
    }
}
