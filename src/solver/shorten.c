/* shorten.c - the support of a proof made independent, a few rows at a time. */
#include "solver/shorten.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "op/gram.h"
#include "solver/margin/factor.h"
#include "solver/margin/working_set.h"
#include "solver/shared/ranking.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 128, POLISH = 4, WHITE_COLUMNS = 4096, BLOCKS = 8 };
static const double DEPENDENT = 1e-10; /* of K_jj: squared distance to the span of P */
/* A lap over the rows puts off those that would leave the basis badly conditioned: a later one may
 * find it changed, and the last takes what it gets. */
static const struct lap {
    double distance; /* of K_jj: squared, to enter */
    double pivot;    /* of the largest |c|, to take the place of another row */
} laps[] = {{1e-3, 1e-2}, {1e-5, 1e-3}, {1e-7, 1e-5}, {1e-10, 0}};
static const double RIDGE = 1e-12; /* of a column's square: dependent columns are allowed */
/* A row that belongs to no proof comes with a weight of rounding size, and has a coefficient of
 * rounding size in every dependency: as a pivot it would spoil the basis. */
static const double NO_WEIGHT = 1e-14;     /* of the largest weight */
static const double NO_COEFFICIENT = 1e-9; /* of the largest |c| */

typedef struct state {
    mgvi_working_set set; /* P in the factor's order, then the rows of the present chunk */
    mgvi_factor white;    /* of A'A over the support; count 0: columns stay as they are */
    mgvi_factor factor;   /* of K_PP */
    double *K;            /* set.capacity squared */
    int32_t *P;           /* positions in the set */
    double *q;            /* weights of the set's rows */
    double *c, *acc, *v;
    double one; /* squared length of the column of ones beside A */
    mgvi_ranked *left, *later;
    int64_t count, taken; /* of `left` */
    int64_t chunk;        /* rows taken last */
    int64_t put_off;      /* of `later` */
} state;

static mgv_status collect(const mgv_problem *p, mgvi_arena *arena, const mgvi_vec *q, state *s)
{
    mgvi_rows *rows;
    double heaviest;
    mgvi_vec_abs_max(p->ctx, q, &heaviest);
    for (int64_t i = 0; i < q->n; i++)
        s->count += q->x[i] > NO_WEIGHT * heaviest;
    const int64_t most = p->A->cols + 1 < s->count ? p->A->cols + 1 : s->count;
    const int64_t capacity = most + CHUNK < s->count ? most + CHUNK : s->count;
    MGVI_TRY(mgvi_rows_new(p->A, arena, &rows));
    const bool dense = p->A->cols <= WHITE_COLUMNS;
    MGVI_TRY(mgvi_working_set_init(&s->set, p, rows, arena, capacity, dense));
    MGVI_TRY(mgvi_factor_init(&s->factor, arena, most, 0));
    const size_t size = (size_t)capacity;
    MGVI_TRY(MGVI_ARRAY(arena, s->left, s->count));
    MGVI_TRY(MGVI_ARRAY(arena, s->later, s->count));
    MGVI_TRY(MGVI_SCRATCH(arena, s->K, size * size));
    MGVI_TRY(MGVI_VECTORS(arena, size, &s->q, &s->c));
    MGVI_TRY(MGVI_ARRAY(arena, s->P, size));
    MGVI_TRY(MGVI_ARRAY(arena, s->acc, (size_t)mgvi_rows_acc_len(rows)));
    MGVI_TRY(MGVI_ARRAY(arena, s->v, p->A->cols));
    int64_t at = 0;
    for (int64_t i = 0; i < q->n; i++)
        if (q->x[i] > NO_WEIGHT * heaviest)
            s->left[at++] = (mgvi_ranked){q->x[i], (int32_t)i};
    mgvi_rank(s->left, s->count); /* heavy rows make the basis */
    return MGV_OK;
}

/* ---- coordinates in which the rows are nearly orthonormal -------------------------------------
 */

/* Pixels are so nearly dependent that products of rows lose all digits of a distance. With
 * A'A = V'V over the support the rows a V^-1 have A'A = I, and so do, nearly, the chosen ones. */
static mgv_status whiten(state *s, mgvi_arena *arena, double *h)
{
    const mgv_problem *p = s->set.problem;
    const int64_t d = p->A->cols;
    int64_t pivot;
    if (d > s->count || d > WHITE_COLUMNS)
        return MGV_OK;
    memset(h, 0, (size_t)p->A->rows * sizeof *h);
    for (int64_t t = 0; t < s->count; t++)
        h[s->left[t].index] = 1;
    MGVI_TRY(mgvi_factor_init(&s->white, arena, d, 0));
    const mgv_status st = mgvi_op_gram(p->A, h, true, s->white.U, d);
    if (st == MGV_E_UNSUPPORTED)
        return MGV_OK;
    MGVI_TRY(st);
    for (int64_t j = 0; j < d; j++) {
        double *square = &s->white.U[j * d + j];
        *square = *square > 0 ? *square * (1 + RIDGE) : 1;
    }
    MGVI_TRY(mgvi_cholesky(p->ctx, d, s->white.U, d, &pivot));
    s->white.count = pivot < 0 ? d : 0;
    return MGV_OK;
}

typedef struct white_job {
    state *s;
    int64_t first, blocks;
} white_job;

static void white_block(void *arg, int64_t block)
{
    const white_job *job = arg;
    const int64_t count = job->s->set.size - job->first;
    MGVI_FOR_BLOCK (t, count, job->blocks, block)
        mgvi_factor_forward(&job->s->white,
                            job->s->set.dense + (job->first + t) * job->s->set.width);
}

/* ---- a chunk of rows ------------------------------------------------------------------------- */

/* P moves to the front of the set, in the factor's order, and the next rows join behind it. */
static mgv_status next_chunk(state *s)
{
    const int64_t n = s->factor.count;
    int32_t rows[CHUNK];
    for (int64_t r = 0; r < n; r++)
        s->c[r] = s->q[s->P[r]];
    MGVI_TRY(mgvi_working_set_keep(&s->set, s->P, n));
    memcpy(s->q, s->c, (size_t)n * sizeof *s->q);
    for (int64_t r = 0; r < n; r++)
        s->P[r] = (int32_t)r;
    int64_t count = 0;
    for (; count < CHUNK && s->taken < s->count; count++, s->taken++) {
        rows[count] = s->left[s->taken].index;
        s->q[n + count] = s->left[s->taken].value;
    }
    s->chunk = count;
    mgvi_working_set_join(&s->set, rows, count);
    white_job job = {.s = s, .first = n, .blocks = count < BLOCKS ? count : BLOCKS};
    if (s->white.count > 0)
        mgvi_ctx_run(s->set.rows->ctx, job.blocks, white_block, &job);
    MGVI_TRY(mgvi_working_set_gram(&s->set, n, s->K, s->set.capacity));
    for (int64_t i = 0; i < s->set.size; i++)
        for (int64_t j = n; j < s->set.size; j++) {
            s->K[i * s->set.capacity + j] += s->one;
            if (i < n)
                s->K[j * s->set.capacity + i] += s->one;
        }
    return MGV_OK;
}

/* U^-T K_Pj in factor.column; the squared distance of row j to the span of P, relative to K_jj. */
static double distance(state *s, int64_t j)
{
    const double *k = s->K + j * s->set.capacity;
    for (int64_t r = 0; r < s->factor.count; r++)
        s->factor.column[r] = k[s->P[r]];
    const double schur = mgvi_factor_project(&s->factor, k[j]);
    return k[j] > 0 && s->factor.count < s->factor.most ? schur / k[j] : 0;
}

/* The row just projected enters P. */
static void enter(state *s, int64_t j, double far)
{
    s->P[s->factor.count] = (int32_t)j;
    mgvi_factor_push(&s->factor, far * s->K[j * s->set.capacity + j], NULL);
}

/* The first row of P to reach weight 0 when q_P falls along sign x c; *t is how far that is.
 * `most` is the largest |c|. */
static int64_t blocking_row(const state *s, double sign, double most, double *t)
{
    int64_t row = -1;
    *t = INFINITY;
    for (int64_t r = 0; r < s->factor.count; r++)
        if (sign * s->c[r] > NO_COEFFICIENT * most && s->q[s->P[r]] / (sign * s->c[r]) < *t) {
            *t = s->q[s->P[r]] / (sign * s->c[r]);
            row = r;
        }
    return row;
}

static void shift(state *s, int64_t j, double t)
{
    for (int64_t r = 0; r < s->factor.count; r++)
        s->q[s->P[r]] = fmax(s->q[s->P[r]] - t * s->c[r], 0);
    s->q[j] = fmax(s->q[j] + t, 0);
}

/* (7): row j depends on P, a_j = sum c_r a_r and 1 = sum c_r. Weight moves from j to P if P can
 * take it all; else the row of P that blocks in one of the two directions leaves, the one with the
 * larger |c| because the new basis is then the better conditioned. False: put off. */
static bool eliminate(state *s, int64_t j, double least_pivot)
{
    double up, down, most = 0;
    memcpy(s->c, s->factor.column, (size_t)s->factor.count * sizeof *s->c);
    mgvi_factor_backward(&s->factor, s->c);
    for (int64_t r = 0; r < s->factor.count; r++)
        most = fmax(most, fabs(s->c[r]));
    const int64_t at_up = blocking_row(s, 1, most, &up), at_down = blocking_row(s, -1, most, &down);
    if (at_down < 0 || down >= s->q[j]) {
        shift(s, j, -s->q[j]);
        s->q[j] = 0;
        return true;
    }
    const bool raise = at_up >= 0 && fabs(s->c[at_up]) > fabs(s->c[at_down]);
    const int64_t leaves = raise ? at_up : at_down;
    if (fabs(s->c[leaves]) < least_pivot * most)
        return false;
    shift(s, j, raise ? up : -down);
    s->q[s->P[leaves]] = 0;
    mgvi_factor_drop(&s->factor, leaves);
    memmove(s->P + leaves, s->P + leaves + 1, (size_t)(s->factor.count - leaves) * sizeof *s->P);
    const double far = distance(s, j);
    if (far > 0)
        enter(s, j, far);
    else /* beyond rounding; the judge will see what is missing */
        s->q[j] = 0;
    return true;
}

static void treat(state *s, int64_t j, const struct lap *lap)
{
    const double far = distance(s, j);
    if (far > lap->distance)
        enter(s, j, far);
    else if (far > DEPENDENT || !eliminate(s, j, lap->pivot))
        s->later[s->put_off++] = (mgvi_ranked){s->q[j], s->set.W[j]};
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* c_r = [A 1]_r . [A 1]'q for the rows of P, from all rows with weight; `sum` is what the weights
 * should add up to. */
static void residual(state *s, double sum)
{
    mgvi_rows *rows = s->set.rows;
    const int64_t n = s->factor.count, length = mgvi_rows_acc_len(rows);
    double rest = -sum;
    memset(s->acc, 0, (size_t)length * sizeof *s->acc);
    for (int64_t r = 0; r < n; r++) {
        mgvi_rows_axpy(rows, s->set.W[s->P[r]], s->q[s->P[r]], s->acc);
        rest += s->q[s->P[r]];
    }
    for (int64_t t = s->taken; t < s->count + s->put_off; t++) {
        const mgvi_ranked *other = t < s->count ? &s->left[t] : &s->later[t - s->count];
        mgvi_rows_axpy(rows, other->index, other->value, s->acc);
        rest += other->value;
    }
    if (s->white.count > 0) {
        mgvi_rows_weights(rows, s->acc, s->v);
        mgvi_factor_forward(&s->white, s->v);
    } else {
        mgvi_rows_scale_intercepts(rows, s->set.rho, s->acc);
    }
    for (int64_t r = 0; r < n; r++)
        s->c[r] =
            s->one * rest + (s->white.count > 0
                                 ? s->factor.simd->dot_f64(s->set.dense + s->P[r] * s->set.width,
                                                           s->v, s->set.width)
                                 : mgvi_rows_dot(rows, s->set.W[s->P[r]], s->acc));
}

/* q_P <- q_P - K_PP^-1 [A 1]_P [A 1]'q: q meets its conditions to rounding again. */
static void polish(state *s, double sum)
{
    residual(s, sum);
    mgvi_factor_forward(&s->factor, s->c);
    mgvi_factor_backward(&s->factor, s->c);
    for (int64_t r = 0; r < s->factor.count; r++)
        s->q[s->P[r]] = fmax(s->q[s->P[r]] - s->c[r], 0);
}

static mgv_status run_lap(state *s, const struct lap *lap, double sum)
{
    while (s->taken < s->count && !mgvi_ctx_was_cut(s->set.rows->ctx)) {
        MGVI_TRY(next_chunk(s));
        for (int64_t j = s->set.size - s->chunk; j < s->set.size && !mgvi_ctx_cut(s->set.rows->ctx);
             j++)
            treat(s, j, lap);
        polish(s, sum);
    }
    mgvi_ranked *swap = s->left;
    s->left = s->later;
    s->later = swap;
    s->count = s->put_off;
    s->taken = s->put_off = 0;
    return MGV_OK;
}

static mgv_status shorten(state *s, mgvi_vec *q)
{
    double sum = 0;
    for (int64_t t = 0; t < s->count; t++)
        sum += s->left[t].value;
    for (size_t k = 0; k < sizeof laps / sizeof *laps; k++)
        MGVI_TRY(run_lap(s, &laps[k], sum));
    for (int round = 0; round < POLISH; round++)
        polish(s, sum);
    memset(q->x, 0, (size_t)q->n * sizeof *q->x);
    double heaviest = 0;
    for (int64_t r = 0; r < s->factor.count; r++)
        heaviest = fmax(heaviest, s->q[s->P[r]]);
    for (int64_t r = 0; r < s->factor.count; r++)
        if (s->q[s->P[r]] > NO_WEIGHT * heaviest)
            q->x[s->set.W[s->P[r]]] = s->q[s->P[r]];
    return MGV_OK;
}

/* The squared length of the column of ones, and the intercept's weight: that of a row. */
static void choose_units(state *s, double *square)
{
    double most = 0;
    if (s->white.count > 0) {
        s->one = (double)s->white.count / (double)s->count;
        return;
    }
    mgvi_rows_square_norms(s->set.rows, square);
    for (int64_t t = 0; t < s->count; t++)
        most = fmax(most, square[s->left[t].index]);
    s->set.rho = s->one = most > 0 ? most : 1;
}

mgv_status mgvi_shorten_proof(const mgv_problem *p, mgvi_vec *q)
{
    mgvi_arena arena;
    state s = {0};
    mgvi_arena_init(&arena, p->ctx);
    mgv_status st = collect(p, &arena, q, &s);
    if (st == MGV_OK)
        st = whiten(&s, &arena, q->x); /* q is kept in `left`: its memory serves as work space */
    if (st == MGV_OK) {
        choose_units(&s, q->x);
        st = shorten(&s, q);
    }
    mgvi_arena_free(&arena);
    return st;
}
