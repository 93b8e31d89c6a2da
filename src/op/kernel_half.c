/* kernel_half.c - the whole matrix K kept as its upper half: panels of PANEL rows, each from its
 * first column of the diagonal on (the block on the diagonal has both its triangles). Half of the
 * values to compute, to keep and to read: an entry beyond the diagonal block serves its row and its
 * column while it is in the cache. Groups of panels of about the same size have sums of their own,
 * added up in order: the bits depend on the shape alone. */
#include "op/kernel_impl.h"

#include "base/limit.h"
#include "simd/simd.h"

#include <string.h>

enum {
    PANEL = 512,
    ROWS_AT_ONCE = 32,
    COLS_AT_ONCE = 512, /* with the rows: what stays in the second cache */
    MOST_GROUPS = 16,
    MOST_SUMS = 1 << 25 /* numbers in all groups' sums */
};

static int64_t panel_count(const mgvi_kernel_op *k) { return (k->op.rows + PANEL - 1) / PANEL; }

static int64_t panel_height(const mgvi_kernel_op *k, int64_t panel)
{
    const int64_t left = k->op.rows - panel * PANEL;
    return left < PANEL ? left : PANEL;
}

static int64_t panel_width(const mgvi_kernel_op *k, int64_t panel)
{
    return k->op.rows - panel * PANEL;
}

/* ---- making ---------------------------------------------------------------------------------- */

static double bytes_needed(const mgvi_kernel_op *k)
{
    double sum = 0;
    for (int64_t p = 0; p < panel_count(k); p++)
        sum += (double)(panel_height(k, p) * panel_width(k, p));
    return sum * sizeof(double);
}

static bool make_panel(mgvi_kernel_op *k, int64_t panel)
{
    const int64_t first = panel * PANEL, width = panel_width(k, panel);
    const mgvi_point_list p = {
        .points = k->points, .first = first, .count = panel_height(k, panel)};
    const mgvi_point_list q = {.points = k->points, .first = first, .count = width};
    double *out = mgvi_alloc(k->op.ctx, (size_t)p.count, (size_t)width * sizeof *out);
    k->half[panel] = out;
    if (!out || mgvi_kernel_block(k->op.ctx, &k->kernel, &p, &q, MGV_F64, out, width) != MGV_OK)
        return false;
    for (int64_t t = 0; t < p.count; t++)
        out[t * width + t] = k->diagonal[first + t];
    return true;
}

void mgvi_kernel_half_free(mgvi_kernel_op *k)
{
    for (int64_t p = 0; k->half && p < panel_count(k); p++)
        mgvi_release(k->op.ctx, k->half[p]);
    mgvi_release(k->op.ctx, k->half);
    mgvi_release(k->op.ctx, k->half_sums);
    k->half = NULL;
    k->half_sums = NULL;
}

/* By the shape alone. */
static int64_t group_count(const mgvi_kernel_op *k)
{
    int64_t groups = MOST_SUMS / ((k->op.rows + ROWS_AT_ONCE) * k->op.lanes);
    groups = groups > MOST_GROUPS ? MOST_GROUPS : groups < 1 ? 1 : groups;
    return groups < panel_count(k) ? groups : panel_count(k);
}

/* Numbers a group has: its sums, and room for a few rows of a product. */
static int64_t group_size(const mgvi_kernel_op *k)
{
    return (k->op.rows + ROWS_AT_ONCE) * k->op.lanes;
}

bool mgvi_kernel_expect_all(mgvi_kernel_op *k, bool roughly)
{
    enum { SMALL = 4096 };
    const bool rough =
        k->op.rows > SMALL && roughly && k->fast == MGV_F64 && mgvi_kernel_has_rough(k) &&
        (k->points->rows.cols <= MGVI_SHORT_COLUMNS || bytes_needed(k) > k->cache_bytes);
    k->half_wanted = !rough;
    return rough;
}

void mgvi_kernel_expect_many(mgvi_kernel_op *k)
{
    const bool all_fit = k->slots == k->op.rows;
    k->half_wanted =
        k->half_wanted || (!all_fit && !k->lender && bytes_needed(k) <= k->cache_bytes);
}

bool mgvi_kernel_half_ready(mgvi_kernel_op *k)
{
    mgv_ctx *ctx = k->op.ctx;
    if (k->half)
        return true;
    if (k->frozen || !k->half_wanted || k->fast != MGV_F64 || k->used > 0 ||
        bytes_needed(k) > k->cache_bytes)
        return false;
    k->half = mgvi_zeros(ctx, (size_t)panel_count(k), sizeof *k->half);
    k->half_sums =
        mgvi_alloc(ctx, (size_t)group_count(k), (size_t)group_size(k) * sizeof *k->half_sums);
    bool made = k->half && k->half_sums;
    for (int64_t p = 0; made && p < panel_count(k); p++)
        made = make_panel(k, p) && !mgvi_ctx_cut(ctx);
    if (!made) {
        mgvi_kernel_half_free(k);
        k->half_wanted = false;
        k->plain = true;
    }
    return made;
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct half_job {
    const mgvi_kernel_op *k;
    const double *c;
    int32_t lanes;
    int64_t groups;
} half_job;

/* The first panel of a group: about as many entries before it as its number says. The entries of
 * the first p panels of P are about 1 - (1 - p/P)^2 of all. */
static int64_t group_begin(const half_job *job, int64_t group)
{
    const int64_t panels = panel_count(job->k);
    int64_t p = 0;
    while (p < panels &&
           (panels * panels - (panels - p) * (panels - p)) * job->groups < group * panels * panels)
        p++;
    return group == job->groups ? panels : p;
}

/* rows x cols entries at `a`: their rows' sums, and their columns' unless these are NULL. */
static void multiply_piece(const half_job *job, const double *a, int64_t stride, int64_t rows,
                           int64_t cols, const double *c_cols, const double *c_rows, double *room,
                           double *f_rows, double *f_cols)
{
    const mgvi_simd *simd = job->k->op.ctx->simd;
    const int32_t lanes = job->lanes;
    if (lanes == 1)
        simd->dense_mul_f64(a, stride, rows, cols, c_cols, room);
    else
        simd->dense_mul_k_f64(a, stride, rows, cols, lanes, c_cols, room);
    for (int64_t t = 0; t < rows * lanes; t++)
        f_rows[t] += room[t];
    if (f_cols && lanes == 1)
        simd->dense_mul_t_f64(a, stride, rows, cols, c_rows, f_cols);
    else if (f_cols)
        simd->dense_mul_t_k_f64(a, stride, rows, cols, lanes, c_rows, f_cols);
}

static void multiply_panel(const half_job *job, int64_t panel, double *f, double *room)
{
    const mgvi_kernel_op *k = job->k;
    const int64_t first = panel * PANEL, height = panel_height(k, panel);
    const int64_t width = panel_width(k, panel);
    const int32_t lanes = job->lanes;
    for (int64_t r = 0; r < height; r += ROWS_AT_ONCE) {
        const int64_t rows = height - r < ROWS_AT_ONCE ? height - r : ROWS_AT_ONCE;
        const double *a = k->half[panel] + r * width, *c_rows = job->c + (first + r) * lanes;
        double *f_rows = f + (first + r) * lanes;
        for (int64_t j = 0, cols; j < width; j += cols) {
            const int64_t end = j < height ? height : width; /* the diagonal block, then the rest */
            cols = end - j < COLS_AT_ONCE ? end - j : COLS_AT_ONCE;
            multiply_piece(job, a + j, width, rows, cols, job->c + (first + j) * lanes, c_rows,
                           room, f_rows, j < height ? NULL : f + (first + j) * lanes);
        }
    }
}

static double *sums_of(const half_job *job, int64_t group)
{
    return job->k->half_sums + group * group_size(job->k);
}

static void multiply_group(void *arg, int64_t group)
{
    const half_job *job = arg;
    const int64_t n = job->k->op.rows;
    double *f = sums_of(job, group), *room = f + n * job->lanes;
    memset(f, 0, (size_t)(n * job->lanes) * sizeof *f);
    for (int64_t p = group_begin(job, group); p < group_begin(job, group + 1); p++)
        multiply_panel(job, p, f, room);
}

void mgvi_kernel_half_times(mgvi_kernel_op *k, const double *c, int32_t lanes, double *f)
{
    half_job job = {.k = k, .c = c, .lanes = lanes, .groups = group_count(k)};
    const int64_t numbers = k->op.rows * lanes;
    mgvi_ctx_run(k->op.ctx, job.groups, multiply_group, &job);
    memcpy(f, sums_of(&job, 0), (size_t)numbers * sizeof *f);
    for (int64_t g = 1; g < job.groups; g++) {
        const double *more = sums_of(&job, g);
        for (int64_t t = group_begin(&job, g) * PANEL * lanes; t < numbers; t++)
            f[t] += more[t];
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

mgv_status mgvi_kernel_columns(mgvi_kernel_op *k, const int64_t *col, int64_t count, double *out)
{
    const int64_t n = k->op.rows;
    const mgvi_point_list p = {.points = k->points, .count = n};
    const mgvi_point_list q = {.points = k->points, .index = col, .count = count};
    k->op.touched += (double)n * (double)count;
    if (!mgvi_kernel_half_ready(k)) {
        MGVI_TRY(mgvi_kernel_block(k->op.ctx, &k->kernel, &p, &q, MGV_F64, out, count));
        for (int64_t t = 0; t < count; t++)
            out[col[t] * count + t] = k->diagonal[col[t]];
        return MGV_OK;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < count; t++) {
            const bool below = col[t] / PANEL < i / PANEL; /* K is symmetric */
            const int64_t row = below ? col[t] : i, other = below ? i : col[t];
            const int64_t panel = row / PANEL, first = panel * PANEL;
            out[i * count + t] =
                k->half[panel][(row - first) * panel_width(k, panel) + other - first];
        }
    return MGV_OK;
}
