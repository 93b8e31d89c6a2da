/* items_margin_network.c - tangent kernels of a small network: Ji et al., figures 3 and 4.
 * f_c(x) = sum_h a_ch max(0, v_h.x), 128 hidden units, no offsets: 2-homogeneous. The kernel is the
 * inner product of the flattened Jacobians by a and v, for k classes
 *   k(x, z) = k sum_h max(0, v_h.x) max(0, v_h.z) + x.z sum_h |a_h|^2 [v_h.x > 0] [v_h.z > 0]. */
#include "items_margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAPER "Z. Ji, N. Srebro, M. Telgarsky: Fast margin maximization via dual acceleration"

enum { WIDTH = 128, CLASSES = 10, BATCH = 16 };

typedef struct network {
    int64_t cols;
    double *v; /* WIDTH x cols */
    double a[CLASSES][WIDTH];
} network;

static bool new_network(study *s, network *n, int64_t cols, uint64_t seed)
{
    margin_draws draws = {seed};
    *n = (network){.cols = cols, .v = malloc((size_t)(WIDTH * cols) * sizeof *n->v)};
    if (!n->v) {
        s->code = cli_complain(s->c, CLI_FAILURE, "no memory for the network of %s", s->item->name);
        return false;
    }
    for (int64_t j = 0; j < WIDTH * cols; j++)
        n->v[j] = sqrt(2) * margin_draw_normal(&draws); /* rows of data have length 1 */
    for (int c = 0; c < CLASSES; c++)
        for (int h = 0; h < WIDTH; h++)
            n->a[c][h] = sqrt(2. / WIDTH) * margin_draw_normal(&draws);
    return true;
}

static double dot(const double *a, const double *b, int64_t count)
{
    double sum[8] = {0}, all = 0;
    const int64_t whole = count - count % 8;
    for (int64_t j = 0; j < whole; j += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += a[j + k] * b[j + k];
    for (int64_t j = whole; j < count; j++)
        all += a[j] * b[j];
    for (int k = 0; k < 8; k++)
        all += sum[k];
    return all;
}

static void hidden_of(const network *n, const double *x, double *hidden)
{
    for (int h = 0; h < WIDTH; h++)
        hidden[h] = fmax(0, dot(n->v + h * n->cols, x, n->cols));
}

static void scores_of(const network *n, const double *hidden, double *score)
{
    for (int c = 0; c < CLASSES; c++)
        score[c] = dot(n->a[c], hidden, WIDTH);
}

/* One epoch of stochastic gradient steps on the mean logistic loss of all classes. */
static void train_epoch(network *n, const margin_rows *rows, const int64_t *order, double step)
{
    double hidden[BATCH][WIDTH], slope[BATCH][CLASSES], back[BATCH][WIDTH];
    for (int64_t from = 0; from < rows->count; from += BATCH) {
        const int size = (int)(rows->count - from < BATCH ? rows->count - from : BATCH);
        for (int b = 0; b < size; b++) {
            const int64_t i = order[from + b];
            double score[CLASSES], most = -INFINITY, sum = 0;
            hidden_of(n, rows->x + i * n->cols, hidden[b]);
            scores_of(n, hidden[b], score);
            for (int c = 0; c < CLASSES; c++)
                most = fmax(most, score[c]);
            for (int c = 0; c < CLASSES; c++)
                sum += slope[b][c] = exp(score[c] - most);
            for (int c = 0; c < CLASSES; c++)
                slope[b][c] = (slope[b][c] / sum - (c == (int)rows->y[i])) * step / size;
            for (int h = 0; h < WIDTH; h++) {
                back[b][h] = 0;
                for (int c = 0; c < CLASSES && hidden[b][h] > 0; c++)
                    back[b][h] += slope[b][c] * n->a[c][h];
            }
        }
        for (int b = 0; b < size; b++)
            for (int h = 0; h < WIDTH; h++) {
                const double *x = rows->x + order[from + b] * n->cols;
                for (int c = 0; c < CLASSES; c++)
                    n->a[c][h] -= slope[b][c] * hidden[b][h];
                for (int64_t j = 0; j < n->cols && back[b][h] != 0; j++)
                    n->v[h * n->cols + j] -= back[b][h] * x[j];
            }
    }
}

static double network_error(const network *n, const margin_rows *rows)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        double hidden[WIDTH], score[CLASSES];
        int best = 0;
        hidden_of(n, rows->x + i * n->cols, hidden);
        scores_of(n, hidden, score);
        for (int c = 1; c < CLASSES; c++)
            best = score[c] > score[best] ? c : best;
        wrong += best != (int)rows->y[i];
    }
    return (double)wrong / (double)rows->count;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

/* The hidden units of every row; the caller frees them. */
static double *all_hidden(study *s, const network *n, const margin_rows *rows)
{
    double *hidden = malloc(((size_t)rows->count * WIDTH + 1) * sizeof *hidden);
    if (!hidden)
        s->code = cli_complain(s->c, CLI_FAILURE, "no memory for the units of %s", s->item->name);
    for (int64_t i = 0; hidden && i < rows->count; i++)
        hidden_of(n, rows->x + i * n->cols, hidden + i * WIDTH);
    return hidden;
}

static double kernel_at(const network *n, const double *square, const double *x, const double *z,
                        const double *of_x, const double *of_z)
{
    double gates = 0;
    for (int h = 0; h < WIDTH; h++)
        gates += of_x[h] > 0 && of_z[h] > 0 ? square[h] : 0;
    return CLASSES * dot(of_x, of_z, WIDTH) + gates * dot(x, z, n->cols);
}

/* k(row, column) of features that are divided by their length. */
static bool new_kernel(study *s, const network *n, const margin_rows *rows,
                       const margin_rows *columns, margin_rows *out)
{
    double square[WIDTH] = {0};
    double *left = all_hidden(s, n, rows), *right = all_hidden(s, n, columns);
    double *length = malloc(((size_t)columns->count + 1) * sizeof *length);
    for (int h = 0; h < WIDTH; h++)
        for (int c = 0; c < CLASSES; c++)
            square[h] += n->a[c][h] * n->a[c][h];
    bool done = left && right && length && margin_new_rows(s, out, rows->count, columns->count);
    for (int64_t j = 0; j < columns->count && done; j++) {
        const double *x = columns->x + j * n->cols, *of = right + j * WIDTH;
        length[j] = sqrt(kernel_at(n, square, x, x, of, of));
    }
    for (int64_t i = 0; i < rows->count && done; i++) {
        const double *x = rows->x + i * n->cols, *of = left + i * WIDTH;
        const double own = sqrt(kernel_at(n, square, x, x, of, of));
        out->y[i] = rows->y[i];
        /* The same products in the same order on both sides of the diagonal. */
        for (int64_t j = 0; j < columns->count; j++)
            out->x[i * columns->count + j] =
                kernel_at(n, square, x, columns->x + j * n->cols, of, right + j * WIDTH) /
                (own * length[j]);
    }
    done = done && margin_bind(s, out);
    free(left);
    free(right);
    free(length);
    return done;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void to_length_one(margin_rows *rows)
{
    for (int64_t i = 0; i < rows->count; i++) {
        double *x = rows->x + i * rows->cols;
        const double length = sqrt(dot(x, x, rows->cols));
        for (int64_t j = 0; j < rows->cols && length > 0; j++)
            x[j] /= length;
    }
}

/* Ten classes around centres; test rows around the same. */
static bool generate_classes(study *s, int64_t count, int64_t tests, margin_rows *train,
                             margin_rows *test)
{
    enum { COLS = 50 };
    margin_draws draws = {1};
    double centre[CLASSES][COLS];
    for (int c = 0; c < CLASSES; c++)
        for (int j = 0; j < COLS; j++)
            centre[c][j] = margin_draw_normal(&draws);
    if (!margin_new_rows(s, train, count, COLS) || !margin_new_rows(s, test, tests, COLS))
        return false;
    for (int64_t i = 0; i < count + tests; i++) {
        margin_rows *to = i < count ? train : test;
        const int64_t at = i < count ? i : i - count;
        to->y[at] = (double)(at % CLASSES);
        for (int j = 0; j < COLS; j++)
            to->x[at * COLS + j] = centre[at % CLASSES][j] + 1.5 * margin_draw_normal(&draws);
    }
    return true;
}

/* MNIST's first rows, or generated ones; `real` says which. All of length 1. */
static bool load_classes(study *s, int64_t count, int64_t tests, margin_rows *train,
                         margin_rows *test, bool *real)
{
    *train = *test = (margin_rows){0};
    *real = margin_read_rows(s, "train-images-idx3-ubyte.gz", "", count, train) &&
            margin_read_rows(s, "t10k-images-idx3-ubyte.gz", "", tests, test);
    if (!study_goes_on(s))
        return false;
    if (!*real) {
        margin_free_rows(s, train);
        if (!generate_classes(s, count, tests, train, test))
            return false;
    }
    to_length_one(train);
    to_length_one(test);
    return true;
}

/* ---- figure 3 ---------------------------------------------------------------------------------- */

static bool run_joint(study *s, mgv_data *data, const char *name, const char *options,
                      int64_t steps, margin_curves *curves, double *margin, double *upper)
{
    char all[240];
    snprintf(all, sizeof all, "%s multiclass=joint kernel=precomputed", options);
    if (steps > 0)
        snprintf(all + strlen(all), sizeof all - strlen(all), " tol=0 max_iter=%d", (int)steps);
    study_run run = {
        .name = name, .options = all, .watch = curves ? margin_measure : NULL, .user = curves};
    if (!study_solve(s, data, &run))
        return false;
    mgv_model_free(s->c->ctx, run.model);
    if (margin)
        *margin = run.certificate.margin;
    if (upper)
        *upper = run.certificate.margin_upper;
    return true;
}

static void make_cheap(study *s)
{
    enum { COUNT = 1000, STEPS = 5000, RUNS = 3 };
    static const char *const names[RUNS] = {"Algorithm 2 with Algorithm 1's parameters",
                                            "Algorithm 2, theorem 4.1", "batch perceptron"};
    static const char *const options[RUNS] = {"preset=ji-alg2 seed=1",
                                              "preset=ji-alg2-theorem seed=1",
                                              "preset=batch-perceptron-projected"};
    margin_rows train, test, kernel = {0};
    network n = {0};
    bool real = false;
    double best = NAN, upper = NAN, last[RUNS] = {0};
    bool done = load_classes(s, COUNT, 1, &train, &test, &real) &&
                new_network(s, &n, train.cols, 1) && new_kernel(s, &n, &train, &train, &kernel) &&
                run_joint(s, kernel.data, "the best margin", "loss=margin intercept=no", 0, NULL,
                          &best, &upper);
    study_chart *chart =
        study_new_chart(s, "Joint margin of ten classes: gap", "rows of the kernel", "gap", "xy");
    for (int k = 0; k < RUNS && done; k++) {
        margin_curves m = {.margin = study_new_curve(s, chart, names[k]), .gamma = upper};
        done = run_joint(s, kernel.data, names[k], options[k], STEPS, &m, NULL, NULL);
        last[k] = study_last(m.margin) / upper;
    }
    study_curve *own = study_new_curve(s, chart, "margrave: the default, every row once");
    study_add(s, own, COUNT, upper - best);
    study_add(s, own, STEPS, upper - best);
    free(n.v);
    margin_free_rows(s, &kernel);
    margin_free_rows(s, &train);
    margin_free_rows(s, &test);
    if (!done)
        return;
    const bool slow = last[1] > last[2], first = last[0] < last[2];
    study_find(s,
               slow && first && real ? MGV_MARK_GOOD
               : slow || first       ? MGV_MARK_HALF
                                     : MGV_MARK_BAD,
               "after %d rows of the kernel the gap, over the best margin, is %.3f with Algorithm "
               "2 under Algorithm 1's parameters, %.3f under theorem 4.1's, %.3f with the batch "
               "perceptron; margrave's default keeps the kernel's %d rows and has %.1e. %s",
               STEPS, last[0], last[1], last[2], COUNT, (upper - best) / upper,
               real ? "On MNIST's first 1,000 rows: the paper has all."
                    : "On generated classes: MNIST is not below MARGRAVE_DATA.");
}

/* ---- figure 4 ---------------------------------------------------------------------------------- */

typedef struct evolution {
    margin_rows train, test;
    double before, after,
        by_network; /* test errors of the first and last kernel, and the network */
} evolution;

static bool run_kernel(study *s, const network *n, evolution *e, study_chart *chart, int epoch)
{
    char name[72];
    margin_rows kernel = {0}, tests = {0};
    bool done = new_kernel(s, n, &e->train, &e->train, &kernel) &&
                new_kernel(s, n, &e->test, &e->train, &tests);
    snprintf(name, sizeof name, "epoch %d", epoch);
    margin_curves m = {.test = tests.data, .error = study_new_curve(s, chart, name)};
    done = done && run_joint(s, kernel.data, name, "preset=ji-alg2 seed=1", 1000, &m, NULL, NULL);
    e->after = study_last(m.error);
    if (epoch == 0)
        e->before = e->after;
    if (done && epoch == 64) {
        m.error = study_new_curve(s, chart, "margrave: momentum with large steps, epoch 64");
        done = run_joint(s, kernel.data, "large steps",
                         "loss=margin intercept=no solver=momentum_margin", 1000, &m, NULL, NULL);
    }
    margin_free_rows(s, &kernel);
    margin_free_rows(s, &tests);
    return done;
}

static bool run_evolution(study *s, int seed, evolution *e)
{
    static const int shown[] = {0, 1, 4, 16, 64};
    char title[80];
    network n;
    margin_draws draws = {(uint64_t)seed + 1};
    snprintf(title, sizeof title, "Test error, seed %d", seed);
    study_chart *chart = study_new_chart(s, title, "iteration t", "error", "x");
    bool done = new_network(s, &n, e->train.cols, (uint64_t)seed);
    for (int k = 0, epoch = 0; k < (int)(sizeof shown / sizeof *shown) && done; k++) {
        for (; epoch < shown[k] && done; epoch++) {
            int64_t *order = margin_draw_order(s, &draws, e->train.count);
            done = order != NULL;
            if (done)
                train_epoch(&n, &e->train, order, 0.5);
            free(order);
        }
        done = done && run_kernel(s, &n, e, chart, epoch);
    }
    if (done)
        e->by_network = network_error(&n, &e->test);
    free(n.v);
    return done;
}

static void make_evolution(study *s)
{
    static const int seeds[2] = {100, 13579};
    evolution e[2] = {{{0}, {0}, 0, 0, 0}};
    margin_rows train, test;
    bool real = false;
    bool done = load_classes(s, 128, 2000, &train, &test, &real);
    for (int k = 0; k < 2 && done; k++) {
        e[k].train = train;
        e[k].test = test;
        done = run_evolution(s, seeds[k], &e[k]);
    }
    margin_free_rows(s, &train);
    margin_free_rows(s, &test);
    if (!done)
        return;
    const bool one = e[0].after < e[0].before, two = e[1].after < e[1].before;
    study_find(s, one || two ? MGV_MARK_HALF : MGV_MARK_BAD,
               "the test error goes from %.3f with the kernel before training to %.3f after 64 "
               "epochs with the seed 100 (the network's: %.3f), from %.3f to %.3f with 13579 "
               "(%.3f). %s, and a network of one hidden layer of 128 units: the paper has cifar10, "
               "which is not here, and AlexNet, so that its seeds say nothing about these.",
               e[0].before, e[0].after, e[0].by_network, e[1].before, e[1].after, e[1].by_network,
               real ? "On 128 rows of MNIST and 2,000 for testing"
                    : "On 128 generated rows of ten classes and 2,000 for testing");
}

const study_item study_network_items[] = {
    {"ji-3", PAPER, "Figure 3",
     "of methods with O(n) kernel evaluations an iteration, the batch perceptron is slightly "
     "beaten by Algorithm 2 with Algorithm 1's parameters; with those of theorem 4.1 it is slower "
     "than the batch perceptron (the first kernel of a network of width 128).",
     make_cheap},
    {"ji-4", PAPER, "Figure 4",
     "with kernels from later epochs of a network's training on 128 rows the test error of the "
     "maximum-margin predictor decreases, or does not: the random seed decides.",
     make_evolution},
    {NULL, NULL, NULL, NULL, NULL}};
