/* lane_blocks.c - which members share a block, and its problem. */
#include "solver/classes/lane_blocks.h"

#include "base/limit.h"
#include "base/threads.h"
#include "solver/classes/family.h"

#include <string.h>

enum {
    LANES = MGVI_LOCKSTEP_LANES,
    NARROW = MGVI_LOCKSTEP_NARROW,
    GROUP = 4 /* classes: GROUP^2 pairs fill a block of LANES */
};
typedef mgvi_lane_block lane_block;
typedef mgvi_lane_plan plan;

/* ---- which members go together --------------------------------------------------------------- */

/* A member without weights is none: family_run.c knows its answer. */
static void add_lane(plan *at, lane_block *b, int64_t member, int64_t positive, int64_t negative)
{
    if (!mgvi_member_weighs(at->head->run.problem, member))
        return;
    b->member[b->count] = member;
    b->lane[b->count++] = (mgvi_lane){positive, negative};
}

/* Classes in blocks of a vector's lanes, two at least where that leaves 4 classes each. */
static void plan_classes(plan *at, int64_t classes)
{
    const int64_t least = (classes + at->lanes - 1) / at->lanes;
    at->blocks = least == 1 && classes >= 8 ? 2 : least;
    for (int64_t b = 0; b < at->blocks; b++)
        for (int64_t c = mgvi_block_begin(classes, at->blocks, b);
             c < mgvi_block_begin(classes, at->blocks, b + 1); c++)
            add_lane(at, &at->block[b], c, c, MGVI_THE_REST);
}

/* Groups are as even as can be (mgvi_block_begin), and two at least. */
static int64_t group_count(int64_t classes)
{
    const int64_t least = (classes + GROUP - 1) / GROUP;
    return least < 2 ? 2 : least;
}

/* Which of two narrow blocks a pair goes to: that of the second class's half of its group, or, for
 * pairs inside of a group, that of the group. */
static int64_t half_of_pair(int64_t classes, int64_t groups, const int64_t g[2], int64_t second)
{
    const int64_t first = mgvi_block_begin(classes, groups, g[1]);
    return g[0] == g[1] ? g[0] % 2 : second - first >= GROUP / 2;
}

/* A row is of use to the pairs of its own class only: classes go in groups of 4, and a block has
 * the pairs of two groups with each other, or those inside of two groups; a narrow one half of
 * them. */
static void plan_pairs(plan *at, int64_t classes)
{
    const int64_t groups = group_count(classes), members = mgvi_class_pairs(classes);
    const int64_t across = groups * (groups - 1) / 2;
    for (int64_t c = 0; c < members; c++) {
        const mgvi_class_pair pair = mgvi_class_pair_at(classes, c);
        int64_t g[2] = {0, 0};
        while (mgvi_block_begin(classes, groups, g[0] + 1) <= pair.first)
            g[0]++;
        while (mgvi_block_begin(classes, groups, g[1] + 1) <= pair.second)
            g[1]++;
        int64_t place = g[0] == g[1] ? across + g[0] / 2
                                     : g[0] * groups - g[0] * (g[0] + 1) / 2 + g[1] - g[0] - 1;
        if (at->lanes < LANES)
            place = 2 * place + half_of_pair(classes, groups, g, pair.second);
        add_lane(at, &at->block[place], c, pair.second, pair.first);
    }
    at->blocks = (at->lanes < LANES ? 2 : 1) * (across + (groups + 1) / 2);
}

/* The classes of a block of pairs, ascending; how many. */
static int64_t pair_classes(const lane_block *b, int64_t classes[2 * LANES])
{
    int64_t found = 0;
    for (int32_t t = 0; t < 2 * b->count; t++) {
        const int64_t c = t % 2 ? b->lane[t / 2].negative : b->lane[t / 2].positive;
        int64_t place = found;
        while (place > 0 && classes[place - 1] > c)
            place--;
        if (place > 0 && classes[place - 1] == c)
            continue;
        memmove(classes + place + 1, classes + place, (size_t)(found++ - place) * sizeof *classes);
        classes[place] = c;
    }
    return found;
}

double mgvi_lane_plan_served(const mgvi_lane_plan *at)
{
    const mgv_problem *p = at->head->run.problem;
    double served = 0, visits = 0;
    for (int64_t b = 0; b < at->blocks; b++) {
        int64_t classes[2 * LANES];
        const lane_block *block = &at->block[b];
        const double all = (double)mgvi_problem_classes(p);
        served += (p->pairwise ? 2 : all) * block->count;
        visits += p->pairwise ? (double)pair_classes(block, classes) : block->count > 0 ? all : 0;
    }
    return visits > 0 ? served / visits : 0;
}

mgv_status mgvi_lane_plan_make(const mgv_solver *head, mgvi_arena *arena, mgvi_lane_plan *out)
{
    const mgv_problem *p = head->run.problem;
    const int64_t k = mgvi_problem_classes(p), groups = group_count(k);
    const int64_t most = p->pairwise ? 2 * (groups * (groups + 1) / 2 + 1) : k / NARROW + 2;
    *out = (mgvi_lane_plan){.head = head,
                            .passes = mgvi_family_passes_left(head),
                            .lanes = mgvi_lockstep_lanes(p->ctx),
                            .block = mgvi_arena_array(arena, (size_t)most, sizeof *out->block)};
    if (!out->block)
        return MGV_E_MEMORY;
    if (p->pairwise)
        plan_pairs(out, k);
    else
        plan_classes(out, k);
    return MGV_OK;
}

/* ---- a block --------------------------------------------------------------------------------- */

/* Binds the lanes over the rows of their classes. */
static mgv_status bind_block(const plan *at, mgv_ctx *ctx, const lane_block *b, mgvi_lane *lane,
                             mgvi_member *out)
{
    const mgv_problem *head = at->head->run.problem;
    int64_t classes[2 * LANES];
    mgv_settings settings = at->head->settings;
    settings.max_passes = at->passes * b->count;
    for (int32_t l = 0; l < b->count; l++) /* all of them read the data together */
        settings.max_passes -= at->head->family->left[b->member[l]].passes;
    memcpy(lane, b->lane, sizeof b->lane);
    const int64_t found = head->pairwise ? pair_classes(b, classes) : 0;
    for (int32_t l = 0; l < b->count; l++)
        for (int64_t c = 0; c < found; c++) {
            if (b->lane[l].positive == classes[c])
                lane[l].positive = c;
            if (b->lane[l].negative == classes[c])
                lane[l].negative = c;
        }
    if (head->pairwise)
        MGVI_TRY(mgvi_member_rows(ctx, head, classes, found, out));
    return mgvi_member_block(ctx, out, head, &settings, lane, b->count, &out->problem);
}

mgv_status mgvi_lane_block_bind(const mgvi_lane_plan *at, mgv_ctx *ctx, const mgvi_lane_block *b,
                                mgvi_lane *lane, mgvi_member *out)
{
    mgvi_ctx_open(ctx, MGVI_GRACE);
    const mgv_status st = bind_block(at, ctx, b, lane, out);
    if (!mgvi_ctx_close(ctx) || !mgvi_limit_explains(st))
        return st;
    mgvi_member_free(ctx, out);
    *out = (mgvi_member){0};
    return MGV_OK;
}
