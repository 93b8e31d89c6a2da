/* lane_newton.c - Newton's method in the lanes of a block; docs/algorithms/multiclass.md.
 *   H_l d_l = -g_l,   g = lambda w + A'u,   H = lambda I + A'diag(h) A,   u = G'(A w), h = G''  (8)
 * for losses that curve everywhere; the squared hinge has classes/lane_interior.c. */
#include "solver/classes/lane_newton.h"

#include "base/limit.h"
#include "solver/classes/lane_interior.h"
#include "solver/newton/tall_place.h"

#include <math.h>
#include <string.h>

enum {
    LANES = MGVI_LOCKSTEP_LANES,
    MOST_COLUMNS = 1500,
    TRIALS = 12 /* of a line search */
};
static const double SEARCHED = 0.1;           /* part of its slope that a line search leaves */
static const double ROUGH = 0.1, FINE = 1e-3; /* residual that conjugate gradients leave */
static const double SHORT = 0.3, LONG = 0.7;  /* steps after which damping grows and falls */
/* Gap of the hinge at which each class goes on alone: its systems become those of few rows. */
static const double HAND_OVER = 1e-2;
static const double LEAST_DAMPING = 0.02;

typedef struct work {
    mgvi_lane_system y;
    mgvi_vec step; /* columns */
    mgvi_vec room; /* rows */
    double damping[LANES], length[LANES];
} work;

/* Rows far from z = 0 hardly curve, and a step that brings some of them back is cut short. After
 * such steps all have a part of the curvature that keeps the model above the loss,
 *   |G'(z) - G'(0)|/|z|,   at room = G'(z)                                                    (10)
 */
static void dampen(work *s)
{
    mgvi_lane_system *y = &s->y;
    const int32_t k = y->z.k;
    const double slope = y->p->loss->grad((mgvi_coef){.scale = 1}, 0);
    for (int32_t l = 0; l < k; l++)
        for (int64_t i = 0; s->damping[l] > 0 && i < y->z.n; i++) {
            const int64_t at = i * k + l;
            const double scale = mgvi_coef_pick(&y->p->row.scale, i, l), z = fabs(y->z.x[at]);
            const double above = z > 1e-9 ? fabs(s->room.x[at] - scale * slope) / z : 0;
            y->h.x[at] = fmax(y->h.x[at], s->damping[l] * above);
        }
}

/* u, h, g = lambda w + A'u and the gaps at w. */
static mgv_status look(work *s)
{
    mgvi_lane_system *y = &s->y;
    mgvi_loss_grad(y->ctx, y->p->loss, &y->p->row, &y->z, &s->room);
    mgvi_loss_curv(y->ctx, y->p->loss, &y->p->row, &y->z, &y->h);
    dampen(s);
    mgvi_op_mul_t(y->p->A, 1, &s->room, 0, &y->g);
    MGVI_TRY(mgvi_ctx_whole(y->ctx));
    mgvi_vec_swap(&y->u, &s->room); /* u is that of a whole look */
    mgvi_lane_system_measure(y, &y->u);
    mgvi_lanes_add_ridge(y, 1, &y->w, &y->g);
    return MGV_OK;
}

static mgv_status begin(mgvi_lane_system *y, mgvi_arena *arena)
{
    work *s = (work *)y;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, y->p->A->cols, y->p->lanes, &s->step));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, y->p->A->rows, y->p->lanes, &s->room));
    return look(s);
}

/* Newton's step from g, to what the gap needs but not further than the last step did better. */
static mgv_status solve(work *s, double goal)
{
    mgvi_lane_system *y = &s->y;
    double accuracy[LANES], first[LANES] = {0};
    for (int32_t l = 0; l < y->p->lanes; l++) {
        const double gap = fmax(y->gap[l], 1e-300), needed = goal / gap,
                     rate = y->before[l] > 0 ? gap / y->before[l] : 1;
        accuracy[l] = fmin(ROUGH, fmax(FINE, 0.3 * sqrt(fmax(needed, rate))));
    }
    MGVI_TRY(mgvi_lane_system_refresh(y, NULL));
    mgvi_vec_copy(y->ctx, &y->g, &y->residual);
    mgvi_vec_scale(y->ctx, -1, &y->residual);
    return mgvi_lane_system_solve(y, accuracy, NULL, first, &s->step);
}

/* ---- the line search ------------------------------------------------------------------------- */

/* The derivative along the step at length t of each lane. */
static void slopes_at(work *s, const double *t, const double *own, const double *growth,
                      double *out)
{
    mgvi_lane_system *y = &s->y;
    mgvi_lanes_add(&y->z, t, &y->dz, &s->room);
    mgvi_loss_grad(y->ctx, y->p->loss, &y->p->row, &s->room, &s->room);
    mgvi_vec_dot(y->ctx, &s->room, &y->dz, out);
    for (int32_t l = 0; l < y->p->lanes; l++)
        out[l] += own[l] + t[l] * growth[l];
}

/* One look of the Illinois rule within a bracket that doubles while there is none. */
typedef struct bracket {
    double low, high, at_low, at_high;
} bracket;
static double narrow(bracket *b, double t, double slope)
{
    if (slope < 0) {
        b->at_high = b->low > 0 ? b->at_high / 2 : b->at_high;
        b->low = t;
        b->at_low = slope;
    } else {
        b->at_low = isfinite(b->high) ? b->at_low / 2 : b->at_low;
        b->high = t;
        b->at_high = slope;
    }
    return isfinite(b->high) ? b->low + (b->high - b->low) * b->at_low / (b->at_low - b->at_high)
                             : 2 * t;
}

/* Lengths where the slope has fallen to a tenth, 0 where nothing descends. */
static void search(work *s)
{
    mgvi_lane_system *y = &s->y;
    const int32_t k = y->p->lanes;
    double own[LANES], growth[LANES], start[LANES], t[LANES], slope[LANES];
    bracket b[LANES];
    bool done[LANES];
    mgvi_lanes_ridge_dot(y, &y->w, &s->step, own);
    mgvi_lanes_ridge_dot(y, &s->step, &s->step, growth);
    memset(t, 0, sizeof t);
    slopes_at(s, t, own, growth, start);
    for (int32_t l = 0; l < k; l++) {
        done[l] = !y->moving[l] || !(start[l] < 0);
        t[l] = done[l] ? 0 : 1;
        b[l] = (bracket){0, INFINITY, start[l], 0};
    }
    for (int trial = 0; trial < TRIALS && !mgvi_ctx_cut(y->ctx); trial++) {
        bool busy = false;
        slopes_at(s, t, own, growth, slope);
        for (int32_t l = 0; l < k; l++) {
            done[l] = done[l] || fabs(slope[l]) <= -SEARCHED * start[l];
            t[l] = done[l] ? t[l] : narrow(&b[l], t[l], slope[l]);
            busy = busy || !done[l];
        }
        if (!busy)
            break;
    }
    for (int32_t l = 0; l < k; l++)
        s->length[l] = done[l] ? t[l] : b[l].low;
}

static void adapt_damping(work *s)
{
    const mgvi_lane_system *y = &s->y;
    for (int32_t l = 0; l < y->p->lanes; l++) {
        double *theta = &s->damping[l];
        if (s->length[l] < SHORT && y->moving[l])
            *theta = fmin(1, fmax(LEAST_DAMPING, 4 * *theta));
        else if (s->length[l] >= LONG)
            *theta = *theta > LEAST_DAMPING / 2 ? *theta / 4 : 0;
    }
}

static mgv_status step(mgvi_lane_system *y, double goal)
{
    work *s = (work *)y;
    MGVI_TRY(solve(s, goal));
    mgvi_lane_system_image(y, &s->step);
    search(s);
    MGVI_TRY(mgvi_ctx_whole(y->ctx));
    mgvi_lanes_add(&y->w, s->length, &s->step, &y->w);
    mgvi_lanes_add(&y->z, s->length, &y->dz, &y->z);
    adapt_damping(s);
    return look(s);
}

/* ---- either method --------------------------------------------------------------------------- */

/* The squared hinge does not beyond its bend. */
static bool curves_everywhere(const mgvi_loss_ops *loss)
{
    return (loss->can & MGVI_SMOOTH) && (loss->can & MGVI_CURV) &&
           loss->curv((mgvi_coef){.scale = 1}, 2) > 0;
}

/* Of the losses that go in lanes the one with a kink. */
static bool is_hinge(const mgv_problem *p) { return !(p->loss->can & (MGVI_SMOOTH | MGVI_HARD)); }

/* Whether the shape is one for Newton's method in lanes: factors of few columns for many rows. */
static bool has_the_shape(const mgv_problem *p)
{
    return p->A->cols <= MOST_COLUMNS && p->A->rows > mgvi_lane_metric_most(p);
}

bool mgvi_lane_newton_leaves(const mgv_problem *p, const double *u)
{
    return p->lanes == 1 && is_hinge(p) && has_the_shape(p) &&
           mgvi_tall_near_inside(&p->row.scale, u, p->A->rows);
}

mgv_status mgvi_lane_newton_run(const mgv_problem *p, double tol, const double *const *start,
                                mgvi_rng rng, mgvi_arena *arena, mgvi_lockstep_result *out)
{
    static const mgvi_lane_method newton = {.begin = begin, .step = step};
    const size_t k = (size_t)p->lanes, n = (size_t)p->A->rows, d = (size_t)p->A->cols;
    const double before = p->A->touched;
    work s = {.y = {.ctx = p->ctx, .p = p, .rng = rng}};
    mgvi_arena *passing = mgvi_arena_within(arena);
    *out = (mgvi_lockstep_result){.u = mgvi_arena_array(arena, k, n * sizeof *out->u),
                                  .w = mgvi_arena_array(arena, k, d * sizeof *out->w)};
    if (!passing || !out->u || !out->w)
        return MGV_E_MEMORY;
    const mgv_status st = curves_everywhere(p->loss)
                              ? mgvi_lane_system_run(&s.y, &newton, tol, start, passing, out)
                              : mgvi_lane_interior_run(p, is_hinge(p) ? fmax(tol, HAND_OVER) : tol,
                                                       rng, passing, out);
    out->passes = p->A->nnz > 0 ? (p->A->touched - before) / (double)p->A->nnz : 0;
    mgvi_arena_free(passing);
    return st;
}

double mgvi_lane_newton_bytes(const mgv_problem *p, int32_t lanes)
{
    static const double VECTORS = 14;   /* of the rows, at most: ours, u and what the judge has */
    static const double PASS = 16 * 12; /* of a column: blocks of op/joint_pass.c and their sums */
    return mgvi_lane_metric_bytes(p, lanes) + VECTORS * 8 * lanes * (double)p->A->rows +
           PASS * lanes * (double)p->A->cols;
}

/* Whether few rows a column can be near the hinge, about a hundredth of all: else `newton` alone
 * takes a few steps on the smoothed loss; and of few columns these cost less than products. */
static bool is_thin(const mgv_problem *p)
{
    static const double MOST = 100, COLUMNS = 240;
    return (double)p->A->rows < MOST * (double)p->A->cols && (double)p->A->cols >= COLUMNS;
}

/* Products of all lanes and factors of each: docs/algorithms/multiclass.md has the counts. */
double mgvi_lane_newton_cost(const mgv_problem *p, int32_t lanes)
{
    /* a product's multiplication, in float64 or by the fused pass; a factor's */
    static const double ENTRY = 2, FUSED = 0.5, SINGLE = 0.5;
    static const double ROW = 12; /* of a product: its row's part of a few vectors, and searches */
    const double d = (double)p->A->cols, rows = (double)mgvi_lane_metric_most(p);
    if (!mgvi_lockstep_fits(p) || p->pairwise || (is_hinge(p) && !is_thin(p)) ||
        !has_the_shape(p) || p->A->stored->layout == MGV_CSC ||
        mgvi_lane_newton_bytes(p, lanes) > mgvi_problem_spare(p, 1))
        return INFINITY;
    const bool smooth = curves_everywhere(p->loss);
    const double products = smooth ? 300 : is_hinge(p) ? 2000 : 700;
    const double factors = smooth ? 10 : is_hinge(p) ? 40 : 15;
    const double entry = mgvi_float_rows_dense(p->A, true) ? FUSED : ENTRY;
    return products * (entry * (double)p->A->nnz + ROW * (double)p->A->rows) +
           factors * SINGLE * (rows * d * d / 2 + d * d * d / 3);
}
