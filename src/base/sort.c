/* sort.c - quicksort around the median of three; where that goes wrong too often, a heap. */
#include "base/sort.h"

enum { FEW = 24 };

static void exchange(double *a, double *b)
{
    const double held = *a;
    *a = *b;
    *b = held;
}

static void insert_each(double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const double held = x[i];
        int64_t j = i;
        for (; j > 0 && held < x[j - 1]; j--)
            x[j] = x[j - 1];
        x[j] = held;
    }
}

static void sink(double *x, int64_t at, int64_t n)
{
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && x[child] < x[child + 1])
            child++;
        if (!(x[at] < x[child]))
            return;
        exchange(&x[at], &x[child]);
    }
}

static void sort_by_heap(double *x, int64_t n)
{
    for (int64_t i = n / 2; i-- > 0;)
        sink(x, i, n);
    for (int64_t last = n - 1; last > 0; last--) {
        exchange(&x[0], &x[last]);
        sink(x, 0, last);
    }
}

/* Hoare's: returns the end of the first part, which is neither empty nor all. */
static int64_t part(double *x, int64_t n)
{
    if (x[n / 2] < x[0])
        exchange(&x[0], &x[n / 2]);
    if (x[n - 1] < x[n / 2])
        exchange(&x[n / 2], &x[n - 1]);
    if (x[n / 2] < x[0])
        exchange(&x[0], &x[n / 2]);
    const double pivot = x[n / 2];
    for (int64_t i = 0, j = n - 1;; i++, j--) {
        while (i < n - 1 && x[i] < pivot)
            i++;
        while (j > 0 && pivot < x[j])
            j--;
        if (i >= j)
            return j + 1 < n ? j + 1 : j;
        exchange(&x[i], &x[j]);
    }
}

void mgvi_sort_reals(double *x, int64_t n)
{
    int rounds = 0;
    for (int64_t size = n; size > 1; size /= 2)
        rounds += 2;
    while (n > FEW && rounds-- > 0) {
        const int64_t first = part(x, n);
        if (first < n - first) { /* the longer one is ours: the stack stays low */
            mgvi_sort_reals(x, first);
            x += first;
            n -= first;
        } else {
            mgvi_sort_reals(x + first, n - first);
            n = first;
        }
    }
    if (n > FEW)
        sort_by_heap(x, n);
    else
        insert_each(x, n);
}
