/* test_linear.c - the operators without a stored matrix against plain matrices made entry by entry:
 * blur, differences, channels, the caller's own functions. */
#include "subject.h"

static void check_everything(mgv_ctx *ctx, mgvi_op *op, const double *ref, const char *name)
{
    const subject s = {.ctx = ctx, .op = op, .ref = ref, .name = name};
    for (int l = 0; l < LANE_COUNTS; l++)
        check_subject(&s, lane_counts[l]);
    mgvi_op_free(op);
}

static double *zeros(int64_t rows, int64_t cols)
{
    return sample_memory((size_t)(rows * cols), sizeof(double));
}

/* The pixel that stands for position i of a line of n. */
static int64_t beyond_edge(int64_t i, int64_t n, mgvi_edges edges)
{
    while (i < 0 || i >= n)
        if (edges == MGVI_EDGES_PERIODIC)
            i += i < 0 ? n : -n;
        else
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
}

static void check_blur(mgv_ctx *ctx, int64_t height, int64_t width, int64_t ph, int64_t pw,
                       mgvi_edges edges, bool product)
{
    double *ref = zeros(height * width, height * width), *psf = random_numbers(9, ph * pw);
    for (int64_t i = ph * pw - 1; product && i >= 0; i--) /* the first row and column stay */
        psf[i] = psf[i / pw * pw] * psf[i % pw] / psf[0];
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++)
            for (int64_t a = 0; a < ph; a++)
                for (int64_t b = 0; b < pw; b++) {
                    const int64_t row = beyond_edge(i - (a - ph / 2), height, edges),
                                  col = beyond_edge(j - (b - pw / 2), width, edges);
                    ref[(i * width + j) * height * width + row * width + col] += psf[a * pw + b];
                }
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_blur(ctx, height, width, psf, ph, pw, edges, 8, &op));
    CHECK_THAT(strcmp(op->ops->name, product || ph == 1 || pw == 1 ? "blur_direct" : "blur") == 0,
               "%s", op->ops->name);
    check_everything(ctx, op, ref, edges == MGVI_EDGES_REFLECT ? "reflecting" : "periodic");
    free(ref);
    free(psf);
}

/* Any PSF, not only a symmetric one; images smaller than it; a single line. */
TEST(a_blur_is_the_plain_convolution)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static const int64_t shapes[][4] = {{5, 7, 3, 3}, {6, 4, 5, 1}, {1, 9, 1, 5},
                                        {3, 4, 7, 9}, {1, 1, 3, 3}, {11, 8, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int edges = MGVI_EDGES_REFLECT; edges <= MGVI_EDGES_PERIODIC; edges++)
            for (int product = 0; product < 2; product++)
                check_blur(ctx, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3],
                           (mgvi_edges)edges, product);
    mgvi_op *op;
    const double psf[4] = {1, 1, NAN, 1};
    CHECK_FAILS(ctx, mgvi_op_blur(ctx, 4, 4, psf, 2, 1, MGVI_EDGES_REFLECT, 1, &op), MGV_E_ARG,
                "odd numbers");
    CHECK_FAILS(ctx, mgvi_op_blur(ctx, 0, 4, psf, 1, 1, MGVI_EDGES_REFLECT, 1, &op), MGV_E_ARG,
                "an image of 0 x 4");
    CHECK_FAILS(ctx, mgvi_op_blur(ctx, 4, 4, psf, 1, 3, MGVI_EDGES_REFLECT, 1, &op), MGV_E_INPUT,
                "entry 2");
    mgv_ctx_free(ctx);
}

/* A PSF that sums to 1 leaves a constant image alone, also at reflecting edges. */
TEST(reflecting_edges_keep_a_constant_image)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const double psf[9] = {.1, .05, .2, .05, .1, .1, .2, .1, .1};
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_blur(ctx, 13, 17, psf, 3, 3, MGVI_EDGES_REFLECT, 1, &op));
    double one[13 * 17], y[13 * 17];
    for (int i = 0; i < 13 * 17; i++)
        one[i] = 1;
    const mgvi_vec x = mgvi_vec_wrap(one, 13 * 17, MGVI_COLS);
    mgvi_vec out = mgvi_vec_wrap(y, 13 * 17, MGVI_ROWS);
    mgvi_op_mul(op, 1, &x, 0, &out);
    for (int i = 0; i < 13 * 17; i++)
        CHECK_NEAR(y[i], 1, 1e-14, "pixel %d", i);
    mgvi_op_free(op);
    mgv_ctx_free(ctx);
}

TEST(differences_match_their_definition)
{
    mgv_ctx *ctx = mgv_check_ctx();
    static const int64_t shapes[][2] = {{1, 1}, {1, 6}, {5, 1}, {4, 7}, {40, 33}};
    for (size_t at = 0; at < sizeof shapes / sizeof *shapes; at++) {
        const int64_t h = shapes[at][0], w = shapes[at][1], n = h * w;
        double *image = zeros(2 * n, n), *line = zeros(n, n);
        for (int64_t p = 0; p < n; p++) {
            if (p % w + 1 < w) {
                image[2 * p * n + p + 1] = 1;
                image[2 * p * n + p] = -1;
            }
            if (p / w + 1 < h) {
                image[(2 * p + 1) * n + p + w] = 1;
                image[(2 * p + 1) * n + p] = -1;
            }
            if (p + 1 < n) {
                line[p * n + p + 1] = 1;
                line[p * n + p] = -1;
            }
        }
        mgvi_op *op;
        if (n < 100) { /* plain loops are slow */
            CHECK_OK(ctx, mgvi_op_diff2d(ctx, h, w, 8, &op));
            check_everything(ctx, op, image, "diff2d");
            CHECK_OK(ctx, mgvi_op_diff1d(ctx, n, 8, &op));
            check_everything(ctx, op, line, "diff1d");
        }
        CHECK_OK(ctx, mgvi_op_diff2d(ctx, h, w, 1, &op));
        mgvi_arena arena;
        mgvi_arena_init(&arena, ctx);
        double norm;
        CHECK_OK(ctx, mgvi_op_norm(op, &arena, 30, 1, &norm));
        CHECK_LE(norm * norm, 8, "|A|^2");
        mgvi_arena_free(&arena);
        mgvi_op_free(op);
        free(image);
        free(line);
    }
    mgv_ctx_free(ctx);
}

/* ---- the caller's own functions -------------------------------------------------------------- */
typedef struct scaling {
    int64_t n;
    double factor, factor_t;
    int stop;
} scaling;

static int scale_mul(void *user, const double *x, double *y)
{
    const scaling *s = user;
    for (int64_t i = 0; i < s->n; i++)
        y[i] = s->factor * x[i];
    return s->stop;
}

static int scale_mul_t(void *user, const double *u, double *g)
{
    const scaling *s = user;
    for (int64_t i = 0; i < s->n; i++)
        g[i] = s->factor_t * u[i];
    return s->stop;
}

TEST(functions_of_the_caller_are_an_operator)
{
    mgv_ctx *ctx = mgv_check_ctx();
    scaling s = {.n = 6, .factor = 3, .factor_t = 3};
    mgv_operator user = {.size = sizeof user,
                         .rows = 6,
                         .cols = 6,
                         .user = &s,
                         .mul = scale_mul,
                         .mul_t = scale_mul_t};
    double *ref = zeros(6, 6);
    for (int i = 0; i < 6; i++)
        ref[i * 6 + i] = 3;
    mgvi_op *op;
    CHECK_OK(ctx, mgvi_op_user(ctx, &user, 8, &op));
    check_everything(ctx, op, ref, "user");
    CHECK_OK(ctx, mgv_operator_check(ctx, &user));
    s.factor_t = 3.001;
    CHECK_FAILS(ctx, mgv_operator_check(ctx, &user), MGV_E_INPUT, "not each other's transposes");
    s.factor_t = NAN;
    CHECK_FAILS(ctx, mgv_operator_check(ctx, &user), MGV_E_INPUT, "not each other's transposes");
    user.mul_t = NULL;
    CHECK_FAILS(ctx, mgv_operator_check(ctx, &user), MGV_E_ARG, "both functions");
    CHECK_FAILS(ctx, mgv_operator_check(ctx, NULL), MGV_E_ARG, "operator");
    user.mul_t = scale_mul_t;
    user.size = 8;
    CHECK_FAILS(ctx, mgvi_op_user(ctx, &user, 1, &op), MGV_E_ARG, "size is 8");
    user.size = sizeof user;
    s.stop = 1; /* a product asks for the end of the run */
    double x[6] = {0}, y[6];
    const mgvi_vec in = mgvi_vec_wrap(x, 6, MGVI_COLS);
    mgvi_vec out = mgvi_vec_wrap(y, 6, MGVI_ROWS);
    CHECK_OK(ctx, mgvi_op_user(ctx, &user, 1, &op));
    mgvi_op_mul(op, 1, &in, 0, &out);
    CHECK(atomic_load(&ctx->interrupted) == 1);
    mgvi_op_free(op);
    free(ref);
    mgv_ctx_free(ctx);
}

/* Entry (i, c) of every vector is i channels + c: the operator acts on each channel alone. */
TEST(a_repeated_operator_keeps_channels_apart)
{
    mgv_ctx *ctx = mgv_check_ctx();
    enum { CHANNELS = 3, H = 3, W = 4, N = H * W };
    double *ref = zeros(2 * N * CHANNELS, N * CHANNELS);
    for (int p = 0; p < N; p++)
        for (int c = 0; c < CHANNELS; c++)
            for (int t = 0; t < 2; t++) {
                double *row = ref + ((2 * p + t) * CHANNELS + c) * N * CHANNELS;
                const int next = t == 0 ? (p % W + 1 < W ? p + 1 : p) : (p / W + 1 < H ? p + W : p);
                row[next * CHANNELS + c] += 1;
                row[p * CHANNELS + c] -= 1;
            }
    mgvi_op *base, *op;
    CHECK_OK(ctx, mgvi_op_diff2d(ctx, H, W, 8 * CHANNELS, &base));
    CHECK_OK(ctx, mgvi_op_repeat(ctx, base, CHANNELS, 8, &op));
    check_everything(ctx, op, ref, "repeat");
    CHECK_OK(ctx, mgvi_op_diff2d(ctx, H, W, 5, &base));
    CHECK_FAILS(ctx, mgvi_op_repeat(ctx, base, 3, 2, &op), MGV_E_ARG, "3 channels of 2 lanes");
    CHECK_OK(ctx, mgvi_op_diff2d(ctx, H, W, 5, &base));
    CHECK_FAILS(ctx, mgvi_op_repeat(ctx, base, 0, 1, &op), MGV_E_ARG, "0 channels");
    free(ref);
    mgv_ctx_free(ctx);
}

/* ---- threads and memory ---------------------------------------------------------------------- */
enum { KINDS = 5 };
static mgv_status make(mgv_ctx *ctx, int kind, int64_t h, int64_t w, mgvi_op **out)
{
    const double psf[15] = {.1, .2, .3, .1, .3, .1, .2, .1, .4, .5, .1, .1, .2, .3, .1};
    if (kind == 0)
        return mgvi_op_blur(ctx, h, w, psf, 3, 5, MGVI_EDGES_REFLECT, 1, out);
    if (kind == 1)
        return mgvi_op_diff1d(ctx, h * w, 1, out);
    if (kind == 2)
        return mgvi_op_diff2d(ctx, h, w, 1, out);
    if (kind == 3)
        return mgvi_op_blur(ctx, h, w, psf, 1, 5, MGVI_EDGES_REFLECT, 1, out);
    mgvi_op *base;
    const mgv_status st = mgvi_op_blur(ctx, h, w, psf, 3, 5, MGVI_EDGES_PERIODIC, 3, &base);
    return st == MGV_OK ? mgvi_op_repeat(ctx, base, 3, 1, out) : st;
}

TEST(threads_change_no_bit)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const int64_t h = 300, w = 310;
    for (int kind = 0; kind < KINDS; kind++) {
        double *first = NULL;
        for (int threads = 1; threads <= 4; threads += 3) {
            CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
            mgvi_op *op = NULL;
            CHECK_OK(ctx, make(ctx, kind, h, w, &op));
            double *x = random_numbers(3, op->cols), *y = zeros(op->rows + op->cols, 1);
            const mgvi_vec in = mgvi_vec_wrap(x, op->cols, MGVI_COLS);
            mgvi_vec out = mgvi_vec_wrap(y, op->rows, MGVI_ROWS),
                     back = mgvi_vec_wrap(y + op->rows, op->cols, MGVI_COLS);
            mgvi_op_mul(op, 1, &in, 0, &out);
            mgvi_op_mul_t(op, 1, &out, 0, &back);
            if (first)
                CHECK_THAT(memcmp(first, y, (size_t)(op->rows + op->cols) * sizeof *y) == 0,
                           "kind %d", kind);
            free(x);
            free(first);
            first = y;
            mgvi_op_free(op);
        }
        free(first);
    }
    mgv_ctx_free(ctx);
}

TEST(every_failing_allocation_is_survived)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (long fail_at = 1, done = 0; !done; fail_at++) {
            mgv_check_allocator a;
            mgv_check_allocator_init(&a, 0);
            mgv_ctx *ctx;
            CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
            atomic_store(&a.calls, 0);
            a.fail_at = fail_at;
            mgvi_op *op = NULL;
            const mgv_status st = make(ctx, kind, 5, 6, &op);
            CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0] && !op));
            done = st == MGV_OK;
            mgvi_op_free(op);
            mgv_ctx_free(ctx);
            CHECK(atomic_load(&a.live) == 0);
            CHECK(fail_at < 20);
        }
}

int main(void)
{
    return RUN(a_blur_is_the_plain_convolution, reflecting_edges_keep_a_constant_image,
               differences_match_their_definition, a_repeated_operator_keeps_channels_apart,
               functions_of_the_caller_are_an_operator, threads_change_no_bit,
               every_failing_allocation_is_survived);
}
