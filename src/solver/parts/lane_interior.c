/* lane_interior.c - hinges in lanes: Mehrotra's predictor and corrector; docs/algorithms/newton.md
 * (11)-(16) with mu = 0, and a bend for the squared hinge. Of every row, with a = -u the dual
 * variable and s_i the loss's weight,
 *   z + bend a + xi - slack = 1,   a slack = tau,   (s_i - a) xi = tau,   lambda w = A'a (11) bend
 * = 0 for the hinge; 1/s_i for the squared one, which has no xi. With h = 1/(bend + slack/a +
 * xi/(s_i - a)),   r = 1 - z - bend a + cs/a - cx/(s_i - a)           (12) (lambda I + A'diag(h) A)
 * dw = A'(a + h r) - lambda w,   da = h (r - A dw)                   (13) cs = cx = 0 predicts; the
 * corrector has the targets sigma tau less the products predicted. */
#include "solver/parts/lane_interior.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum { LANES = MGVI_LOCKSTEP_LANES };
static const double TO_THE_BORDER = 0.995;
static const double PREDICTED = 0.1; /* residuals that conjugate gradients leave */
static const double ROUGH = 0.03, FINE = 1e-4;

typedef struct work {
    mgvi_lane_system y;
    bool squared;
    mgvi_vec step, more;   /* columns: dw, and what the corrector adds */
    mgvi_vec a, slack, xi; /* rows */
    mgvi_vec r, qs, qx;    /* rows: of (12), and products predicted */
    double tau[LANES], sigma[LANES], length[LANES];
    double accuracy[LANES], first[LANES]; /* of the system */
} work;

/* One row in one lane: where it is, and its weight. */
typedef struct row {
    double s, bend, a, slack, xi, c;
} row;

static row row_at(const work *s, int64_t i, int32_t l)
{
    const int64_t at = i * s->a.k + l;
    row v = {.s = mgvi_coef_pick(&s->y.p->row.scale, i, l),
             .a = s->a.x[at],
             .slack = s->slack.x[at],
             .xi = s->xi.x[at]};
    v.bend = s->squared && v.s > 0 ? 1 / v.s : 0;
    v.c = s->squared ? INFINITY : fmax(v.s - v.a, 1e-14 * v.s); /* a may round to s */
    return v;
}

/* The move of a row along da, with the products cs and cx aimed at. */
typedef struct move {
    double a, slack, xi;
} move;
static move move_of(const work *s, const row *v, double da, double cs, double cx)
{
    return (move){.a = da,
                  .slack = cs / v->a - v->slack - v->slack / v->a * da,
                  .xi = s->squared ? 0 : cx / v->c - v->xi + v->xi / v->c * da};
}

/* ---- where we are ---------------------------------------------------------------------------- */

/* u, A'u and the gaps. */
static mgv_status look(work *s)
{
    mgvi_lane_system *y = &s->y;
    mgvi_vec_add(y->ctx, -1, &s->a, 0, &s->a, &s->r);
    mgvi_op_mul_t(y->p->A, 1, &s->r, 0, &y->g);
    MGVI_TRY(mgvi_ctx_whole(y->ctx));
    mgvi_vec_copy(y->ctx, &s->r, &y->u);
    mgvi_lane_system_measure(y, &y->u);
    return MGV_OK;
}

/* a in the middle of its box, the heavier class less, so that the intercept's sum is 0. */
static void place_rows(work *s)
{
    const mgv_problem *p = s->y.p;
    const int32_t k = p->lanes;
    double side[2][LANES] = {{0}};
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++)
            side[mgvi_problem_free_entry_of(p, i, l) > 0][l] += mgvi_coef_pick(&p->row.scale, i, l);
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int own = mgvi_problem_free_entry_of(p, i, l) > 0;
            const double less = side[own][l] > 0 ? fmin(1, side[!own][l] / side[own][l]) : 1;
            const double weight = mgvi_coef_pick(&p->row.scale, i, l);
            s->a.x[i * k + l] = weight / 2 * fmax(less, 1e-3);
            s->slack.x[i * k + l] = 0.5;
            s->xi.x[i * k + l] = s->squared ? 0 : 1.5;
        }
}

static mgv_status begin(mgvi_lane_system *y, mgvi_arena *arena)
{
    work *s = (work *)y;
    mgvi_vec *const rows[] = {&s->a, &s->slack, &s->xi, &s->r, &s->qs, &s->qx};
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, y->p->A->rows, y->p->lanes, rows[t]));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, y->p->A->cols, y->p->lanes, &s->step));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, y->p->A->cols, y->p->lanes, &s->more));
    place_rows(s);
    return look(s);
}

/* ---- predictor and corrector ----------------------------------------------------------------- */

/* h, the predictor's r (12), and a + h r in dz; tau. */
static void predict_rows(work *s)
{
    mgvi_lane_system *y = &s->y;
    const int32_t k = y->p->lanes;
    double sum[LANES] = {0}, count[LANES] = {0};
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const row v = row_at(s, i, l);
            const double th = v.bend + v.slack / v.a + (s->squared ? 0 : v.xi / v.c);
            y->h.x[at] = v.s > 0 ? 1 / th : 0;
            s->r.x[at] = 1 - y->z.x[at] - v.bend * v.a;
            y->dz.x[at] = v.a + y->h.x[at] * s->r.x[at];
            sum[l] += v.s > 0 ? v.a * v.slack + (s->squared ? 0 : v.c * v.xi) : 0;
            count[l] += v.s > 0 ? 2 - s->squared : 0;
        }
    for (int32_t l = 0; l < k; l++) {
        s->tau[l] = sum[l] / fmax(count[l], 1);
        /* what is left of lambda w = A'a must fall with tau, or a and w part */
        const double part = sum[l] / fmax(y->gap[l] * y->primal[l], 1e-300);
        s->accuracy[l] = fmin(ROUGH, fmax(FINE, ROUGH * sqrt(part)));
        s->first[l] = 0;
    }
}

/* How far a row may go until x reaches 0. */
static double reach(double most, double x, double dx)
{
    return dx < 0 ? fmin(most, -x / dx) : most;
}

/* The longest step of every lane, da = h (r - dz) with the products aimed at. */
static void find_lengths(work *s, bool corrected)
{
    const mgvi_lane_system *y = &s->y;
    const int32_t k = y->p->lanes;
    for (int32_t l = 0; l < k; l++)
        s->length[l] = 1 / TO_THE_BORDER;
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const row v = row_at(s, i, l);
            if (!(v.s > 0))
                continue;
            const double target = corrected ? s->sigma[l] * s->tau[l] : 0;
            const move m =
                move_of(s, &v, y->h.x[at] * (s->r.x[at] - y->dz.x[at]),
                        corrected ? target - s->qs.x[at] : 0, corrected ? target - s->qx.x[at] : 0);
            double t = reach(reach(s->length[l], v.a, m.a), v.slack, m.slack);
            if (!s->squared)
                t = reach(reach(t, v.c, -m.a), v.xi, m.xi);
            s->length[l] = t;
        }
    for (int32_t l = 0; l < k; l++)
        s->length[l] *= y->moving[l] ? TO_THE_BORDER : 0;
}

/* The products that the predictor would leave over, and sigma = (tau there / tau)^3; then the
 * corrector's part of r joins it, and h times it is in dz. */
static void correct_rows(work *s)
{
    mgvi_lane_system *y = &s->y;
    const int32_t k = y->p->lanes;
    double sum[LANES] = {0}, count[LANES] = {0};
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const row v = row_at(s, i, l);
            const double t = s->length[l];
            if (!(v.s > 0))
                continue;
            const move m = move_of(s, &v, y->h.x[at] * (s->r.x[at] - y->dz.x[at]), 0, 0);
            s->qs.x[at] = m.slack * m.a;
            s->qx.x[at] = -m.xi * m.a;
            sum[l] += (v.a + t * m.a) * (v.slack + t * m.slack);
            sum[l] += s->squared ? 0 : (v.c - t * m.a) * (v.xi + t * m.xi);
            count[l] += 2 - s->squared;
        }
    for (int32_t l = 0; l < k; l++) {
        const double part = sum[l] / fmax(count[l], 1) / fmax(s->tau[l], 1e-300);
        s->sigma[l] = fmin(part * part * part, 1);
    }
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const row v = row_at(s, i, l);
            const double target = s->sigma[l] * s->tau[l];
            const double more = !(v.s > 0) ? 0
                                           : (target - s->qs.x[at]) / v.a -
                                                 (s->squared ? 0 : (target - s->qx.x[at]) / v.c);
            s->r.x[at] += more;
            y->dz.x[at] = y->h.x[at] * more;
        }
}

static void move_rows(work *s)
{
    const mgvi_lane_system *y = &s->y;
    const int32_t k = y->p->lanes;
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const row v = row_at(s, i, l);
            const double target = s->sigma[l] * s->tau[l], t = s->length[l];
            if (!(v.s > 0) || t == 0)
                continue;
            const move m = move_of(s, &v, y->h.x[at] * (s->r.x[at] - y->dz.x[at]),
                                   target - s->qs.x[at], target - s->qx.x[at]);
            s->a.x[at] += t * m.a;
            s->slack.x[at] += t * m.slack;
            s->xi.x[at] += t * m.xi;
        }
}

/* The predictor's system (13), and what the corrector adds to its right side beside the rest. */
static mgv_status predict(work *s)
{
    mgvi_lane_system *y = &s->y;
    double rough[LANES];
    for (int32_t l = 0; l < LANES; l++)
        rough[l] = PREDICTED;
    mgvi_op_mul_t(y->p->A, 1, &y->dz, 0, &y->residual);
    mgvi_lanes_add_ridge(y, -1, &y->w, &y->residual);
    MGVI_TRY(mgvi_lane_system_solve(y, rough, s->first, &s->step));
    mgvi_op_mul(y->p->A, 1, &s->step, 0, &y->dz);
    return MGV_OK;
}

static mgv_status correct(work *s)
{
    mgvi_lane_system *y = &s->y;
    mgvi_op_mul_t(y->p->A, 1, &y->dz, 1, &y->residual);
    MGVI_TRY(mgvi_lane_system_solve(y, s->accuracy, s->first, &s->more));
    mgvi_vec_axpby(y->ctx, 1, &s->more, 1, &s->step);
    mgvi_op_mul(y->p->A, 1, &s->step, 0, &y->dz);
    return MGV_OK;
}

static mgv_status step(mgvi_lane_system *y, double goal)
{
    work *s = (work *)y;
    (void)goal;
    predict_rows(s);
    MGVI_TRY(mgvi_lane_system_refresh(y));
    MGVI_TRY(predict(s));
    find_lengths(s, false);
    correct_rows(s);
    MGVI_TRY(correct(s));
    find_lengths(s, true);
    MGVI_TRY(mgvi_ctx_whole(y->ctx));
    move_rows(s);
    mgvi_lanes_add(&y->w, s->length, &s->step, &y->w);
    mgvi_lanes_add(&y->z, s->length, &y->dz, &y->z);
    return look(s);
}

mgv_status mgvi_lane_interior_run(const mgv_problem *p, double tol, mgvi_rng rng, mgvi_arena *arena,
                                  mgvi_lockstep_result *out)
{
    static const mgvi_lane_method interior = {.begin = begin, .step = step};
    work s = {.y = {.ctx = p->ctx, .p = p, .rng = rng}, .squared = p->loss->can & MGVI_SMOOTH};
    return mgvi_lane_system_run(&s.y, &interior, tol, NULL, arena, out);
}
