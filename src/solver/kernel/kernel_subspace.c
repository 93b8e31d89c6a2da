/* kernel_subspace.c - smooth losses with a kernel, softmax among them: Newton's method over the
 * span of a preconditioned gradient and the last displacements; docs/algorithms/kernel_subspace.md.
 *   w = A'c,   F(c, b) = lambda/2 |A'c|^2 + sum_i s_i G_i(z_i),   z = A A'c + b                (1)
 *   u' = -lambda c:  P - D(u') = sum_i s_i G_i(z_i) + (s_i G_i)*(u'_i) - u'_i z_i              (2)
 *   (c, b) <- argmin of F over c + span{M^-1 g, the last displacements} and all b              (3)
 * with g = lambda c + u, u the losses' slopes at z. c is a vector of A's rows for each class. With
 * the images A A'd of all directions at hand (3) needs no product with A, nor does (2), so that an
 * iteration costs one: that of M^-1 g. */
#include "solver/kernel/kernel_point.h"
#include "solver/kernel/landmarks.h"
#include "solver/kernel/subspace.h"
#include "solver/solver_impl.h"

#include <math.h>

enum { REMEMBERED = 32, FLAT_STEPS = 4 };

typedef struct state {
    mgvi_subspace span;
    mgvi_vec c, g;    /* rows */
    mgvi_vec image_c; /* A A'c */
    mgvi_landmarks landmarks;
    mgvi_vec bent, image_bent; /* g in the metric of the landmarks */
    mgvi_vec moved, image_moved;
    mgvi_vec found, image_found; /* c and its image as (3) has left them */
    mgvi_vec u;                  /* -lambda c, in the domain of the conjugates */
    mgvi_vec w, cols;            /* columns */
    mgvi_directions way;         /* g in the metric, then REMEMBERED displacements */
    double *curvature;           /* of every row, when the metric was made */
    bool rough;                  /* images of directions come from float32 values of K */
    bool together;               /* K's values are made elsewhere, for several problems at once */
    double before;               /* F when the step began */
    struct memory {
        double value, gap, least; /* F, and P - D of the present point; the least so far */
        double rounding;          /* what the judge will add to the gap */
        mgvi_past past;
        int64_t flat;
        int64_t refreshed; /* the iteration of the landmarks' metric, -1: none */
        int64_t wanted;    /* its rows */
        int64_t claims;    /* that the gap is small enough: c was made exact */
        double gap_then;   /* P - D when it was made */
        bool begun, exact; /* image_c is that of float64 values */
    } m;
} state;

static int64_t numbers(const state *s) { return s->c.n * s->c.k; }

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->c, &s->g, &s->image_c, &s->u, &s->moved,
                           &s->image_moved, &s->bent, &s->image_bent, &s->found, &s->image_found));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->cols));
    MGVI_TRY(mgvi_subspace_init(&s->span, run->problem, &run->arena, REMEMBERED + 1));
    mgvi_kernel_op *kernel = mgvi_kernel_of(run->problem->A);
    MGVI_TRY(mgvi_landmarks_init(&s->landmarks, run->problem, kernel, s->c.k, 1, &run->arena));
    s->curvature = mgvi_run_array(run, (size_t)s->c.n, sizeof *s->curvature);
    /* most of it may never be used, but a checkpoint shows all */
    void *(*const room)(mgvi_arena *, size_t, size_t) =
        run->kept ? mgvi_arena_array : mgvi_arena_scratch;
    const size_t bytes = (size_t)numbers(s) * sizeof(double);
    s->way = (mgvi_directions){.first = s->bent.x,
                               .first_image = s->image_bent.x,
                               .past = room(&run->arena, REMEMBERED, bytes),
                               .images = room(&run->arena, REMEMBERED, bytes)};
    if (!s->curvature || !s->way.past || !s->way.images)
        return MGV_E_MEMORY;
    s->rough = mgvi_kernel_expect_all(kernel, s->c.k == 1);
    s->m.gap = s->m.least = INFINITY;
    s->m.refreshed = -1;
    s->m.exact = true;
    MGVI_TRY(mgvi_run_keep(run, "c", MGVI_T_F64, s->c.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "g", MGVI_T_F64, s->g.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "slopes", MGVI_T_F64, s->span.u.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "b", MGVI_T_F64, s->span.b, s->c.k));
    MGVI_TRY(mgvi_run_keep(run, "image_c", MGVI_T_F64, s->image_c.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "past", MGVI_T_F64, s->way.past, REMEMBERED * numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "images", MGVI_T_F64, s->way.images, REMEMBERED * numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "curvature", MGVI_T_F64, s->curvature, s->c.n));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* What has a sign for every row loses it, or gets it back. */
static void turn(mgvi_run *run, const double *from, int64_t from_step, double *to, int64_t to_step)
{
    const state *s = run->state;
    mgvi_kernel_turn(s->landmarks.kernel, numbers(s), from, from_step, to, to_step);
}

/* image = A A'x of directions, where a float32 value is good enough. */
static mgv_status map(mgvi_run *run, const mgvi_vec *x, mgvi_vec *image)
{
    state *s = run->state;
    if (s->rough)
        return mgvi_kernel_rough_image(run->problem, x, &s->cols, image);
    mgvi_kernel_image(run->problem, x, &s->cols, image);
    return MGV_OK;
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    (void)u;
    state *s = run->state;
    mgvi_kernel_place(run->problem, w, &s->c, s->span.b);
    mgvi_kernel_image(run->problem, &s->c, &s->cols, &s->image_c);
    return run->problem->A->failed;
}

/* Whether to make the metric anew: it would cost about as much as all iterations so far, so that it
 * has to save more than these. More rows shorten what is left by a third or so, curvatures that
 * have changed by much shorten it by more. */
static bool is_due(mgvi_run *run)
{
    static const double CHANGED = 0.3;
    state *s = run->state;
    const double goal = run->goal * fabs(s->m.value), now = (double)run->iteration;
    const double then = (double)s->m.refreshed;
    if (s->m.refreshed < 0)
        return true;
    if (now < 2 * then || !(s->m.gap > goal))
        return false;
    const double fall = log(s->m.gap_then / s->m.gap) / (now - then); /* of the gap, an iteration */
    const double left = fall > 0 ? log(s->m.gap / goal) / fall : INFINITY;
    double apart = 0, sum = 0;
    mgvi_landmarks_measure(run->problem, &s->span.z, &s->span.u, s->moved.x);
    for (int64_t i = 0; i < s->c.n; i++) {
        apart += fabs(s->moved.x[i] - s->curvature[i]);
        sum += s->curvature[i];
    }
    const bool changed = apart > CHANGED * sum;
    return changed ? left > now : now >= 3 * then && left > 2.5 * now;
}

/* The curvatures that a metric is made from, here and now. */
static const double *bow(mgvi_run *run)
{
    state *s = run->state;
    s->m.refreshed = run->iteration;
    s->m.gap_then = s->m.gap;
    mgvi_landmarks_measure(run->problem, &s->span.z, &s->span.u, s->curvature);
    return s->curvature;
}

/* The metric now and then, and g in it.                                               (6) - (8) */
static mgv_status bend(mgvi_run *run)
{
    state *s = run->state;
    if (s->m.flat > 0) { /* M^-1 g need not lead downwards, g does: (2) falls along A A'g */
        mgvi_vec_copy(run->ctx, &s->g, &s->bent);
        return map(run, &s->bent, &s->image_bent);
    }
    if (is_due(run)) {
        const double *curvature = bow(run);
        s->m.wanted = mgvi_landmarks_fair(&s->landmarks, (double)run->iteration);
        MGVI_TRY(mgvi_landmarks_make(&s->landmarks, s->m.wanted, &curvature));
    }
    turn(run, s->g.x, 1, s->moved.x, 1);
    MGVI_TRY(mgvi_landmarks_apply(&s->landmarks, s->moved.x, s->bent.x));
    turn(run, s->bent.x, 1, s->bent.x, 1);
    return map(run, &s->bent, &s->image_bent);
}

/* z from c and b, afresh. */
static void set_scores(mgvi_run *run)
{
    state *s = run->state;
    mgvi_kernel_scores(run->problem, &s->image_c, s->span.b, &s->span.z);
}

/* c moves by what was found. */
static void move(mgvi_run *run)
{
    state *s = run->state;
    mgvi_subspace_move(&s->span, &s->way, &s->m.past, &s->moved, &s->image_moved);
    mgvi_vec_axpby(run->ctx, 1, &s->moved, 1, &s->c);
    mgvi_vec_axpby(run->ctx, 1, &s->image_moved, 1, &s->image_c);
}

/* P - D at which the judge should be content: with room for what he adds for rounding, so that he
 * need not look closer, at fifty times a product's work. Where that takes most of it, he has to. */
static double goal(const mgvi_run *run)
{
    static const double ROOM = 0.7;
    const state *s = run->state;
    const double whole = run->goal * fabs(s->m.value);
    return whole - (s->m.rounding < ROOM * whole ? s->m.rounding : 0);
}

/* g, F, and the gap. */
static void measure(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const mgvi_kernel_dual dual = {.problem = p,
                                   .c = &s->c,
                                   .image = &s->image_c,
                                   .b = s->span.b,
                                   .u = &s->u,
                                   .rows = &s->moved,
                                   .cols = &s->cols,
                                   .lanes = s->span.partial};
    double loss = 0, *lane = s->span.partial;
    const double length = p->lambda * mgvi_vec_inner(run->ctx, &s->c, &s->image_c);
    mgvi_loss_value(run->ctx, p->loss, &p->row, &s->span.z, lane);
    for (int32_t c = 0; c < s->c.k; c++)
        loss += lane[c];
    s->m.value = loss + 0.5 * length;
    s->m.gap = fmax(loss + length + mgvi_kernel_dual_price(&dual, s->m.value), 0);
    mgvi_vec_add(run->ctx, p->lambda, &s->c, 1, &s->span.u, &s->g);
    s->m.rounding = s->m.gap <= run->goal * fabs(s->m.value)
                        ? mgvi_kernel_dual_rounding(&dual, &s->span.u, &s->w)
                        : 0;
}

/* z, its slopes and the gap of what c and its image are, with the intercepts best for them. */
static mgv_status look(mgvi_run *run)
{
    state *s = run->state;
    s->span.count = 0;
    set_scores(run);
    MGVI_TRY(mgvi_subspace_minimise(&s->span, 0));
    measure(run);
    return MGV_OK;
}

/* F says nothing of c where K is 0, nor much where it is small, but (2) does: the whole step
 * c - M^-1 g, whose image is known too, is taken where its gap is the least.                (9) */
static mgv_status try_whole_step(mgvi_run *run)
{
    state *s = run->state;
    const double lambda = run->problem->lambda, gap = s->m.gap;
    mgvi_vec_copy(run->ctx, &s->c, &s->found);
    mgvi_vec_copy(run->ctx, &s->image_c, &s->image_found);
    mgvi_vec from = s->c, image = s->c; /* the displacement just made */
    from.x = mgvi_subspace_direction(&s->span, &s->way, &s->m.past, 1, &image.x);
    mgvi_vec_axpby(run->ctx, -1, &from, 1, &s->c);
    mgvi_vec_axpby(run->ctx, -1, &image, 1, &s->image_c);
    mgvi_vec_axpby(run->ctx, -1 / lambda, &s->bent, 1, &s->c);
    mgvi_vec_axpby(run->ctx, -1 / lambda, &s->image_bent, 1, &s->image_c);
    MGVI_TRY(look(run));
    if (s->m.gap < fmin(gap, s->m.least))
        return MGV_OK;
    mgvi_vec_copy(run->ctx, &s->found, &s->c);
    mgvi_vec_copy(run->ctx, &s->image_found, &s->image_c);
    return look(run);
}

/* Near the goal c becomes what u' says, so that both have one image, and that is to be made in
 * float64: the judge will ask for it. What float32 values have left out the steps to come correct.
 */
static bool is_rough(const mgvi_run *run)
{
    const state *s = run->state;
    const double claims = fmin((double)s->m.claims, 3); /* were in vain: not so soon again */
    return !s->m.exact && s->m.gap <= goal(run) * exp2(-claims);
}

static void round_off(mgvi_run *run)
{
    state *s = run->state;
    mgvi_kernel_dual_level(run->problem, &s->u, s->moved.x);
    mgvi_vec_add(run->ctx, -1 / run->problem->lambda, &s->u, 0, &s->u, &s->c);
}

/* Whether scores may have changed by more than a hundredth of what is asked for, c from `found`. */
static bool has_moved(mgvi_run *run)
{
    state *s = run->state;
    const double *diagonal = mgvi_kernel_diagonal(s->landmarks.kernel);
    double apart = 0, slopes = 0, most = 0;
    for (int64_t i = 0; i < numbers(s); i++) {
        const double root = sqrt(fmax(diagonal[i / s->c.k], 0));
        apart += fabs(s->c.x[i] - s->found.x[i]) * root;
        slopes += fabs(s->span.u.x[i]);
        most = fmax(most, root);
    }
    return !(apart * most * slopes <= 0.01 * goal(run));
}

/* Where u' had to be clipped c moves by that, and its scores may lose what (2) has promised: that
 * is seen in float32, at a fifth of the work. Then c stays, and the judge makes an image of u' too.
 */
static mgv_status firm_up(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec_copy(run->ctx, &s->c, &s->found);
    round_off(run);
    if (s->rough && has_moved(run)) {
        MGVI_TRY(map(run, &s->c, &s->image_c));
        MGVI_TRY(look(run));
        if (s->m.gap <= goal(run))
            round_off(run);
        else
            mgvi_vec_copy(run->ctx, &s->found, &s->c);
    }
    mgvi_kernel_image(run->problem, &s->c, &s->cols, &s->image_c);
    s->m.exact = true;
    s->m.claims++;
    return look(run);
}

/* (3); displacements of which rounding has left nothing are forgotten. */
static mgv_status search(mgvi_run *run)
{
    static const double INNER = 1e-3; /* how exactly (3) is solved, beside the gap */
    state *s = run->state;
    const double enough = s->m.begun ? INNER * s->m.gap : 0;
    mgvi_subspace_describe(&s->span, &s->way, s->m.begun ? &s->m.past : NULL, &s->image_c);
    const mgv_status st = mgvi_subspace_minimise(&s->span, enough);
    if (st != MGV_E_NUMERIC || s->m.past.count == 0)
        return st;
    s->m.past.count = 0;
    set_scores(run);
    mgvi_subspace_describe(&s->span, &s->way, s->m.begun ? &s->m.past : NULL, &s->image_c);
    return mgvi_subspace_minimise(&s->span, enough);
}

/* What follows when the direction has its image. */
static mgv_status go(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(search(run));
    if (s->m.begun)
        move(run);
    s->m.exact = !s->m.begun || !(s->rough || s->together);
    measure(run);
    return s->m.begun ? try_whole_step(run) : MGV_OK;
}

/* What the step has gained. */
static void conclude(mgvi_run *run)
{
    state *s = run->state;
    const bool better = s->m.value < s->before || s->m.gap < s->m.least;
    s->m.least = fmin(s->m.least, s->m.gap);
    s->m.flat = s->m.begun && !better ? s->m.flat + 1 : 0;
    s->m.begun = true;
    run->finished = s->m.flat >= FLAT_STEPS || s->m.gap == 0;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    s->before = s->m.value;
    set_scores(run);
    if (s->m.begun)
        MGVI_TRY(bend(run));
    MGVI_TRY(go(run));
    if (is_rough(run))
        MGVI_TRY(firm_up(run));
    conclude(run);
    return run->problem->A->failed;
}

/* ---- several problems together --------------------------------------------------------------- */

/* Vectors are lanes of a block here, and coefficients of points: without signs. */
static void join(mgvi_run *run, const double *w)
{
    state *s = run->state;
    s->together = true;
    if (!w)
        return;
    mgvi_kernel_place(run->problem, w, &s->c, s->span.b);
    s->m.exact = false;
    s->m.gap = 0; /* once its image is known */
}

static bool ask(mgvi_run *run, double *to, int64_t lanes)
{
    const state *s = run->state;
    set_scores(run);
    turn(run, s->g.x, 1, to, lanes);
    return s->m.flat == 0;
}

static mgv_status take(mgvi_run *run, const double *bent, const double *image, int64_t lanes)
{
    state *s = run->state;
    s->before = s->m.value;
    turn(run, bent, lanes, s->bent.x, 1);
    turn(run, image, lanes, s->image_bent.x, 1);
    MGVI_TRY(go(run));
    if (is_rough(run))
        round_off(run);
    else
        conclude(run);
    return MGV_OK;
}

static void tell(mgvi_run *run, double *to, int64_t lanes)
{
    const state *s = run->state;
    turn(run, s->c.x, 1, to, lanes);
}

static mgv_status settle(mgvi_run *run, const double *image, int64_t lanes)
{
    state *s = run->state;
    turn(run, image, lanes, s->image_c.x, 1);
    if (!s->m.begun)
        return step(run);
    s->m.exact = true;
    MGVI_TRY(look(run));
    conclude(run);
    return MGV_OK;
}

static bool is_there(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.exact && s->m.gap <= goal(run);
}

static void show_image(mgvi_run *run, double *to)
{
    const state *s = run->state;
    turn(run, s->image_c.x, 1, to, 1);
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    mgvi_kernel_to_columns(run->problem, &s->c, s->span.b, &s->w);
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

/* The gap is known: the judge need not be asked far from the end. */
static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return !is_there(run) ? INFINITY : s->m.gap / fmax(fabs(s->m.value), 1e-300);
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    bool sound = s->m.past.count >= 0 && s->m.past.count <= REMEMBERED && s->m.past.newest >= 0 &&
                 s->m.past.newest < REMEMBERED && s->m.refreshed <= run->iteration;
    sound = sound && s->m.wanted >= 0 && s->m.wanted <= s->landmarks.most;
    for (int64_t i = 0; sound && i < s->c.n; i++)
        sound = s->curvature[i] >= 0;
    if (!sound)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of %s is damaged", run->ops->name);
    const double *curvature = s->curvature;
    return s->m.refreshed < 0 ? MGV_OK
                              : mgvi_landmarks_make(&s->landmarks, s->m.wanted, &curvature);
}

/* 3 to 10 products with K at C = 1/(lambda n) = 1, 20 to 60 at C = 100, and a metric of about as
 * much work; an entry costs 20 multiplications. kernel_svm knows squared hinges better where few
 * rows keep a slack, but not where a row is far from satisfying itself: then nearly all of them do.
 */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    (void)settings;
    static const double WEAK = 0.1;
    const unsigned own = MGVI_HALVED | MGVI_MARGIN;
    const double C = 1 / (p->lambda * (double)p->A->rows);
    const double *diagonal = mgvi_kernel_diagonal(mgvi_kernel_of(p->A));
    double trace = 0;
    for (int64_t i = 0; i < p->A->rows; i++)
        trace += diagonal[i];
    if ((p->loss->can & own) == own && C * trace < WEAK * (double)p->A->rows)
        return 0.5 * mgvi_kernel_cost(p); /* less than kernel_svm says */
    return 2 * 20 * 5 * (1 + sqrt(C)) * (double)p->A->nnz;
}

static const mgvi_product_ops products = {.join = join,
                                          .is_due = is_due,
                                          .bow = bow,
                                          .ask = ask,
                                          .take = take,
                                          .waits = is_rough,
                                          .tell = tell,
                                          .settle = settle,
                                          .is_there = is_there,
                                          .image = show_image};

const mgvi_solver_ops mgvi_solver_kernel_subspace = {
    .name = "kernel_subspace",
    .summary = "smooth losses with a kernel, softmax too: Newton over the last directions",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_GRAD | MGVI_SMOOTH, .op = MGVI_KERNEL},
    .no = {.penalty = MGVI_ABS},
    .joint = true,
    .kernels = true,
    .uniform = true,
    .cost = cost,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
    .products = &products,
};
