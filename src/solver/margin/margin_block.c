/* margin_block.c - rows copied dense or in both sparse orders, and their weighted products. */
#include "solver/margin/margin_block.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

static const double SCATTERED = 4; /* a sparse multiplication, in dense ones */

/* ---- the plan -------------------------------------------------------------------------------- */

/* Whether rows stay sparse: a centre has to be left out, which only moves a free intercept. */
static bool can_be_sparse(const mgv_problem *p, const mgvi_rows *r)
{
    return !r->example && !r->kernel && r->m.layout != MGV_DENSE &&
           (!r->view.centre || p->free_cols);
}

static double factor_work(double n) { return n * n * n / 6; }

/* Half the sum of squares of the entries in each column, and in each row. */
static mgv_status count_pairs(const mgv_problem *p, const mgvi_rows *r, const int32_t *W,
                              int64_t count, double pairs[2], int64_t *entries)
{
    const int64_t cols = mgvi_problem_penalised(p);
    int32_t *in_col = mgvi_zeros(p->ctx, (size_t)cols + 1, sizeof *in_col);
    if (!in_col)
        return MGV_E_MEMORY;
    pairs[0] = pairs[1] = 0;
    *entries = 0;
    for (int64_t t = 0; t < count; t++) {
        const int64_t row = mgvi_rows_source(r, W[t]), n = r->m.ptr[row + 1] - r->m.ptr[row];
        for (int64_t k = r->m.ptr[row]; k < r->m.ptr[row + 1]; k++)
            in_col[r->m.idx[k]]++;
        pairs[1] += 0.5 * (double)n * (double)n;
        *entries += n;
    }
    for (int64_t j = 0; j < cols; j++)
        pairs[0] += 0.5 * (double)in_col[j] * (double)in_col[j];
    mgvi_release(p->ctx, in_col);
    return MGV_OK;
}

mgv_status mgvi_margin_block_plan(const mgv_problem *p, const mgvi_rows *r, const int32_t *W,
                                  int64_t count, mgvi_block_plan *out)
{
    enum { ENTRY = 2 * (8 + 4) + 8 }; /* bytes, in both orders */
    const double n = (double)count, d = (double)mgvi_problem_penalised(p);
    const double dense[2] = {n * n * d / 2 + factor_work(n), d * d * n / 2 + factor_work(d)};
    out->sparse = false;
    out->by_columns = dense[1] < dense[0];
    out->work = dense[out->by_columns];
    out->entries = 0;
    if (can_be_sparse(p, r)) {
        double pairs[2];
        MGVI_TRY(count_pairs(p, r, W, count, pairs, &out->entries));
        for (int k = 0; k < 2; k++) {
            const double work = SCATTERED * pairs[k] + factor_work(k ? d : n);
            if (work > out->work)
                continue;
            *out = (mgvi_block_plan){
                .sparse = true, .by_columns = k, .entries = out->entries, .work = work};
        }
    }
    const double order = out->by_columns ? d : n;
    out->bytes = 8 * order * order + (out->sparse ? ENTRY * (double)out->entries : 8 * n * d);
    return MGV_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { TILE = 32 };

/* Row by row through the accumulated form, which knows of centres, scales and contrasts. */
static mgv_status fill_dense(const mgvi_rows *r, const int32_t *W, mgvi_margin_block *b)
{
    const size_t length = (size_t)mgvi_rows_acc_len(r), width = (size_t)b->cols + 1;
    const size_t tile = b->by_columns ? 1 : TILE;
    double *acc = mgvi_alloc(b->ctx, length + tile * width, sizeof *acc);
    if (!acc)
        return MGV_E_MEMORY;
    double *some = acc + length;
    for (int64_t first = 0; first < b->rows && !mgvi_ctx_cut(b->ctx); first += (int64_t)tile) {
        const int64_t left = b->rows - first;
        const int64_t count = left < (int64_t)tile ? left : (int64_t)tile;
        for (int64_t t = 0; t < count; t++) {
            memset(acc, 0, length * sizeof *acc);
            mgvi_rows_axpy(r, W[first + t], 1, acc);
            mgvi_rows_weights(r, acc, some + t * (int64_t)width);
        }
        if (b->by_columns)
            memcpy(b->dense + first * b->cols, some, (size_t)b->cols * sizeof *some);
        for (int64_t j = 0; !b->by_columns && j < b->cols; j++)
            for (int64_t t = 0; t < count; t++)
                b->dense[j * b->rows + first + t] = some[t * (int64_t)width + j];
    }
    mgvi_release(b->ctx, acc);
    return mgvi_ctx_whole(b->ctx);
}

static mgv_status lines_new(mgvi_arena *arena, int64_t count, int64_t entries,
                            mgvi_block_lines *out)
{
    MGVI_TRY(MGVI_ARRAY(arena, out->ptr, (size_t)count + 2));
    MGVI_TRY(MGVI_SCRATCH(arena, out->idx, (size_t)entries + 1));
    MGVI_TRY(MGVI_SCRATCH(arena, out->val, (size_t)entries + 1));
    return MGV_OK;
}

/* The same entries by the other index, to->ptr[j + 1] being where line j begins. `place`: where in
 * the other order an entry lies, of those in `from` or, `back`, of those in `to`. */
static void turn(const mgvi_block_lines *from, int64_t count, mgvi_block_lines *to, bool back,
                 int64_t *place)
{
    int64_t *next = to->ptr + 1; /* becomes ptr when every entry has moved it on */
    for (int64_t i = 0; i < count; i++)
        for (int64_t t = from->ptr[i]; t < from->ptr[i + 1]; t++) {
            const int64_t at = next[from->idx[t]]++;
            to->idx[at] = (int32_t)i;
            to->val[at] = from->val[t];
            place[back ? at : t] = back ? t : at;
        }
}

static mgv_status fill_sparse(const mgvi_rows *r, const int32_t *W, mgvi_arena *arena,
                              int64_t entries, mgvi_margin_block *b)
{
    mgvi_block_lines *by_row = b->by_columns ? &b->other : &b->line;
    mgvi_block_lines *by_col = b->by_columns ? &b->line : &b->other;
    double *room = mgvi_alloc(b->ctx, (size_t)r->m.cols + 1, sizeof *room);
    mgv_status st = room ? lines_new(arena, b->rows, entries, by_row) : MGV_E_MEMORY;
    if (st == MGV_OK)
        st = lines_new(arena, b->cols, entries, by_col);
    b->place = mgvi_arena_scratch(arena, (size_t)entries + 1, sizeof *b->place);
    if (st != MGV_OK || !b->place) {
        mgvi_release(b->ctx, room);
        return MGV_E_MEMORY;
    }
    for (int64_t t = 0; t < b->rows; t++) {
        const mgvi_entries e = mgvi_rows_entries(r, W[t], false, room);
        const int64_t first = by_row->ptr[t];
        by_row->ptr[t + 1] = first + e.n;
        memcpy(by_row->idx + first, e.idx, (size_t)e.n * sizeof *e.idx);
        memcpy(by_row->val + first, e.val, (size_t)e.n * sizeof *e.val);
        for (int64_t k = 0; k < e.n; k++)
            by_col->ptr[e.idx[k] + 2]++;
    }
    for (int64_t j = 1; j <= b->cols; j++) /* ptr[j + 1]: where column j begins */
        by_col->ptr[j + 1] += by_col->ptr[j];
    turn(by_row, b->rows, by_col, b->by_columns, b->place);
    mgvi_release(b->ctx, room);
    return MGV_OK;
}

/* Dense columns of zeros alone have no part in anything, and linear systems are of their size. */
static mgv_status drop_zeros(mgvi_arena *arena, mgvi_margin_block *b)
{
    const int64_t rows = b->rows, all = b->cols, step = b->by_columns ? all : 1,
                  next = b->by_columns ? 1 : rows;
    if (!(b->kept = mgvi_arena_array(arena, (size_t)all, sizeof *b->kept)))
        return MGV_E_MEMORY;
    b->cols = 0;
    for (int64_t j = 0; j < all; j++) {
        int64_t i = 0;
        while (i < rows && b->dense[j * next + i * step] == 0)
            i++;
        if (i < rows || (j == all - 1 && b->cols == 0)) /* one is left at least */
            b->kept[b->cols++] = (int32_t)j;
    }
    *(b->by_columns ? &b->order : &b->across) = b->cols;
    for (int64_t i = 0; b->by_columns && i < rows; i++)
        for (int64_t k = 0; k < b->cols; k++)
            b->dense[i * b->cols + k] = b->dense[i * all + b->kept[k]];
    for (int64_t k = 0; !b->by_columns && k < b->cols; k++)
        memmove(b->dense + k * rows, b->dense + b->kept[k] * rows, (size_t)rows * sizeof *b->dense);
    return MGV_OK;
}

mgv_status mgvi_margin_block_new(const mgv_problem *p, const mgvi_rows *r, const int32_t *W,
                                 int64_t count, mgvi_arena *arena, mgvi_margin_block *out)
{
    mgvi_block_plan plan;
    MGVI_TRY(mgvi_margin_block_plan(p, r, W, count, &plan));
    *out = (mgvi_margin_block){.ctx = p->ctx,
                               .rows = count,
                               .cols = mgvi_problem_penalised(p),
                               .by_columns = plan.by_columns,
                               .work = plan.work};
    out->order = plan.by_columns ? out->cols : count;
    out->across = plan.by_columns ? count : out->cols;
    if (plan.sparse)
        return fill_sparse(r, W, arena, plan.entries, out);
    const size_t lines = (size_t)out->across, length = (size_t)out->order;
    const size_t entries = length > 0 && lines > SIZE_MAX / length ? SIZE_MAX : lines * length;
    out->dense = mgvi_arena_scratch(arena, entries, sizeof *out->dense);
    if (!out->dense)
        return MGV_E_MEMORY;
    MGVI_TRY(fill_dense(r, W, out));
    return drop_zeros(arena, out);
}

/* ---- products -------------------------------------------------------------------------------- */

enum { GRAIN = 1 << 15, BLOCKS = 64 }; /* entries that make a block of work; most blocks */

typedef struct job {
    const mgvi_margin_block *b;
    const mgvi_block_lines *lines;
    const double *x;
    double *out;
    int64_t count, blocks;
} job;

static double line_dot(const mgvi_simd *simd, const mgvi_block_lines *l, int64_t i, const double *x)
{
    const int64_t first = l->ptr[i], n = l->ptr[i + 1] - first;
    return n < MGVI_ROWS_SHORT ? mgvi_rows_short_dot_f64(l->val + first, l->idx + first, n, x)
                               : simd->gather_dot_f64(l->val + first, l->idx + first, n, x);
}

static void dots_block(void *arg, int64_t block)
{
    const job *j = arg;
    MGVI_FOR_BLOCK (i, j->count, j->blocks, block)
        j->out[i] = line_dot(j->b->ctx->simd, j->lines, i, j->x);
}

static void dots(const mgvi_margin_block *b, const mgvi_block_lines *lines, int64_t count,
                 const double *x, double *out)
{
    job j = {.b = b, .lines = lines, .x = x, .out = out, .count = count};
    j.blocks = mgvi_block_count(lines->ptr[count], GRAIN, count < BLOCKS ? count : BLOCKS);
    mgvi_ctx_run(b->ctx, j.blocks, dots_block, &j);
}

/* From the lines of (1) to its terms, and back. */
static void to_across(const mgvi_margin_block *b, const double *x, double *out)
{
    if (b->dense)
        b->ctx->simd->dense_mul_f64(b->dense, b->order, b->across, b->order, x, out);
    else
        dots(b, &b->other, b->across, x, out);
}

static void to_order(const mgvi_margin_block *b, const double *x, double *out)
{
    if (!b->dense) {
        dots(b, &b->line, b->order, x, out);
        return;
    }
    memset(out, 0, (size_t)b->order * sizeof *out);
    b->ctx->simd->dense_mul_t_f64(b->dense, b->order, b->across, b->order, x, out);
}

void mgvi_margin_block_mul(const mgvi_margin_block *b, const double *x, double *out)
{
    (b->by_columns ? to_across : to_order)(b, x, out);
}

void mgvi_margin_block_mul_t(const mgvi_margin_block *b, const double *x, double *out)
{
    (b->by_columns ? to_order : to_across)(b, x, out);
}

double mgvi_margin_block_shift(const mgvi_margin_block *b, const mgvi_rows *r, const double *w)
{
    double sum = 0;
    for (int64_t j = 0; !b->dense && r->view.centre && j < b->cols; j++)
        sum += r->view.centre[j] * mgvi_view_scale(&r->view, j) * w[j];
    return sum;
}

double mgvi_margin_block_size(const mgvi_margin_block *b)
{
    const double *x = b->dense ? b->dense : b->line.val;
    const int64_t n = b->dense ? b->rows * b->cols : b->line.ptr[b->order];
    return sqrt(b->ctx->simd->dot_f64(x, x, n) / (double)b->rows);
}

void mgvi_margin_block_squares(const mgvi_margin_block *b, const double *weight, double *out)
{
    const mgvi_block_lines *l = b->by_columns ? &b->line : &b->other;
    for (int64_t j = 0; j < b->cols; j++) {
        out[j] = 0;
        for (int64_t t = b->dense ? 0 : l->ptr[j]; t < (b->dense ? b->rows : l->ptr[j + 1]); t++) {
            const int64_t i = b->dense ? t : l->idx[t];
            const int64_t at = b->by_columns ? i * b->cols + j : j * b->rows + i;
            const double z = b->dense ? b->dense[at] : l->val[t];
            out[j] += (weight ? weight[i] : 1) * z * z;
        }
    }
}

static void scale_lines(const mgvi_block_lines *l, int64_t count, bool columns, const double *unit)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t t = l->ptr[i]; t < l->ptr[i + 1]; t++)
            l->val[t] *= unit[columns ? i : l->idx[t]];
}

void mgvi_margin_block_scale(mgvi_margin_block *b, const double *unit)
{
    for (int64_t k = 0; b->dense && k < b->across; k++)
        for (int64_t t = 0; t < b->order; t++)
            b->dense[k * b->order + t] *= unit[b->by_columns ? t : k];
    if (b->dense)
        return;
    scale_lines(&b->line, b->order, b->by_columns, unit);
    scale_lines(&b->other, b->across, !b->by_columns, unit);
}

/* Rows of the upper triangle, each in one piece that stays in the cache: every entry of a line
 * brings the rest of its term, which begins at its place. */
static void gram_block(void *arg, int64_t block)
{
    const job *j = arg;
    const mgvi_margin_block *b = j->b;
    MGVI_FOR_BLOCK (i, j->count, j->blocks, block) {
        double *row = j->out + i * b->order;
        memset(row + i, 0, (size_t)(b->order - i) * sizeof *row);
        if (mgvi_ctx_cut(b->ctx))
            return;
        for (int64_t t = b->line.ptr[i]; t < b->line.ptr[i + 1]; t++) {
            const int64_t term = b->line.idx[t], first = b->place[t];
            const int64_t n = b->other.ptr[term + 1] - first;
            const double factor = j->x[term] * b->line.val[t];
            if (factor == 0)
                continue;
            if (n < MGVI_ROWS_SHORT)
                mgvi_rows_short_axpy_f64(factor, b->other.val + first, b->other.idx + first, n,
                                         row);
            else
                b->ctx->simd->scatter_axpy_f64(factor, b->other.val + first, b->other.idx + first,
                                               n, row);
        }
    }
}

mgv_status mgvi_margin_block_gram(const mgvi_margin_block *b, const double *weight, double *H)
{
    if (b->dense)
        return mgvi_gram_f64(b->ctx, b->across, b->order, b->dense, b->order, weight, H, b->order);
    job j = {.b = b, .x = weight, .out = H, .count = b->order};
    j.blocks = b->order < BLOCKS ? b->order : BLOCKS;
    mgvi_ctx_run(b->ctx, j.blocks, gram_block, &j);
    return mgvi_ctx_whole(b->ctx);
}
