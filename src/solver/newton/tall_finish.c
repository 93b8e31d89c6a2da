/* tall_finish.c - one round of the finish. */
#include "solver/newton/tall_finish.h"

#include "base/limit.h"
#include "solver/newton/tall_interior.h"

#include <math.h>
#include <string.h>

enum { RECENTRE = 40, INTERIOR = 80, ATTEMPTS = 4 };

/* How well the reduced problem is centred before the interior point starts: without it the interior
 * point takes two or three times as many steps. */
static const double CENTRED = 1e-5, NEARLY_CENTRED = 1e-2;
/* A decrement, in alpha, that shows that fixing rows has let a column loose. */
static const double LOOSE = 0.1;
/* Gaps from which a polish is worth trying: a vertex shows early. */
static const double POLISH_QUADRATIC = 1e-6, POLISH_VERTEX = 1e-3;

mgv_status mgvi_tall_finish_init(mgvi_tall_finish *f)
{
    mgvi_run *run = f->run;
    const size_t d = (size_t)run->problem->A->cols;
    f->arena = mgvi_arena_within(&run->arena);
    f->w = mgvi_run_array(run, d, sizeof *f->w);
    f->lin = mgvi_run_array(run, d, sizeof *f->lin);
    f->v = mgvi_run_array(run, d, sizeof *f->v);
    if (!f->arena || !f->w || !f->lin || !f->v)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &f->product));
    MGVI_TRY(mgvi_tall_smooth_init(&f->smooth, &run->arena, (int64_t)d));
    return mgvi_tall_interior_init(&f->interior, &run->arena, (int64_t)d, &f->smooth.solver);
}

/* What a round needs of the kept rows, in place of what there was. */
static mgv_status make_room(mgvi_tall_finish *f, int64_t kept)
{
    const size_t rows = (size_t)kept;
    mgvi_arena_free(f->arena);
    memset(&f->set, 0, sizeof f->set);
    mgvi_row_set_share(f->all, &f->set);
    f->kept = 0;
    MGVI_TRY(MGVI_SCRATCH(f->arena, f->list, rows));
    MGVI_TRY(MGVI_SCRATCH(f->arena, f->cap, rows));
    MGVI_TRY(MGVI_SCRATCH(f->arena, f->u, rows));
    MGVI_TRY(MGVI_SCRATCH(f->arena, f->trial, rows));
    return MGV_OK;
}

static mgv_status gather(mgvi_tall_finish *f, const uint8_t *place, mgvi_tall_reduced *r)
{
    const int64_t n = f->run->problem->A->rows;
    MGVI_TRY(make_room(f, mgvi_tall_place_count(place, f->s, n)));
    for (int64_t i = 0; i < n; i++) {
        const double s = mgvi_coef_pick(f->s, i, 0);
        if (place[i] != MGVI_ROW_KEPT || !(s > 0))
            continue;
        f->cap[f->kept] = s;
        f->list[f->kept++] = (int32_t)i;
    }
    r->set = &f->set;
    r->cap = f->cap;
    r->lambda = f->lambda;
    r->mu = f->mu;
    r->lin = f->lin;
    return mgvi_row_set_gather(f->rows, f->list, f->kept, true, f->spare, f->arena,
                               &f->run->touched, &f->set);
}

/* The kept rows, and the constants that the fixed ones leave. */
static mgv_status reduce(mgvi_tall_finish *f, const uint8_t *place, mgvi_tall_reduced *r)
{
    mgvi_vec *fixed = &f->run->lent[0];
    mgvi_tall_place_fixed(place, f->s, fixed);
    r->fixed = 0;
    for (int64_t i = 0; i < fixed->n; i++)
        r->fixed += fixed->x[i];
    mgvi_op_mul_t(f->run->problem->A, 1, fixed, 0, &f->product);
    memcpy(f->lin, f->product.x, (size_t)f->product.n * sizeof *f->lin);
    return gather(f, place, r);
}

/* w = start and u = 1 - A w of the kept rows. */
static void bind_smooth(mgvi_tall_finish *f, const double *start, double alpha)
{
    mgvi_tall_smooth *h = &f->smooth;
    memcpy(f->w, start, (size_t)f->run->problem->A->cols * sizeof *f->w);
    h->set = &f->set;
    h->v = f->cap;
    h->lambda = f->lambda;
    h->mu = f->mu;
    h->k = f->width;
    h->lin = f->lin;
    h->alpha = alpha;
    h->w = f->w;
    h->u = f->u;
    h->trial = f->trial;
    mgvi_tall_smooth_start(h);
}

/* The smoothed problem of the kept rows at the same alpha, from the smoothed point of all.
 * `*centred` when it was solved, `*loose` when it had to go far. */
static mgv_status recentre(mgvi_tall_finish *f, const double *start, double alpha, bool *centred,
                           bool *loose)
{
    mgvi_tall_smooth *h = &f->smooth;
    bind_smooth(f, start, alpha);
    *loose = false;
    for (int t = 0; t < RECENTRE; t++) {
        MGVI_TRY(mgvi_tall_smooth_sweep(h));
        *loose = *loose || h->decrement > LOOSE * alpha;
        if (h->decrement <= CENTRED * alpha)
            break;
        mgvi_tall_smooth_move(h, alpha, 0);
    }
    *centred = h->decrement <= NEARLY_CENTRED * alpha && !h->cautious;
    return MGV_OK;
}

/* Weights that the dual point says are 0 become so, unless that costs more than the target. */
static void make_zeros_exact(mgvi_tall_finish *f, const mgvi_tall_reduced *r, double target)
{
    static const double INSIDE = 1 - 1e-3;
    mgvi_tall_interior *ip = &f->interior;
    mgvi_tall_reduced_dual(r, ip->best_a, f->v);
    bool any = false;
    for (int64_t j = 0; j < r->set->cols; j++) {
        const bool zero = r->mu[j] > 0 && fabs(f->v[j]) < INSIDE * r->mu[j];
        f->w[j] = zero ? 0 : ip->best_w[j];
        any = any || f->w[j] != ip->best_w[j];
    }
    if (!any)
        return;
    mgvi_row_set_mul(r->set, f->w, f->trial);
    const mgvi_tall_value found = mgvi_tall_reduced_value(r, f->w, f->trial, ip->best_a, f->v);
    if (found.gap <= fmax(target, ip->best.gap)) {
        ip->best = found;
        memcpy(ip->best_w, f->w, (size_t)r->set->cols * sizeof *f->w);
    }
}

/* Interior point and polish in turn. */
static mgv_status solve_reduced(mgvi_tall_finish *f, const mgvi_tall_reduced *r, double target)
{
    mgvi_tall_interior *ip = &f->interior;
    const double early = f->lambda[0] > 0 ? POLISH_QUADRATIC : POLISH_VERTEX;
    MGVI_TRY(mgvi_tall_interior_run(ip, fmax(target, early), INTERIOR));
    if (ip->best.gap > target) {
        MGVI_TRY(mgvi_tall_polish(r, f->unit, ip->best_w, ip->best_a, &ip->best));
        if (ip->best.gap > target) {
            MGVI_TRY(mgvi_tall_interior_run(ip, target, INTERIOR));
            if (ip->best.gap > target)
                MGVI_TRY(mgvi_tall_polish(r, f->unit, ip->best_w, ip->best_a, &ip->best));
        }
    }
    make_zeros_exact(f, r, target);
    return MGV_OK;
}

/* The reduced problem, centred; rows that turn out to be needed join before it is solved. */
static mgv_status prepare(mgvi_tall_finish *f, uint8_t *place, const double *start, double alpha,
                          mgvi_tall_reduced *reduced, bool *centred)
{
    bool loose;
    *centred = false;
    MGVI_TRY(reduce(f, place, reduced));
    for (int t = 0; start && t < ATTEMPTS; t++) {
        MGVI_TRY(recentre(f, start, alpha, centred, &loose));
        if (!loose)
            break;
        memcpy(f->product.x, f->w, (size_t)f->product.n * sizeof *f->w);
        mgvi_vec *z = &f->run->lent[0];
        mgvi_op_mul(f->run->problem->A, 1, &f->product, 0, z);
        if (mgvi_tall_place_join(place, z->x, z->n, 0) == 0)
            break;
        MGVI_TRY(reduce(f, place, reduced));
    }
    return MGV_OK;
}

/* The dual point of all rows from that of the kept ones, which lie packed at its beginning: from
 * the end on, where no number is needed any more. */
static void spread(const mgvi_tall_finish *f, const uint8_t *place, mgvi_vec *u)
{
    for (int64_t i = u->n - 1, t = f->kept - 1; i >= 0; i--) {
        if (t >= 0 && f->list[t] == i)
            u->x[i] = -u->x[t--];
        else
            u->x[i] = place[i] == MGVI_ROW_ONE ? -mgvi_coef_pick(f->s, i, 0) : 0;
    }
}

/* The rest of the run, whatever the start; u is for best_a. */
static mgv_status finish_with(mgvi_tall_finish *f, const mgvi_tall_reduced *r, const uint8_t *place,
                              double target, mgvi_vec *w, mgvi_vec *u)
{
    MGVI_TRY(solve_reduced(f, r, target));
    f->value = f->interior.best;
    memcpy(w->x, f->interior.best_w, (size_t)w->n * sizeof *w->x);
    spread(f, place, u);
    return MGV_OK;
}

static void lend(mgvi_tall_finish *f, mgvi_vec *u)
{
    f->interior.z = f->run->lent[0].x; /* u is the other one: it is made of best_a at the end */
    f->interior.best_a = u->x;
    f->interior.row_right = f->u;
    f->interior.da = f->trial;
}

static mgv_status solve(mgvi_tall_finish *f, uint8_t *place, const double *start, double alpha,
                        double target, mgvi_vec *w, mgvi_vec *u)
{
    mgvi_tall_reduced reduced;
    bool centred;
    MGVI_TRY(prepare(f, place, start, alpha, &reduced, &centred));
    lend(f, u);
    if (centred)
        MGVI_TRY(mgvi_tall_interior_start(&f->interior, f->arena, &reduced, f->w, f->u, alpha,
                                          f->width));
    else
        MGVI_TRY(mgvi_tall_interior_cold(&f->interior, f->arena, &reduced, f->unit));
    return finish_with(f, &reduced, place, target, w, u);
}

static mgv_status solve_near(mgvi_tall_finish *f, uint8_t *place, const double *start,
                             const double *a, double tau, double target, mgvi_vec *w, mgvi_vec *u)
{
    mgvi_tall_reduced reduced;
    MGVI_TRY(reduce(f, place, &reduced));
    bind_smooth(f, start, 1);
    lend(f, u);
    for (int64_t t = 0; t < f->kept; t++)
        u->x[t] = a[f->list[t]];
    MGVI_TRY(mgvi_tall_interior_near(&f->interior, f->arena, &reduced, f->w, f->u, u->x, tau));
    return finish_with(f, &reduced, place, target, w, u);
}

/* How many fixed rows are on the wrong side of the hinge at the present point. They are kept from
 * now on, and with them those that are nearly there: others would follow one by one. */
static int64_t take_in(mgvi_tall_finish *f, uint8_t *place)
{
    static const double NEAR = 1; /* a margin */
    mgvi_vec *z = &f->run->lent[0];
    memcpy(f->product.x, f->interior.w, (size_t)f->product.n * sizeof *f->w);
    mgvi_op_mul(f->run->problem->A, 1, &f->product, 0, z);
    const int64_t wrong = mgvi_tall_place_join(place, z->x, z->n, 0);
    if (wrong > 0)
        mgvi_tall_place_join(place, z->x, z->n, NEAR);
    return wrong;
}

static mgv_status solve_cold(mgvi_tall_finish *f, uint8_t *place, double target, mgvi_vec *w,
                             mgvi_vec *u)
{
    /* Gaps at which the fixed rows are looked at: after a third of the steps, and two. */
    static const double LOOKS[] = {0.3, 1e-2};
    enum { STARTS = 5 }; /* then the round ends, and the next one has the rows */
    const size_t looks = sizeof LOOKS / sizeof *LOOKS;
    mgvi_tall_reduced reduced;
    for (int t = 0; t < STARTS; t++) {
        MGVI_TRY(reduce(f, place, &reduced));
        lend(f, u);
        MGVI_TRY(mgvi_tall_interior_cold(&f->interior, f->arena, &reduced, f->unit));
        int64_t joined = 0;
        for (size_t k = 0; k < looks && joined == 0; k++) {
            MGVI_TRY(mgvi_tall_interior_run(&f->interior, LOOKS[k], INTERIOR));
            joined = take_in(f, place);
            mgvi_row_set_mul(&f->set, f->interior.w, f->interior.z);
        }
        if (joined == 0 || mgvi_ctx_cut(f->run->ctx))
            break;
    }
    return finish_with(f, &reduced, place, target, w, u);
}

mgv_status mgvi_tall_finish_cold(mgvi_tall_finish *f, uint8_t *place, double target, mgvi_vec *w,
                                 mgvi_vec *u)
{
    const mgv_status st = solve_cold(f, place, target, w, u);
    mgvi_arena_free(f->arena);
    return st;
}

mgv_status mgvi_tall_finish_near(mgvi_tall_finish *f, uint8_t *place, const double *start,
                                 const double *a, double tau, double target, mgvi_vec *w,
                                 mgvi_vec *u)
{
    const mgv_status st = solve_near(f, place, start, a, tau, target, w, u);
    mgvi_arena_free(f->arena);
    return st;
}

mgv_status mgvi_tall_finish_solve(mgvi_tall_finish *f, uint8_t *place, const double *start,
                                  double alpha, double target, mgvi_vec *w, mgvi_vec *u)
{
    const mgv_status st = solve(f, place, start, alpha, target, w, u);
    mgvi_arena_free(f->arena);
    return st;
}
