/* smallest.c - Hoare's selection. */
#include "solver/shared/smallest.h"

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
