/* test_prox.c - the stored proximal maps of penalties of a whole vector, exact answers found
 * another way, and what the penalties read from their settings. */
#include "vectors.h"

#include "backend/terms.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A penalty bound to settings, with its work space. */
typedef struct bound {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_settings *settings;
    mgvi_coefs coefs;
    mgvi_penalty r;
} bound;

static mgv_status bind(bound *b, const char *name, const char *setting, const char *value,
                       const int64_t *group, int64_t n)
{
    const mgvi_penalty_ops *ops = mgvi_penalty_find(name);
    const void *data = NULL;
    if (setting)
        CHECK_OK(b->ctx, mgv_settings_set(b->ctx, b->settings, setting, value));
    const mgvi_penalty_input input = {.settings = b->settings, .n = n, .group = group};
    if (ops->bind) {
        const mgv_status st = ops->bind(&b->arena, &input, &data);
        if (st != MGV_OK)
            return st;
    }
    b->coefs = (mgvi_coefs){.scale.constant = 1};
    return mgvi_penalty_open(&b->arena, ops, &b->coefs, data, n, 1, &b->r);
}

static bound bound_new(void)
{
    bound b = {.ctx = mgv_check_ctx()};
    mgvi_arena_init(&b.arena, b.ctx);
    CHECK_OK(b.ctx, mgv_settings_new(b.ctx, &b.settings));
    return b;
}

static void bound_free(bound *b)
{
    mgvi_arena_free(&b->arena);
    mgv_settings_free(b->ctx, b->settings);
    mgv_ctx_free(b->ctx);
}

/* "0.5,0.25,..." */
static void join(const double *x, int64_t n, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "list:");
    for (int64_t i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%.17g", i ? "," : "", x[i]);
}

static void check_stored(const json_t *entry, const char *penalty)
{
    bound b = bound_new();
    int64_t n, count, *group = NULL;
    double *v = mgv_vector_array(entry, "v", &n), *x = mgv_vector_array(entry, "x", &count);
    double *weights = NULL;
    const double t = json_number_value(json_object_get(entry, "t"));
    char text[1000] = "";
    CHECK(n == count && n > 0);
    if (strcmp(penalty, "group") == 0) {
        group = calloc((size_t)n, sizeof *group);
        const json_t *groups = json_object_get(entry, "groups");
        for (size_t g = 0; g < json_array_size(groups); g++)
            for (size_t i = 0; i < json_array_size(json_array_get(groups, g)); i++)
                group[json_integer_value(json_array_get(json_array_get(groups, g), i))] =
                    (int64_t)g;
        CHECK_OK(b.ctx, bind(&b, penalty, "group_weight", "one", group, n));
    } else if (strcmp(penalty, "owl") == 0) {
        weights = mgv_vector_array(entry, "weights", NULL);
        join(weights, n, text, sizeof text);
        CHECK_OK(b.ctx, bind(&b, penalty, "owl", text, NULL, n));
    } else {
        const size_t rows = json_array_size(json_object_get(entry, "v"));
        snprintf(text, sizeof text, "%zux%zu", rows, (size_t)n / rows);
        CHECK_OK(b.ctx, mgv_settings_set(b.ctx, b.settings, "prox_tol", "1e-9"));
        CHECK_OK(b.ctx, bind(&b, penalty, "shape", text, NULL, n));
    }
    mgvi_vec in = mgvi_vec_wrap(v, n, MGVI_COLS);
    mgvi_penalty_prox(&b.r, &in, t, &in);
    for (int64_t i = 0; i < n; i++)
        CHECK_NEAR(v[i], x[i], strcmp(penalty, "tv2d") == 0 ? 1e-8 : 1e-12, "%s, entry %d",
                   json_string_value(json_object_get(entry, "name")), (int)i);
    free(v), free(x), free(group), free(weights);
    bound_free(&b);
}

TEST(stored_proximal_maps)
{
    static const char *const names[][2] = {{"group_l2", "group"},    {"linf", "linf"},
                                           {"linf_to_zero", "linf"}, {"owl", "owl"},
                                           {"owl_ties", "owl"},      {"tv1d", "tv1d"},
                                           {"nuclear", "nuclear"},   {"tv2d_isotropic", "tv2d"}};
    enum { NAMES = sizeof names / sizeof *names };
    json_t *root = mgv_vector_load("sparse_prox"), *entry;
    int seen = 0;
    size_t i;
    json_array_foreach(json_object_get(root, "cases"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        for (int k = 0; k < NAMES; k++)
            if (strcmp(names[k][0], name) == 0) {
                check_stored(entry, names[k][1]);
                seen++;
            }
    }
    CHECK(seen == NAMES);
    json_decref(root);
}

/* v - prox is the projection onto the l1 ball: the stored one. */
TEST(stored_projection_onto_the_l1_ball)
{
    json_t *root = mgv_vector_load("sparse_prox"), *entry;
    size_t i;
    int seen = 0;
    json_array_foreach(json_object_get(root, "cases"), i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "name")), "l1_ball_projection") != 0)
            continue;
        bound b = bound_new();
        int64_t n;
        double *v = mgv_vector_array(entry, "v", &n), *x = mgv_vector_array(entry, "x", NULL);
        double *p = mgv_vector_array(entry, "v", NULL);
        CHECK_OK(b.ctx, bind(&b, "linf", NULL, NULL, NULL, n));
        mgvi_vec in = mgvi_vec_wrap(p, n, MGVI_COLS);
        mgvi_penalty_prox(&b.r, &in, json_number_value(json_object_get(entry, "radius")), &in);
        for (int64_t j = 0; j < n; j++)
            CHECK_NEAR(v[j] - p[j], x[j], 1e-14, "entry %d", (int)j);
        free(v), free(x), free(p);
        bound_free(&b);
        seen++;
    }
    CHECK(seen == 1);
    json_decref(root);
}

/* Total variation of many long sequences with ties and steps, against the dual optimality
 * conditions: z = cumulative sums of x - w is within the strength, at it where w jumps. */
TEST(tv1d_meets_its_optimality_conditions)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int trial = 0; trial < 300; trial++) {
        const int64_t n = 1 + mgvi_rng_below(&rng, 400);
        const double step = pow(10, 4 * mgvi_rng_uniform(&rng) - 2);
        bound b = bound_new();
        double *x = calloc((size_t)n, sizeof *x), *w = calloc((size_t)n, sizeof *w);
        for (int64_t i = 0; i < n; i++)
            x[i] =
                trial % 2 ? mgvi_rng_normal(&rng) : (double)mgvi_rng_below(&rng, 4) + (i > n / 2);
        memcpy(w, x, (size_t)n * sizeof *w);
        CHECK_OK(b.ctx, bind(&b, "tv1d", NULL, NULL, NULL, n));
        mgvi_vec in = mgvi_vec_wrap(w, n, MGVI_COLS);
        mgvi_penalty_prox(&b.r, &in, step, &in);
        double z = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            z += x[i] - w[i]; /* -step sign(w_{i+1} - w_i) where they differ */
            CHECK_LE(fabs(z), step + 1e-11 * (double)n, "trial %d, entry %d", trial, (int)i);
            if (fabs(w[i + 1] - w[i]) > 1e-12)
                CHECK_NEAR(z, w[i + 1] > w[i] ? -step : step, 1e-11 * (double)n,
                           "trial %d, entry %d", trial, (int)i);
        }
        CHECK_NEAR(z + x[n - 1] - w[n - 1], 0, 1e-11 * (double)n, "trial %d", trial);
        free(x), free(w);
        bound_free(&b);
    }
}

/* An image that is constant along one side has the total variation of a sequence. The prox is exact
 * to prox_tol, cold and from where the last one ended. */
TEST(tv2d_of_a_striped_image_is_tv1d)
{
    enum { H = 7, W = 40 };
    mgvi_rng rng = mgvi_rng_seed(5);
    bound line = bound_new(), image = bound_new();
    double v[W], x[W], im[H * W];
    CHECK_OK(line.ctx, bind(&line, "tv1d", NULL, NULL, NULL, W));
    CHECK_OK(image.ctx, mgv_settings_set(image.ctx, image.settings, "prox_tol", "1e-7"));
    CHECK_OK(image.ctx, bind(&image, "tv2d", "shape", "7x40", NULL, H * W));
    for (int trial = 0; trial < 5; trial++) {
        double size = 0;
        for (int j = 0; j < W; j++)
            v[j] = x[j] = mgvi_rng_normal(&rng) + (j > W / 3);
        for (int i = 0; i < H * W; i++) {
            im[i] = v[i % W];
            size += im[i] * im[i];
        }
        mgvi_vec one = mgvi_vec_wrap(x, W, MGVI_COLS), all = mgvi_vec_wrap(im, H * W, MGVI_COLS);
        mgvi_penalty_prox(&line.r, &one, 0.7, &one);
        mgvi_penalty_prox(&image.r, &all, 0.7, &all);
        double error = 0;
        for (int i = 0; i < H * W; i++)
            error += pow(im[i] - x[i % W], 2);
        CHECK_LE(sqrt(error), 1.01e-7 * sqrt(size), "trial %d", trial);
    }
    bound_free(&line);
    bound_free(&image);
}

TEST(settings_are_read_with_care)
{
    bound b = bound_new();
    const int64_t group[4] = {0, 1, 1, 7};
    CHECK_FAILS(b.ctx, bind(&b, "group", NULL, NULL, NULL, 4), MGV_E_ARG, "--groups FILE");
    CHECK_FAILS(b.ctx, bind(&b, "group", NULL, NULL, group, 4), MGV_E_INPUT,
                "column 4 is in group 7");
    CHECK_FAILS(b.ctx, bind(&b, "owl", "owl", "list:1,2,3", NULL, 3), MGV_E_ARG,
                "weight 2 of owl is '2'");
    CHECK_FAILS(b.ctx, bind(&b, "owl", "owl", "list:2,1", NULL, 3), MGV_E_ARG, "fewer than 3");
    CHECK_FAILS(b.ctx, bind(&b, "owl", "owl", "list:2,1,1,1", NULL, 3), MGV_E_ARG, "more than 3");
    CHECK_FAILS(b.ctx, bind(&b, "owl", "owl", "list:0,0,0", NULL, 3), MGV_E_ARG, "all 0");
    CHECK_FAILS(b.ctx, bind(&b, "owl", "owl", "slope:2", NULL, 3), MGV_E_ARG, "owl is 'slope:2'");
    CHECK_FAILS(b.ctx, bind(&b, "nuclear", NULL, NULL, NULL, 6), MGV_E_ARG, "--shape");
    CHECK_FAILS(b.ctx, bind(&b, "nuclear", "shape", "2by3", NULL, 6), MGV_E_ARG, "such as 20x30");
    CHECK_FAILS(b.ctx, bind(&b, "tv2d", "shape", "2x4", NULL, 6), MGV_E_ARG, "8 entries");
    bound_free(&b);
}

/* Weights of the Benjamini-Hochberg sequence: quantiles of the normal distribution. */
TEST(slope_weights_are_normal_quantiles)
{
    bound b = bound_new();
    CHECK_OK(b.ctx, bind(&b, "owl", "owl", "slope:0.1", NULL, 3));
    double e[3][3] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}, sum[3];
    for (int i = 0; i < 3; i++) {
        const mgvi_vec w = mgvi_vec_wrap(e[i], 3, MGVI_COLS);
        mgvi_penalty_value(&b.r, &w, &sum[i]);
    }
    const double z[3] = {2.128045234184983, 1.8339146358159142, 1.6448536269514722};
    CHECK_NEAR(sum[0], 1, 1e-14, "first");
    CHECK_NEAR(sum[1] - sum[0], z[1] / z[0], 1e-9, "second");
    CHECK_NEAR(sum[2] - sum[1], z[2] / z[0], 1e-9, "third");
    bound_free(&b);
}

int main(void)
{
    return RUN(stored_proximal_maps, stored_projection_onto_the_l1_ball,
               tv1d_meets_its_optimality_conditions, tv2d_of_a_striped_image_is_tv1d,
               settings_are_read_with_care, slope_weights_are_normal_quantiles);
}
