/* case.c - a random problem from its seed. */
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const loss_names[LOSSES] = {
    "hinge",   "squared_hinge", "smooth_hinge", "sqrt_hinge", "logistic", "exponential",   "margin",
    "squared", "huber",         "equal",        "interval",   "softmax",  "crammer_singer"};
const char *const penalty_names[PENALTIES] = {"l2",      "l1",   "enet",      "lp",     "linf",
                                              "group",   "owl",  "l1_nonneg", "nonneg", "box",
                                              "entropy", "tv1d", "nuclear",   "tv2d"};
const char *const kernel_names[KERNELS] = {"linear", "rbf", "laplace", "poly", "precomputed"};
const char *const scaling_names[SCALINGS] = {"none", "std", "maxabs", "rownorm"};
const char *const form_names[FORMS] = {"two", "quantity",   "ovr",
                                       "ovo", "joint loss", "joint margin"};
const char *const offset_names[OFFSETS] = {"<1e1", "<1e3", "<1e6", "<1e9", ">1e9"};

/* ---- randomness ------------------------------------------------------------------------------ */

static uint64_t state;

static uint64_t next(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(double low, double high)
{
    return low + (high - low) * ((double)(next() >> 11) * 0x1p-53);
}

static int below(int n) { return (int)(next() % (uint64_t)n); }
static bool chance(double p) { return uniform(0, 1) < p; }
static double power10(double low, double high) { return pow(10, uniform(low, high)); }

static double normal(void)
{
    const double u = uniform(1e-300, 1), v = uniform(0, 1);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Small sizes as often as large ones. */
static int size(void) { return (int)floor(exp(uniform(0, log(MOST + 0.999)))); }

/* The largest divisor up to the root: rows of a matrix or image of d weights. */
static int side(int d)
{
    int best = 1;
    for (int r = 1; r * r <= d; r++)
        best = d % r == 0 ? r : best;
    return best;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static void column_sizes(torture_case *c, double *spread)
{
    const double all = chance(0.5) ? 1 : power10(-12, 12);
    const int mode = chance(0.75) ? 0 : chance(0.7) ? 1 : 2;
    for (int j = 0; j < c->d; j++)
        spread[j] = mode == 0 ? all : mode == 1 ? all * power10(-2, 2) : power10(-12, 12);
    c->sane = mode < 2;
}

/* A number of unit size: continuous, whole, or mostly 0. */
static double unit(int mode)
{
    if (mode == 0)
        return normal();
    if (mode == 1)
        return below(7) - 3;
    return chance(0.7) ? 0 : normal();
}

static void fill(torture_case *c, double *plain)
{
    double spread[MOST], offset[MOST];
    const int mode = chance(0.6) ? 0 : 1 + below(2);
    const double ratio = chance(0.45) ? 0 : chance(0.45) ? power10(0, 6) : power10(6, 13);
    column_sizes(c, spread);
    for (int j = 0; j < c->d; j++)
        offset[j] = ratio * spread[j] * uniform(0.3, 1) * (chance(0.5) ? 1 : -1);
    const bool repeated = chance(0.1);
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < c->d; j++) {
            const int from = repeated && i > 0 && i % 3 == 0 ? i - 1 : i;
            plain[i * c->d + j] = from < i ? plain[from * c->d + j] : unit(mode);
            const double x = offset[j] + spread[j] * plain[i * c->d + j];
            c->x[i * c->d + j] = c->f32 ? (double)(float)x : x;
        }
}

/* |mean|/spread of a column; of one that is constant and not 0 there is no spread at all. */
static double offset_of(const double *x, int n, int stride)
{
    quad mean = 0, var = 0;
    for (int i = 0; i < n; i++)
        mean += (quad)x[i * stride] / n;
    for (int i = 0; i < n; i++)
        var += (x[i * stride] - mean) * (x[i * stride] - mean) / n;
    return mean == 0 || n == 1 ? 0 : var > 0 ? (double)(q_abs(mean) / q_sqrt(var)) : INFINITY;
}

/* The largest, the quantity included. */
static void measure_offset(torture_case *c)
{
    c->offset = c->form == QUANTITY ? offset_of(c->y, c->n, 1) : 0;
    for (int j = 0; j < c->d; j++)
        c->offset = fmax(c->offset, offset_of(c->x + j, c->n, c->d));
    c->offset_class = c->offset < 1e1   ? 0
                      : c->offset < 1e3 ? 1
                      : c->offset < 1e6 ? 2
                      : c->offset < 1e9 ? 3
                                        : 4;
}

/* A kernel's values: products of small whole numbers, so that they are exact. */
static void fill_products(torture_case *c, double *plain)
{
    static double row[MOST][4];
    const double all = chance(0.5) ? 1 : ldexp(1, below(61) - 30);
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < 4; j++)
            row[i][j] = below(9) - 4;
    c->d = c->n;
    c->sane = true;
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->n; k++) {
            double sum = 0;
            for (int j = 0; j < 4; j++)
                sum += row[i][j] * row[k][j];
            plain[i * c->d + k] = sum;
            c->x[i * c->d + k] = all * all * (sum + (i == k));
        }
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void label_classes(torture_case *c, const double *plain)
{
    const double noise = power10(-3, 0.5);
    double direction[CLASSES][MOST];
    for (int k = 0; k < c->classes; k++)
        for (int j = 0; j < c->d; j++)
            direction[k][j] = normal() / sqrt(c->d);
    for (int i = 0; i < c->n; i++) {
        double best = -INFINITY;
        for (int k = 0; k < c->classes; k++) {
            double score = noise * normal();
            for (int j = 0; j < c->d; j++)
                score += direction[k][j] * plain[i * c->d + j];
            if (score > best) {
                best = score;
                c->y[i] = k;
            }
        }
    }
    for (int k = 0; k < c->classes && k < c->n; k++) /* none is missing */
        c->y[k] = k;
}

static void label_quantity(torture_case *c, const double *plain)
{
    const double noise = power10(-3, 0.5), all = chance(0.5) ? 1 : power10(-6, 6);
    const double offset = chance(0.5) ? 0 : all * power10(0, 6);
    double direction[MOST];
    for (int j = 0; j < c->d; j++)
        direction[j] = normal() / sqrt(c->d);
    for (int i = 0; i < c->n; i++) {
        double score = noise * normal();
        for (int j = 0; j < c->d; j++)
            score += direction[j] * plain[i * c->d + j];
        c->y[i] = offset + all * score;
    }
}

/* ---- terms ----------------------------------------------------------------------------------- */

static void choose_form(torture_case *c)
{
    static const loss of_two[] = {HINGE,    HINGE,    SQUARED_HINGE, SMOOTH_HINGE, SQRT_HINGE,
                                  LOGISTIC, LOGISTIC, EXPONENTIAL,   MARGIN,       MARGIN};
    static const loss of_quantity[] = {SQUARED, SQUARED, HUBER, EQUAL, INTERVAL};
    const double at = uniform(0, 1);
    c->form = at < 0.5 ? TWO : at < 0.75 ? QUANTITY : (form)(OVR + below(4));
    c->classes = c->form == TWO ? 2 : c->form == QUANTITY ? 0 : 3 + below(CLASSES - 2);
    if (c->form == QUANTITY)
        c->loss = of_quantity[below(5)];
    else if (c->form == ALL_AT_ONCE)
        c->loss = chance(0.5) ? SOFTMAX : CRAMMER_SINGER;
    else
        c->loss = c->form == JOINT ? MARGIN : of_two[below(10)];
}

static void choose_penalty(torture_case *c)
{
    const bool single = c->form == TWO || c->form == QUANTITY;
    c->p = 2;
    c->kernel = chance(0.2) ? (kernel)(RBF + below(4)) : LINEAR;
    if (c->kernel != LINEAR) {
        c->penalty = L2;
        return;
    }
    const double at = uniform(0, 1);
    c->penalty = at < 0.5 ? L2 : at < 0.7 ? L1 : at < 0.8 ? ENET : at < 0.88 ? LP : L2;
    if (at >= 0.88 && single)
        c->penalty = (penalty)(LINF + below(PENALTIES - LINF));
    if (c->form == ALL_AT_ONCE && chance(0.8))
        c->penalty = L2;
    if (c->form == JOINT)
        c->penalty = chance(0.8) ? L2 : LP;
    if (c->penalty == LP)
        c->p = chance(0.5) ? 1.5 : uniform(1.05, 1.95);
}

/* Strengths beside what the data calls for: the mean square of a centred row, and for mu its root
 * times the size of the labels. */
static void choose_strengths(torture_case *c)
{
    double square = 0, label = 0;
    for (int j = 0; j < c->d; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < c->n; i++) {
            low = fmin(low, c->x[i * c->d + j]);
            high = fmax(high, c->x[i * c->d + j]);
        }
        square += (high - low) * (high - low) / 4;
    }
    for (int i = 0; i < c->n; i++)
        label = fmax(label, fabs(c->y[i] - c->y[0]));
    if (c->form != QUANTITY)
        label = 1;
    if (c->scaling == SCALE_STD || c->scaling == SCALE_MAXABS)
        square = c->d;
    if (c->scaling == SCALE_ROWNORM || c->kernel != LINEAR)
        square = 1;
    for (int i = 0; i < c->n && c->kernel == PRECOMPUTED; i++)
        square = fmax(square, c->x[i * c->d + i]);
    if (!(square > 0) || !(label > 0))
        square = label = 1;
    const bool fits = !chance(0.1);
    c->sane = c->sane && fits;
    const double length = sqrt(square);
    c->lambda = (fits ? square : 1) * power10(-5, 1);
    c->mu = (fits ? length * label : 1) * power10(-4, 0);
    if (c->penalty == LP)
        c->lambda = pow(length, c->p) * power10(-4, 0);
    if (c->penalty == ENTROPY)
        c->lambda = power10(-4, 0);
    c->smoothing = c->loss == HUBER ? label * power10(-2, 1) : power10(-2, 1);
    c->epsilon = label * power10(-3, 0);
    c->low = -uniform(0, 2) / length * label;
    c->high = uniform(0, 2) / length * label;
    c->sigma2 = 0;
}

/* One in five goes to a solver by name, for a while; many will refuse. */
static void choose_solver(torture_case *c)
{
    static const char *const margin[] = {"momentum_margin",
                                         "primal_dual",
                                         "dual_diagonal",
                                         "dual_coordinate",
                                         "mirror_coordinate",
                                         "accelerated_coordinate",
                                         "perceptron",
                                         "batch_perceptron",
                                         "normalized_gd",
                                         "gd",
                                         "homotopic_subgradient",
                                         "hinge_subgradient",
                                         "mirror_sgd"};
    static const char *const two[] = {"newton",
                                      "dual_coordinate",
                                      "column_generation",
                                      "mirror_coordinate",
                                      "accelerated_coordinate",
                                      "primal_dual",
                                      "proximal_newton",
                                      "smsvm",
                                      "cg_descent",
                                      "nesterov_sgd",
                                      "adadelta",
                                      "adam"};
    static const char *const quantity[] = {
        "least_squares",   "proximal_newton",    "primal_coordinate",
        "dual_coordinate", "primal_dual",        "mirror_coordinate",
        "bregman",         "linearized_bregman", "accelerated_dual_gradient",
        "landweber",       "nesterov_landweber", "accelerated_coordinate"};
    static const char *const joint[] = {"lbfgs",           "class_coordinate", "primal_dual",
                                        "momentum_margin", "batch_perceptron", "exact_margin"};
    static const char *const kernels[] = {"kernel_svm",      "kernel_subspace", "feature_margin",
                                          "dual_coordinate", "primal_dual",     "momentum_margin"};
    const char *name = "auto";
    if (chance(0.2))
        name = c->kernel != LINEAR                          ? kernels[below(6)]
               : c->form == QUANTITY                        ? quantity[below(12)]
               : c->form == ALL_AT_ONCE || c->form == JOINT ? joint[below(6)]
               : c->loss == MARGIN                          ? margin[below(12)]
                                                            : two[below(12)];
    snprintf(c->solver, sizeof c->solver, "%s", name);
    c->max_iter = strcmp(name, "auto") == 0 ? 0 : 300;
}

/* The width of a kernel beside the spread of the points. */
static void choose_width(torture_case *c)
{
    double square = 0;
    for (int j = 0; j < c->d; j++) {
        quad mean = 0, var = 0;
        for (int i = 0; i < c->n; i++)
            mean += c->x[i * c->d + j];
        for (int i = 0; i < c->n; i++) {
            const quad off = c->x[i * c->d + j] - mean / c->n;
            var += off * off;
        }
        square += (double)(var / c->n);
    }
    if (c->scaling == SCALE_STD || c->scaling == SCALE_MAXABS)
        square = c->d;
    if (c->scaling == SCALE_ROWNORM || !(square > 0))
        square = 1;
    c->sigma2 = square * power10(-1.5, 1.5);
    c->degree = 1 + below(4);
    c->kernel_offset = chance(0.3) ? 0 : 1;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int case_members(const torture_case *c)
{
    return c->form == OVR ? c->classes : c->form == OVO ? c->classes * (c->classes - 1) / 2 : 1;
}

bool case_must_verify(const torture_case *c)
{
    if (c->penalty == TV1D || c->penalty == TV2D) /* their conjugates are rarely finite */
        return false;
    return c->sane && c->offset < 1e6 && (c->tol >= 1e-6 || (c->tol >= 1e-9 && c->offset < 1e2));
}

void case_make(uint64_t seed, torture_case *c)
{
    static const double tols[] = {1e-4, 1e-4, 1e-4, 1e-2, 1e-6, 1e-6, 1e-9, 1e-12};
    static double plain[MOST * MOST];
    memset(c, 0, sizeof *c);
    state = seed * 0x2545f4914f6cdd1du + 1;
    c->seed = seed;
    choose_form(c);
    choose_penalty(c);
    c->n = size();
    if (c->n < c->classes && (c->classes > 2 || chance(0.95)))
        c->n = c->classes + below(MOST - c->classes);
    c->d = size();
    c->intercept = chance(0.7);
    c->sparse = chance(0.3);
    c->f32 = chance(0.25);
    c->scaling = chance(0.6) ? SCALE_NONE : (scaling)(1 + below(3));
    if (c->kernel == POLY && c->scaling == SCALE_STD)
        c->scaling = SCALE_MAXABS; /* std would centre, and so change the kernel */
    c->shape_rows = side(c->d);
    if (c->kernel == PRECOMPUTED) {
        c->scaling = SCALE_NONE;
        c->sparse = c->f32 = false;
        fill_products(c, plain);
    } else {
        fill(c, plain);
    }
    if (c->form == QUANTITY)
        label_quantity(c, plain);
    else
        label_classes(c, plain);
    c->weighted = chance(0.2);
    for (int i = 0; i < c->n; i++)
        c->weight[i] = !c->weighted ? 1 : chance(0.1) ? 0 : power10(-2, 2);
    for (int j = 0; j < c->d; j++)
        c->group[j] = j % 5 == 4 ? -1 : j / 3;
    if (c->kernel != PRECOMPUTED)
        measure_offset(c);
    choose_strengths(c);
    choose_width(c);
    c->tol = tols[below(8)];
    choose_solver(c);
    case_settings(c);
}
