/* accelerated_coordinate.c - accelerated dual coordinate ascent (APCG);
 * docs/algorithms/accelerated_coordinate.md.
 *
 * Three sequences of dual points, x, y, z, are combinations of two, `first` and `second`, which
 * change in one coordinate a step, with their images v = -A'u beside them:
 *   convex            y = first + c1 second,  z = first,             x = first + c second        (2)
 *   strongly convex   y = first + h second,   z = first - h second,  x = first + (1+th)/2 k second
 *                     with h = (1-th)/2 k                                                        (5)
 * z_i moves by the proximal step of the curvature k_i, x is the answer. An iteration is n steps on
 * rows drawn at random; the convex form starts again after 2, 2, 4, 4, 8, 8, ... 64 of them (4). */
#include "solver/shared/mirror_map.h"

#include "base/limit.h"
#include "certify/guarantees.h"
#include "solver/coordinate/norm_moments.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    LONGEST = 64, /* iterations between two restarts, at most */
    REFRESH = 25  /* passes between two recomputations of the images, without restarts */
};

/* How a_i.w(y) is computed. */
typedef enum form {
    LINEAR,  /* w is a multiple of v: two products with the row */
    MOMENTS, /* even q and sparse rows: the norm from its moments */
    WHOLE    /* w from all columns */
} form;

/* Plain numbers of the state, saved as they are. */
typedef struct memory {
    double gamma;          /* g_t of the convex form */
    double weight;         /* c or k: 1 at the beginning of every iteration */
    int64_t since, period; /* iterations since the restart; until the next one */
    int64_t second_half;   /* periods come in pairs */
    double least;          /* margin seen in the last iteration */
    double estimate;       /* relative gap it points to */
} memory;

typedef struct state {
    mgvi_rows *rows;
    form form;
    bool strong; /* the strongly convex form */
    double mu;   /* of it, relative to L */
    mgvi_mirror_map map;
    mgvi_norm_moments moments;
    double *row; /* work space: one row's entries */
    double *lipschitz;
    int32_t *live; /* rows with weight */
    int64_t live_count;
    mgvi_vec first, second; /* rows */
    double *v_first, *v_second;
    mgvi_vec x, w;
    memory m;
} state;

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, d = p->A->cols;
    MGVI_TRY(mgvi_run_check_rows(run));
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_mirror_map_new(p, &run->arena, &s->map));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->first, &s->second, &s->x));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(MGVI_VECTORS(&run->arena, d, &s->row, &s->v_first, &s->v_second));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->lipschitz, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->live, n));
    MGVI_TRY(mgvi_run_keep(run, "first", MGVI_T_F64, s->first.x, n));
    MGVI_TRY(mgvi_run_keep(run, "second", MGVI_T_F64, s->second.x, n));
    MGVI_TRY(mgvi_run_keep(run, "v_first", MGVI_T_F64, s->v_first, d));
    MGVI_TRY(mgvi_run_keep(run, "v_second", MGVI_T_F64, s->v_second, d));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

static mgvi_entries row_of(const state *s, int64_t i)
{
    return mgvi_rows_entries(s->rows, i, true, s->row);
}

/* The largest s G'' can be: its conjugate's strong convexity is 1 over it. Each smooth loss has its
 * largest curvature at one of these points. */
static double largest_curvature(const mgvi_loss_ops *loss, mgvi_coef c)
{
    const double at[] = {0, 1, 1 - c.b / 2, c.a};
    double most = 0;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        most = fmax(most, loss->curv(c, at[k]));
    return most;
}

/* mu and L_i of the strongly convex form: as much of the conjugates' curvature as all rows have,
 * mu L_i, goes with the smooth part, whose L_i is then |a_i|^2/lambda + mu L_i.                (6)
 */
static void bind_strong(const mgv_problem *p, state *s)
{
    double ratio = 1, most = 0;
    for (int64_t k = 0; k < s->live_count; k++) {
        const int64_t i = s->live[k];
        const double sigma = 1 / largest_curvature(p->loss, mgvi_coefs_at(&p->row, i, 0));
        ratio = fmin(ratio, sigma / s->lipschitz[i]);
        most = fmax(most, s->lipschitz[i]);
    }
    s->mu = ratio / (1 + ratio);
    for (int64_t k = 0; k < s->live_count; k++) {
        const int64_t i = s->live[k];
        const double sigma = 1 / largest_curvature(p->loss, mgvi_coefs_at(&p->row, i, 0));
        const double floor = fmin(1e-3 * most, sigma / s->mu); /* rows of zeros */
        s->lipschitz[i] = fmax(s->lipschitz[i] / (1 - s->mu), floor);
    }
}

/* L_i, and the rows that can move. */
static mgv_status measure_rows(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    double most = 0;
    MGVI_TRY(mgvi_mirror_map_bounds(&s->map, s->rows, true, s->row, s->lipschitz));
    for (int64_t i = 0; i < p->A->rows && !run->suspicious; i++) {
        most = fmax(most, s->lipschitz[i]);
        if (mgvi_run_row_moves(run, i, s->lipschitz[i] > 0 || s->strong, s->first.x))
            s->live[s->live_count++] = (int32_t)i;
    }
    if (run->suspicious)
        s->live_count = 0;
    mgvi_mirror_map_start(&s->map, sqrt(most));
    s->moments.unit = s->map.unit;
    return MGV_OK;
}

static form choose_form(const mgv_problem *p, const state *s)
{
    if (s->map.kind != MGVI_MIRROR_ENTROPY && s->map.q == 2)
        return LINEAR;
    const double work = 2 * s->map.q * (double)p->A->nnz / (double)p->A->rows;
    const bool sparse = s->rows->m.layout != MGV_DENSE && !s->rows->view.centre;
    const bool even = s->map.kind == MGVI_MIRROR_NORM && mgvi_norm_moments_serve(s->map.q);
    return sparse && even && work < (double)s->map.d ? MOMENTS : WHOLE;
}

static void start_again(state *s)
{
    s->m.weight = 1;
    s->m.gamma = 1 / (double)(s->live_count > 0 ? s->live_count : 1);
    s->m.since = 0;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(allocate(run, s));
    if (s->map.kind == MGVI_MIRROR_POWER && s->map.q != 2)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "solver %s: |w|^p has no bound of the curvature of its conjugate; with p "
                         "below 2 it takes the losses margin, equal and interval",
                         run->ops->name);
    s->strong = (p->loss->can & MGVI_SMOOTH) && s->map.q == 2 && s->map.kind != MGVI_MIRROR_ENTROPY;
    MGVI_TRY(measure_rows(run, s));
    if (s->strong)
        bind_strong(p, s);
    s->form = choose_form(p, s);
    s->moments.q = (int)round(s->map.q);
    start_again(s);
    s->m.period = 2;
    s->m.estimate = NAN;
    return MGV_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

/* What a step does with the two sequences. */
typedef struct plan {
    double y;                   /* y = first + y second */
    double centre;              /* z = first + centre second */
    double bound;               /* k_i = bound L_i */
    double moved;               /* mu: curvature moved to the smooth part, relative to L_i */
    double to_first, to_second; /* what the move of z_i adds */
    double weight, gamma;       /* of the next step */
} plan;

/* (2) and (3) */
static plan convex_plan(const state *s)
{
    const double n = (double)s->live_count, g = s->m.gamma, c = (1 - g) * s->m.weight;
    return (plan){.y = c,
                  .bound = n * g,
                  .to_first = 1,
                  .to_second = c > 0 ? (n * g - 1) / c : 0,
                  .weight = c,
                  .gamma = 0.5 * (sqrt(g * g * g * g + 4 * g * g) - g * g)};
}

/* (5) */
static plan strong_plan(const state *s)
{
    const double root = sqrt(s->mu), th = root / (double)s->live_count;
    const double h = 0.5 * (1 - th) * s->m.weight, next = s->m.weight * (1 - th) / (1 + th);
    return (plan){.y = h,
                  .centre = -h,
                  .bound = root,
                  .moved = s->mu,
                  .to_first = 0.5 * (1 + root),
                  .to_second = (root - 1) / ((1 + th) * next),
                  .weight = next};
}

/* The map at v_first + c v_second. */
static void set_map(state *s, double c)
{
    for (int64_t j = 0; j < s->map.d; j++)
        s->map.v[j] = s->v_first[j] + c * s->v_second[j];
    mgvi_mirror_map_refresh(&s->map);
}

/* a_i.w at v = v_first + c v_second */
static double margin_at(state *s, const mgvi_entries *row, double c)
{
    const double *a = row->val;
    double z = 0;
    if (s->form == WHOLE) {
        set_map(s, c);
        return mgvi_mirror_map_dot(&s->map, row);
    }
    if (s->form == LINEAR)
        return (mgvi_entries_dot(&s->map, row, s->v_first) +
                c * mgvi_entries_dot(&s->map, row, s->v_second)) /
               s->map.c;
    const double norm = mgvi_norm_moments_at(&s->moments, c);
    for (int64_t t = 0; t < row->n && norm > 0; t++) { /* N (v/N)^(q-1), q - 1 odd */
        const double v = (s->v_first[row->idx[t]] + c * s->v_second[row->idx[t]]) / norm;
        z += a[t] * v * pow(fabs(v), s->map.q - 2);
    }
    return norm * z;
}

/* The images follow first_i += df, second_i += ds. */
static void move_images(state *s, const mgvi_entries *row, double df, double ds)
{
    for (int64_t t = 0; t < row->n && s->form == MOMENTS; t++)
        mgvi_norm_moments_move(&s->moments, s->v_first[row->idx[t]], s->v_second[row->idx[t]],
                               -df * row->val[t], -ds * row->val[t]);
    mgvi_entries_axpy(&s->map, row, -df, s->v_first);
    mgvi_entries_axpy(&s->map, row, -ds, s->v_second);
}

static void take_step(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const plan now = s->strong ? strong_plan(s) : convex_plan(s);
    const int64_t i = s->live[mgvi_rng_below(&run->rng, (uint32_t)s->live_count)];
    const mgvi_entries row = row_of(s, i);
    const double L = s->lipschitz[i], first = s->first.x[i], second = s->second.x[i];
    const double margin = margin_at(s, &row, now.y), centre = first + now.centre * second;
    /* the part mu L_i/2 u^2 of the conjugate counts as smooth: its gradient is at y          (6) */
    const double z = margin + now.moved * L * (centre - (first + now.y * second));
    const double next =
        p->loss->dual_step(mgvi_coefs_at(&p->row, i, 0), centre, z, (now.bound - now.moved) * L);
    const double move = next - centre;
    s->m.least = fmin(s->m.least, margin);
    s->m.weight = now.weight;
    s->m.gamma = now.gamma;
    run->touched += (double)mgvi_rows_nnz(s->rows, i);
    if (move == 0)
        return;
    s->first.x[i] += now.to_first * move;
    s->second.x[i] += now.to_second * move;
    move_images(s, &row, now.to_first * move, now.to_second * move);
    run->touched += (double)mgvi_rows_nnz(s->rows, i);
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* v = -A'u */
static void image(mgvi_run *run, const state *s, const mgvi_vec *u, double *v)
{
    memset(v, 0, (size_t)s->map.d * sizeof *v);
    for (int64_t i = 0; i < u->n && !mgvi_ctx_cut_row(run->ctx, i); i++) {
        if (u->x[i] == 0)
            continue;
        const mgvi_entries row = row_of(s, i);
        mgvi_entries_axpy(&s->map, &row, -u->x[i], v);
        run->touched += (double)mgvi_rows_nnz(s->rows, i);
    }
}

/* x, feasible to the last bit, and its weight beside `second`. */
static double answer(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const double th = s->strong ? sqrt(s->mu) / (double)s->live_count : 1;
    const double c = 0.5 * (1 + th) * s->m.weight;
    mgvi_vec_add(run->ctx, 1, &s->first, c, &s->second, &s->x);
    mgvi_loss_dual_clip(run->ctx, p->loss, &p->row, &s->x);
    return c;
}

/* x, and the map at its image. */
static void show_weights(mgvi_run *run, state *s) { set_map(s, answer(run, s)); }

/* D(u), where v_first + c v_second is the image of u. */
static double dual_value(mgvi_run *run, state *s, const mgvi_vec *u, double c)
{
    double loss;
    set_map(s, c);
    mgvi_loss_conj(run->ctx, run->problem->loss, &run->problem->row, u, &loss);
    return -mgvi_mirror_map_conj(&s->map) - loss;
}

/* (4): from the better of x and z, without momentum. */
static void restart(mgvi_run *run, state *s)
{
    const double c = answer(run, s);
    if (dual_value(run, s, &s->x, c) > dual_value(run, s, &s->first, 0))
        mgvi_vec_copy(run->ctx, &s->x, &s->first);
    mgvi_vec_fill(run->ctx, &s->second, 0);
    memset(s->v_second, 0, (size_t)s->map.d * sizeof *s->v_second);
    image(run, s, &s->first, s->v_first);
    start_again(s);
    if (s->m.second_half && s->m.period < LONGEST)
        s->m.period *= 2;
    s->m.second_half = !s->m.second_half;
}

/* Before an iteration the weight of `second` is made 1, so that no power of it is ever small. */
static void fold(mgvi_run *run, state *s)
{
    mgvi_vec_scale(run->ctx, s->m.weight, &s->second);
    for (int64_t j = 0; j < s->map.d; j++)
        s->v_second[j] *= s->m.weight;
    s->m.weight = 1;
    if (s->form == MOMENTS)
        mgvi_norm_moments_sum(&s->moments, s->v_first, s->v_second, s->map.d);
}

/* Hard margin: 1 - lower/upper, as far as the rows drawn can tell. */
static double guess_gap(mgvi_run *run, state *s)
{
    if (!mgvi_problem_has_margin(run->problem))
        return NAN;
    double sum;
    show_weights(run, s);
    mgvi_vec_sum(run->ctx, &s->x, &sum);
    const double norm = mgvi_mirror_map_norm(&s->map);
    return norm > 0 ? 1 + s->m.least * sum / (norm * norm) : NAN;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const bool restarts = !s->strong && run->settings->accelerated_coordinate_restart;
    const int64_t draws = mgvi_run_draws(run, s->live_count);
    const int64_t pass = mgvi_run_pass(run, s->live_count), period = REFRESH * pass;
    if (restarts && s->m.since >= s->m.period * pass)
        restart(run, s);
    if (!restarts && s->m.since % period == period - 1) {
        image(run, s, &s->first, s->v_first);
        image(run, s, &s->second, s->v_second);
    }
    fold(run, s);
    s->m.least = INFINITY;
    for (int64_t k = 0; k < draws && !mgvi_ctx_cut_row(run->ctx, k); k++)
        take_step(run, s);
    s->m.since++;
    s->m.estimate = draws < s->live_count ? NAN : guess_gap(run, s);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    show_weights(run, s);
    mgvi_mirror_map_weights(&s->map, s->w.x);
    mgvi_vec_scale(run->ctx, mgvi_mirror_map_dual_factor(&s->map), &s->x);
    return (mgvi_iterate){.w = &s->w, .u = &s->x};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.estimate;
}

/* (8) of the paper, as the page has it, of the convex form that never starts again. */
static int theorems(const mgvi_run *run, const mgvi_optimum *known, mgv_bound *out)
{
    const state *s = run->state;
    const double n = (double)s->live_count, low = known->certificate->margin;
    const double t = (double)(mgvi_run_draws(run, s->live_count) * run->iteration);
    double most = 0;
    if (s->strong || run->settings->accelerated_coordinate_restart || !(low > 0) ||
        !mgvi_problem_has_margin(run->problem))
        return 0;
    for (int64_t k = 0; k < s->live_count; k++)
        most = fmax(most, s->lipschitz[s->live[k]]);
    const mgvi_start_distance at = mgvi_margin_start(low, most);
    *out = (mgv_bound){.item = "Raj, Bach: (8), corrected",
                       .quantity = "D* - D of the dual iterate, expected",
                       .low = NAN,
                       .high = mgvi_gap_after_accelerated(n, t, &at),
                       .found = NAN};
    return 1;
}

const mgvi_solver_ops mgvi_solver_accelerated_coordinate = {
    .name = "accelerated_coordinate",
    .summary = "accelerated dual coordinate ascent, penalties l2, lp and entropy",
    .needs = {.penalty = MGVI_MIRROR | MGVI_CONJ,
              .loss = MGVI_VALUE | MGVI_CONJ | MGVI_PROX,
              .op = MGVI_ROW},
    .no = {.penalty = MGVI_KINK},
    .no_intercept = true,
    .settings = "accelerated_coordinate_restart draws",
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .theorems = theorems,
};
