/* class_graph.c - cycles of least mean and circulations among classes. */
#include "op/class_graph.h"

#include <math.h>

mgv_status mgvi_class_graph_new(mgvi_arena *arena, int32_t k, mgvi_class_graph *out)
{
    const size_t n = (size_t)k;
    *out = (mgvi_class_graph){.k = k};
    MGVI_TRY(MGVI_VECTORS(arena, (size_t)n * n, &out->edge, &out->least));
    MGVI_TRY(MGVI_VECTORS(arena, n, &out->b, &out->excess));
    MGVI_TRY(MGVI_ARRAY(arena, out->from, n));
    MGVI_TRY(MGVI_ARRAY(arena, out->cycle, n));
    return MGV_OK;
}

/* ---- the cycle of least mean ----------------------------------------------------------------- */

/* The best cycle of two classes, and its mean. */
static double best_pair(mgvi_class_graph *g)
{
    const int32_t k = g->k;
    double least = INFINITY;
    for (int32_t c = 0; c < k; c++)
        for (int32_t j = 0; j < c; j++) {
            const double mean = 0.5 * (g->edge[c * k + j] + g->edge[j * k + c]);
            if (mean < least) {
                least = mean;
                g->cycle[0] = j;
                g->cycle[1] = c;
                g->length = 2;
            }
        }
    return least;
}

/* The way back along `from` meets itself: the classes met are the cycle. */
static bool find_cycle(mgvi_class_graph *g)
{
    for (int32_t start = 0; start < g->k; start++) {
        int32_t slow = start, fast = start;
        do {
            slow = g->from[slow];
            fast = g->from[fast] < 0 ? -1 : g->from[g->from[fast]];
        } while (fast >= 0 && slow != fast);
        if (fast < 0)
            continue;
        g->length = 0;
        do {
            g->cycle[g->length++] = slow;
            slow = g->from[slow];
        } while (slow != fast);
        for (int32_t t = 0; t < g->length / 2; t++) { /* from last to first: turned round */
            const int32_t other = g->cycle[t];
            g->cycle[t] = g->cycle[g->length - 1 - t];
            g->cycle[g->length - 1 - t] = other;
        }
        return true;
    }
    return false;
}

static double mean_of_cycle(const mgvi_class_graph *g)
{
    double sum = 0;
    for (int32_t t = 0; t < g->length; t++)
        sum += g->edge[g->cycle[t] * g->k + g->cycle[(t + 1) % g->length]];
    return sum / g->length;
}

/* Bellman and Ford's b_j <- min(b_j, b_c + e_cj - mean), until nothing falls (true) or falling has
 * gone round a cycle of a smaller mean. Falls below `least` are rounding. */
static bool settle(mgvi_class_graph *g, double mean, double least)
{
    const int32_t k = g->k;
    for (int32_t c = 0; c < k; c++) {
        g->b[c] = 0;
        g->from[c] = -1;
    }
    for (bool falls = true; falls;) {
        falls = false;
        for (int32_t c = 0; c < k; c++)
            for (int32_t j = 0; j < k; j++) {
                const double to = g->b[c] + (g->edge[c * k + j] - mean);
                if (j == c || !(to < g->b[j] - least))
                    continue;
                g->b[j] = to;
                g->from[j] = c;
                falls = true;
            }
        if (falls && find_cycle(g))
            return false;
    }
    return true;
}

static double attained(const mgvi_class_graph *g)
{
    double least = INFINITY;
    for (int32_t c = 0; c < g->k; c++)
        for (int32_t j = 0; j < g->k; j++)
            if (j != c)
                least = fmin(least, g->edge[c * g->k + j] + g->b[c] - g->b[j]);
    return least;
}

double mgvi_class_graph_least_mean(mgvi_class_graph *g)
{
    double mean = best_pair(g), size = 0;
    for (int32_t c = 0; c < g->k; c++)
        for (int32_t j = 0; j < g->k; j++)
            if (j != c && isfinite(g->edge[c * g->k + j]))
                size = fmax(size, fabs(g->edge[c * g->k + j]));
    if (!isfinite(mean))
        return mean;
    while (!settle(g, mean, 1e-15 * size)) {
        const double smaller = mean_of_cycle(g);
        if (!(smaller < mean))
            break; /* rounding */
        mean = smaller;
    }
    return attained(g);
}

/* ---- scaling --------------------------------------------------------------------------------- */

/* ln of what leaves class c and of what enters it, in units of b_c = 0. */
static void sum_edges(const mgvi_class_graph *g, int32_t c, double *out, double *in)
{
    const int32_t k = g->k;
    double most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        for (int pass = 0; pass < 2; pass++)
            for (int32_t j = 0; j < k; j++) {
                const double x = side ? g->edge[j * k + c] - g->b[j] : g->edge[c * k + j] + g->b[j];
                if (j == c || !(x > -INFINITY))
                    continue;
                if (pass == 0)
                    most[side] = fmax(most[side], x);
                else
                    sum[side] += exp(x - most[side]);
            }
    }
    *out = most[0] + log(sum[0]);
    *in = most[1] + log(sum[1]);
}

void mgvi_class_graph_balance(mgvi_class_graph *g)
{
    enum { SWEEPS = 200 };
    double moved = INFINITY, out, in;
    for (int32_t c = 0; c < g->k; c++)
        g->b[c] = 0;
    for (int sweep = 0; sweep < SWEEPS && moved > 1e-14; sweep++) {
        moved = 0;
        for (int32_t c = 0; c < g->k; c++) {
            sum_edges(g, c, &out, &in);
            const double next = 0.5 * (out - in);
            if (!isfinite(next))
                continue; /* no edge on one side: nothing circulates here */
            moved = fmax(moved, fabs(next - g->b[c]) / fmax(1, fabs(next)));
            g->b[c] = next;
        }
    }
}

/* ---- circulations ---------------------------------------------------------------------------- */

/* The classes reached from `source` along positive edges, in breadth, until one lacks something:
 * that one, -1 when there is none. `cycle` is the queue. */
static int32_t reach(mgvi_class_graph *g, int32_t source)
{
    const int32_t k = g->k;
    int32_t head = 0, tail = 0;
    for (int32_t c = 0; c < k; c++)
        g->from[c] = -1;
    g->cycle[tail++] = source;
    g->from[source] = source;
    while (head < tail) {
        const int32_t c = g->cycle[head++];
        if (g->excess[c] < 0)
            return c;
        for (int32_t j = 0; j < k; j++)
            if (j != c && g->from[j] < 0 && g->edge[c * k + j] > 0) {
                g->from[j] = c;
                g->cycle[tail++] = j;
            }
    }
    return -1;
}

/* Takes what can be taken along the way found, which empties an edge or mends one of its ends. */
static void take(mgvi_class_graph *g, int32_t source, int32_t sink)
{
    const int32_t k = g->k;
    double most = fmin(g->excess[source], -g->excess[sink]);
    for (int32_t j = sink; j != source; j = g->from[j])
        most = fmin(most, g->edge[g->from[j] * k + j]);
    for (int32_t j = sink; j != source; j = g->from[j])
        g->edge[g->from[j] * k + j] -= most;
    g->excess[source] -= most;
    g->excess[sink] += most;
}

void mgvi_class_graph_circulate(mgvi_class_graph *g)
{
    const int32_t k = g->k;
    for (int32_t c = 0; c < k; c++) {
        g->excess[c] = 0;
        for (int32_t j = 0; j < k; j++)
            g->excess[c] += j == c ? 0 : g->edge[c * k + j] - g->edge[j * k + c];
    }
    for (int32_t c = 0; c < k; c++)
        while (g->excess[c] > 0) {
            const int32_t sink = reach(g, c);
            if (sink < 0)
                break; /* the excess is rounding */
            take(g, c, sink);
        }
    g->length = 0;
}
