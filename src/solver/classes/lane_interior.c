/* lane_interior.c - the squared hinge and the hinge in lanes: Mehrotra's predictor and corrector.
 * Of every row, with a = -u the dual variable and s_i the loss's weight,
 *   z + over - slack = 1,   a slack = tau,   lambda w = A'a                                    (11)
 *   over = a/s for the squared hinge,   over (s - a) = tau for the hinge
 *   h = 1/(slack/a + 1/s),   or 1/(slack/a + over/(s - a))                                     (12)
 *   r = 1 - z - a/s + target/a,   or 1 - z + target/a - target'/(s - a)
 *   (lambda I + A'diag(h) A) dw = A'(a + h r) - lambda w,   da = h (r - A dw)                  (13)
 * target = 0 predicts; the corrector aims at sigma tau less the products predicted. What is left of
 * (13), rho = A'(a + da) - lambda (w + dw), is what the next pair lacks of lambda w = A'a, and
 *   |rho|^2/(2 lambda) + |rho of the intercept|                                                (15)
 * is its part of the gap: many times |rho|^2 as (13) measures it where lambda is small beside the
 * curvature (a nearly hard margin). Systems are solved until that is small. */
#include "solver/classes/lane_interior.h"

#include "base/limit.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LANES = MGVI_LOCKSTEP_LANES };
static const double TO_THE_BORDER = 0.995;
static const double SLACK = 8;       /* at the start; a margin is 1 */
static const double PREDICTED = 0.1; /* residuals that conjugate gradients leave, at most */
static const double ROUGH = 0.03;
static const double LEFT = 1e-3; /* (15) of the gap: it is to fall a hundred times in a step */
enum { AGAIN = 4 };              /* times that a system is solved for what is left of it */
/* Of the mean product: what the corrector takes of a row's at most, and the least that is left. */
static const double MOST_PREDICTED = 10, LEAST_PRODUCT = 0.03;

typedef struct work {
    mgvi_lane_system y;
    mgvi_vec step, more;     /* columns: dw, and what is added to it */
    mgvi_vec whole;          /* columns: A'(a + da) */
    bool boxed;              /* the hinge: a <= s */
    mgvi_vec a, slack, r, q; /* rows; q: the products predicted */
    mgvi_vec over, more_q;   /* the same of the upper bound, where there is one */
    double tau[LANES], sigma[LANES], length[LANES];
    double first[LANES];             /* the square of the right side of (13) */
    double most[LANES], rest[LANES]; /* what (15) may be, and is */
    bool failed[LANES];              /* it is more */
} work;

/* One row in one lane: where it is, its weight, and its move with the products aimed at. */
typedef struct row {
    double s, a, slack, room, over; /* room = s - a where that is bounded */
    double da, dslack, dover;
} row;

static row row_at(const work *s, int64_t i, int32_t l, bool corrected)
{
    const mgvi_lane_system *y = &s->y;
    const int64_t at = i * s->a.k + l;
    row v = {.s = mgvi_coef_pick(&y->p->row.scale, i, l), .a = s->a.x[at], .slack = s->slack.x[at]};
    if (!(v.s > 0))
        return v;
    const double aim = corrected ? s->sigma[l] * s->tau[l] : 0;
    v.da = y->h.x[at] * (s->r.x[at] - y->dz.x[at]);
    v.dslack = ((corrected ? aim - s->q.x[at] : 0) - v.slack * v.da) / v.a - v.slack;
    if (s->boxed) {
        v.room = v.s - v.a;
        v.over = s->over.x[at];
        v.dover = ((corrected ? aim - s->more_q.x[at] : 0) + v.over * v.da) / v.room - v.over;
    }
    return v;
}

/* The products of a row after a step of length t, and how many there are. */
static double products(const work *s, const row *v, double t)
{
    const double low = (v->a + t * v->da) * (v->slack + t * v->dslack);
    return s->boxed ? low + (v->room - t * v->da) * (v->over + t * v->dover) : low;
}

/* ---- where we are ---------------------------------------------------------------------------- */

/* u and the gaps; A'u is in g. */
static void look(work *s)
{
    mgvi_lane_system *y = &s->y;
    mgvi_vec_add(y->ctx, -1, &s->a, 0, &s->a, &y->u);
    mgvi_lane_system_measure(y, &y->u);
}

/* a half of the weight, the heavier class less, so that the intercept's sum is 0; slacks well
 * inside: from 0.5 there were half as many steps again. */
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
            s->a.x[i * k + l] = mgvi_coef_pick(&p->row.scale, i, l) / 2 * fmax(less, 1e-3);
            s->slack.x[i * k + l] = SLACK;
            if (s->boxed)
                s->over.x[i * k + l] = SLACK;
        }
}

static mgv_status begin(mgvi_lane_system *y, mgvi_arena *arena)
{
    work *s = (work *)y;
    mgvi_vec *const rows[] = {&s->a, &s->slack, &s->r, &s->q};
    mgvi_vec *const bound[] = {&s->over, &s->more_q};
    for (size_t t = 0; s->boxed && t < sizeof bound / sizeof *bound; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, y->p->A->rows, y->p->lanes, bound[t]));
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, y->p->A->rows, y->p->lanes, rows[t]));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, y->p->A->cols, y->p->lanes, &s->step));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, y->p->A->cols, y->p->lanes, &s->more));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, y->p->A->cols, y->p->lanes, &s->whole));
    place_rows(s);
    mgvi_op_mul_t(y->p->A, -1, &s->a, 0, &y->g);
    MGVI_TRY(mgvi_ctx_whole(y->ctx));
    look(s);
    return MGV_OK;
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
            const row v = row_at(s, i, l, false);
            const double bend = v.s > 0 ? s->boxed ? v.over / v.room : 1 / v.s : 0;
            y->h.x[at] = v.s > 0 ? 1 / (bend + v.slack / v.a) : 0;
            s->r.x[at] = 1 - y->z.x[at] - (s->boxed ? 0 : bend * v.a);
            y->dz.x[at] = v.a + y->h.x[at] * s->r.x[at];
            sum[l] += v.s > 0 ? products(s, &v, 0) : 0;
            count[l] += v.s > 0 ? 1 + s->boxed : 0;
        }
    for (int32_t l = 0; l < k; l++) {
        s->tau[l] = sum[l] / fmax(count[l], 1);
        s->most[l] = LEFT * y->gap[l] * y->primal[l];
        s->first[l] = 0;
    }
}

/* How far x may go until it reaches 0. */
static double reach(double most, double x, double dx)
{
    return dx < 0 ? fmin(most, -x / dx) : most;
}

/* The longest step of every lane; none where what is left of the system costs more than the gap. */
static void find_lengths(work *s, bool corrected)
{
    const int32_t k = s->y.p->lanes;
    for (int32_t l = 0; l < k; l++)
        s->length[l] = 1 / TO_THE_BORDER;
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const row v = row_at(s, i, l, corrected);
            if (v.s > 0)
                s->length[l] = reach(reach(s->length[l], v.a, v.da), v.slack, v.dslack);
            if (v.s > 0 && s->boxed)
                s->length[l] = reach(reach(s->length[l], v.room, -v.da), v.over, v.dover);
        }
    for (int32_t l = 0; l < k; l++) {
        const bool sound = !corrected || s->rest[l] <= s->most[l] / LEFT;
        s->length[l] *= s->y.moving[l] && sound ? TO_THE_BORDER : 0;
    }
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
            const row v = row_at(s, i, l, false);
            const double t = s->length[l], most = MOST_PREDICTED * s->tau[l];
            s->q.x[i * k + l] = fmin(fmax(v.dslack * v.da, -most), most);
            if (s->boxed)
                s->more_q.x[i * k + l] = fmin(fmax(-v.dover * v.da, -most), most);
            sum[l] += v.s > 0 ? products(s, &v, t) : 0;
            count[l] += v.s > 0 ? 1 + s->boxed : 0;
        }
    for (int32_t l = 0; l < k; l++) {
        const double part = sum[l] / fmax(count[l], 1) / fmax(s->tau[l], 1e-300);
        s->sigma[l] = fmin(part * part * part, 1);
    }
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const double aim = s->sigma[l] * s->tau[l];
            double more = y->h.x[at] > 0 ? (aim - s->q.x[at]) / s->a.x[at] : 0;
            if (s->boxed && y->h.x[at] > 0)
                more -=
                    (aim - s->more_q.x[at]) / (mgvi_coef_pick(&y->p->row.scale, i, l) - s->a.x[at]);
            s->r.x[at] += more;
            y->dz.x[at] = y->h.x[at] * more;
        }
}

/* (12) does not ask where slack and over are: a product that fell far behind the others is raised
 * by them, or its row would cut the next steps short. */
static void move_rows(work *s)
{
    const int32_t k = s->y.p->lanes;
    for (int64_t i = 0; i < s->a.n; i++)
        for (int32_t l = 0; l < k; l++) {
            const int64_t at = i * k + l;
            const row v = row_at(s, i, l, true);
            const double t = v.s > 0 ? s->length[l] : 0;
            const double least = LEAST_PRODUCT * s->tau[l] * (1 - t + t * s->sigma[l]);
            if (!(t > 0))
                continue;
            s->a.x[at] += t * v.da;
            if (s->boxed) { /* s - a is not 0 by rounding */
                s->a.x[at] = fmin(s->a.x[at], (1 - DBL_EPSILON) * v.s);
                s->over.x[at] = fmax(v.over + t * v.dover, least / (v.s - s->a.x[at]));
            }
            s->slack.x[at] = fmax(v.slack + t * v.dslack, least / s->a.x[at]);
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
    MGVI_TRY(mgvi_lane_system_solve(y, rough, NULL, s->first, &s->step));
    mgvi_lane_system_image(y, &s->step);
    return MGV_OK;
}

/* What is left of (13) with the step as it is, in float64; dz is A dw. False: (15) is too much in
 * some lane. */
static bool take_rest(work *s)
{
    mgvi_lane_system *y = &s->y;
    const int64_t all = s->a.n * s->a.k;
    bool enough = true;
    for (int64_t t = 0; t < all; t++)
        y->u.x[t] = s->a.x[t] + y->h.x[t] * (s->r.x[t] - y->dz.x[t]);
    mgvi_op_mul_t(y->p->A, 1, &y->u, 0, &s->whole);
    mgvi_vec_copy(y->ctx, &s->whole, &y->residual);
    mgvi_lanes_add_ridge(y, -1, &y->w, &y->residual);
    mgvi_lanes_add_ridge(y, -1, &s->step, &y->residual);
    mgvi_lane_system_part(y, &y->residual, s->rest);
    for (int32_t l = 0; l < y->p->lanes; l++) {
        s->failed[l] = y->moving[l] && !(s->rest[l] <= 2 * s->most[l]);
        enough = enough && !s->failed[l];
    }
    return enough;
}

/* Again from what is left in float64 where products were of float32, or 60 of them not enough: then
 * with a better metric. */
static mgv_status correct(work *s)
{
    mgvi_lane_system *y = &s->y;
    double rough[LANES];
    for (int32_t l = 0; l < LANES; l++)
        rough[l] = ROUGH;
    mgvi_op_mul_t(y->p->A, 1, &y->dz, 1, &y->residual);
    for (int again = 0; again < AGAIN; again++) {
        MGVI_TRY(mgvi_lane_system_solve(y, rough, s->most, s->first, &s->more));
        mgvi_vec_axpby(y->ctx, 1, &s->more, 1, &s->step);
        mgvi_op_mul(y->p->A, 1, &s->step, 0, &y->dz);
        if (take_rest(s) || again + 1 == AGAIN)
            break;
        MGVI_TRY(mgvi_lane_system_refresh(y, s->failed));
    }
    return mgvi_ctx_whole(y->ctx);
}

/* g = -A'a with a as it will be. */
static void move_columns(work *s)
{
    mgvi_lane_system *y = &s->y;
    const int32_t k = y->p->lanes;
    for (int64_t j = 0; j < y->g.n; j++)
        for (int32_t l = 0; l < k; l++)
            y->g.x[j * k + l] -= s->length[l] * (y->g.x[j * k + l] + s->whole.x[j * k + l]);
    mgvi_lanes_add(&y->w, s->length, &s->step, &y->w);
    mgvi_lanes_add(&y->z, s->length, &y->dz, &y->z);
}

static mgv_status step(mgvi_lane_system *y, double goal)
{
    work *s = (work *)y;
    (void)goal;
    predict_rows(s);
    MGVI_TRY(mgvi_lane_system_refresh(y, NULL));
    MGVI_TRY(predict(s));
    find_lengths(s, false);
    correct_rows(s);
    MGVI_TRY(correct(s));
    find_lengths(s, true);
    move_rows(s);
    move_columns(s);
    look(s);
    return MGV_OK;
}

mgv_status mgvi_lane_interior_run(const mgv_problem *p, double tol, mgvi_rng rng, mgvi_arena *arena,
                                  mgvi_lockstep_result *out)
{
    static const mgvi_lane_method interior = {.begin = begin, .step = step};
    work s = {.y = {.ctx = p->ctx, .p = p, .rng = rng}, .boxed = !(p->loss->can & MGVI_SMOOTH)};
    return mgvi_lane_system_run(&s.y, &interior, tol, NULL, arena, out);
}
