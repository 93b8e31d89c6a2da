/* ranking.c - the library's sort, and Hoare's selection. */
#include "solver/shared/ranking.h"

#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
    const mgvi_ranked *a = x, *b = y;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

void mgvi_rank(mgvi_ranked *list, int64_t count)
{
    qsort(list, (size_t)count, sizeof *list, by_value);
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int64_t mgvi_rank_join(mgvi_ranked *list, int64_t count, int64_t most, int32_t *set, int64_t *held)
{
    if (count > most) {
        mgvi_rank(list, count);
        count = most;
    }
    for (int64_t k = 0; k < count; k++)
        set[(*held)++] = list[k].index;
    qsort(set, (size_t)*held, sizeof *set, by_number);
    return count;
}

void mgvi_select_smallest(const double *z, int64_t *order, int64_t count, int64_t most)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t pivot = order[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (z[order[i]] < z[pivot] || (z[order[i]] == z[pivot] && order[i] < pivot))
                i++;
            while (z[order[j]] > z[pivot] || (z[order[j]] == z[pivot] && order[j] > pivot))
                j--;
            if (i <= j) {
                const int64_t other = order[i];
                order[i++] = order[j];
                order[j--] = other;
            }
        }
        if (most <= j)
            high = j;
        else if (most >= i)
            low = i;
        else
            return;
    }
}
