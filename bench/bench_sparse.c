/* bench_sparse.c - zeros at the default tolerance beside those at a tight one, along paths.
 * usage: bench_sparse FILE|random:SEED "NAME=VALUE ..." [LOSS...]
 *
 * Walks the 20 points of a path at tol 1e-4 and at 1e-9 and compares the zeros: tests/zeros.h says
 * what is a tie and what is different. random:SEED makes sets of its own. A line for each loss:
 * set, loss, points, equal, with ties, different, seconds of processor time at both, points without
 * both certificates, and the worst point. Exit status 1 if anything is different. */
#include "../tests/zeros.h"
#include "base/rng.h"
#include "select/walk.h"
#include "timing.h"

#include <sys/resource.h>

enum { POINTS = 20 };

/* ---- walking --------------------------------------------------------------------------------- */

typedef struct walk {
    zeros point[POINTS];
    double seconds;
} walk;

static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec;
}

/* The points of a path; fewer than POINTS: it was ended by a limit. */
static int walk_path(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings, walk *out)
{
    mgv_path *path;
    const mgv_solver *solver;
    int count = 0;
    double begun = processor_seconds();
    if (mgv_path_new(ctx, data, settings, &path) != MGV_OK)
        bench_fail(ctx, "path");
    for (; count < POINTS; count++) {
        if (mgv_path_next(ctx, path, &solver) != MGV_OK)
            bench_fail(ctx, "point");
        if (!solver)
            break;
        out->seconds += processor_seconds() - begun;
        out->point[count] = zeros_take(solver);
        begun = processor_seconds();
    }
    mgv_path_free(ctx, path);
    return count;
}

static void free_walk(walk *w)
{
    for (int k = 0; k < POINTS; k++)
        zeros_free(&w->point[k]);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int64_t compare_point(const zeros *loose, const zeros *tight, int64_t *ties)
{
    int64_t different = 0;
    for (int64_t j = 0; j < loose->cols; j++) {
        const zeros_outcome found = zeros_compare(loose, tight, j);
        *ties += found == ZEROS_TIE;
        different += found == ZEROS_DIFFERENT;
        if (found == ZEROS_DIFFERENT && getenv("SPARSE_COLUMNS"))
            printf("# column %d: loose %.3g tight %.3g of the largest, 1 - pull %.3g loose, %.3g "
                   "tight, gaps %.1e %.1e\n",
                   (int)j, loose->w[j] / loose->largest, tight->w[j] / tight->largest,
                   1 - loose->pull[j], 1 - tight->pull[j], loose->gap, tight->gap);
    }
    return different;
}

static bool compare(const char *set, const char *loss, const walk *loose, const walk *tight,
                    int count)
{
    int equal = 0, tied = 0, different = 0, worst = -1, undecided = 0;
    int64_t most = 0;
    for (int k = 0; k < count; k++) {
        int64_t ties = 0;
        const int64_t found = compare_point(&loose->point[k], &tight->point[k], &ties);
        const bool decided = loose->point[k].certified && tight->point[k].certified;
        undecided += !decided;
        equal += decided && found == 0 && ties == 0;
        tied += decided && found == 0 && ties > 0;
        different += decided && found > 0;
        if (decided && found > most) {
            most = found;
            worst = k;
        }
    }
    printf("%s\t%s\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t%d", set, loss, count, equal, tied, different,
           loose->seconds, tight->seconds, undecided);
    if (worst >= 0)
        printf("\tpoint %d: %d columns, nonzeros %d and %d, gaps %.1e and %.1e, %s", worst + 1,
               (int)most, (int)loose->point[worst].nonzeros, (int)tight->point[worst].nonzeros,
               loose->point[worst].gap, tight->point[worst].gap, loose->point[worst].solver);
    printf("\n");
    fflush(stdout);
    return different == 0;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* Shape, correlation, fill and noise at random: nothing was chosen with them in view. */
static mgv_data *random_set(mgv_ctx *ctx, uint64_t seed)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    const int64_t n = 20 + mgvi_rng_below(&rng, 300), d = 5 + mgvi_rng_below(&rng, 200);
    const double kin = 0.95 * mgvi_rng_uniform(&rng), noise = 2 * mgvi_rng_uniform(&rng);
    const double fill = mgvi_rng_below(&rng, 2) ? 1 : 0.05 + 0.3 * mgvi_rng_uniform(&rng);
    const bool whole = mgvi_rng_below(&rng, 4) == 0; /* few values: ties abound */
    const int64_t matter = 1 + mgvi_rng_below(&rng, 12);
    double *X = calloc((size_t)(n * d), sizeof *X), *y = calloc((size_t)n, sizeof *y);
    mgv_data *data;
    for (int64_t i = 0; i < n; i++) {
        double last = 0, score = noise * mgvi_rng_normal(&rng);
        for (int64_t j = 0; j < d; j++) {
            last = mgvi_rng_normal(&rng) + kin * last;
            const double x = mgvi_rng_uniform(&rng) < fill ? last : 0;
            X[i * d + j] = whole ? round(x) : x;
            score += j < matter ? (j % 2 ? -1 : 1) * X[i * d + j] : 0;
        }
        y[i] = score > 0 || (i < 2 && i % 2) ? 1 : -1;
    }
    if (mgv_data_from_dense(ctx, MGV_F64, X, n, d, d, 1, &data) != MGV_OK ||
        mgv_data_set_labels(ctx, data, y) != MGV_OK)
        bench_fail(ctx, "random set");
    return data; /* borrows X and y until the end */
}

static mgv_data *open_set(mgv_ctx *ctx, const char *name, const mgv_settings *settings)
{
    mgv_data *data;
    if (strncmp(name, "random:", 7) == 0)
        return random_set(ctx, strtoull(name + 7, NULL, 10));
    if (mgv_data_read(ctx, name, settings, &data) != MGV_OK)
        bench_fail(ctx, name);
    return data;
}

/* Groups of three neighbours. */
static void set_groups(mgv_ctx *ctx, mgv_data *data)
{
    int64_t *group = malloc((size_t)data->X.cols * sizeof *group);
    for (int64_t j = 0; j < data->X.cols; j++)
        group[j] = j / 3;
    if (mgv_data_set_groups(ctx, data, group) != MGV_OK)
        bench_fail(ctx, "groups");
    free(group);
}

static bool compare_loss(mgv_ctx *ctx, mgv_data *data, const char *set, const char *options,
                         const char *loss)
{
    walk loose = {0}, tight = {0};
    char text[512];
    int count[2];
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, "path_points=%d threads=1 %s loss=%s tol=%s", POINTS, options,
                 loss, k == 0 ? "1e-4" : "1e-9");
        mgv_settings *s = bench_settings(ctx, text);
        count[k] = walk_path(ctx, data, s, k == 0 ? &loose : &tight);
        mgv_settings_free(ctx, s);
    }
    const bool same = compare(set, loss, &loose, &tight, count[0] < count[1] ? count[0] : count[1]);
    free_walk(&loose);
    free_walk(&tight);
    return same;
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    bool same = true;
    if (argc < 3 || mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 2;
    mgv_settings *s = bench_settings(ctx, "");
    mgv_data *data = open_set(ctx, argv[1], s);
    const char *slash = strrchr(argv[1], '/'), *set = slash ? slash + 1 : argv[1];
    if (strstr(argv[2], "penalty=group"))
        set_groups(ctx, data);
    for (int k = 3; k < argc; k++)
        same = compare_loss(ctx, data, set, argv[2], argv[k]) && same;
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
    return same ? 0 : 1;
}
