/* rates.c - theorems as numbers. */
#include "certify/rates.h"

#include "linalg/eigen.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- the Hoffman constant -------------------------------------------------------------------- */

/* (5.3) is the largest 1/sigma_min of n independent rows of [I; E], E = [X'; 1'] with m = d + 1
 * rows: any e_i may have either sign, and more rows make sigma_min smaller. They are the e_i of all
 * i but P, and as many rows T of E. With C = E_TP, H = C^-1, B the rest of E_T and N = H BB'H',
 * the inverse of [I 0; B C] has the singular values whose squares are 1 and the roots of
 *   det(I - N/(x - 1) - HH'/x) = 0. */
enum { MOST_COLUMNS = 12 };
static const double MOST_CHOICES = 2e6, INDEPENDENT = 1e-12;

typedef struct choice {
    const double *E, *gram; /* m x n; E E' */
    int64_t n, m, t;
    int64_t T[MOST_COLUMNS], P[MOST_COLUMNS];
    double best; /* square of the constant so far */
} choice;

/* The largest eigenvalue of a symmetric t x t matrix, which stays. */
static double largest(int64_t t, const double *S)
{
    double copy[MOST_COLUMNS * MOST_COLUMNS], E[MOST_COLUMNS * MOST_COLUMNS], value[MOST_COLUMNS];
    memcpy(copy, S, (size_t)(t * t) * sizeof *S);
    mgvi_eigen_symmetric(t, copy, E, value);
    return value[0];
}

/* H = C^-1 by elimination with row pivots; false: C is singular to 1e-12. */
static bool invert(int64_t t, double *C, double *H)
{
    double most = 0, norm = 0;
    for (int64_t i = 0; i < t * t; i++) {
        H[i] = i % (t + 1) == 0;
        most = fmax(most, fabs(C[i]));
    }
    for (int64_t k = 0; k < t; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < t; i++)
            best = fabs(C[i * t + k]) > fabs(C[best * t + k]) ? i : best;
        const double pivot = C[best * t + k];
        if (!(fabs(pivot) > INDEPENDENT * most))
            return false;
        for (int64_t j = 0; j < t; j++) {
            const double c = C[best * t + j], h = H[best * t + j];
            C[best * t + j] = C[k * t + j];
            H[best * t + j] = H[k * t + j];
            C[k * t + j] = c / pivot;
            H[k * t + j] = h / pivot;
        }
        for (int64_t i = 0; i < t; i++) {
            const double factor = i == k ? 0 : C[i * t + k];
            for (int64_t j = 0; j < t; j++) {
                C[i * t + j] -= factor * C[k * t + j];
                H[i * t + j] -= factor * H[k * t + j];
            }
        }
    }
    for (int64_t i = 0; i < t * t; i++)
        norm = fmax(norm, fabs(H[i]));
    return norm * most * INDEPENDENT < 1;
}

/* a = b c, b c', t x t */
static void multiply(int64_t t, const double *b, const double *c, bool transposed, double *a)
{
    for (int64_t i = 0; i < t; i++)
        for (int64_t j = 0; j < t; j++) {
            a[i * t + j] = 0;
            for (int64_t l = 0; l < t; l++)
                a[i * t + j] += b[i * t + l] * (transposed ? c[j * t + l] : c[l * t + j]);
        }
}

/* The largest eigenvalue of N/(x - 1) + HH'/x, falling in x > 1. */
static double at(int64_t t, const double *N, const double *HH, double x)
{
    double sum[MOST_COLUMNS * MOST_COLUMNS];
    for (int64_t i = 0; i < t * t; i++)
        sum[i] = N[i] / (x - 1) + HH[i] / x;
    return largest(t, sum);
}

/* Whether T with P beats the best, and by how much. */
static void look(choice *c)
{
    enum { ROOM = MOST_COLUMNS * MOST_COLUMNS, HALVINGS = 80 };
    double C[ROOM], H[ROOM], HH[ROOM], BB[ROOM], half[ROOM], N[ROOM];
    const int64_t t = c->t;
    for (int64_t i = 0; i < t; i++)
        for (int64_t j = 0; j < t; j++)
            C[i * t + j] = c->E[c->T[i] * c->n + c->P[j]];
    multiply(t, C, C, true, half);
    for (int64_t i = 0; i < t; i++)
        for (int64_t j = 0; j < t; j++)
            BB[i * t + j] = c->gram[c->T[i] * c->m + c->T[j]] - half[i * t + j];
    if (!invert(t, C, H))
        return;
    multiply(t, H, H, true, HH);
    if (t == c->n) { /* no e_i is left */
        c->best = fmax(c->best, largest(t, HH));
        return;
    }
    multiply(t, H, BB, false, half);
    multiply(t, half, H, true, N);
    if (at(t, N, HH, c->best * (1 + 1e-15)) <= 1)
        return;
    double low = c->best, high = 1 + fmax(0, largest(t, N)) + largest(t, HH);
    for (int k = 0; k < HALVINGS && high > low * (1 + 1e-14); k++) {
        const double middle = sqrt(low) * sqrt(high);
        *(at(t, N, HH, middle) > 1 ? &low : &high) = middle;
    }
    c->best = high;
}

/* The next t numbers of 0 .. n - 1 in order; false: there are no more. */
static bool next(int64_t *x, int64_t t, int64_t n)
{
    int64_t k = t - 1;
    while (k >= 0 && x[k] == n - t + k)
        k--;
    if (k < 0)
        return false;
    x[k]++;
    for (int64_t l = k + 1; l < t; l++)
        x[l] = x[l - 1] + 1;
    return true;
}

static double count_choices(int64_t n, int64_t m)
{
    double sum = 0, of_m = 1, of_n = 1;
    for (int64_t t = 1; t <= m && t <= n; t++) {
        of_m *= (double)(m - t + 1) / (double)t;
        of_n *= (double)(n - t + 1) / (double)t;
        sum += of_m * of_n;
    }
    return sum;
}

static void look_at_all(choice *c)
{
    for (c->t = 1; c->t <= c->m && c->t <= c->n; c->t++) {
        for (int64_t k = 0; k < c->t; k++)
            c->T[k] = k;
        do {
            for (int64_t k = 0; k < c->t; k++)
                c->P[k] = k;
            do
                look(c);
            while (next(c->P, c->t, c->n));
        } while (next(c->T, c->t, c->m));
    }
}

mgv_status mgvi_hoffman(mgv_ctx *ctx, const double *X, int64_t n, int64_t d, double *out)
{
    const int64_t m = d + 1;
    if (m > MOST_COLUMNS || count_choices(n, m) > MOST_CHOICES)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "the Hoffman constant of %" PRId64 " rows of %" PRId64
                         " columns takes %.3g choices of rows and columns; at most %.0e, and %d "
                         "columns",
                         n, d, count_choices(n, m), MOST_CHOICES, MOST_COLUMNS - 1);
    double *E = mgvi_zeros(ctx, (size_t)(m * (n + m)), sizeof *E), *gram = E ? E + m * n : NULL;
    if (!E)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            E[j * n + i] = j < d ? X[i * d + j] : 1;
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++)
            for (int64_t i = 0; i < n; i++)
                gram[a * m + b] += E[a * n + i] * E[b * n + i];
    choice c = {.E = E, .gram = gram, .n = n, .m = m, .best = 1}; /* every e_i */
    look_at_all(&c);
    mgvi_release(ctx, E);
    *out = sqrt(c.best);
    return MGV_OK;
}

/* ---- dual diagonal descent ------------------------------------------------------------------- */

/* 2 (D_0(u_0) - D*): the square of C in (5.4), whose <1, u_0 - u*> is printed without its 2. */
static double gap_twice(const mgvi_descent_facts *f)
{
    return fmax(0, f->w_start * f->w_start - f->w_star * f->w_star + 2 * f->sum);
}

/* With M = D_0(u_0) - D* in the place of what is printed under the root, as in (A.40). */
double mgvi_descent_mu(const mgvi_descent_facts *f)
{
    const double R = f->u_start + 2 * f->u_star;
    const double root = 3 * sqrt(gap_twice(f) / 2) + sqrt(2) * f->X_norm * R;
    return 1 / (8 * f->tau * f->tau * (root * root + 2));
}

/* (A.12) and (A.13) with delta = |w*|/2, the second with its root: sqrt(delta |w*|). */
static mgvi_descent_rate rate_of(const mgvi_descent_facts *f, double distance, double t_star)
{
    const double part = distance / f->w_star;
    return (mgvi_descent_rate){.distance = distance,
                               .angle = part * part,
                               .margin = sqrt(2) * f->X_frobenius * part,
                               .t_star = fmax(0, t_star)};
}

mgvi_descent_rate mgvi_descent_rate_plain(const mgvi_descent_facts *f, double t)
{
    const double C = sqrt(gap_twice(f)), step = f->gamma * mgvi_descent_mu(f);
    const double shrinks = -log1p(step); /* 1 - step/(1 + step), its logarithm */
    return rate_of(f, C * exp(shrinks * t / 2), 2 * log(f->w_star / 2 / C) / shrinks);
}

mgvi_descent_rate mgvi_descent_rate_inertial(const mgvi_descent_facts *f, double t)
{
    const double square = f->w_start * f->w_start - f->w_star * f->w_star + 2 * f->total +
                          f->distance * f->distance / f->gamma;
    const double C = (f->alpha - 1) * sqrt(fmax(0, square));
    return rate_of(f, C / (t + f->alpha - 1), 2 * C / f->w_star - (f->alpha - 1));
}

/* ---- momentum -------------------------------------------------------------------------------- */

mgvi_interval mgvi_momentum_square(double g, double n, double t)
{
    const double high = 4 * (g / t) * (g / t);
    return (mgvi_interval){.low = fmax(0, high - 8 * log(n) / ((t + 1) * (t + 1))), .high = high};
}

/* (1 + ln n)(1 + 2 ln(t + 1))/(t + 1)^2 */
static double slack(double n, double t)
{
    return (1 + log(n)) * (1 + 2 * log(t + 1)) / ((t + 1) * (t + 1));
}

double mgvi_momentum_least(double gamma, double n, double t)
{
    return gamma - 4 * slack(n, t) / gamma;
}

double mgvi_momentum_least_half(double gamma, double n, double t)
{
    return gamma / 2 - 4 * log(n) / (gamma * (t + 1) * (t + 1));
}

/* The rows' margin is gamma/sqrt(2): the 4 that is printed becomes 8. */
double mgvi_momentum_least_classes(double gamma, double n, double t)
{
    return gamma - 8 * slack(n, t) / gamma;
}

double mgvi_sampled_steps(double gamma, double n, double epsilon, double delta)
{
    const double first = (32 * log(n) + 64 * log(2 / delta)) / (gamma * gamma * epsilon * epsilon);
    return fmax(ceil(first), ceil(32 / (delta * epsilon * epsilon)));
}
