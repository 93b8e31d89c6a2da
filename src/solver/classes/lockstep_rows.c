/* lockstep_rows.c - packs the rows of a problem for lock-step: float32, without their zeros. */
#include "solver/classes/lockstep.h"

#include "base/limit.h"

#include "base/threads.h"
#include "op/rows.h"

#include <math.h>

/* Columns are centred in place where at most this share of the entries is 0, else along the way. */
static const double FEW_ZEROS = 0.5;

bool mgvi_lockstep_fits(const mgv_problem *p)
{
    const unsigned can = p->loss->can, net = p->penalty->can & (MGVI_SQUARE | MGVI_ABS);
    const bool quadratic = (can & MGVI_QUADRATIC_DUAL) && !(can & (MGVI_HARD | MGVI_WIDTH));
    const bool known = (can & MGVI_MARGIN) && (quadratic || (can & MGVI_LIKELIHOOD));
    return known && net == MGVI_SQUARE && !p->col.scale.values && !mgvi_problem_has_smooth(p) &&
           p->kernel.kind == MGVI_KERNEL_LINEAR && p->lambda > 0 && p->A->cols <= INT32_MAX &&
           p->A->rows <= INT32_MAX && (!p->pairwise || isnan(p->settings.lambda));
}

/* A source of scaled rows. */
typedef struct packer {
    const mgv_problem *p;
    mgvi_matrix m; /* by rows */
    bool skip;     /* it is dense, and its zeros are left out */
    double *mean;  /* the centre in scaled columns, NULL: none */
    bool in_place; /* the entries lose it, not the products */
    mgvi_lockstep_rows *r;
    int64_t *ptr;
    int32_t *idx;
    int64_t blocks;
} packer;

enum { GRAIN = 256, BLOCKS = 64 };

static int64_t row_length(const packer *k, int64_t i)
{
    return k->m.layout == MGV_DENSE ? k->m.cols : k->m.ptr[i + 1] - k->m.ptr[i];
}

/* The number of entries of row i that are not 0, or stored, to ptr[i + 1]. */
static void count_block(void *arg, int64_t block)
{
    packer *k = arg;
    const mgvi_matrix *m = &k->m;
    const int64_t end = mgvi_block_begin(m->rows, k->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(m->rows, k->blocks, block); i < end; i++) {
        int64_t found = m->layout == MGV_DENSE ? 0 : row_length(k, i);
        for (int64_t j = 0; m->layout == MGV_DENSE && j < m->cols; j++)
            found += mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride) != 0;
        k->ptr[i + 1] = found;
    }
}

static float clamp_float(double x) { return (float)fmin(x, 1e30); }

/* Row i to its place; its squared length, centred, goes to r->step for now. */
static void pack_row(const packer *k, int64_t i)
{
    const mgv_problem *p = k->p;
    const bool dense = k->m.layout == MGV_DENSE;
    const double row_scale = mgvi_view_row_scale(&p->view, i);
    double square = 0, along = 0;
    int64_t to = k->ptr[i];
    for (int64_t t = 0; t < row_length(k, i); t++) {
        const int64_t at = dense ? i * k->m.row_stride + t * k->m.col_stride : k->m.ptr[i] + t;
        const int32_t j = dense ? (int32_t)t : k->m.idx[at];
        double v = mgvi_matrix_value(&k->m, at);
        if (k->skip && v == 0)
            continue;
        v *= row_scale * mgvi_view_scale(&p->view, j);
        if (k->in_place)
            v -= k->mean[j];
        else if (k->mean)
            along += v * k->mean[j];
        k->r->val[to] = (float)v;
        k->idx[to++] = j;
        square += v * v;
    }
    if (k->r->along) {
        k->r->along[i] = (float)along;
        square += k->r->centre - 2 * along;
    }
    k->r->step[i] = clamp_float(fmax(square, 0));
}

static void pack_block(void *arg, int64_t block)
{
    packer *k = arg;
    const int64_t end = mgvi_block_begin(k->m.rows, k->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(k->m.rows, k->blocks, block); i < end; i++)
        pack_row(k, i);
}

/* kappa as in dual_coordinate (4), then the steps. */
static void finish_rows(const mgv_problem *p, mgvi_lockstep_rows *r)
{
    double sum = 0;
    for (int64_t i = 0; i < r->n; i++)
        sum += (double)r->step[i];
    const double kappa = p->free_cols ? 0.1 * (sum > 0 ? sum / (double)r->n : 1) : 0;
    r->kappa = clamp_float(kappa);
    r->curvature = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const double C = mgvi_coef_pick(&p->row.scale, i, 0) / p->lambda;
        const double bend = C * ((double)r->step[i] + kappa) + (double)r->ridge;
        r->curvature += C * (double)r->step[i] / (double)r->n;
        r->C[i] = clamp_float(C);
        r->step[i] = clamp_float(r->logistic ? bend : bend > 0 ? 1 / bend : 1e30);
        r->own[i] = (int32_t)mgvi_problem_class_of(p, i);
    }
}

/* Where every row begins, and whether zeros are left out. */
static mgv_status place_rows(mgvi_arena *arena, packer *k)
{
    mgvi_lockstep_rows *r = k->r;
    const bool dense = k->m.layout == MGV_DENSE;
    r->ptr = k->ptr = mgvi_arena_array(arena, (size_t)r->n + 1, sizeof *k->ptr);
    if (!k->ptr)
        return MGV_E_MEMORY;
    mgvi_ctx_run(arena->ctx, k->blocks, count_block, k);
    int64_t found = 0;
    for (int64_t i = 0; i < r->n; i++)
        found += k->ptr[i + 1];
    k->skip = dense && (double)found < (1 - FEW_ZEROS) * (double)r->n * (double)r->cols;
    for (int64_t i = 0; i < r->n; i++)
        k->ptr[i + 1] = k->ptr[i] + (dense && !k->skip ? r->cols : k->ptr[i + 1]);
    r->nnz = k->ptr[r->n];
    return MGV_OK;
}

static mgv_status open_centre(mgvi_arena *arena, packer *k)
{
    const mgv_problem *p = k->p;
    mgvi_lockstep_rows *r = k->r;
    if (!p->view.centre)
        return MGV_OK;
    if (!(k->mean = mgvi_arena_array(arena, (size_t)r->cols, sizeof *k->mean)))
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < r->cols; j++)
        k->mean[j] = mgvi_view_shift(&p->view, j);
    k->in_place = k->m.layout == MGV_DENSE && !k->skip;
    if (k->in_place)
        return MGV_OK;
    for (int64_t j = 0; j < r->cols; j++)
        r->centre += k->mean[j] * k->mean[j];
    r->along = mgvi_arena_array(arena, (size_t)r->n, sizeof *r->along);
    return r->along ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status allocate(mgvi_arena *arena, packer *k)
{
    mgvi_lockstep_rows *r = k->r;
    const size_t n = (size_t)r->n;
    r->idx = k->idx = mgvi_arena_scratch(arena, (size_t)r->nnz, sizeof *k->idx);
    r->val = mgvi_arena_scratch(arena, (size_t)r->nnz, sizeof *r->val);
    r->C = mgvi_arena_array(arena, n, sizeof *r->C);
    r->step = mgvi_arena_array(arena, n, sizeof *r->step);
    r->own = mgvi_arena_array(arena, n, sizeof *r->own);
    return k->idx && r->val && r->C && r->step && r->own ? MGV_OK : MGV_E_MEMORY;
}

double mgvi_lockstep_rows_bytes(const mgvi_lockstep_rows *r)
{
    const double each =
        sizeof *r->ptr + sizeof *r->along + sizeof *r->C + sizeof *r->step + sizeof *r->own;
    return (double)r->nnz * (sizeof *r->val + sizeof *r->idx) + each * (double)r->n;
}

double mgvi_lockstep_block_bytes(const mgv_problem *p, int32_t lanes)
{
    const double width = lanes <= MGVI_LOCKSTEP_NARROW ? MGVI_LOCKSTEP_NARROW : MGVI_LOCKSTEP_LANES;
    const double rows = (double)p->A->rows, cols = (double)p->A->cols;
    const double judged = fmin(lanes, MGVI_LOCKSTEP_JUDGED);
    /* the pass's weights in float and its lists, or what the judge has at a time: signs, u, scores
     * and columns; beside signs and u of all */
    return fmax(4 * width * (rows + cols) + 8 * rows,
                judged * (rows * (1 + 3 * 8.0) + 4 * 8 * cols)) +
           rows * lanes * (1 + 8.0);
}

mgv_status mgvi_lockstep_rows_new(const mgv_problem *p, double most, mgvi_arena *arena,
                                  mgvi_lockstep_rows **out)
{
    const bool squared = !(p->loss->can & MGVI_BOUNDED);
    *out = NULL;
    mgvi_lockstep_rows *r = mgvi_arena_array(arena, 1, sizeof *r);
    packer k = {.p = p, .r = r};
    if (!r)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_matrix_rows(arena, p->A->stored, &k.m));
    *r = (mgvi_lockstep_rows){.ctx = p->ctx,
                              .n = k.m.rows,
                              .cols = k.m.cols,
                              .classes = mgvi_problem_classes(p),
                              .logistic = p->loss->can & MGVI_LIKELIHOOD,
                              .ridge = squared ? 1 : 0,
                              .most = squared ? INFINITY : 1};
    k.blocks = mgvi_block_count(r->n, GRAIN, BLOCKS);
    MGVI_TRY(place_rows(arena, &k));
    if (mgvi_lockstep_rows_bytes(r) > most)
        return MGV_OK;
    MGVI_TRY(open_centre(arena, &k));
    MGVI_TRY(allocate(arena, &k));
    mgvi_ctx_run(p->ctx, k.blocks, pack_block, &k);
    finish_rows(p, r);
    *out = r;
    return MGV_OK;
}

/* Half of the cache: the rows go through it too. */
bool mgvi_lockstep_near(const mgvi_lockstep_rows *r, int32_t lanes)
{
    const double width = lanes <= MGVI_LOCKSTEP_NARROW ? MGVI_LOCKSTEP_NARROW : MGVI_LOCKSTEP_LANES;
    return (double)r->cols * width * sizeof(float) <= 0.5 * r->ctx->caches.second;
}

double mgvi_lockstep_spent(const mgvi_lockstep_rows *r, int32_t lanes, double visits,
                           double entries)
{
    /* twice as dear beyond the cache: 4.4 and 9 ns an entry (docs/algorithms/multiclass.md) */
    static const double VISIT = 1000, NEAR = 40, FAR = 80;
    return VISIT * visits + (mgvi_lockstep_near(r, lanes) ? NEAR : FAR) * entries;
}

/* Passes grow with the curvature of a row's own problem, C |x|^2: about 10 to 40 times its power
 * 0.7 on text, images and tables. */
double mgvi_lockstep_cost(const mgvi_lockstep_rows *r, int32_t lanes, double tol)
{
    const double digits = fmax(-log10(tol), 1);
    const double passes = 20 * pow(1 + r->curvature, 0.7) * digits / 3;
    return passes * mgvi_lockstep_spent(r, lanes, (double)r->n, (double)r->nnz);
}
