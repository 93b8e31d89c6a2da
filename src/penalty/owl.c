/* owl.c - ordered weighted l1: R(w) = c sum_i lambda_i |w|_(i), |w|_(1) >= |w|_(2) >= ..., with
 * weights lambda_1 >= lambda_2 >= ... >= 0, lambda_1 > 0, and c = scale. Contains SLOPE and OSCAR.
 *   R*(v) = 0 if sum_{i<=k} |v|_(i) <= c sum_{i<=k} lambda_i for all k, else infinite.
 * docs/terms.md (P14). */
#include "penalty/registry.h"

#include <stdlib.h>
#include <string.h>

typedef struct weights {
    const double *lambda;
} weights;

/* One entry on its way through the sort: four numbers of work space each. */
typedef struct item {
    double size; /* |x_j| */
    int64_t index;
    double sum; /* of the pooled block that begins here */
    int64_t count;
} item;
_Static_assert(sizeof(item) == 4 * sizeof(double), "owl_room counts on it");

static int64_t owl_room(int64_t n, const void *data)
{
    (void)data;
    return 4 * n;
}

/* Descending; equal sizes in the order of their columns, so that any sort gives the same bits. */
static int by_size(const void *left, const void *right)
{
    const item *a = left, *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static item *sorted(const mgvi_whole *self, const double *x)
{
    item *items = (item *)self->work;
    for (int64_t j = 0; j < self->n; j++)
        items[j] = (item){.size = fabs(x[j]), .index = j};
    qsort(items, (size_t)self->n, sizeof *items, by_size);
    return items;
}

static double owl_value(const mgvi_whole *self, const double *w)
{
    const double *lambda = ((const weights *)self->data)->lambda;
    const item *items = sorted(self, w);
    double sum = 0;
    for (int64_t i = 0; i < self->n; i++)
        sum += lambda[i] * items[i].size;
    return self->c.scale * sum;
}

/* |x|_(i) - step c lambda_i, projected onto nonincreasing sequences by pooling adjacent violators,
 * then clipped at 0: blocks of (sum, count) on a stack that grows in place. */
static void owl_prox(const mgvi_whole *self, const double *x, double step, double *out)
{
    const double *lambda = ((const weights *)self->data)->lambda;
    item *items = sorted(self, x);
    int64_t blocks = 0;
    for (int64_t i = 0; i < self->n; i++) {
        double sum = items[i].size - step * self->c.scale * lambda[i];
        int64_t count = 1;
        while (blocks > 0 &&
               items[blocks - 1].sum * (double)count <= sum * (double)items[blocks - 1].count) {
            blocks--;
            sum += items[blocks].sum;
            count += items[blocks].count;
        }
        items[blocks].sum = sum;
        items[blocks++].count = count;
    }
    int64_t i = 0;
    for (int64_t b = 0; b < blocks; b++) {
        const double level = r_max(0, items[b].sum / (double)items[b].count);
        const int64_t end = i + items[b].count;
        for (; i < end; i++) {
            const int64_t j = items[i].index;
            out[j] = r_copysign(level, x[j]);
        }
    }
}

static double owl_dual_scale(const mgvi_whole *self, const double *v)
{
    const double *lambda = ((const weights *)self->data)->lambda;
    const item *items = sorted(self, v);
    double sum = 0, bound = 0, scale = 1;
    for (int64_t i = 0; i < self->n; i++) {
        sum += items[i].size;
        bound += self->c.scale * lambda[i];
        if (sum > bound)
            scale = r_min(scale, bound / sum);
    }
    return scale;
}

static double owl_conj(const mgvi_whole *self, const double *v)
{
    return owl_dual_scale(self, v) * (1 + MGVI_ON_BOUNDARY) >= 1 ? 0 : INFINITY;
}

/* ---- weights --------------------------------------------------------------------------------- */
/* x with P(normal > x) = q, 0 < q <= 1/2: Newton for log P, concave, from a point left of the root
 * at 0. */
static double normal_quantile(double q)
{
    double x = 0;
    for (int i = 0; i < 50; i++) {
        const double tail = erfc(x / sqrt(2)) / 2;
        const double slope = -exp(-x * x / 2) / sqrt(2 * acos(-1)) / tail;
        const double step = (log(tail) - log(q)) / slope;
        x -= step;
        if (fabs(step) < 1e-12)
            break;
    }
    return x;
}

/* slope:Q gives lambda_i = z(i Q / (2 d)) / z(Q / (2 d)), the Benjamini-Hochberg sequence. */
static void slope_weights(double level, int64_t n, double *lambda)
{
    const double first = normal_quantile(level / (2 * (double)n));
    for (int64_t i = 0; i < n; i++)
        lambda[i] = normal_quantile(level * (double)(i + 1) / (2 * (double)n)) / first;
}

/* oscar:LAST falls evenly from 1 to LAST. */
static void oscar_weights(double last, int64_t n, double *lambda)
{
    for (int64_t i = 0; i < n; i++)
        lambda[i] = n > 1 ? 1 + (last - 1) * (double)i / (double)(n - 1) : 1;
}

static mgv_status read_list(mgvi_arena *arena, const char *text, int64_t n, double *lambda)
{
    char copy[MGVI_TEXT_MAX], *rest = copy, *word;
    memcpy(copy, text, strlen(text) + 1);
    int64_t count = 0;
    while ((word = strsep(&rest, ",")) && count < n) {
        if (!mgvi_parse_real(word, &lambda[count]) || !(lambda[count] >= 0) ||
            isinf(lambda[count]) || (count && lambda[count] > lambda[count - 1]))
            return MGVI_FAIL(arena->ctx, MGV_E_ARG,
                             "weight %" PRId64
                             " of owl is '%.40s'; allowed: 0 or more, none larger "
                             "than the one before",
                             count + 1, word);
        count++;
    }
    if (count < n || word)
        return MGVI_FAIL(arena->ctx, MGV_E_ARG, "owl has %s than %" PRId64 " weights",
                         word ? "more" : "fewer", n);
    return lambda[0] > 0 ? MGV_OK
                         : MGVI_FAIL(arena->ctx, MGV_E_ARG,
                                     "the weights of owl are all 0; give at least one above 0");
}

static mgv_status fill_weights(mgvi_arena *arena, const char *text, int64_t n, double *lambda)
{
    const char *list = mgvi_after_word(text, "list"), *slope = mgvi_after_word(text, "slope");
    const char *oscar = mgvi_after_word(text, "oscar");
    double value;
    if (list)
        return read_list(arena, list, n, lambda);
    if (slope && mgvi_parse_real(slope, &value) && value > 0 && value < 1) {
        slope_weights(value, n, lambda);
        return MGV_OK;
    }
    if (oscar && mgvi_parse_real(oscar, &value) && value >= 0 && value <= 1) {
        oscar_weights(value, n, lambda);
        return MGV_OK;
    }
    return MGVI_FAIL(
        arena->ctx, MGV_E_ARG,
        "owl is '%.60s'; allowed: slope:Q with 0 < Q < 1, oscar:LAST with 0 <= LAST <= "
        "1, or list:L1,L2,...",
        text);
}

static mgv_status make_weights(mgvi_arena *arena, const char *text, int64_t n, const void **data)
{
    weights *w = mgvi_arena_array(arena, 1, sizeof *w);
    double *lambda = mgvi_arena_array(arena, (size_t)n, sizeof *lambda);
    if (!w || !lambda)
        return MGV_E_MEMORY;
    MGVI_TRY(fill_weights(arena, text, n, lambda));
    w->lambda = lambda;
    *data = w;
    return MGV_OK;
}

static mgv_status owl_bind(mgvi_arena *arena, const mgvi_penalty_input *in, const void **data)
{
    return make_weights(arena, in->settings->owl, in->n, data);
}

static mgv_status owl_sample(mgvi_arena *arena, mgvi_rng *rng, int64_t n, const void **data)
{
    static const char *const kinds[] = {"slope:0.2", "oscar:0", "oscar:0.5", "oscar:1"};
    return make_weights(arena, kinds[mgvi_rng_below(rng, 4)], n, data);
}

const mgvi_penalty_ops mgvi_penalty_owl = {
    .name = "owl",
    .summary = "scale sum lambda_i |w|_(i): ordered l1, SLOPE and OSCAR",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_NORM | MGVI_KINK,
    .bind = owl_bind,
    .whole = &(const mgvi_whole_ops){.room = owl_room,
                                     .value = owl_value,
                                     .prox = owl_prox,
                                     .conj = owl_conj,
                                     .dual_scale = owl_dual_scale,
                                     .sample_data = owl_sample},
    .sample_coef = mgvi_penalty_sample_scale,
};
