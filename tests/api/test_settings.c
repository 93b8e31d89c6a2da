/* test_settings.c - every setting, through the public functions alone, changes what comes out or is
 * refused with a sentence. A setting that has no line here, or that nobody reads, fails. */
#include "check.h"

#include "base/rng.h"
#include "base/settings.h"
#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 40, D = 6, K = 3, SIDE = 24, LONG = 20000 };

typedef enum scenario {
    FIT,
    CLASSES,
    SELECT,
    PATH,
    READ,
    READ_SVM,
    COMPLETE,
    DEBLUR,
    MAKE
} scenario;

/* `options` with and without `name` = `value`; a value of NULL: another test sees to it. */
typedef struct line {
    const char *name, *value;
    scenario what;
    const char *options;
} line;

#define DIAGONAL "loss=margin intercept=no solver=dual_diagonal max_iter=20 tol=1e-9"
#define MOMENTUM "loss=margin intercept=no solver=momentum_margin max_iter=20 tol=1e-9"
#define COORDINATE                                                                                 \
    "loss=margin intercept=no solver=mirror_coordinate shrink=no max_iter=20 tol=1e-9"
#define PRIMAL_DUAL "loss=logistic penalty=l1 mu=0.01 solver=primal_dual max_iter=20 tol=1e-12"
#define BASIS "loss=equal task=regress penalty=l1 solver=primal_dual max_iter=20"
#define LASSO "task=regress penalty=l1 select=cv:4"

#define SMSVM "loss=hinge lambda=0.01 penalty=enet mu=0.05 solver=smsvm max_iter=6 tol=0"

static const line lines[] = {
    {"preset", "apidopoulos-alg1", FIT, "max_iter=20"},
    {"task", "regress", FIT, ""},
    {"loss", "logistic", FIT, ""},
    {"penalty", "linf", FIT, "loss=logistic C=1"},
    {"lambda", "0.5", FIT, ""},
    {"mu", "0.01", FIT, ""},
    {"C", "3", FIT, ""},
    {"p", "1.5", FIT, "loss=logistic"},
    {"smoothing", "0.3", FIT, "loss=smooth_hinge"},
    {"epsilon", "0.3", FIT, "loss=interval task=regress max_iter=20"},
    {"kernel", "rbf", FIT, ""},
    {"sigma2", "0.3", FIT, "kernel=rbf"},
    {"degree", "2", FIT, "kernel=poly"},
    {"offset", "2", FIT, "kernel=poly"},
    {"intercept", "no", FIT, ""},
    {"scale", "std", FIT, ""},
    {"groups", "groups", FIT, "loss=logistic penalty=group mu=0.02"},
    {"group_weight", "one", FIT, "loss=logistic penalty=group mu=0.02"},
    {"owl", "oscar:0.9", FIT, "loss=logistic penalty=owl mu=0.01"},
    {"shape", "3x2", FIT, "loss=logistic penalty=nuclear shape=2x3 mu=0.02"},
    {"low", "-0.1", FIT, "loss=squared task=regress penalty=box high=1 max_iter=100"},
    {"high", "0.1", FIT, "loss=squared task=regress penalty=box low=-1 max_iter=100"},
    {"penalty_weight", "columns", FIT, ""},
    {"multiclass", "ovo", CLASSES, ""},
    {"class_weight", "balanced", CLASSES, ""},
    {"sample_weight", "rows", FIT, ""},
    {"lower", "rows", FIT, "task=regress loss=epsilon_insensitive epsilon=9"},
    {"upper", "rows", FIT, "task=regress loss=epsilon_insensitive epsilon=9"},
    {"solver", "dual_coordinate", FIT, ""},
    {"seed", "7", FIT, "solver=dual_coordinate"},
    {"schedule", "sqrt", FIT, DIAGONAL},
    {"lambda0", "3", FIT, DIAGONAL},
    {"inertia", "5", FIT, DIAGONAL},
    {"inertia_first", "1", FIT, DIAGONAL " dual_diagonal.restart=no"},
    {"dual_diagonal_start", "0.5", FIT, DIAGONAL " lambda0=1"},
    {"dual_diagonal_restart", NULL, FIT, "it takes rows that can be told apart: the test below"},
    {"accelerated_coordinate_restart", "no", FIT,
     "loss=hinge intercept=no solver=accelerated_coordinate max_iter=20 tol=1e-12"},
    {"primal_dual_restart", "no", FIT, PRIMAL_DUAL " max_iter=400"},
    {"sigma", "0.1", FIT, PRIMAL_DUAL},
    {"sigma_factor", "0.5", FIT, BASIS},
    {"kappa", "2", FIT, "loss=equal task=regress penalty=l1 solver=linearized_bregman max_iter=9"},
    {"acceleration", "nu", FIT,
     "loss=equal task=regress penalty=l1 solver=linearized_bregman max_iter=9"},
    {"extrapolated", "no", FIT,
     "loss=equal task=regress penalty=l1 solver=accelerated_dual_gradient max_iter=9"},
    {"heavy_ball", "0.5", FIT,
     "loss=equal task=regress penalty=l1 solver=linearized_bregman acceleration=heavy_ball "
     "max_iter=9"},
    {"nu", "2", FIT,
     "loss=equal task=regress penalty=l1 solver=linearized_bregman acceleration=nu max_iter=9"},
    {"fidelity", "squared", FIT,
     "loss=equal task=regress penalty=l1 solver=linearized_bregman max_iter=9"},
    {"step_ratio", "0.01", FIT, PRIMAL_DUAL},
    {"prox_error", "0.1", FIT,
     "penalty=tv2d shape=2x3 split=no loss=squared task=regress mu=0.1 max_iter=30"},
    {"prox_decay", "3", FIT,
     "penalty=tv2d shape=2x3 split=no loss=squared task=regress mu=0.1 max_iter=30 prox_error=0.1"},
    {"truth", NULL, COMPLETE, "it is in the trace alone: tests/complete"},
    {"bregman_rho", "0.5", FIT, "loss=equal task=regress penalty=l1 solver=bregman max_iter=3"},
    {"inner_steps", "1", FIT, "loss=equal task=regress penalty=l1 solver=bregman max_iter=3"},
    {"steps", "diagonal", FIT, PRIMAL_DUAL " scale=none"},
    {"iterate", "average", FIT, PRIMAL_DUAL},
    {"row_order", "draw", FIT, COORDINATE},
    {"row_bound", "largest", FIT, COORDINATE " exact_steps=no"},
    {"draws", "3", FIT, "loss=margin intercept=no solver=mirror_sgd max_iter=20 tol=1e-9"},
    {"sgd_step", "0.01", FIT, "loss=margin intercept=no solver=mirror_sgd max_iter=20 tol=1e-9"},
    {"mistake", "hinge", FIT, "loss=margin intercept=no solver=perceptron max_iter=20 tol=1e-9"},
    {"lazy", "7", SELECT, BASIS " select=last"},
    {"split", "yes", FIT,
     "penalty=tv1d intercept=no loss=squared task=regress mu=0.01 max_iter=30 solver=primal_dual"},
    {"backtracking", "no", FIT, DIAGONAL},
    {"lipschitz", "90", FIT, PRIMAL_DUAL},
    {"short_proof", "yes", FIT, "loss=margin intercept=no solver=momentum_margin"},
    {"shrink", "no", FIT, "solver=dual_coordinate tol=1e-9"},
    {"exact_steps", "no", FIT,
     "p=1.5 loss=margin intercept=no solver=mirror_coordinate max_iter=20"},
    {"surrogate", "logistic", FIT, MOMENTUM},
    {"large_steps", "no", FIT, MOMENTUM},
    {"sampling", "yes", FIT, MOMENTUM " large_steps=no"},
    {"theta", "0.5", FIT, MOMENTUM},
    {"theta_schedule", "sqrt", FIT, MOMENTUM " theta=2"},
    {"momentum_margin_beta", "0.5", FIT, MOMENTUM " large_steps=no"},
    {"momentum_margin_lambda", "nesterov", FIT, MOMENTUM " large_steps=no"},
    {"momentum_margin_rho", "n", FIT, MOMENTUM " surrogate=logistic large_steps=no"},
    {"perceptron_form", "projected", FIT,
     "loss=margin intercept=no solver=batch_perceptron max_iter=50"},
    {"prox_tol", "0.5", FIT,
     "penalty=tv2d shape=2x3 split=no loss=squared task=regress mu=0.1 max_iter=30"},
    {"batch", "4", FIT, "loss=logistic solver=adam max_iter=20"},
    {"rate", "0.01", FIT, "loss=logistic solver=nesterov_sgd max_iter=20"},
    {"momentum", "0.5", FIT, "loss=logistic solver=nesterov_sgd max_iter=20"},
    {"adadelta_decay", "0.5", FIT, "loss=logistic solver=adadelta max_iter=20"},
    {"first_moment", "0.5", FIT, "loss=logistic solver=adam max_iter=20"},
    {"second_moment", "0.5", FIT, "loss=logistic solver=adam max_iter=20"},
    {"square_floor", "1e-3", FIT, "loss=logistic solver=adam max_iter=20"},
    {"smsvm_form", "literal", FIT, SMSVM},
    {"smoother", "softplus", FIT, SMSVM},
    {"alpha_start", "4", FIT, SMSVM},
    {"alpha_factor", "0.5", FIT, SMSVM},
    {"alpha_end", "1", FIT, SMSVM},
    {"level_tol", "1e-3", FIT, SMSVM},
    {"backend", "elsewhere", FIT, ""},
    {"select", "cv:3", SELECT, "select=holdout:0.3"},
    {"apriori_factor", "2", SELECT, BASIS " select=apriori:0.5 max_iter=1000"},
    {"patience_points", "1", SELECT, "select=cv:3"},
    {"patience_epochs", "1", SELECT, "loss=softmax select=holdout:0.3"},
    {"patience_iterations", "1", SELECT, BASIS " select=cv:3 max_iter=500"},
    {"lambda_grid", "0.1,1", SELECT, "select=cv:3"},
    {"mu_grid", "0.1,0.01", SELECT, "select=cv:3"},
    {"row_groups", "rows", SELECT, "select=cv:3"},
    {"outer", NULL, SELECT, ""},  /* assess/test_assess.c */
    {"repeat", NULL, SELECT, ""}, /* the same */
    {"validation_labels", "classes", SELECT, "select=val:rows.csv"},
    {"one_se", "yes", SELECT, LASSO},
    {"debias", "yes", SELECT, LASSO},
    {"stable", "0.9", SELECT, LASSO},
    {"path_points", "7", SELECT, "select=cv:3"},
    {"path_end", "0.2", SELECT, "select=cv:3"},
    {"path_gap", "1e-6", SELECT, LASSO},
    {"enet_share", "0.9", SELECT, "task=regress penalty=enet select=cv:3"},
    {"edges", "periodic", DEBLUR, ""},
    {"noise", "0.2", DEBLUR, ""},
    {"noise_factor", "2", DEBLUR, ""},
    {"tol", "0.5", FIT, "solver=dual_coordinate"},
    {"max_iter", "1", FIT, "solver=dual_coordinate tol=1e-9"},
    {"max_passes", "1", FIT, "solver=dual_coordinate tol=1e-9"},
    {"time_limit", "0", FIT, "solver=dual_coordinate tol=1e-9"},
    {"along", "mu", PATH, "loss=logistic path_points=3"},
    {"strengths", "0.1,0.2", PATH, "loss=logistic"},
    {"rank_max", "1", COMPLETE, ""},
    {"biases", "yes", COMPLETE, ""},
    {"finish", "no", COMPLETE, ""},
    {"format", "libsvm", READ, ""},
    {"base", "0", READ_SVM, ""},
    {"features", "20", READ, ""},
    {"precision", "f32", READ, ""},
    {"header", "yes", READ, ""},
    {"label_column", "first", READ, ""},
    {"labels", "classes", READ, ""},
    {"names", "columns", READ, ""},
    {"separator", "tab", READ, ""},
    {"classes", "1", READ, ""},
    {"flip_labels", "0.3", READ, ""},
    {"rows", "9", MAKE, "toy"},
    {"columns", "9", MAKE, "tall rows=8"},
    {"test_rows", "9", MAKE, "toy"},
    {"variance", "2", MAKE, "gaussians rows=8"},
    {"separation", "2", MAKE, "wide rows=8"},
    {"rho", "0.5", MAKE, "toeplitz rows=8"},
    {"snr", "2", MAKE, "toeplitz rows=8"},
    {"delta", "2", MAKE, "toeplitz rows=8"},
    {"support", "3", MAKE, "sparse_halfspace rows=8"},
    {"spread", "3", MAKE, "toeplitz rows=8"},
    {"rank", "2", MAKE, "low_rank rows=20"},
    {"seen", "0.5", MAKE, "low_rank rows=20"},
    {"size", "3", MAKE, "low_rank rows=20"},
    {"decay", "2", MAKE, "halfspace rows=8"},
    {"shift", "3", MAKE, "halfspace rows=8"},
    {"clearance", "2", MAKE, "halfspace rows=8"},
    {"max_expansion", NULL, READ, "it takes 64 MiB to see: tests/io/test_source.c"},
    {"cache", "0", FIT, "kernel=rbf C=100 tol=1e-9"},
    {"threads", "3", FIT, ""},
    {"every", NULL, FIT, "it takes a clock to see: tests/torture/kills.py"},
    {"checkpoint", "state.new", FIT, "solver=dual_coordinate tol=1e-9 max_iter=2"},
    {"resume", "state.old", FIT, "solver=dual_coordinate tol=1e-9 max_iter=1"},
};

/* ---- what comes out -------------------------------------------------------------------------- */

/* The outcome of a call as text; long ones are cut, and everything is summed up in `hash`. */
typedef struct outcome {
    uint64_t hash;
    char text[400];
} outcome;

static void note(outcome *o, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++)
        o->hash = (o->hash ^ b[i]) * UINT64_C(0x100000001b3);
}

static void say(outcome *o, const char *text)
{
    note(o, text, strlen(text));
    snprintf(o->text, sizeof o->text, "%s", text);
}

static void note_solver(outcome *o, const mgv_solver *solver)
{
    mgv_run_info run = {.size = sizeof run};
    const double *values;
    int64_t count;
    mgv_solver_describe(solver, &run, NULL);
    say(o, mgv_stop_name(run.stop));
    note(o, run.solver, strlen(run.solver));
    note(o, &run.iterations, sizeof run.iterations);
    note(o, &run.passes, sizeof run.passes);
    mgv_solver_weights(solver, &values, &count);
    note(o, values, (size_t)count * sizeof *values);
    mgv_solver_dual(solver, &values, &count);
    note(o, values, (size_t)count * sizeof *values);
}

/* ---- the data -------------------------------------------------------------------------------- */

typedef struct table {
    double X[N * D], y[N], three[N];
} table;

static void fill(table *t)
{
    mgvi_rng rng = mgvi_rng_seed(77);
    for (int i = 0; i < N; i++) {
        double score = 0.4 * mgvi_rng_normal(&rng);
        for (int j = 0; j < D; j++) {
            t->X[i * D + j] = mgvi_rng_normal(&rng) * (1 + j);
            score += t->X[i * D + j] / (1 + 3 * j);
        }
        t->y[i] = score > 0 ? 1 : -1;
        t->three[i] = score > 1 ? 2 : score > -1.5;
    }
    for (int j = 0; j < D; j++) /* no weights tell these apart */
        t->X[D + j] = t->X[j];
    t->y[1] = -t->y[0];
}

static void write_column(const char *name, int count, int modulus)
{
    FILE *f = fopen(name, "w");
    for (int i = 0; f && i < count; i++)
        fprintf(f, "%d\n", 1 + (i * 7 + i / 3) % modulus);
    CHECK(f && fclose(f) == 0);
}

static void write_files(const table *t)
{
    write_column("rows", N, 5);
    write_column("columns", D, 4);
    write_column("groups", D, 2);
    write_column("classes", N, 2);
    FILE *f = fopen("rows.csv", "w");
    for (int i = 0; f && i < N; i++) {
        for (int j = 0; j < D; j++)
            fprintf(f, "%.3f,", t->X[i * D + j]);
        fprintf(f, "%g\n", t->y[i]);
    }
    CHECK(f && fclose(f) == 0);
    f = fopen("rows.svm", "w");
    for (int i = 0; f && i < N; i++)
        fprintf(f, "%g 1:%.3f 3:%.3f\n", t->y[i], t->X[i * D], t->X[i * D + 1]);
    CHECK(f && fclose(f) == 0);
}

/* ---- scenarios ------------------------------------------------------------------------------- */

static const int64_t group[D] = {0, 0, 0, 0, 1, 2};

static mgv_status solve(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, outcome *o)
{
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    mgv_status st = mgv_problem_new(ctx, data, settings, &problem);
    if (st == MGV_OK)
        st = mgv_solver_new(ctx, problem, settings, &solver);
    if (st == MGV_OK)
        st = mgv_solver_run(ctx, solver);
    if (st == MGV_OK) {
        note_solver(o, solver);
        note(o, mgv_problem_formula(problem), strlen(mgv_problem_formula(problem)));
    }
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    return st;
}

static mgv_status choose(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, outcome *o)
{
    mgv_selection *s = NULL;
    mgv_selection_info info = {.size = sizeof info};
    mgv_path_point point = {.size = sizeof point};
    MGVI_TRY(mgv_selection_run(ctx, data, settings, &s));
    mgv_selection_describe(s, &info);
    note_solver(o, mgv_selection_solver(s));
    note(o, &info.points, sizeof info.points);
    note(o, &info.score, sizeof info.score);
    for (int64_t k = 0; k < info.points; k++) {
        mgv_selection_point(s, k, &point);
        note(o, &point.score, sizeof point.score);
        note(o, &point.lambda, sizeof point.lambda);
    }
    mgv_selection_free(ctx, s);
    return MGV_OK;
}

static mgv_status walk(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, outcome *o)
{
    mgv_path *path;
    const mgv_solver *solver;
    MGVI_TRY(mgv_path_new(ctx, data, settings, &path));
    mgv_status st = mgv_path_next(ctx, path, &solver);
    if (st == MGV_OK)
        note_solver(o, solver);
    mgv_path_free(ctx, path);
    return st;
}

static mgv_status on_table(mgv_ctx *ctx, scenario what, const mgv_settings *settings,
                           const table *t, outcome *o)
{
    mgv_data *data;
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, t->X, N, D, D, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, what == CLASSES ? t->three : t->y));
    CHECK_OK(ctx, mgv_data_set_groups(ctx, data, group));
    const mgv_status st = what == SELECT ? choose(ctx, data, settings, o)
                          : what == PATH ? walk(ctx, data, settings, o)
                                         : solve(ctx, data, settings, o);
    mgv_data_free(ctx, data);
    return st;
}

static mgv_status read_table(mgv_ctx *ctx, const char *file, const mgv_settings *settings,
                             outcome *o)
{
    mgv_data *data;
    mgv_data_info info = {.size = sizeof info};
    MGVI_TRY(mgv_data_read(ctx, file, settings, &data));
    mgv_data_describe(data, &info);
    const int64_t numbers[] = {info.rows, info.cols, info.classes, (int64_t)info.dtype};
    note(o, numbers, sizeof numbers);
    if (data->labels)
        note(o, data->labels, (size_t)info.rows * sizeof *data->labels);
    for (int64_t c = 0; c < info.classes; c++)
        note(o, mgv_data_class(data, c), strlen(mgv_data_class(data, c)));
    mgv_settings *any;
    mgv_selection *s = NULL;
    mgv_feature feature = {.size = sizeof feature};
    CHECK_OK(ctx, mgv_settings_new(ctx, &any)); /* names come out with the features */
    CHECK_OK(ctx, mgv_settings_set(ctx, any, "select", "holdout:0.3"));
    CHECK_OK(ctx, mgv_settings_set(ctx, any, "lambda", "0.1"));
    if (mgv_selection_run(ctx, data, any, &s) == MGV_OK &&
        mgv_selection_feature(ctx, s, 0, &feature) == MGV_OK && feature.name)
        say(o, feature.name);
    mgv_selection_free(ctx, s);
    mgv_settings_free(ctx, any);
    mgv_data_free(ctx, data);
    return MGV_OK;
}

static mgv_status complete(mgv_ctx *ctx, const mgv_settings *settings, outcome *o)
{
    int64_t row[300], col[300];
    double value[300];
    mgv_triples *triples;
    mgv_completion *c;
    mgv_completion_info info = {.size = sizeof info};
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int k = 0; k < 300; k++) {
        row[k] = (int64_t)(mgvi_rng_uniform(&rng) * 24);
        col[k] = (int64_t)(mgvi_rng_uniform(&rng) * 18);
        value[k] = sin((double)row[k]) * cos(2. * (double)col[k]) +
                   0.5 * cos(3. * (double)row[k]) * (double)(col[k] % 3) +
                   0.05 * mgvi_rng_normal(&rng);
    }
    CHECK_OK(ctx, mgv_triples_new(ctx, 300, row, col, value, 24, 18, &triples));
    const mgv_status st = mgv_completion_run(ctx, triples, settings, &c);
    if (st == MGV_OK) {
        mgv_completion_describe(c, &info);
        note(o, &info.rank, sizeof info.rank);
        note(o, &info.biases, sizeof info.biases);
        note(o, &info.train_error, sizeof info.train_error);
        mgv_completion_free(ctx, c);
    }
    mgv_triples_free(ctx, triples);
    return st;
}

/* The set named by the first word of the options, and its test rows. */
static mgv_status generate(mgv_ctx *ctx, const char *options, const mgv_settings *settings,
                           outcome *o)
{
    char name[40];
    mgv_data *data[2];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(options, " "), options);
    MGVI_TRY(mgv_data_generate(ctx, name, settings, &data[0], &data[1], NULL));
    for (int k = 0; k < 2; k++) {
        const mgvi_matrix *X = &data[k]->X;
        note(o, X->val, (size_t)X->nnz * sizeof(double));
        if (data[k]->labels)
            note(o, data[k]->labels, (size_t)X->rows * sizeof(double));
        mgv_data_free(ctx, data[k]);
    }
    return MGV_OK;
}

static mgv_status deblur(mgv_ctx *ctx, const mgv_settings *settings, outcome *o)
{
    double pixels[SIDE * SIDE];
    mgv_image *image, *psf, *restored = NULL;
    mgv_deblur *d = NULL;
    mgv_image_info info = {.size = sizeof info};
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int k = 0; k < SIDE * SIDE; k++)
        pixels[k] = 0.3 + 0.4 * (k % SIDE > 9) + 0.03 * mgvi_rng_normal(&rng);
    CHECK_OK(ctx, mgv_image_new(ctx, SIDE, SIDE, 1, pixels, &image));
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 1, &psf));
    mgv_status st = mgv_deblur_new(ctx, image, psf, NULL, settings, &d);
    if (st == MGV_OK)
        st = mgv_deblur_run(ctx, d);
    if (st == MGV_OK)
        st = mgv_deblur_image(ctx, d, &restored);
    if (st == MGV_OK) {
        mgv_image_describe(restored, &info);
        note(o, info.pixels, SIDE * SIDE * sizeof *info.pixels);
    }
    mgv_image_free(ctx, restored);
    mgv_deblur_free(ctx, d);
    mgv_image_free(ctx, psf);
    mgv_image_free(ctx, image);
    return st;
}

/* What the options come to, with files and threads. */
static outcome run(const char *options, const char *name, const char *value, scenario what,
                   const table *t, mgv_status *st)
{
    outcome o = {.hash = UINT64_C(0xcbf29ce484222325)};
    char text[400], *rest = text, *item;
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    CHECK_OK(ctx, mgv_ctx_set_threads(ctx, 2));
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    snprintf(text, sizeof text, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, item, equals + 1));
    }
    if (name)
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, name, value));
    remove("state.new");
    *st = what == READ       ? read_table(ctx, "rows.csv", settings, &o)
          : what == READ_SVM ? read_table(ctx, "rows.svm", settings, &o)
          : what == COMPLETE ? complete(ctx, settings, &o)
          : what == DEBLUR   ? deblur(ctx, settings, &o)
          : what == MAKE     ? generate(ctx, options, settings, &o)
                             : on_table(ctx, what, settings, t, &o);
    if (*st != MGV_OK)
        say(&o, mgv_ctx_error(ctx));
    const int seen[2] = {mgv_ctx_threads(ctx), access("state.new", F_OK) == 0};
    note(&o, seen, sizeof seen);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    return o;
}

static const line *find(const char *name)
{
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        if (strcmp(lines[k].name, name) == 0)
            return &lines[k];
    return NULL;
}

TEST(every_setting_is_read)
{
    static table t;
    char place[] = "settings.XXXXXX";
    CHECK(mkdtemp(place) && chdir(place) == 0);
    fill(&t);
    write_files(&t);
    mgv_status st;
    run("solver=dual_coordinate tol=1e-9 max_iter=2 checkpoint=state.old", NULL, NULL, FIT, &t,
        &st);
    CHECK(st == MGV_OK);
    int unread = 0;
    for (size_t k = 0; k < mgv_setting_count(); k++) {
        mgv_setting_info info = {.size = sizeof info};
        mgv_setting_at(k, &info);
        const line *own = find(info.name);
        CHECK_THAT(own, "setting %s has no line in this test: how is it seen that it is read?",
                   info.name);
        if (!own->value)
            continue;
        mgv_status before, after;
        const outcome plain = run(own->options, NULL, NULL, own->what, &t, &before);
        const outcome changed = run(own->options, info.name, own->value, own->what, &t, &after);
        if (before != MGV_OK)
            print_error("%s: %s\n", own->options, plain.text);
        unread += before != MGV_OK;
        CHECK_THAT(after == MGV_OK || changed.text[0], "%s: no sentence", info.name);
        if (plain.hash == changed.hash) {
            print_error("%s=%s beside '%s' changes nothing (%s)\n", info.name, own->value,
                        own->options, changed.text);
            unread++;
        }
    }
    static const char *const files[] = {"rows",     "columns",  "groups",    "classes",
                                        "rows.csv", "rows.svm", "state.old", "state.new"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        remove(files[k]);
    CHECK(chdir("..") == 0 && rmdir(place) == 0);
    CHECK(unread == 0);
}

/* Its momentum points uphill now and then on the way to a margin that there is. */
TEST(the_restart_of_dual_diagonal_is_read)
{
    static table t;
    mgv_status st[2];
    fill(&t);
    for (int i = 0; i < N; i++)
        t.X[i * D] = t.y[i] * (3 + 0.1 * i);
    const outcome plain = run(DIAGONAL " max_iter=400", NULL, NULL, FIT, &t, &st[0]);
    const outcome without =
        run(DIAGONAL " max_iter=400", "dual_diagonal.restart", "no", FIT, &t, &st[1]);
    CHECK(st[0] == MGV_OK && st[1] == MGV_OK && plain.hash != without.hash);
}

/* Settings are copied with every problem, run and fold: values, and few bytes. */
TEST(settings_are_small)
{
    CHECK_LE(sizeof(mgv_settings), 2048, "%zu bytes", sizeof(mgv_settings));
}

/* A name has one meaning. What several solvers or paths have is spelled with its owner; a solver's
 * own setting may be. */
TEST(a_name_has_one_meaning)
{
    static const char *const sentence[][2] = {
        {"restart", "there is dual_diagonal_restart, accelerated_coordinate_restart, "
                    "primal_dual_restart"},
        {"patience", "there is patience_points, patience_epochs, patience_iterations"},
        {"lbfgs.sigma", "solver lbfgs has no setting 'sigma'"},
        {"adam.sigma", "it has batch"},
        {"nobody.sigma", "there is no solver 'nobody'"},
        {"primal_dual.", "solver primal_dual has no setting ''"},
        {".sigma", "there is no solver ''"},
        {"", "there is no setting ''"}};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    char value[32];
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    for (size_t k = 0; k < sizeof sentence / sizeof *sentence; k++)
        CHECK_FAILS(ctx, mgv_settings_set(ctx, settings, sentence[k][0], "1"), MGV_E_ARG,
                    sentence[k][1]);
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "primal_dual.restart", "no"));
    CHECK_OK(ctx, mgv_settings_get(ctx, settings, "primal_dual_restart", value, sizeof value));
    CHECK_THAT(strcmp(value, "no") == 0, "%s", value);
    CHECK_OK(ctx, mgv_settings_get(ctx, settings, "dual_diagonal.restart", value, sizeof value));
    CHECK_THAT(strcmp(value, "yes") == 0, "%s", value);
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "primal_dual.sigma", "0.25"));
    CHECK_OK(ctx, mgv_settings_get(ctx, settings, "sigma", value, sizeof value));
    CHECK_THAT(strcmp(value, "0.25") == 0, "%s", value);
    CHECK_FAILS(ctx, mgv_settings_set(ctx, settings, "primal_dual.sigma", "-1"), MGV_E_ARG,
                "sigma is '-1'");
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
}

/* Texts up to 1,023 bytes, each kept until the context goes, whatever comes after it. */
TEST(texts_of_every_length_are_kept)
{
    enum { MOST = 1023, STEP = 31 };
    static const char *const names[] = {"checkpoint", "resume", "labels", "names"};
    mgv_check_allocator a;
    mgv_ctx *ctx;
    mgv_settings *settings[4];
    char text[MOST + 2], got[MOST + 2];
    mgv_check_allocator_init(&a, 0);
    CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
    for (int k = 0; k < 4; k++)
        CHECK_OK(ctx, mgv_settings_new(ctx, &settings[k]));
    for (int length = 0; length <= MOST; length += STEP) {
        for (int k = 0; k < 4; k++) {
            memset(text, 'a' + k, (size_t)length);
            text[length] = 0;
            CHECK_OK(ctx, mgv_settings_set(ctx, settings[k], names[k], text));
        }
        for (int k = 0; k < 4; k++) {
            CHECK_OK(ctx, mgv_settings_get(ctx, settings[k], names[k], got, sizeof got));
            CHECK_THAT((int)strlen(got) == length && (!length || got[length / 2] == 'a' + k), "%d",
                       length);
        }
    }
    const long calls = atomic_load(&a.calls); /* known texts take no more memory */
    CHECK_OK(ctx, mgv_settings_set(ctx, settings[1], names[1], got));
    CHECK(atomic_load(&a.calls) == calls);
    memset(text, 'z', MOST);
    text[MOST] = 0;
    a.fail_at = calls + 1;
    CHECK(mgv_settings_set(ctx, settings[1], names[1], text) == MGV_E_MEMORY);
    CHECK_OK(ctx, mgv_settings_get(ctx, settings[1], names[1], text, sizeof text));
    CHECK_THAT(strcmp(text, got) == 0, "a setting that could not be set is as it was");
    memset(text, 'z', MOST + 1);
    text[MOST + 1] = 0;
    CHECK_FAILS(ctx, mgv_settings_set(ctx, settings[0], names[0], text), MGV_E_ARG, "allowed");
    for (int k = 0; k < 4; k++)
        mgv_settings_free(ctx, settings[k]);
    mgv_ctx_free(ctx);
    CHECK_THAT(atomic_load(&a.live) == 0, "%ld blocks left", atomic_load(&a.live));
}

int main(void)
{
    return RUN(every_setting_is_read, the_restart_of_dual_diagonal_is_read, settings_are_small,
               a_name_has_one_meaning, texts_of_every_length_are_kept);
}
