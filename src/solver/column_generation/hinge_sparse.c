/* hinge_sparse.c - a sparse block by columns and by rows, its products and its normal matrices.
 * With X by both, a line of either matrix is summed in a vector of its own, in one order, so that
 * lines may be made side by side and the bits do not depend on the number of threads:
 *   (X h X')_i.  = sum over the entries j of row i of  h_j x_ij (column j from row i on)
 *   (X'h X)_j.   = sum over the entries i of column j of  h_i x_ij (row i from column j on)
 * and the shift adds, with a = X h right and beta = right'h right,
 *   Z h Z' = X h X' + a left' + left a' + beta left left'        (likewise Z'h Z). */
#include "solver/column_generation/hinge_sparse.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

enum { BLOCKS = 32, GRAIN = 1 << 14 };
static const double MOST_ROWS = 0.5; /* of the rows have an entry: the column is kept in full */

/* ---- making it ------------------------------------------------------------------------------- */

typedef struct maker {
    mgvi_hinge_sparse *z;
    const mgvi_rows *from;
    const int32_t *row;
    int32_t *place; /* per column of the table: which of ours it is, -1: none */
    int64_t *next;  /* per column of ours: where its next entry goes */
    bool *full;     /* per column of ours: has an entry in every row */
} maker;

static double sign_of(const mgvi_rows *from, int64_t i)
{
    return mgvi_view_sign(&from->view, i) * mgvi_view_row_scale(&from->view, i);
}

/* Entries of every column in ptr[t + 1], then where columns begin. */
static void count_entries(maker *k)
{
    mgvi_hinge_sparse *z = k->z;
    const mgvi_matrix *m = &k->from->m;
    for (int64_t i = 0; i < z->rows; i++) {
        const int64_t r = mgvi_rows_source(k->from, k->row[i]);
        for (int64_t t = m->ptr[r]; t < m->ptr[r + 1]; t++)
            if (k->place[m->idx[t]] >= 0)
                z->ptr[k->place[m->idx[t]] + 1]++;
    }
    for (int64_t j = 0; j < z->cols; j++) {
        k->full[j] = z->right && (double)z->ptr[j + 1] > MOST_ROWS * (double)z->rows;
        z->ptr[j + 1] = z->ptr[j] + (k->full[j] ? z->rows : z->ptr[j + 1]);
        k->next[j] = z->ptr[j];
    }
}

/* Entries by columns, row after row; what a full column has beside its entries is its shift. */
static void fill_columns(maker *k, const int32_t *col)
{
    mgvi_hinge_sparse *z = k->z;
    const mgvi_matrix *m = &k->from->m;
    const double *scale = k->from->view.scale, *centre = k->from->view.centre;
    for (int64_t j = 0; j < z->cols && z->right; j++) {
        const double shift = -centre[col[j]] * (scale ? scale[col[j]] : 1);
        z->right[j] = k->full[j] ? 0 : shift;
        for (int64_t i = 0; k->full[j] && i < z->rows; i++) {
            z->row[z->ptr[j] + i] = (int32_t)i;
            z->val[z->ptr[j] + i] = z->left[i] * shift;
        }
    }
    for (int64_t i = 0; i < z->rows; i++) {
        const int64_t r = mgvi_rows_source(k->from, k->row[i]);
        const double sign = sign_of(k->from, k->row[i]);
        for (int64_t t = m->ptr[r]; t < m->ptr[r + 1]; t++) {
            const int32_t j = k->place[m->idx[t]];
            if (j < 0)
                continue;
            const double s = scale ? scale[m->idx[t]] : 1, x = mgvi_matrix_value(m, t);
            if (k->full[j]) {
                z->val[z->ptr[j] + i] = sign * (x - centre[m->idx[t]]) * s;
                continue;
            }
            z->row[k->next[j]] = (int32_t)i;
            z->val[k->next[j]++] = sign * x * s;
        }
    }
}

/* The same by rows: columns are gone through in order, so that theirs increase. */
static void fill_rows(const mgvi_hinge_sparse *z, int64_t *next)
{
    for (int64_t t = 0; t < z->ptr[z->cols]; t++)
        z->row_ptr[z->row[t] + 1]++;
    for (int64_t i = 0; i < z->rows; i++) {
        z->row_ptr[i + 1] += z->row_ptr[i];
        next[i] = z->row_ptr[i];
    }
    for (int64_t j = 0; j < z->cols; j++)
        for (int64_t t = z->ptr[j]; t < z->ptr[j + 1]; t++) {
            const int64_t at = next[z->row[t]]++;
            z->col[at] = (int32_t)j;
            z->row_val[at] = z->val[t];
            z->below[at] = (int32_t)t;
            z->behind[t] = (int32_t)at;
        }
}

static mgv_status allocate_entries(mgvi_arena *arena, mgvi_hinge_sparse *z)
{
    const size_t entries = (size_t)z->ptr[z->cols];
    MGVI_TRY(MGVI_SCRATCH(arena, z->row, entries));
    MGVI_TRY(MGVI_SCRATCH(arena, z->col, entries));
    MGVI_TRY(MGVI_SCRATCH(arena, z->val, entries));
    MGVI_TRY(MGVI_SCRATCH(arena, z->row_val, entries));
    MGVI_TRY(MGVI_SCRATCH(arena, z->below, entries));
    MGVI_TRY(MGVI_SCRATCH(arena, z->behind, entries));
    return MGV_OK;
}

static mgv_status make(mgvi_arena *arena, maker *k, const int32_t *col)
{
    mgvi_hinge_sparse *z = k->z;
    for (int64_t j = 0; j < k->from->m.cols; j++)
        k->place[j] = -1;
    for (int64_t t = 0; t < z->cols; t++)
        k->place[col[t]] = (int32_t)t;
    for (int64_t i = 0; i < z->rows && z->left; i++)
        z->left[i] = sign_of(k->from, k->row[i]);
    count_entries(k);
    MGVI_TRY(allocate_entries(arena, z));
    fill_columns(k, col);
    fill_rows(z, k->next);
    return MGV_OK;
}

mgv_status mgvi_hinge_sparse_new(mgvi_arena *arena, const mgvi_rows *from, const int32_t *row,
                                 int64_t n, const int32_t *col, int64_t cols,
                                 mgvi_hinge_sparse **out)
{
    mgv_status st = MGV_E_MEMORY;
    const int64_t most = n > cols ? n : cols;
    mgvi_hinge_sparse *z = *out = mgvi_arena_array(arena, 1, sizeof *z);
    if (!z)
        return MGV_E_MEMORY;
    z->rows = n;
    z->cols = cols;
    MGVI_TRY(MGVI_ARRAY(arena, z->ptr, (size_t)cols + 1));
    MGVI_TRY(MGVI_ARRAY(arena, z->row_ptr, (size_t)n + 1));
    MGVI_TRY(MGVI_SCRATCH(arena, z->room, (size_t)(most * (BLOCKS + 1))));
    if (from->view.centre &&
        (!(z->left = mgvi_arena_array(arena, (size_t)n, sizeof *z->left)) ||
         !(z->right = mgvi_arena_array(arena, (size_t)cols, sizeof *z->right))))
        return MGV_E_MEMORY;
    maker k = {.z = z, .from = from, .row = row};
    k.place = mgvi_zeros(arena->ctx, (size_t)from->m.cols, sizeof *k.place);
    k.next = mgvi_zeros(arena->ctx, (size_t)most, sizeof *k.next);
    k.full = mgvi_zeros(arena->ctx, (size_t)cols, sizeof *k.full);
    if (k.place && k.next && k.full)
        st = make(arena, &k, col);
    mgvi_release(arena->ctx, k.place);
    mgvi_release(arena->ctx, k.next);
    mgvi_release(arena->ctx, k.full);
    return st;
}

/* ---- products -------------------------------------------------------------------------------- */

/* One of the two storages. */
typedef struct lines {
    int64_t count; /* lines */
    const int64_t *ptr;
    const int32_t *idx;
    const double *val;
    const double *own, *other; /* shift: own[line] times other[index] */
} lines;

static lines by_rows(const mgvi_hinge_sparse *z)
{
    return (lines){z->rows, z->row_ptr, z->col, z->row_val, z->left, z->right};
}

static lines by_columns(const mgvi_hinge_sparse *z)
{
    return (lines){z->cols, z->ptr, z->row, z->val, z->right, z->left};
}

typedef struct product_job {
    lines l;
    const double *x;
    double *out, shift;
    int64_t blocks;
} product_job;

static void product_block(void *arg, int64_t block)
{
    const product_job *job = arg;
    const lines *l = &job->l;
    MGVI_FOR_BLOCK (i, l->count, job->blocks, block)
        job->out[i] = mgvi_rows_short_dot_f64(l->val + l->ptr[i], l->idx + l->ptr[i],
                                              l->ptr[i + 1] - l->ptr[i], job->x) +
                      (l->own ? l->own[i] * job->shift : 0);
}

static void multiply(mgv_ctx *ctx, lines l, int64_t others, const double *x, double *out)
{
    product_job job = {.l = l, .x = x, .out = out};
    for (int64_t j = 0; l.other && j < others; j++)
        job.shift += l.other[j] * x[j];
    job.blocks = mgvi_block_count(l.ptr[l.count], GRAIN, BLOCKS);
    mgvi_ctx_run(ctx, job.blocks, product_block, &job);
}

void mgvi_hinge_sparse_mul(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *x, double *out)
{
    multiply(ctx, by_rows(z), z->cols, x, out);
}

void mgvi_hinge_sparse_mul_t(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *x, double *out)
{
    multiply(ctx, by_columns(z), z->rows, x, out);
}

void mgvi_hinge_sparse_column(const mgvi_hinge_sparse *z, int64_t j, const int32_t *place,
                              const int32_t *row, int64_t n, double *out, int64_t stride)
{
    for (int64_t t = 0; t < n; t++)
        out[t * stride] = z->left ? z->left[row[t]] * z->right[j] : 0;
    for (int64_t t = z->ptr[j]; t < z->ptr[j + 1]; t++)
        if (place[z->row[t]] >= 0)
            out[place[z->row[t]] * stride] += z->val[t];
}

/* ---- normal matrices ------------------------------------------------------------------------- */

typedef struct normal_job {
    lines l, across;      /* the matrix's own lines, and those across them */
    const int32_t *place; /* of an entry of l in the other storage */
    const double *h;
    const int32_t *live; /* lines of the matrix; NULL: all */
    int64_t count, blocks;
    double *H;
    float *rough; /* in place of H */
    double *room;
    const double *a; /* X h other: what the shift adds; with beta */
    double beta;
} normal_job;

/* Line t of H from its diagonal on, the shift's part added, at its places in `sum`. */
static void normal_line(const normal_job *job, int64_t t, double *sum)
{
    const lines *l = &job->l, *across = &job->across;
    const int64_t line = job->live ? job->live[t] : t;
    memset(sum + line, 0, (size_t)(l->count - line) * sizeof *sum);
    for (int64_t s = l->ptr[line]; s < l->ptr[line + 1]; s++) {
        const int32_t j = l->idx[s];
        const double f = job->h[j] * l->val[s];
        if (f == 0)
            continue;
        for (int64_t q = job->place[s]; q < across->ptr[j + 1]; q++)
            sum[across->idx[q]] += f * across->val[q];
    }
    if (!l->own)
        return;
    const double own = l->own[line], more = job->a[line] + job->beta * own;
    for (int64_t u = t; u < job->count; u++) {
        const int64_t other = job->live ? job->live[u] : u;
        sum[other] += more * l->own[other] + own * job->a[other];
    }
}

static void keep_line(const normal_job *job, int64_t t, const double *sum)
{
    if (job->rough)
        for (int64_t u = t; u < job->count; u++)
            job->rough[t * job->count + u] = (float)sum[job->live ? job->live[u] : u];
    else
        for (int64_t u = t; u < job->count; u++)
            job->H[t * job->count + u] = sum[job->live ? job->live[u] : u];
}

/* Block b has the lines b, b + blocks, ...: those at the end are short. */
static void normal_block(void *arg, int64_t block)
{
    const normal_job *job = arg;
    double *sum = job->room + block * job->l.count;
    for (int64_t t = block; t < job->count; t += job->blocks) {
        normal_line(job, t, sum);
        keep_line(job, t, sum);
    }
}

/* a and beta of the shift */
static void prepare_shift(normal_job *job, double *a)
{
    const lines *l = &job->l;
    job->beta = 0;
    job->a = a;
    if (!l->own)
        return;
    for (int64_t j = 0; j < job->across.count; j++)
        job->beta += job->h[j] * l->other[j] * l->other[j];
    for (int64_t i = 0; i < l->count; i++) {
        a[i] = 0;
        for (int64_t t = l->ptr[i]; t < l->ptr[i + 1]; t++)
            a[i] += l->val[t] * job->h[l->idx[t]] * l->other[l->idx[t]];
    }
}

static void normal_matrix(mgv_ctx *ctx, normal_job *job, double *a)
{
    prepare_shift(job, a);
    job->blocks = job->count < BLOCKS ? job->count : BLOCKS;
    mgvi_ctx_run(ctx, job->blocks, normal_block, job);
}

static normal_job of_rows(const mgvi_hinge_sparse *z, const double *h, const int32_t *live,
                          int64_t count)
{
    return (normal_job){.l = by_rows(z),
                        .across = by_columns(z),
                        .place = z->below,
                        .h = h,
                        .live = live,
                        .count = count,
                        .room = z->room};
}

void mgvi_hinge_sparse_rows(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *h,
                            const int32_t *live, int64_t count, double *H)
{
    normal_job job = of_rows(z, h, live, count);
    job.H = H;
    normal_matrix(ctx, &job, z->room + BLOCKS * z->rows);
}

void mgvi_hinge_sparse_rows_rough(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *h,
                                  const int32_t *live, int64_t count, float *H)
{
    normal_job job = of_rows(z, h, live, count);
    job.rough = H;
    normal_matrix(ctx, &job, z->room + BLOCKS * z->rows);
}

void mgvi_hinge_sparse_rows_diagonal(const mgvi_hinge_sparse *z, const double *h,
                                     const int32_t *live, int64_t count, double *diagonal)
{
    normal_job job = of_rows(z, h, live, count);
    const lines *l = &job.l;
    prepare_shift(&job, z->room + BLOCKS * z->rows);
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = live[t];
        diagonal[t] = l->own ? l->own[i] * (2 * job.a[i] + job.beta * l->own[i]) : 0;
        for (int64_t s = l->ptr[i]; s < l->ptr[i + 1]; s++)
            diagonal[t] += h[l->idx[s]] * l->val[s] * l->val[s];
    }
}

void mgvi_hinge_sparse_cols(mgv_ctx *ctx, const mgvi_hinge_sparse *z, const double *h, double *H)
{
    normal_job job = {.l = by_columns(z),
                      .across = by_rows(z),
                      .place = z->behind,
                      .h = h,
                      .count = z->cols,
                      .H = H,
                      .room = z->room};
    normal_matrix(ctx, &job, z->room + BLOCKS * z->cols);
}

static double work_of(lines l)
{
    double work = 0;
    for (int64_t j = 0; j < l.count; j++) {
        const double entries = (double)(l.ptr[j + 1] - l.ptr[j]);
        work += entries * entries / 2;
    }
    return work;
}

double mgvi_hinge_sparse_rows_work(const mgvi_hinge_sparse *z) { return work_of(by_columns(z)); }
double mgvi_hinge_sparse_cols_work(const mgvi_hinge_sparse *z) { return work_of(by_rows(z)); }
