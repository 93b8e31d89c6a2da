/* select/lane_kernels.h - the loops of lanes.h for WIDTH floats, included twice per instruction
 * set. Vectors of WIDTH floats are GNU C's; the compiler cuts them into the registers there are. */

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(name) PASTE(name##_, WIDTH)

typedef float NAME(lane) __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t NAME(bits) __attribute__((vector_size(4 * WIDTH), may_alias));
#define LANE NAME(lane)
#define BITS NAME(bits)
#define AT(array, row) (*(LANE *)((array) + (int64_t)(row)*WIDTH))
#define BITS_AT(array, row) (*(const BITS *)((array) + (int64_t)(row)*WIDTH))

/* p_j.R over the rows that each lane trains on: sparse columns. */
#define SPARSE_TERM(t)                                                                             \
    (val[t] * (LANE)(*(const BITS *)(R + (idx[t] & -WIDTH)) & BITS_AT(mask, idx[t] & (WIDTH - 1))))

/* The rows of a dense column are sorted by code: one mask per stretch. */
#define DOT(s, j, g)                                                                               \
    do {                                                                                           \
        const float *const R = (s)->R, *val = (s)->P.f32 + (s)->P.ptr[j];                          \
        const int32_t *const mask = (s)->mask;                                                     \
        LANE a = {0}, b = {0}, c = {0}, d = {0};                                                   \
        if ((s)->P.dense) {                                                                        \
            (g) = a;                                                                               \
            for (int32_t code = 0; code < (s)->codes; code++) {                                    \
                int64_t i = (s)->stretch[code];                                                    \
                const int64_t end = (s)->stretch[code + 1];                                        \
                LANE p = {0}, q = {0};                                                             \
                for (; i + 4 <= end; i += 4) {                                                     \
                    p += val[i] * AT(R, i) + val[i + 1] * AT(R, i + 1);                            \
                    q += val[i + 2] * AT(R, i + 2) + val[i + 3] * AT(R, i + 3);                    \
                }                                                                                  \
                for (; i < end; i++)                                                               \
                    p += val[i] * AT(R, i);                                                        \
                (g) += (LANE)((BITS)(p + q) & BITS_AT(mask, code));                                \
            }                                                                                      \
        } else {                                                                                   \
            const int32_t *idx = (s)->P.idx + (s)->P.ptr[j];                                       \
            const int64_t n = mgvi_packed_nnz(&(s)->P, j);                                         \
            int64_t t = 0;                                                                         \
            for (; t + 4 <= n; t += 4) {                                                           \
                a += SPARSE_TERM(t);                                                               \
                b += SPARSE_TERM(t + 1);                                                           \
                c += SPARSE_TERM(t + 2);                                                           \
                d += SPARSE_TERM(t + 3);                                                           \
            }                                                                                      \
            for (; t < n; t++)                                                                     \
                a += SPARSE_TERM(t);                                                               \
            (g) = (a + b) + (c + d);                                                               \
        }                                                                                          \
    } while (0)

/* R -= p_j move, in every row. */
#define SUBTRACT(s, j, move)                                                                       \
    do {                                                                                           \
        float *const R = (s)->R;                                                                   \
        const float *val = (s)->P.f32 + (s)->P.ptr[j];                                             \
        const int64_t n = mgvi_packed_nnz(&(s)->P, j);                                             \
        if ((s)->P.dense) {                                                                        \
            for (int64_t i = 0; i < n; i++)                                                        \
                AT(R, i) -= val[i] * (move);                                                       \
        } else {                                                                                   \
            const int32_t *idx = (s)->P.idx + (s)->P.ptr[j];                                       \
            for (int64_t t = 0; t < n; t++)                                                        \
                *(LANE *)(R + (idx[t] & -WIDTH)) -= val[t] * (move);                               \
        }                                                                                          \
    } while (0)

/* What a visit of column j reads first, on its way from memory. */
static inline void NAME(fetch)(const mgvi_lanes *s, int64_t j)
{
    const int64_t first = s->P.ptr[j];
    __builtin_prefetch(s->square + j * WIDTH);
    __builtin_prefetch(s->sum + j * WIDTH);
    __builtin_prefetch(s->w + j * WIDTH);
    __builtin_prefetch(s->inverse + j * WIDTH);
    __builtin_prefetch(s->P.f32 + first);
    if (!s->P.dense)
        __builtin_prefetch(s->P.idx + first);
}

static void NAME(sweep)(mgvi_lanes *s, const int32_t *list, int64_t count, float *change)
{
    const BITS magnitude = (BITS){0} + INT32_MAX;
    const LANE l1 = AT(s->l1, 0), shift = AT(s->shift, 0);
    LANE off = AT(s->off, 0), most = {0};
    for (int64_t k = 0; k < count; k++) {
        const int64_t j = list[k];
        if (k + 2 < count)
            NAME(fetch)(s, list[k + 2]);
        const LANE N = AT(s->square, j), S = AT(s->sum, j), w = AT(s->w, j);
        LANE g;
        DOT(s, j, g);
        s->touched += (double)mgvi_packed_nnz(&s->P, j);
        const LANE v = N * w + g + off * S;
        LANE excess = (LANE)((BITS)v & magnitude);
        if (s->weight)
            excess -= l1 * AT(s->weight, j);
        else
            excess -= l1;
        const LANE kept = (LANE)((BITS)excess & (excess > 0));
        const LANE next = (LANE)((BITS)kept | ((BITS)v & ~magnitude)) * AT(s->inverse, j);
        const LANE move = next - w;
        union {
            BITS v;
            uint64_t word[WIDTH / 2];
        } moved = {.v = move != 0};
        uint64_t any = 0;
        for (int q = 0; q < WIDTH / 2; q++)
            any |= moved.word[q];
        if (!any)
            continue;
        SUBTRACT(s, j, move);
        s->touched += (double)mgvi_packed_nnz(&s->P, j);
        AT(s->w, j) = next;
        off += shift * S * move;
        const LANE size = N * move * move;
        const BITS larger = size > most;
        most = (LANE)(((BITS)size & larger) | ((BITS)most & ~larger));
    }
    AT(s->off, 0) = off;
    memcpy(change, &most, sizeof most);
}

/* Dense columns four at a time: one load of a row's residuals serves them all. Two rows at a time:
 * eight sums hide the latency of the additions. */
static void NAME(dot_four)(const mgvi_lanes *s, const int64_t *j, LANE *g)
{
    const float *const R = s->R, *a = s->P.f32 + s->P.ptr[j[0]], *b = s->P.f32 + s->P.ptr[j[1]],
                       *c = s->P.f32 + s->P.ptr[j[2]], *d = s->P.f32 + s->P.ptr[j[3]];
    g[0] = g[1] = g[2] = g[3] = (LANE){0};
    for (int32_t code = 0; code < s->codes; code++) {
        LANE p = {0}, q = {0}, u = {0}, v = {0}, p2 = {0}, q2 = {0}, u2 = {0}, v2 = {0};
        const int64_t end = s->stretch[code + 1];
        int64_t i = s->stretch[code];
        for (; i + 2 <= end; i += 2) {
            const LANE r = AT(R, i), r2 = AT(R, i + 1);
            p += a[i] * r;
            q += b[i] * r;
            u += c[i] * r;
            v += d[i] * r;
            p2 += a[i + 1] * r2;
            q2 += b[i + 1] * r2;
            u2 += c[i + 1] * r2;
            v2 += d[i + 1] * r2;
        }
        if (i < end) {
            const LANE r = AT(R, i);
            p += a[i] * r;
            q += b[i] * r;
            u += c[i] * r;
            v += d[i] * r;
        }
        const BITS mask = BITS_AT(s->mask, code);
        g[0] += (LANE)((BITS)(p + p2) & mask);
        g[1] += (LANE)((BITS)(q + q2) & mask);
        g[2] += (LANE)((BITS)(u + u2) & mask);
        g[3] += (LANE)((BITS)(v + v2) & mask);
    }
}

static void NAME(gradient)(mgvi_lanes *s, const int32_t *list, int64_t first, int64_t count)
{
    const LANE off = AT(s->off, 0);
    int64_t k = 0;
    for (; s->P.dense && k + 4 <= count; k += 4) {
        int64_t j[4];
        LANE g[4];
        for (int t = 0; t < 4; t++)
            j[t] = list ? list[k + t] : first + k + t;
        NAME(dot_four)(s, j, g);
        for (int t = 0; t < 4; t++)
            AT(s->grad, j[t]) = g[t] + off * AT(s->sum, j[t]);
    }
    for (; k < count; k++) {
        const int64_t j = list ? list[k] : first + k;
        LANE g;
        DOT(s, j, g);
        AT(s->grad, j) = g + off * AT(s->sum, j);
    }
}

/* Four columns at a time: a row's residuals are loaded and stored once for them all. */
static void NAME(subtract_dense)(mgvi_lanes *s, const int32_t *list, int64_t count, int64_t begin,
                                 int64_t end)
{
    float *const R = s->R;
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const float *const a = s->P.f32 + s->P.ptr[list[k]], *b = s->P.f32 + s->P.ptr[list[k + 1]],
                           *c = s->P.f32 + s->P.ptr[list[k + 2]],
                           *d = s->P.f32 + s->P.ptr[list[k + 3]];
        const LANE p = AT(s->w, list[k]), q = AT(s->w, list[k + 1]), u = AT(s->w, list[k + 2]),
                   v = AT(s->w, list[k + 3]);
        for (int64_t i = begin; i < end; i++)
            AT(R, i) -= (a[i] * p + b[i] * q) + (c[i] * u + d[i] * v);
    }
    for (; k < count; k++) {
        const float *val = s->P.f32 + s->P.ptr[list[k]];
        const LANE w = AT(s->w, list[k]);
        for (int64_t i = begin; i < end; i++)
            AT(R, i) -= val[i] * w;
    }
}

static void NAME(subtract)(mgvi_lanes *s, const int32_t *list, int64_t count, int64_t begin,
                           int64_t end)
{
    if (s->P.dense) {
        NAME(subtract_dense)(s, list, count, begin, end);
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        const LANE w = AT(s->w, list[k]);
        SUBTRACT(s, list[k], w);
    }
}

/* For every column: whether |g| reaches `limit` in some lane (1) and whether some weight is not 0
 * (2). */
static void NAME(mark)(const mgvi_lanes *s, const float *limit, uint8_t *out)
{
    const BITS magnitude = (BITS){0} + INT32_MAX;
    const LANE plain = AT(limit, 0);
    for (int64_t j = 0; j < s->P.cols; j++) {
        LANE most = plain;
        if (s->weight)
            most *= AT(s->weight, j);
        union {
            BITS v;
            uint64_t word[WIDTH / 2];
        } far = {.v = ((LANE)((BITS)AT(s->grad, j) & magnitude) >= most) & (AT(s->inverse, j) > 0)},
          used = {.v = (BITS)AT(s->w, j) & magnitude};
        uint64_t reaches = 0, nonzero = 0;
        for (int q = 0; q < WIDTH / 2; q++) {
            reaches |= far.word[q];
            nonzero |= used.word[q];
        }
        out[j] = (uint8_t)((reaches != 0) | (nonzero != 0) << 1);
    }
}

/* w <- S(w - tau g, tau); the columns that are not 0 in every lane then come first in the list. */
static int64_t NAME(shrink)(mgvi_lanes *s, const float *tau, int32_t *list, int64_t count)
{
    const BITS magnitude = (BITS){0} + INT32_MAX;
    const LANE t = AT(tau, 0);
    int64_t used = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t j = list[k];
        const LANE v = AT(s->w, j) - t * AT(s->grad, j);
        const LANE excess = (LANE)((BITS)v & magnitude) - t;
        const LANE kept = (LANE)((BITS)excess & (excess > 0));
        union {
            LANE v;
            uint64_t word[WIDTH / 2];
        } next = {.v = (LANE)((BITS)kept | ((BITS)v & ~magnitude & (excess > 0)))};
        uint64_t any = 0;
        for (int q = 0; q < WIDTH / 2; q++)
            any |= next.word[q];
        AT(s->w, j) = next.v;
        list[used] = (int32_t)j;
        used += any != 0;
    }
    return used;
}

/* U <- U - sigma (R + off e) on the rows trained on, and ahead = 2 U - U_old. */
static void NAME(climb)(const mgvi_lanes *s, const float *sigma, float *U, float *ahead)
{
    const LANE off = AT(s->off, 0), step = AT(sigma, 0);
    for (int32_t code = 0; code < s->codes; code++) {
        const BITS mask = BITS_AT(s->mask, code);
        for (int64_t i = s->stretch[code]; i < s->stretch[code + 1]; i++) {
            const LANE r = AT(s->R, i) + off * s->e[i], old = AT(U, i);
            const LANE next = old - (LANE)((BITS)(step * r) & mask);
            AT(U, i) = next;
            AT(ahead, i) = next + (next - old);
        }
    }
}

enum { NAME(PIECE) = 64 }; /* rows or columns summed in float32 before float64 takes over */

static void NAME(rows)(const mgvi_lanes *s, mgvi_lane_rows *out)
{
    const LANE off = AT(s->off, 0);
    memset(out, 0, WIDTH * sizeof *out);
    for (int32_t code = 0; code < s->codes; code++) {
        const BITS mask = BITS_AT(s->mask, code);
        const int64_t end = s->stretch[code + 1];
        for (int64_t i = s->stretch[code]; i < end;) {
            LANE rr = {0}, yr = {0}, wrong = {0};
            for (int64_t k = 0; k < NAME(PIECE) && i < end; k++, i++) {
                const float y = s->target[i], e = s->e[i];
                const LANE r = AT(s->R, i) + off * e;
                rr += r * r;
                yr += y * r;
                wrong += (LANE)((BITS)((LANE){0} + e * e) & ((y - r) * y <= 0));
            }
            for (int l = 0; l < WIDTH; l++) {
                out[l].rr += mask[l] ? rr[l] : 0;
                out[l].yr += mask[l] ? yr[l] : 0;
                out[l].held += mask[l] ? 0 : rr[l];
                out[l].wrong += mask[l] ? 0 : wrong[l];
            }
        }
    }
}

static void NAME(cols)(const mgvi_lanes *s, const int32_t *list, int64_t count, mgvi_lane_cols *out)
{
    const BITS magnitude = (BITS){0} + INT32_MAX;
    const LANE l2 = AT(s->l2, 0), one = (LANE){0} + 1;
    LANE worst = {0};
    memset(out, 0, WIDTH * sizeof *out);
    for (int64_t k = 0; k < count;) {
        LANE norm1 = {0}, square = {0};
        for (int64_t q = 0; q < NAME(PIECE) && k < count; q++, k++) {
            const int64_t j = list[k];
            LANE c = one;
            if (s->weight)
                c = AT(s->weight, j);
            const LANE w = AT(s->w, j) * c;
            const LANE h = (AT(s->grad, j) - l2 * c * w) / c;
            const LANE size = (LANE)((BITS)h & magnitude & (AT(s->inverse, j) > 0));
            const BITS larger = size > worst;
            norm1 += (LANE)((BITS)w & magnitude);
            square += w * w;
            worst = (LANE)(((BITS)size & larger) | ((BITS)worst & ~larger));
        }
        for (int l = 0; l < WIDTH; l++) {
            out[l].norm1 += norm1[l];
            out[l].square += square[l];
        }
    }
    for (int l = 0; l < WIDTH; l++)
        out[l].worst = worst[l];
}

#undef PASTE2
#undef PASTE
#undef NAME
#undef LANE
#undef BITS
#undef AT
#undef BITS_AT
#undef SPARSE_TERM
#undef DOT
#undef SUBTRACT
