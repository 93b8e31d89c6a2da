/* test_backends.c - the calls of vec.h and terms.h that look at every number, against plain loops,
 * on every backend. */
#include "loopback.h"

#include "base/rng.h"
#include "check.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 5, LANES = 3, MOST = 40000 };
static const int64_t lengths[LENGTHS] = {0, 1, 7, 1003, MOST};
static const int32_t lanes[LANES] = {1, 2, 5};
static const mgvi_backend *const backends[] = {&mgvi_backend_cpu, &mgv_loopback};

typedef struct room {
    mgvi_arena arena;
    mgvi_vec x, y, out;
    double *a, *b; /* x and y in host memory */
    int64_t count;
} room;

/* Numbers, some of them 0, in vectors that lie there. */
static void room_new(mgv_ctx *ctx, const mgvi_backend *at, int64_t n, int32_t k, room *r)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    ctx->backend = at;
    mgvi_arena_init(&r->arena, ctx);
    mgvi_vec *const vecs[] = {&r->x, &r->y, &r->out};
    for (int v = 0; v < 3; v++)
        CHECK_OK(ctx, mgvi_vec_new(&r->arena, MGVI_ROWS, n, k, vecs[v]));
    r->count = n * k;
    r->a = mgvi_arena_array(&r->arena, (size_t)r->count + 1, sizeof *r->a);
    r->b = mgvi_arena_array(&r->arena, (size_t)r->count + 1, sizeof *r->b);
    CHECK(r->a && r->b && r->x.at == (at == &mgvi_backend_cpu ? NULL : at));
    for (int64_t i = 0; i < r->count; i++) {
        r->a[i] = mgvi_rng_below(&rng, 4) ? mgvi_rng_normal(&rng) : 0;
        r->b[i] = mgvi_rng_normal(&rng);
    }
    mgvi_vec_upload(ctx, r->a, &r->x);
    mgvi_vec_upload(ctx, r->b, &r->y);
}

typedef void (*look)(mgv_ctx *ctx, room *r);

static void everywhere(look f)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t at = 0; at < sizeof backends / sizeof *backends; at++)
        for (int l = 0; l < LENGTHS; l++)
            for (int c = 0; c < LANES; c++) {
                room r;
                room_new(ctx, backends[at], lengths[l], lanes[c], &r);
                f(ctx, &r);
                mgvi_arena_free(&r.arena);
            }
    mgv_ctx_free(ctx);
}

#define EACH(i, r, want)                                                                           \
    do {                                                                                           \
        const double *got = mgvi_vec_host(&(r)->out);                                              \
        for (int64_t i = 0; i < (r)->count; i++)                                                   \
            CHECK(got[i] == (want));                                                               \
    } while (0)

static void look_at_elements(mgv_ctx *ctx, room *r)
{
    const int32_t k = r->x.k;
    const mgvi_coef_array shared = {.values = r->b, .lanes = 1}, own = {.values = r->b, .lanes = k};
    mgvi_vec_multiply(ctx, &r->x, &r->y, &r->out);
    EACH(i, r, r->a[i] * r->b[i]);
    mgvi_vec_split(ctx, &r->x, 0.25, 3, -2, &r->out);
    EACH(i, r, r->a[i] < 0.25 ? 3 : -2);
    mgvi_vec_weigh(ctx, &shared, &r->x, &r->out);
    EACH(i, r, r->b[i / k] * r->a[i]);
    mgvi_vec_less(ctx, &r->x, &own, &r->out);
    EACH(i, r, r->a[i] - r->b[i]);
    mgvi_vec_copy(ctx, &r->x, &r->out);
    mgvi_vec_leave_out(ctx, &own, 9, &r->out);
    EACH(i, r, r->b[i] > 0 ? r->a[i] : 9);
}

static void look_at_views(mgv_ctx *ctx, room *r)
{
    const int32_t k = r->x.k;
    const int64_t n = r->x.n, begin = n / 3;
    mgvi_vec_fill(ctx, &r->out, 1);
    mgvi_vec part = mgvi_vec_part(&r->out, begin, n - begin);
    mgvi_vec_fill(ctx, &part, 2);
    EACH(i, r, i < begin * k ? 1 : 2);
    if (n == 0)
        return;
    mgvi_vec_set(&r->out, r->count - 1, 5);
    CHECK(mgvi_vec_at(&r->out, r->count - 1) == 5);
    double *all = mgvi_vec_open(&r->out);
    all[0] = 7;
    mgvi_vec_close(&r->out);
    mgvi_vec_download(ctx, &r->out, r->b);
    CHECK(r->b[0] == 7 && (r->count == 1 || r->b[r->count - 1] == 5));
}

static void look_at_places(mgv_ctx *ctx, room *r)
{
    int64_t *list = mgvi_arena_array(&r->arena, (size_t)r->count + 1, sizeof *list);
    int64_t count = 0, first = 0;
    double sizes[8] = {0}, got[8], least, below = 0;
    CHECK(list);
    CHECK(mgvi_vec_nonzeros(&r->x, NULL) == mgvi_vec_nonzeros(&r->x, list));
    for (int64_t i = 0; i < r->count; i++) {
        if (r->a[i] != 0)
            CHECK(list[count++] == i);
        first = r->a[i] < r->a[first] ? i : first;
        sizes[i % r->x.k] += fabs(r->a[i]);
    }
    mgvi_vec_abs_sum(ctx, &r->x, got);
    for (int32_t c = 0; c < r->x.k; c++)
        CHECK_NEAR(got[c], sizes[c], 1e-13 * (1 + sizes[c]), "lane %d", (int)c);
    if (r->count == 0)
        return;
    CHECK(mgvi_vec_first_least(&r->x, &least) == first && least == r->a[first]);
    mgvi_vec_multiply(ctx, &r->x, &r->x, &r->out); /* chances */
    for (int64_t t = 0; t < count && t < 10; t++) {
        below += r->a[list[t]] * r->a[list[t]];
        CHECK(mgvi_vec_draw(&r->out, below * (1 - 1e-9)) == list[t]);
    }
    CHECK(mgvi_vec_draw(&r->out, INFINITY) == (count ? list[count - 1] : -1));
}

static void look_at_groups(mgv_ctx *ctx, room *r)
{
    const double RADIUS = 0.8;
    for (int64_t size = 1; size <= 3; size++) {
        const int64_t n = r->count / size * size;
        mgvi_vec v = mgvi_vec_flat(&r->x), step = mgvi_vec_flat(&r->y);
        v = mgvi_vec_part(&v, 0, n);
        step = mgvi_vec_part(&step, 0, n);
        mgvi_vec_upload(ctx, r->a, &r->x);
        mgvi_vec_upload(ctx, r->b, &r->y);
        mgvi_vec_project(ctx, size, RADIUS, &v, &step);
        const double *to = mgvi_vec_host(&v), *by = mgvi_vec_host(&step);
        for (int64_t g = 0; g < n; g += size) {
            double square = 0;
            for (int64_t t = g; t < g + size; t++)
                square += (r->a[t] + r->b[t]) * (r->a[t] + r->b[t]);
            const double shrink = RADIUS / fmax(RADIUS, sqrt(square));
            for (int64_t t = g; t < g + size; t++) {
                CHECK_NEAR(to[t], shrink * (r->a[t] + r->b[t]), 1e-15, "group %d", (int)g);
                CHECK_NEAR(by[t], to[t] - r->a[t], 1e-15, "group %d", (int)g);
            }
        }
    }
}

TEST(elements_match_plain_loops) { everywhere(look_at_elements); }
TEST(views_are_of_their_vectors) { everywhere(look_at_views); }
TEST(places_match_plain_loops) { everywhere(look_at_places); }
TEST(groups_match_plain_loops) { everywhere(look_at_groups); }

int main(void)
{
    return RUN(elements_match_plain_loops, views_are_of_their_vectors, places_match_plain_loops,
               groups_match_plain_loops);
}
