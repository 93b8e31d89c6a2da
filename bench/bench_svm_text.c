/* bench_svm_text.c - text classification beside LIBLINEAR: the same problem in the same process,
 * C = 1, no intercept (LIBLINEAR's is regularised), float32 values in both.
 * usage: bench_svm_text [-q] FILE...   (libsvm text, packed or not; -q: the hinge only)
 *
 * More than two classes: the first against the rest. Rows are divided by their norms. For each
 * loss and penalty that LIBLINEAR knows: our milliseconds to a certified relative gap, and
 * LIBLINEAR's at the largest tolerance (found with hindsight) whose weights have at most that
 * primal suboptimality. Objectives are recomputed here in float64. */
#include "io/io.h"
#include "peer_liblinear.h"
#include "timing.h"

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

/* penalty/n + the mean of our loss */
static double objective(const struct problem *lp, const double *w, double sign, const void *user)
{
    const work *k = user;
    const mgvi_loss_ops *loss = mgvi_loss_find(k->loss);
    const mgvi_coef c = {.scale = k->factor};
    double sum = 0, penalty = 0;
    for (int i = 0; i < lp->l; i++)
        sum += loss->value(c, lp->y[i] * sign * peer_score(lp->x[i], w));
    for (int j = 0; j < lp->n; j++)
        penalty += k->l1 ? fabs(w[j]) : 0.5 * w[j] * w[j];
    return (sum + penalty) / (lp->l * k->factor);
}

static void compare(mgv_ctx *ctx, mgv_data *data, const struct problem *lp, const char *set,
                    const work *k)
{
    static const char *const tolerance[] = {"1e-3", "1e-6"};
    mgv_settings *s = bench_settings(ctx, "intercept=no time_limit=20 tol=1e-8");
    bench_set(ctx, s, "loss", k->loss);
    if (k->l1)
        bench_set_number(ctx, s, "mu", 1 / (k->factor * lp->l));
    else
        bench_set_number(ctx, s, "C", k->factor);
    const bench_timing exact = bench_fit(ctx, data, s, 1);
    const double optimum = exact.primal * (1 - exact.gap); /* a proven lower bound */
    char peer[32];
    snprintf(peer, sizeof peer, "LIBLINEAR %.4s", k->name);
    for (int t = 0; t < 2; t++) {
        const double tol = atof(tolerance[t]);
        bench_set(ctx, s, "tol", tolerance[t]);
        const struct parameter param = {.solver_type = k->solver_type, .C = 1, .p = .1};
        const peer_run b =
            peer_train(lp, param, k->eps, .7, optimum * (1 + tol), REPEATS, PATIENCE, objective, k);
        bench_timing a[2];
        bench_fit_threads(ctx, data, s, REPEATS, a);
        printf("%-29s %-16s %-5s %9.2f %9.2f %9.1e%s %6.1f %10.2f %9.1e %7.2f\n", k->name,
               a[1].solver, tolerance[t], 1e3 * a[0].seconds, 1e3 * a[1].seconds, a[1].gap,
               a[1].certified ? " " : "!", a[1].passes, 1e3 * b.seconds, b.objective / optimum - 1,
               b.seconds / a[1].seconds);
        fflush(stdout);
        char row[64], goal[16];
        snprintf(row, sizeof row, "%s, %s", set, k->name + strlen("-s 0 "));
        snprintf(goal, sizeof goal, "gap %s", tolerance[t]);
        bench_row_add((bench_row){.work = row,
                                  .goal = goal,
                                  .peer = peer,
                                  .ours = a[1].seconds,
                                  .one_thread = a[0].seconds,
                                  .uncertified = !a[1].certified,
                                  .theirs = b.seconds,
                                  .cut_off = b.objective > optimum * (1 + tol),
                                  .bar = k > works ? 0
                                         : t == 0  ? 1.5
                                                   : 2}); /* the hinge's */
    }
    mgv_settings_free(ctx, s);
}

/* Rows of norm 1 in float32; the first class against the rest. */
static mgv_data *prepare(mgv_ctx *ctx, const char *path)
{
    mgv_data *data, *out;
    mgv_settings *s = bench_settings(ctx, "");
    if (mgv_data_read(ctx, path, s, &data) != MGV_OK)
        bench_fail(ctx, path);
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
        bench_fail(ctx, path);
    return out;
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    bool hinge_only = false;
    int i = 1;
    bench_keep_memory();
    for (; i < argc && argv[i][0] == '-'; i++)
        if (strcmp(argv[i], "-q") == 0)
            hinge_only = true;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    set_print_string_function(peer_quiet);
    printf("\ntext: C = 1, no intercept; milliseconds, minimum of %d; LIBLINEAR %d, one thread\n",
           REPEATS, liblinear_version);
    for (; i < argc; i++) {
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
        char set[40];
        snprintf(set, sizeof set, "%.*s", (int)strcspn(name, ".-"), name);
        mgv_data *data = prepare(ctx, argv[i]);
        struct problem lp = peer_problem(data);
        printf("\n%s, %d x %d\n%-29s %-16s %-5s %9s %9s %9s  %6s %10s %9s %7s\n", name, lp.l, lp.n,
               "problem", "solver", "gap", "1 th. ms", "2 th. ms", "gap", "passes", "LIBLINEAR",
               "subopt", "ratio");
        for (size_t k = 0; k < (hinge_only ? 1 : sizeof works / sizeof *works); k++)
            compare(ctx, data, &lp, set, &works[k]);
        peer_free(&lp);
        mgv_data_free(ctx, data);
    }
    mgv_ctx_free(ctx);
    return 0;
}
