/* kernel_subspace.c - smooth losses with a kernel, softmax among them: Newton's method over the
 * span of the gradient and the last displacements; docs/algorithms/kernel_subspace.md.
 *   w = A'c,   F(c, b) = lambda/2 |A'c|^2 + sum_i s_i G_i(z_i),   z = A A'c + b                (1)
 *   g = lambda c + u,  u the losses' slopes at z:  P - D = <g, A A'g>/(2 lambda)               (2)
 *   (c, b) <- argmin of F over c + span{g, the last displacements} and all b                   (3)
 * c is a vector of A's rows for each class. With the images A A'd of all directions at hand (3)
 * needs no product with A, so that an iteration costs one: that of the next g. */
#include "solver/parts/landmarks.h"
#include "solver/parts/subspace.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum { REMEMBERED = 6, FLAT_STEPS = 4 };

typedef struct state {
    mgvi_subspace span;
    mgvi_vec c, g;             /* rows */
    mgvi_vec image_c, image_g; /* A A'c, A A'g */
    mgvi_landmarks landmarks;
    mgvi_vec bent, image_bent; /* g in the metric of the landmarks */
    mgvi_vec moved, image_moved;
    mgvi_vec w, cols;      /* columns */
    double *past, *images; /* REMEMBERED displacements and their images */
    struct memory {
        double value, gap; /* F, and P - D of the present point */
        int64_t pasts, newest, flat;
        int64_t refreshed; /* the iteration of the landmarks' metric, -1: none */
        bool begun;
    } m;
} state;

static int64_t numbers(const state *s) { return s->c.n * s->c.k; }

/* <x, y> over all lanes. */
static double dot(mgvi_run *run, double *x, double *y)
{
    const state *s = run->state;
    const mgvi_vec a = mgvi_vec_wrap(x, numbers(s), MGVI_ROWS);
    const mgvi_vec b = mgvi_vec_wrap(y, numbers(s), MGVI_ROWS);
    double sum;
    mgvi_vec_dot(run->ctx, &a, &b, &sum);
    return sum;
}

/* A'x over the penalised columns; the intercepts' entries are those of `b`, NULL: 0. */
static void to_columns(mgvi_run *run, const mgvi_vec *x, const double *b, mgvi_vec *out)
{
    const mgv_problem *p = run->problem;
    mgvi_op_mul_t(p->A, 1, x, 0, out);
    for (int32_t c = 0; p->free_cols && c < out->k; c++)
        out->x[(out->n - 1) * out->k + c] = b ? b[c] : 0;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    mgvi_vec *const rows[] = {&s->c,     &s->g,           &s->image_c, &s->image_g,
                              &s->moved, &s->image_moved, &s->bent,    &s->image_bent};
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
        MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, rows[t]));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->cols));
    MGVI_TRY(mgvi_subspace_init(&s->span, run->problem, &run->arena, REMEMBERED + 2));
    MGVI_TRY(mgvi_landmarks_init(&s->landmarks, run->problem, &run->arena));
    s->past = mgvi_run_array(run, REMEMBERED, (size_t)numbers(s) * sizeof *s->past);
    s->images = mgvi_run_array(run, REMEMBERED, (size_t)numbers(s) * sizeof *s->images);
    if (!s->past || !s->images)
        return MGV_E_MEMORY;
    mgvi_kernel_expect_all(s->landmarks.kernel);
    s->m.gap = INFINITY;
    s->m.refreshed = -1;
    MGVI_TRY(mgvi_run_keep(run, "c", MGVI_T_F64, s->c.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "g", MGVI_T_F64, s->g.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->span.u.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "b", MGVI_T_F64, s->span.b, s->c.k));
    MGVI_TRY(mgvi_run_keep(run, "image_c", MGVI_T_F64, s->image_c.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "image_g", MGVI_T_F64, s->image_g.x, numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "past", MGVI_T_F64, s->past, REMEMBERED * numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "images", MGVI_T_F64, s->images, REMEMBERED * numbers(s)));
    MGVI_TRY(mgvi_run_keep(run, "curvature", MGVI_T_F64, s->landmarks.curvature, s->c.n));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

/* From the weights of a neighbouring problem, such as another lambda: columns are rows here. */
static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    (void)u;
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int32_t k = s->c.k;
    for (int64_t i = 0; i < s->c.n; i++)
        for (int32_t c = 0; c < k; c++)
            s->c.x[i * k + c] = mgvi_problem_free_entry(p, i) * w[i * k + c];
    for (int32_t c = 0; p->free_cols && c < k; c++)
        s->span.b[c] = w[s->c.n * k + c];
    to_columns(run, &s->c, NULL, &s->cols);
    mgvi_op_mul(p->A, 1, &s->cols, 0, &s->image_c);
    return p->A->failed;
}

/* Direction j and its image: g, g in the metric where there is one, then displacements from the
 * newest. */
static double *direction(state *s, int j, double **image)
{
    const int first = s->landmarks.count > 0 ? 2 : 1;
    const int64_t at = ((s->m.newest + first - j) % REMEMBERED + REMEMBERED) % REMEMBERED;
    const bool past = j >= first;
    *image = past ? s->images + at * numbers(s) : j == 0 ? s->image_g.x : s->image_bent.x;
    return past ? s->past + at * numbers(s) : j == 0 ? s->g.x : s->bent.x;
}

/* The metric now and then: the curvatures settle as the run goes on.                    (6), (7) */
static mgv_status bend(mgvi_run *run)
{
    state *s = run->state;
    if (s->m.refreshed < 0 || 2 * run->iteration >= 3 * s->m.refreshed + 2) {
        s->m.refreshed = run->iteration;
        MGVI_TRY(mgvi_landmarks_refresh(&s->landmarks, &s->span.z, &s->span.u));
    }
    return s->landmarks.count > 0
               ? mgvi_landmarks_apply(&s->landmarks, &s->g, &s->image_g, &s->bent, &s->image_bent)
               : MGV_OK;
}

/* The quadratic part of F over the span, in theta.                                          (3) */
static void describe_span(mgvi_run *run)
{
    state *s = run->state;
    mgvi_subspace *span = &s->span;
    const double lambda = run->problem->lambda;
    span->count = s->m.begun ? (s->landmarks.count > 0 ? 2 : 1) + (int)s->m.pasts : 0;
    for (int j = 0; j < span->count; j++) {
        double *image, *other_image, *d = direction(s, j, &image);
        span->image[j] = image;
        span->linear[j] = lambda * dot(run, d, s->image_c.x);
        for (int l = 0; l <= j; l++) {
            direction(s, l, &other_image);
            const double q = lambda * dot(run, d, other_image);
            span->quadratic[j * span->most + l] = span->quadratic[l * span->most + j] = q;
        }
    }
}

/* z from c and b, afresh. */
static void set_scores(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    const int32_t k = s->c.k;
    for (int64_t i = 0; i < s->c.n; i++)
        for (int32_t c = 0; c < k; c++)
            s->span.z.x[i * k + c] =
                s->image_c.x[i * k + c] +
                (p->free_cols ? mgvi_problem_free_entry(p, i) * s->span.b[c] : 0);
}

/* c moves by what was found, which is remembered in the place of the oldest. */
static void move(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_subspace *span = &s->span;
    mgvi_vec_fill(run->ctx, &s->moved, 0);
    mgvi_vec_fill(run->ctx, &s->image_moved, 0);
    for (int j = 0; j < span->count; j++) {
        mgvi_vec d = s->c, e = s->c;
        d.x = direction(s, j, &e.x);
        mgvi_vec_axpby(run->ctx, span->theta[j], &d, 1, &s->moved);
        mgvi_vec_axpby(run->ctx, span->theta[j], &e, 1, &s->image_moved);
    }
    mgvi_vec_axpby(run->ctx, 1, &s->moved, 1, &s->c);
    mgvi_vec_axpby(run->ctx, 1, &s->image_moved, 1, &s->image_c);
    s->m.newest = (s->m.newest + 1) % REMEMBERED;
    s->m.pasts = s->m.pasts < REMEMBERED ? s->m.pasts + 1 : REMEMBERED;
    mgvi_vec to = s->c;
    to.x = s->past + s->m.newest * numbers(s);
    mgvi_vec_copy(run->ctx, &s->moved, &to);
    to.x = s->images + s->m.newest * numbers(s);
    mgvi_vec_copy(run->ctx, &s->image_moved, &to);
}

/* g and its image, the product of the iteration, and what they say of the gap: (2), and the price
 * of slopes of the intercepts that are not 0 yet. */
static void measure(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgvi_vec_add(run->ctx, p->lambda, &s->c, 1, &s->span.u, &s->g);
    to_columns(run, &s->g, NULL, &s->cols);
    mgvi_op_mul(p->A, 1, &s->cols, 0, &s->image_g);
    s->m.gap = fmax(dot(run, s->g.x, s->image_g.x), 0) / (2 * p->lambda);
    mgvi_op_mul_t(p->A, 1, &s->span.u, 0, &s->cols);
    for (int32_t c = 0; p->free_cols && c < s->c.k; c++)
        s->m.gap += fabs(s->cols.x[(s->cols.n - 1) * s->c.k + c]);
}

static mgv_status step(mgvi_run *run)
{
    static const double INNER = 1e-3; /* how exactly (3) is solved, beside the gap */
    state *s = run->state;
    const double before = s->m.value;
    set_scores(run);
    if (s->m.begun)
        MGVI_TRY(bend(run));
    describe_span(run);
    MGVI_TRY(mgvi_subspace_minimise(&s->span, s->m.begun ? INNER * s->m.gap : 0));
    s->m.value = s->span.value + 0.5 * run->problem->lambda * dot(run, s->c.x, s->image_c.x);
    if (s->m.begun)
        move(run);
    measure(run);
    s->m.flat = s->m.begun && !(s->m.value < before) ? s->m.flat + 1 : 0;
    s->m.begun = true;
    run->finished = s->m.flat >= FLAT_STEPS || s->m.gap == 0;
    return run->problem->A->failed;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    to_columns(run, &s->c, s->span.b, &s->w);
    return (mgvi_iterate){.w = &s->w, .u = &s->span.u};
}

/* The gap is known: the judge need not be asked far from the end. */
static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    const double gap = s->m.gap / fmax(fabs(s->m.value), 1e-300);
    return gap > 2 * run->settings->tol ? INFINITY : gap;
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    bool sound = s->m.pasts >= 0 && s->m.pasts <= REMEMBERED && s->m.newest >= 0 &&
                 s->m.newest < REMEMBERED && s->m.refreshed <= run->iteration;
    for (int64_t i = 0; sound && i < s->c.n; i++)
        sound = s->landmarks.curvature[i] >= 0;
    if (!sound)
        return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of %s is damaged", run->ops->name);
    return s->m.refreshed < 0 ? MGV_OK : mgvi_landmarks_rebuild(&s->landmarks);
}

/* 5 to 20 products with K at C = 1/(lambda n) = 1, 30 to 700 at C = 1000; an entry read costs 40
 * multiplications. kernel_svm knows the squared hinge better: only on request. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    (void)settings;
    const double C = 1 / (p->lambda * (double)p->A->rows);
    if (strcmp(p->loss->name, "squared_hinge") == 0)
        return INFINITY;
    return 40 * 10 * (1 + sqrt(C)) * (double)p->A->nnz;
}

const mgvi_solver_ops mgvi_solver_kernel_subspace = {
    .name = "kernel_subspace",
    .summary = "smooth losses with a kernel, softmax too: Newton over the last directions",
    .needs = {.penalty = MGVI_VALUE, .loss = MGVI_GRAD | MGVI_SMOOTH, .op = MGVI_KERNEL},
    .penalties = "l2",
    .losses = "softmax logistic squared huber smooth_hinge sqrt_hinge squared_hinge",
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
};
