/* bench_svm_text.c - text classification beside LIBLINEAR: the same problem in the same process,
 * C = 1, no intercept (LIBLINEAR's is regularised), float32 values in both.
 * usage: bench_svm_text [-q] FILE...   (libsvm text, packed or not; -q: the hinge only)
 *
 * More than two classes: the first against the rest. Rows are divided by their norms. For each
 * loss and penalty that LIBLINEAR knows: our milliseconds to a certified relative gap, and
 * LIBLINEAR's at the largest tolerance (found with hindsight) whose weights have at most that
 * primal suboptimality. Objectives are recomputed here in float64. */
#include "base/memory.h"
#include "io/io.h"
#include "model/model.h"
#include "peer_liblinear.h"

#include <stdio.h>
#include <string.h>

enum { REPEATS = 5 };
static const double PATIENCE = 4; /* seconds of one training before we stop asking for more */

/* A problem that both know:  penalty + factor C sum loss  in LIBLINEAR's spelling. */
typedef struct work {
    const char *name, *loss;
    int solver_type;
    bool l1;
    double factor; /* our loss, times this, is theirs */
    double eps;    /* where the search for its tolerance starts */
    bool smooth;
} work;

static const work works[] = {
    {"-s 3 l2 hinge", "hinge", L2R_L1LOSS_SVC_DUAL, false, 1, 2, false},
    {"-s 0 l2 logistic", "logistic", L2R_LR, false, 1, .3, true},
    {"-s 7 l2 logistic (dual)", "logistic", L2R_LR_DUAL, false, 1, 2, true},
    {"-s 2 l2 squared hinge", "squared_hinge", L2R_L2LOSS_SVC, false, 2, .3, true},
    {"-s 1 l2 squared hinge (dual)", "squared_hinge", L2R_L2LOSS_SVC_DUAL, false, 2, 2, true},
    {"-s 5 l1 squared hinge", "squared_hinge", L1R_L2LOSS_SVC, true, 2, .3, true},
    {"-s 6 l1 logistic", "logistic", L1R_LR, true, 1, .3, true},
};

static void fail(mgv_ctx *ctx, const char *what)
{
    fprintf(stderr, "bench_svm_text: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

static void set(mgv_ctx *ctx, mgv_settings *s, const char *name, const char *value)
{
    if (mgv_settings_set(ctx, s, name, value) != MGV_OK)
        fail(ctx, name);
}

static void set_number(mgv_ctx *ctx, mgv_settings *s, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    set(ctx, s, name, text);
}

/* penalty/n + the mean of our loss */
static double objective(const struct problem *lp, const double *w, double sign, const void *user)
{
    const work *k = user;
    const mgvi_loss_ops *loss = mgvi_loss_find(k->loss);
    const mgvi_coef c = {.scale = k->factor};
    double sum = 0, penalty = 0;
    for (int i = 0; i < lp->l; i++) {
        double z = 0;
        for (const struct feature_node *f = lp->x[i]; f->index > 0; f++)
            z += w[f->index - 1] * f->value;
        sum += loss->value(c, lp->y[i] * sign * z);
    }
    for (int j = 0; j < lp->n; j++)
        penalty += k->l1 ? fabs(w[j]) : 0.5 * w[j] * w[j];
    return (sum + penalty) / (lp->l * k->factor);
}

typedef struct timing {
    double seconds, primal, gap, passes;
    char solver[32];
    bool certified;
} timing;

static timing fit(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, int repeats)
{
    timing best = {.seconds = INFINITY};
    for (int r = 0; r < repeats; r++) {
        mgv_problem *problem;
        mgv_solver *solver;
        const double start = mgvi_clock_seconds();
        if (mgv_problem_new(ctx, data, settings, &problem) != MGV_OK ||
            mgv_solver_new(ctx, problem, settings, &solver) != MGV_OK ||
            mgv_solver_run(ctx, solver) != MGV_OK)
            fail(ctx, "fit");
        const double seconds = mgvi_clock_seconds() - start;
        mgv_certificate c = {.size = sizeof c};
        mgv_run_info info = {.size = sizeof info};
        mgv_solver_describe(solver, &info, &c);
        if (seconds < best.seconds) {
            best = (timing){seconds,     c.primal, c.relative_gap,
                            info.passes, "",       info.stop == MGV_STOP_CERTIFIED};
            snprintf(best.solver, sizeof best.solver, "%s", info.solver);
        }
        mgv_solver_free(ctx, solver);
        mgv_problem_free(ctx, problem);
    }
    return best;
}

static void compare(mgv_ctx *ctx, mgv_data *data, const struct problem *lp, const work *k)
{
    static const char *const tolerance[] = {"1e-3", "1e-6"};
    mgv_settings *s;
    if (mgv_settings_new(ctx, &s) != MGV_OK)
        fail(ctx, "settings");
    set(ctx, s, "loss", k->loss);
    set(ctx, s, "intercept", "no");
    set(ctx, s, "time_limit", "20");
    if (k->l1)
        set_number(ctx, s, "mu", 1 / (k->factor * lp->l));
    else
        set_number(ctx, s, "C", k->factor);
    set(ctx, s, "tol", "1e-8");
    const timing exact = fit(ctx, data, s, 1);
    const double optimum = exact.primal * (1 - exact.gap); /* a proven lower bound */
    for (int t = 0; t < 2; t++) {
        const double tol = atof(tolerance[t]);
        set(ctx, s, "tol", tolerance[t]);
        const struct parameter param = {.solver_type = k->solver_type, .C = 1, .p = .1};
        const peer_run b =
            peer_train(lp, param, k->eps, .7, optimum * (1 + tol), REPEATS, PATIENCE, objective, k);
        for (int threads = 1; threads <= 2; threads++) {
            mgv_ctx_set_threads(ctx, threads);
            const timing a = fit(ctx, data, s, REPEATS);
            printf("%-29s %-16s %-5s %2d %9.2f %9.1e%s %6.1f %10.2f %9.1e %7.2f\n", k->name,
                   a.solver, tolerance[t], threads, 1e3 * a.seconds, a.gap, a.certified ? " " : "!",
                   a.passes, 1e3 * b.seconds, b.objective / optimum - 1, b.seconds / a.seconds);
            fflush(stdout);
        }
    }
    mgv_settings_free(ctx, s);
}

/* Rows of norm 1 in float32; the first class against the rest. */
static mgv_data *prepare(mgv_ctx *ctx, const char *path)
{
    mgv_settings *s;
    mgv_data *data, *out;
    if (mgv_settings_new(ctx, &s) != MGV_OK || mgv_data_read(ctx, path, s, &data) != MGV_OK)
        fail(ctx, path);
    mgv_settings_free(ctx, s);
    const mgvi_matrix *X = &data->X;
    if (X->layout != MGV_CSR) {
        fprintf(stderr, "bench_svm_text: %s is not sparse\n", path);
        exit(1);
    }
    float *val = malloc((size_t)X->nnz * sizeof *val);
    double *labels = malloc((size_t)X->rows * sizeof *labels);
    for (int64_t i = 0; i < X->rows; i++) {
        double square = 0;
        for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++)
            square += mgvi_matrix_value(X, t) * mgvi_matrix_value(X, t);
        for (int64_t t = X->ptr[i]; t < X->ptr[i + 1]; t++)
            val[t] = (float)(mgvi_matrix_value(X, t) / sqrt(square));
        labels[i] = data->classes == 2 ? data->labels[i] : data->labels[i] == data->class_value[0];
    }
    /* the arrays live as long as the program */
    if (mgv_data_from_sparse(ctx, MGV_CSR, MGV_F32, val, X->ptr, X->idx, X->rows, X->cols, &out) !=
            MGV_OK ||
        mgv_data_set_labels(ctx, out, labels) != MGV_OK)
        fail(ctx, path);
    return out;
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    const bool hinge_only = argc > 1 && strcmp(argv[1], "-q") == 0;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    set_print_string_function(peer_quiet);
    printf("C = 1, no intercept; milliseconds, minimum of %d; LIBLINEAR %d, one thread\n", REPEATS,
           liblinear_version);
    for (int i = 1 + hinge_only; i < argc; i++) {
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
        mgv_data *data = prepare(ctx, argv[i]);
        struct problem lp = peer_problem(data);
        printf("\n%s, %d x %d\n%-29s %-16s %-5s %2s %9s %9s  %6s %10s %9s %7s\n", name, lp.l, lp.n,
               "problem", "solver", "gap", "th", "ours ms", "gap", "passes", "LIBLINEAR", "subopt",
               "ratio");
        for (size_t k = 0; k < (hinge_only ? 1 : sizeof works / sizeof *works); k++)
            compare(ctx, data, &lp, &works[k]);
        peer_free(&lp);
        mgv_data_free(ctx, data);
    }
    mgv_ctx_free(ctx);
    return 0;
}
