/* lanes.c - packs the data for lanes.h, measures its columns, and reads gaps off. */
#include "select/lanes.h"

#include "base/limit.h"
#include "base/threads.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 12, BLOCKS = 64 };
static const double CONSTANT = 1e-9; /* N_j / |p_j|^2 below this: constant, in float32 */

/* ---- rows ------------------------------------------------------------------------------------ */

/* Sorts the rows by code: place[i] is where row i goes. */
static void sort_rows(mgvi_lanes *s, const mgvi_split *split, int32_t *place)
{
    int64_t next[MGVI_SPLIT_LANES + 1] = {0};
    for (int64_t i = 0; i < split->rows; i++)
        s->stretch[split->code[i] + 1]++;
    for (int32_t c = 0; c < split->codes; c++)
        next[c + 1] = s->stretch[c + 1] += s->stretch[c];
    for (int64_t i = 0; i < split->rows; i++)
        place[i] = (int32_t)next[split->code[i]]++;
}

static void fill_rows(mgvi_lanes *s, const mgvi_lane_data *data, const mgvi_split *split,
                      const int32_t *place)
{
    for (int64_t i = 0; i < split->rows; i++) {
        s->e[place[i]] = (float)data->e[i];
        s->target[place[i]] = (float)(data->e[i] * data->y[i]);
    }
    for (int32_t c = 0; c < split->codes; c++)
        for (int32_t l = 0; l < s->width; l++)
            s->mask[c * s->width + l] = l < split->lanes && (split->trains[c] >> l & 1) ? -1 : 0;
}

/* W, |y|^2 about the lane's mean, and where a constant model stands. */
static void measure_rows(mgvi_lanes *s, const mgvi_lane_data *data, const mgvi_split *split)
{
    double mean[MGVI_SPLIT_LANES] = {0};
    for (int64_t i = 0; i < split->rows; i++) {
        const double v = data->e[i] * data->e[i];
        for (int32_t l = 0; l < split->lanes; l++) {
            const bool trains = mgvi_split_trains(split, i, l);
            s->total[l] += trains ? v : 0;
            s->held[l] += trains ? 0 : v;
            mean[l] += trains ? v * data->y[i] : 0;
        }
    }
    for (int32_t l = 0; l < split->lanes; l++)
        mean[l] = data->intercept && s->total[l] > 0 ? mean[l] / s->total[l] : 0;
    for (int64_t i = 0; i < split->rows; i++)
        for (int32_t l = 0; l < split->lanes; l++) {
            const double y = data->e[i] * (data->y[i] - mean[l]);
            s->energy[l] += mgvi_split_trains(split, i, l) ? y * y : 0;
        }
    for (int32_t l = 0; l < split->lanes; l++)
        s->shift[l] = data->intercept && s->total[l] > 0 ? (float)(1 / s->total[l]) : 0;
}

void mgvi_lanes_reset(mgvi_lanes *s)
{
    double sum[MGVI_SPLIT_LANES] = {0};
    memset(s->w, 0, (size_t)(s->P.cols * s->width) * sizeof *s->w);
    for (int32_t c = 0; c < s->codes; c++)
        for (int64_t i = s->stretch[c]; i < s->stretch[c + 1]; i++)
            for (int32_t l = 0; l < s->width; l++) {
                s->R[i * s->width + l] = s->target[i];
                sum[l] += s->mask[c * s->width + l] ? (double)s->e[i] * s->target[i] : 0;
            }
    for (int32_t l = 0; l < s->width; l++)
        s->off[l] = -(float)sum[l] * s->shift[l];
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef struct pass {
    mgvi_lanes *s;
    const int32_t *list; /* NULL: all columns */
    int64_t count, blocks;
    mgvi_lane_weighting weighting;
} pass;

/* The sums of column j over the rows each lane trains on: those of every code, then of the codes a
 * lane has. */
static void column_sums(const mgvi_lanes *s, int64_t j, double *sum, double *square)
{
    const int64_t first = s->P.ptr[j], n = mgvi_packed_nnz(&s->P, j);
    double part[MGVI_SPLIT_LANES] = {0}, squares[MGVI_SPLIT_LANES] = {0};
    int32_t code = 0;
    for (int64_t t = 0; t < n; t++) {
        const int64_t row = s->P.dense ? t : s->P.idx[first + t] / s->width;
        if (!s->P.dense)
            code = s->P.idx[first + t] % s->width;
        while (s->P.dense && t >= s->stretch[code + 1])
            code++;
        const double x = s->P.f32[first + t];
        part[code] += x * s->e[row];
        squares[code] += x * x;
    }
    for (int32_t c = 0; c < s->codes; c++)
        for (int32_t l = 0; l < s->lanes; l++)
            if (s->mask[c * s->width + l]) {
                sum[l] += part[c];
                square[l] += squares[c];
            }
}

static void measure_column(const pass *job, int64_t j)
{
    mgvi_lanes *s = job->s;
    double sum[MGVI_SPLIT_LANES] = {0}, square[MGVI_SPLIT_LANES] = {0};
    column_sums(s, j, sum, square);
    for (int32_t l = 0; l < s->lanes; l++) {
        const double centred = square[l] - sum[l] * sum[l] * s->shift[l];
        const double N = centred > CONSTANT * square[l] ? centred : 0;
        s->square[j * s->width + l] = (float)N;
        s->sum[j * s->width + l] = (float)sum[l];
        if (s->weight) {
            const double root = sqrt(N / s->total[l]);
            s->weight[j * s->width + l] = (float)(N <= 0                              ? 1
                                                  : job->weighting == MGVI_WEIGHT_STD ? root
                                                                                      : sqrt(root));
        }
    }
    for (int32_t l = s->lanes; s->weight && l < s->width; l++)
        s->weight[j * s->width + l] = 1;
}

static void measure_block(void *arg, int64_t block)
{
    const pass *job = arg;
    for (int64_t j = mgvi_block_begin(job->count, job->blocks, block);
         j < mgvi_block_begin(job->count, job->blocks, block + 1); j++)
        measure_column(job, j);
}

static void gradient_block(void *arg, int64_t block)
{
    const pass *job = arg;
    const int64_t first = mgvi_block_begin(job->count, job->blocks, block);
    const int64_t count = mgvi_block_begin(job->count, job->blocks, block + 1) - first;
    job->s->kernels->gradient(job->s, job->list ? job->list + first : NULL, first, count);
}

/* Every column is one block's own. */
static void run_columns(pass job, mgvi_block_fn fn)
{
    const int64_t nnz = job.s->P.ptr[job.s->P.cols], cols = job.s->P.cols;
    job.blocks = mgvi_block_count(cols > 0 ? nnz / cols * job.count : 0, GRAIN, BLOCKS);
    mgvi_ctx_run(job.s->ctx, job.blocks, fn, &job);
}

static void count_touched(mgvi_lanes *s, const int32_t *list, int64_t count)
{
    int64_t entries = s->P.dense ? count * s->P.rows : 0;
    for (int64_t k = 0; list && !s->P.dense && k < count; k++)
        entries += mgvi_packed_nnz(&s->P, list[k]);
    s->touched += (double)(list ? entries : s->P.ptr[s->P.cols]);
}

void mgvi_lanes_gradient(mgvi_lanes *s, const int32_t *list, int64_t count)
{
    run_columns((pass){.s = s, .list = list, .count = list ? count : s->P.cols}, gradient_block);
    count_touched(s, list, count);
}

void mgvi_lanes_transposed(mgvi_lanes *s, float *x, const int32_t *list, int64_t count)
{
    float *const R = s->R, *const off = s->off;
    s->R = x;
    s->off = s->zero;
    mgvi_lanes_gradient(s, list, count);
    s->R = R;
    s->off = off;
}

typedef struct product {
    mgvi_lanes *s;
    const float *start;
    const int32_t *list;
    int64_t count, blocks;
} product;

/* A block of rows. */
static void product_block(void *arg, int64_t block)
{
    const product *job = arg;
    mgvi_lanes *s = job->s;
    const int64_t begin = mgvi_block_begin(s->P.rows, job->blocks, block);
    const int64_t end = mgvi_block_begin(s->P.rows, job->blocks, block + 1);
    for (int64_t i = begin; i < end; i++)
        for (int32_t l = 0; l < s->width; l++)
            s->R[i * s->width + l] = job->start ? job->start[i] : 0;
    s->kernels->subtract(s, job->list, job->count, begin, end);
}

/* The entries of a sparse column are anywhere: one block. */
void mgvi_lanes_product(mgvi_lanes *s, const float *start, const int32_t *list, int64_t count,
                        float *out)
{
    enum { ROWS = 256 }; /* their residuals stay in the first cache */
    float *const R = s->R;
    product job = {s, start, list ? list : s->all, list ? count : s->P.cols, 1};
    s->R = out;
    if (s->P.dense)
        job.blocks = (s->P.rows + ROWS - 1) / ROWS;
    mgvi_ctx_run(s->ctx, job.blocks, product_block, &job);
    s->R = R;
    count_touched(s, list, count);
}

void mgvi_lanes_set_strength(mgvi_lanes *s, double mu, double lambda)
{
    bool same = true;
    for (int32_t l = 0; l < s->lanes; l++) {
        const float l2 = (float)(lambda * s->total[l]);
        same = same && s->l2[l] == l2;
        s->l1[l] = (float)(mu * s->total[l]);
        s->l2[l] = l2;
    }
    for (int64_t t = 0; !same && t < s->P.cols * s->width; t++) {
        const float c = s->weight ? s->weight[t] : 1, N = s->square[t];
        s->inverse[t] = N > 0 ? 1 / (N + s->l2[t % s->width] * c * c) : 0;
    }
}

mgv_status mgvi_lanes_keep(const mgvi_lanes *s, const int32_t *list, int64_t count, mgvi_path *path)
{
    const int32_t full = s->lanes - 1;
    for (int64_t t = 0; path->kept_weights && t < count; t++) {
        const float *w = s->w + (int64_t)list[t] * s->width;
        unsigned lanes = 0;
        for (int32_t l = 0; l <= full; l++)
            lanes |= (unsigned)(w[l] != 0) << l;
        if (lanes)
            MGVI_TRY(mgvi_path_add_weight(path, list[t], w[full], (uint16_t)lanes));
    }
    return MGV_OK;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* P - D of docs/algorithms/lasso_path.md (4), in units of |y|^2/2. */
static double lane_gap(const mgvi_lanes *s, int32_t l, const mgvi_lane_rows *rows,
                       const mgvi_lane_cols *cols)
{
    const double extended = rows->rr + s->l2[l] * cols->square;
    const double limit = cols->worst > 0 ? s->l1[l] / cols->worst : INFINITY;
    const double best = extended > 0 ? rows->yr / extended : 0;
    const double t = fmin(fmax(best, -limit), limit);
    const double primal = 0.5 * extended + s->l1[l] * cols->norm1;
    return s->energy[l] > 0
               ? (primal - t * rows->yr + 0.5 * t * t * extended) / (0.5 * s->energy[l])
               : 0;
}

double mgvi_lanes_gap(const mgvi_lanes *s, const int32_t *list, int64_t count, mgvi_lane_rows *rows)
{
    mgvi_lane_cols cols[MGVI_SPLIT_LANES];
    double worst = 0;
    s->kernels->rows(s, rows);
    s->kernels->cols(s, list ? list : s->all, list ? count : s->P.cols, cols);
    for (int32_t l = 0; l < s->lanes; l++)
        worst = fmax(worst, lane_gap(s, l, &rows[l], &cols[l]));
    return worst;
}

/* ---- making it ------------------------------------------------------------------------------- */

static bool allocate(mgvi_arena *arena, mgvi_lanes *s, const mgvi_split *split, bool weighted)
{
    const size_t width = (size_t)s->width, rows = (size_t)split->rows, wide = width * sizeof(float);
    const size_t cols = (size_t)s->P.cols;
    return (s->e = mgvi_arena_array(arena, rows, sizeof *s->e)) &&
           (s->target = mgvi_arena_array(arena, rows, sizeof *s->target)) &&
           (s->R = mgvi_arena_array(arena, rows, wide)) &&
           (s->w = mgvi_arena_array(arena, cols, wide)) &&
           (s->grad = mgvi_arena_array(arena, cols, wide)) &&
           (s->square = mgvi_arena_array(arena, cols, wide)) &&
           (s->sum = mgvi_arena_array(arena, cols, wide)) &&
           (s->inverse = mgvi_arena_array(arena, cols, wide)) &&
           (!weighted || (s->weight = mgvi_arena_array(arena, cols, wide))) &&
           (s->off = mgvi_arena_array(arena, 4, wide)) &&
           (s->total = mgvi_arena_array(arena, 3 * width, sizeof *s->total)) &&
           (s->mask = mgvi_arena_array(arena, (size_t)s->codes, wide)) &&
           (s->stretch = mgvi_arena_array(arena, (size_t)s->codes + 1, sizeof *s->stretch)) &&
           (s->all = mgvi_arena_array(arena, cols, sizeof *s->all)) &&
           (s->zero = mgvi_arena_array(arena, 1, wide));
}

static mgv_status pack(mgvi_arena *arena, mgvi_lanes *s, const mgvi_lane_data *data,
                       const mgvi_split *split)
{
    int32_t *place = mgvi_alloc(s->ctx, (size_t)split->rows, sizeof *place);
    if (!place)
        return MGV_E_MEMORY;
    sort_rows(s, split, place);
    fill_rows(s, data, split, place);
    if (data->stack[0]->layout != MGV_DENSE)
        for (int64_t i = 0; i < split->rows; i++)
            place[i] = place[i] * s->width + split->code[i];
    const mgv_status st =
        mgvi_packed_new(arena, data->stack, data->count, data->factor, NULL, place, MGV_F32, &s->P);
    mgvi_release(s->ctx, place);
    return st;
}

mgv_status mgvi_lanes_new(mgvi_arena *arena, const mgvi_lane_data *data, const mgvi_split *split,
                          mgvi_lanes **out)
{
    mgvi_lanes *s = mgvi_arena_array(arena, 1, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    s->ctx = arena->ctx;
    s->lanes = split->lanes;
    s->codes = split->codes;
    s->width = split->lanes <= 8 ? 8 : 16;
    s->kernels = s->width == 16 ? &s->ctx->simd->lanes->wide : &s->ctx->simd->lanes->narrow;
    s->P.cols = data->stack[0]->cols;
    if (split->rows > INT32_MAX / s->width || s->P.cols > INT32_MAX)
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "a path in lanes takes at most %d rows; there are %" PRId64,
                         INT32_MAX / s->width, split->rows);
    if (!allocate(arena, s, split, data->weighting != MGVI_WEIGHT_NONE))
        return MGV_E_MEMORY;
    s->shift = s->off + s->width;
    s->l1 = s->off + 2 * s->width;
    s->l2 = s->off + 3 * s->width;
    s->energy = s->total + s->width;
    s->held = s->total + 2 * s->width;
    MGVI_TRY(pack(arena, s, data, split));
    measure_rows(s, data, split);
    for (int32_t l = 0; l < s->lanes; l++)
        s->l2[l] = -1; /* no strength yet */
    for (int64_t j = 0; j < s->P.cols; j++)
        s->all[j] = (int32_t)j;
    run_columns((pass){.s = s, .count = s->P.cols, .weighting = data->weighting}, measure_block);
    mgvi_lanes_reset(s);
    *out = s;
    return MGV_OK;
}
