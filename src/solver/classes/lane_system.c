/* lane_system.c - conjugate gradients in lanes (8), preconditioned by a factor of each lane's own
 * curvature (9), and the loop of the methods that use them. */
#include "solver/classes/lane_system.h"

#include "base/event.h"
#include "base/limit.h"
#include "stop/stop.h"

#include <math.h>
#include <string.h>

enum {
    LANES = MGVI_LOCKSTEP_LANES,
    MOST_STEPS = 120,
    MOST_PRODUCTS = 60, /* of conjugate gradients in one step */
    OLD = 7,            /* products after which the metric is made anew */
    IDLE = 12           /* steps in which its gap does not fall, and a lane rests with its best */
};
static const double SURE = 0.5; /* part of the tolerance: lanes that miss it are expensive */

void mgvi_lanes_add(const mgvi_vec *x, const double *t, const mgvi_vec *y, mgvi_vec *out)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int32_t l = 0; l < x->k; l++)
            out->x[i * x->k + l] = x->x[i * x->k + l] + t[l] * y->x[i * x->k + l];
}

void mgvi_lanes_ridge_dot(const mgvi_lane_system *s, const mgvi_vec *x, const mgvi_vec *y,
                          double *out)
{
    const mgvi_vec a = mgvi_problem_penalised_part(s->p, x),
                   b = mgvi_problem_penalised_part(s->p, y);
    mgvi_vec_dot(s->ctx, &a, &b, out);
    for (int32_t l = 0; l < x->k; l++)
        out[l] *= s->p->lambda;
}

void mgvi_lanes_add_ridge(const mgvi_lane_system *s, double factor, const mgvi_vec *x, mgvi_vec *to)
{
    const mgvi_vec from = mgvi_problem_penalised_part(s->p, x);
    mgvi_vec part = mgvi_problem_penalised_part(s->p, to);
    mgvi_vec_axpby(s->ctx, factor * s->p->lambda, &from, 1, &part);
}

/* A slope of the intercept costs what it takes
 * to move it to others: a unit of score. */
void mgvi_lane_system_measure(mgvi_lane_system *s, const mgvi_vec *u)
{
    const mgv_problem *p = s->p;
    const int64_t penalised = mgvi_problem_penalised(p);
    double loss[LANES], conj[LANES], ridge[LANES], dual[LANES];
    mgvi_loss_value(s->ctx, p->loss, &p->row, &s->z, loss);
    mgvi_loss_conj(s->ctx, p->loss, &p->row, u, conj);
    mgvi_lanes_ridge_dot(s, &s->w, &s->w, ridge);
    mgvi_lanes_ridge_dot(s, &s->g, &s->g, dual);
    for (int32_t l = 0; l < p->lanes; l++) {
        const double primal = loss[l] + ridge[l] / 2;
        double gap = fabs(primal + conj[l] + dual[l] / (2 * p->lambda * p->lambda));
        for (int64_t j = penalised; j < s->g.n; j++)
            gap += fabs(s->g.x[j * p->lanes + l]);
        s->primal[l] = primal;
        s->before[l] = s->gap[l];
        s->gap[l] = gap / fmax(primal, 1e-300);
    }
}

static mgv_status precondition(mgvi_lane_system *s, double *rho)
{
    for (int32_t l = 0; l < s->p->lanes; l++)
        if (s->moving[l])
            MGVI_TRY(mgvi_lane_metric_solve(&s->metric, l, &s->residual, &s->better));
    mgvi_vec_dot(s->ctx, &s->residual, &s->better, rho);
    return MGV_OK;
}

/* image = H dir, at least in the lanes that are on; dz is work space. */
static void curve(mgvi_lane_system *s, const bool *on)
{
    if (s->pass) {
        mgvi_curve_pass_run(s->pass, on, &s->h, &s->dir, &s->image);
    } else {
        mgvi_op_mul(s->p->A, 1, &s->dir, 0, &s->dz);
        for (int64_t i = 0; i < s->dz.n * s->dz.k; i++)
            s->dz.x[i] *= s->h.x[i];
        mgvi_op_mul_t(s->p->A, 1, &s->dz, 0, &s->image);
    }
    mgvi_lanes_add_ridge(s, 1, &s->dir, &s->image);
}

void mgvi_lane_system_part(const mgvi_lane_system *s, const mgvi_vec *rest, double *out)
{
    const int64_t penalised = mgvi_problem_penalised(s->p);
    mgvi_lanes_ridge_dot(s, rest, rest, out);
    for (int32_t l = 0; l < rest->k; l++) {
        out[l] /= 2 * s->p->lambda * s->p->lambda;
        for (int64_t j = penalised; j < rest->n; j++)
            out[l] += fabs(rest->x[j * rest->k + l]);
    }
}

mgv_status mgvi_lane_system_solve(mgvi_lane_system *s, const double *accuracy, const double *most,
                                  double *first, mgvi_vec *x)
{
    const int32_t k = s->p->lanes;
    double rho[LANES], enough[LANES], bends[LANES], next[LANES], forward[LANES], back[LANES],
        turn[LANES], part[LANES];
    bool on[LANES];
    mgvi_vec_fill(s->ctx, x, 0);
    mgvi_vec_fill(s->ctx, &s->better, 0);
    MGVI_TRY(precondition(s, rho));
    mgvi_vec_copy(s->ctx, &s->better, &s->dir);
    memset(s->energy, 0, sizeof s->energy);
    for (int32_t l = 0; l < k; l++) {
        first[l] = first[l] > 0 ? first[l] : rho[l];
        enough[l] = s->moving[l] ? accuracy[l] * accuracy[l] * first[l] : INFINITY;
    }
    for (int32_t products = 1; products <= MOST_PRODUCTS; products++) {
        bool busy = false;
        if (most)
            mgvi_lane_system_part(s, &s->residual, part);
        for (int32_t l = 0; l < k; l++) {
            on[l] =
                s->moving[l] && rho[l] > 0 && (rho[l] > enough[l] || (most && part[l] > most[l]));
            busy = busy || on[l];
        }
        if (!busy || mgvi_ctx_cut(s->ctx))
            break;
        curve(s, on);
        mgvi_vec_dot(s->ctx, &s->dir, &s->image, bends);
        for (int32_t l = 0; l < k; l++) {
            on[l] = on[l] && bends[l] > 0;
            forward[l] = on[l] ? rho[l] / bends[l] : 0;
            back[l] = -forward[l];
            s->energy[l] += forward[l] * rho[l];
            s->aged[l] = on[l] && products > s->aged[l] ? products : s->aged[l];
        }
        mgvi_lanes_add(x, forward, &s->dir, x);
        mgvi_lanes_add(&s->residual, back, &s->image, &s->residual);
        MGVI_TRY(precondition(s, next));
        for (int32_t l = 0; l < k; l++) {
            turn[l] = forward[l] > 0 ? next[l] / rho[l] : 0;
            rho[l] = forward[l] > 0 ? next[l] : 0;
        }
        mgvi_lanes_add(&s->better, turn, &s->dir, &s->dir);
    }
    return MGV_OK;
}

void mgvi_lane_system_image(mgvi_lane_system *s, const mgvi_vec *x)
{
    static const double AGREED = 1e-2;
    const int32_t k = s->p->lanes;
    double energy[LANES];
    mgvi_op_mul(s->p->A, 1, x, 0, &s->dz);
    if (!s->pass)
        return;
    mgvi_lanes_ridge_dot(s, x, x, energy);
    for (int64_t i = 0; i < s->dz.n; i++)
        for (int32_t l = 0; l < k; l++)
            energy[l] += s->h.x[i * k + l] * s->dz.x[i * k + l] * s->dz.x[i * k + l];
    for (int32_t l = 0; l < k; l++)
        if (s->moving[l] && !(fabs(energy[l] - s->energy[l]) <= AGREED * energy[l]))
            s->pass = NULL;
}

mgv_status mgvi_lane_system_refresh(mgvi_lane_system *s, const bool *failed)
{
    bool due[LANES];
    for (int32_t l = 0; l < s->p->lanes; l++) {
        due[l] = s->moving[l] && (s->aged[l] == 0 || s->aged[l] >= OLD) && (!failed || failed[l]);
        s->metric.fine[l] = s->metric.fine[l] || (failed && due[l]);
        if (failed && !due[l])
            continue;
        s->aged[l] = s->aged[l] > 0 || due[l] ? 1 : 0;
    }
    return mgvi_lane_metric_refresh(&s->metric, &s->h, due, &s->rng);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The best pair of every lane so far; those that have arrived rest. How many still move. */
static int32_t settle(mgvi_lane_system *s, double goal, mgvi_lockstep_result *out)
{
    const int64_t n = s->u.n, d = s->w.n;
    int32_t moving = 0;
    for (int32_t l = 0; l < s->p->lanes; l++) {
        if (!s->moving[l])
            continue;
        s->idle[l] = s->gap[l] < 0.9 * s->best[l] ? 0 : s->idle[l] + 1;
        s->pass = s->idle[l] < IDLE / 2 ? s->pass : NULL;
        moving += s->moving[l] = isfinite(s->gap[l]) && s->gap[l] > goal && s->idle[l] < IDLE;
        if (!(s->gap[l] < s->best[l]))
            continue;
        s->best[l] = s->gap[l];
        for (int64_t i = 0; i < n; i++)
            out->u[l * n + i] = s->u.x[i * s->u.k + l];
        for (int64_t j = 0; j < d; j++)
            out->w[l * d + j] = s->w.x[j * s->w.k + l];
    }
    return moving;
}

static mgv_status begin(mgvi_lane_system *s, const mgvi_lane_method *method,
                        const double *const *start, mgvi_arena *arena)
{
    mgvi_vec *const cols[] = {&s->w, &s->g, &s->residual, &s->better, &s->dir, &s->image};
    mgvi_vec *const rows[] = {&s->z, &s->u, &s->h, &s->dz};
    for (size_t t = 0; t < sizeof cols / sizeof *cols; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, s->p->A->cols, s->p->lanes, cols[t]));
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, s->p->A->rows, s->p->lanes, rows[t]));
    MGVI_TRY(mgvi_lane_metric_new(s->p, arena, &s->metric));
    MGVI_TRY(mgvi_curve_pass_new(arena, s->p->A, s->p->lanes, &s->pass));
    for (int32_t l = 0; l < s->p->lanes; l++) {
        s->moving[l] = true;
        s->best[l] = INFINITY;
        for (int64_t j = 0; start && start[l] && j < s->w.n; j++)
            s->w.x[j * s->w.k + l] = start[l][j];
    }
    if (start)
        mgvi_op_mul(s->p->A, 1, &s->w, 0, &s->z);
    return method->begin(s, arena);
}

mgv_status mgvi_lane_system_run(mgvi_lane_system *s, const mgvi_lane_method *method, double tol,
                                const double *const *start, mgvi_arena *arena,
                                mgvi_lockstep_result *out)
{
    const double before = s->p->A->touched;
    mgvi_ctx_open(s->ctx, MGVI_GRACE);
    mgv_status st = begin(s, method, start, arena);
    bool late = mgvi_ctx_close(s->ctx);
    while (st == MGV_OK && !late && out->rounds < MOST_STEPS) {
        const int32_t moving = settle(s, SURE * tol, out);
        const double passes = (s->p->A->touched - before) / fmax((double)s->p->A->nnz, 1);
        late = mgvi_stop_look(s->ctx, mgvi_progress_of(out->rounds, passes, 0), &s->p->settings) !=
               MGV_STOP_NONE;
        if (moving == 0 || late)
            break;
        mgvi_event_progress(s->ctx, "%d classes at once: Newton step %" PRId64 ", %d not there yet",
                            (int)s->p->lanes, out->rounds + 1, (int)moving);
        mgvi_ctx_open(s->ctx, MGVI_GRACE);
        st = method->step(s, SURE * tol);
        late = mgvi_ctx_close(s->ctx);
        out->rounds++;
    }
    out->cut = late;
    return (late && mgvi_limit_explains(st)) || st == MGV_E_NUMERIC ? MGV_OK : st;
}
