/* kernel_lend.c - rows of K that several operators over the same examples share, as the members of
 * a family do: they differ in signs alone. The lender keeps the rows; a borrower that misses some
 * claims them, computes them by itself and hands them over, and waits for what others have claimed.
 * The values of a row do not depend on the rows it is computed with (a matrix product sums every
 * entry in one order, and so do the lanes that sparse rows run over), so that it does not matter
 * who was first. */
#include "op/kernel_impl.h"

#include "base/limit.h"

#include <pthread.h>
#include <string.h>

/* Rows computed together, at least: fewer take another way, whose rounding is another. */
enum { LEAST = 4 };

struct mgvi_kernel_loans {
    pthread_mutex_t lock;
    pthread_cond_t handed_over;
    bool *ready; /* per slot */
    bool broken; /* memory was refused: everybody for himself */
};

bool mgvi_kernel_can_lend(const mgvi_kernel_op *k)
{
    return k->fast == MGV_F64 && k->slots == k->op.rows &&
           k->kernel.kind != MGVI_KERNEL_PRECOMPUTED;
}

mgv_status mgvi_kernel_lend(mgvi_kernel_op *k)
{
    if (k->loans || !mgvi_kernel_can_lend(k))
        return MGV_OK;
    mgvi_kernel_loans *l = mgvi_new(k->op.ctx, sizeof *l);
    if (!l)
        return MGV_E_MEMORY;
    l->ready = mgvi_zeros(k->op.ctx, (size_t)k->slots, sizeof *l->ready);
    if (!l->ready || pthread_mutex_init(&l->lock, NULL) != 0) {
        mgvi_release(k->op.ctx, l->ready);
        mgvi_release(k->op.ctx, l);
        return MGV_E_MEMORY;
    }
    if (pthread_cond_init(&l->handed_over, NULL) != 0) {
        pthread_mutex_destroy(&l->lock);
        mgvi_release(k->op.ctx, l->ready);
        mgvi_release(k->op.ctx, l);
        return MGV_E_MEMORY;
    }
    memset(l->ready, 1, (size_t)k->used * sizeof *l->ready);
    k->loans = l;
    return MGV_OK;
}

void mgvi_kernel_end_loans(mgvi_kernel_op *k)
{
    mgvi_kernel_loans *l = k->loans;
    if (!l)
        return;
    pthread_cond_destroy(&l->handed_over);
    pthread_mutex_destroy(&l->lock);
    mgvi_release(k->op.ctx, l->ready);
    mgvi_release(k->op.ctx, l);
    k->loans = NULL;
}

/* Under the lock: rows that nobody has claimed become ours, side by side in a slab; *t moves on. */
static int64_t claim(mgvi_kernel_op *k, const int64_t *rows, int64_t count, int64_t *t,
                     int64_t *mine)
{
    mgvi_kernel_op *from = k->lender;
    const int64_t most = k->tile_rows - from->used % k->tile_rows;
    int64_t found = 0;
    for (; *t < count && found < most; (*t)++) {
        const int64_t i = rows[*t];
        if (from->slot_of[i] >= 0)
            continue;
        if (!mgvi_kernel_slab_ready(from, from->used)) {
            from->loans->broken = true;
            break;
        }
        from->loans->ready[from->used] = false;
        from->owner[from->used] = (int32_t)i;
        from->slot_of[i] = (int32_t)from->used++;
        mine[found++] = i;
    }
    return found;
}

/* Computes claimed rows into their slots; false: no memory, or the limit has cut it. */
static bool work_off(mgvi_kernel_op *k, const int64_t *mine, int64_t count)
{
    char *const slot = mgvi_kernel_slot(k->lender, k->lender->slot_of[mine[0]]);
    if (count >= LEAST)
        return mgvi_kernel_compute_into(k, mine, count, slot) == MGV_OK && !mgvi_ctx_cut(k->op.ctx);
    int64_t rows[LEAST];
    for (int64_t t = 0; t < LEAST; t++)
        rows[t] = mine[t < count ? t : 0];
    const char *values = mgvi_kernel_compute(k, rows, LEAST);
    if (values)
        memcpy(slot, values, (size_t)count * mgvi_kernel_row_bytes(k));
    return values && !mgvi_ctx_cut(k->op.ctx);
}

/* Under the lock: hands over what we have computed. */
static void hand_over(mgvi_kernel_op *from, const int64_t *mine, int64_t count, bool done)
{
    for (int64_t t = 0; t < count; t++)
        from->loans->ready[from->slot_of[mine[t]]] = done;
    from->loans->broken = from->loans->broken || !done;
    pthread_cond_broadcast(&from->loans->handed_over);
}

bool mgvi_kernel_borrow(mgvi_kernel_op *k, const int64_t *rows, int64_t count)
{
    mgvi_kernel_op *from = k->lender;
    mgvi_kernel_loans *l = from->loans;
    int64_t mine[MGVI_KERNEL_TILE], t = 0;
    pthread_mutex_lock(&l->lock);
    while (t < count && !l->broken) {
        const int64_t found = claim(k, rows, count, &t, mine);
        if (found == 0)
            continue;
        pthread_mutex_unlock(&l->lock);
        const bool done = work_off(k, mine, found);
        pthread_mutex_lock(&l->lock);
        hand_over(from, mine, found, done);
    }
    for (t = 0; t < count && !l->broken; t++) {
        while (!l->ready[from->slot_of[rows[t]]] && !l->broken)
            pthread_cond_wait(&l->handed_over, &l->lock);
        k->slot_of[rows[t]] = from->slot_of[rows[t]];
    }
    const bool all = !l->broken;
    pthread_mutex_unlock(&l->lock);
    return all;
}
