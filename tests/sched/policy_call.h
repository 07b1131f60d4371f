/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of schedulers/policy.h, as the kernel and this program call them. */
#pragma once

#include "schedulers/policy.h"

/* Arguments and results. */
struct policy_call {
    struct policy_loads loads;
    policy_u64 ns, shorts, actual_khz, ideal_khz, fast, slow;
    policy_u32 stalled, khz, own;
    struct policy_slice slice;
    struct {
        policy_u64 shorts, lost_ns, khz, between, slice_ideal_khz, slice_lost_ns;
        policy_u32 inverse, own, held, widens, widens_idle, narrows, may_change, call_ends_phase;
    } result;
};

/* All of them, of one call. */
static inline void policy_do(const struct policy_turbos *turbos, struct policy_call *c)
{
    c->result.shorts = policy_shorts(c->shorts, c->ns);
    c->result.lost_ns = policy_lost_ns(c->ns, c->actual_khz, c->ideal_khz, c->stalled);
    c->result.khz = policy_khz(c->fast, c->slow);
    c->result.between = c->fast < c->slow ? policy_between(c->fast, c->slow, (c->fast + c->slow) / 2) : 0;
    c->result.slice_ideal_khz = policy_ideal_khz(turbos, &c->slice, c->own);
    c->result.slice_lost_ns = policy_slice_lost_ns(turbos, &c->slice, c->own, c->slice.ns);
    c->result.inverse = policy_inverse(c->khz);
    c->result.own = policy_own_level(&turbos->inverse[0][1], c->fast & 1, c->slow & 1); /* numbers like others */
    c->result.held = policy_level_held(&c->slice, turbos->n_levels);
    c->result.widens = (policy_u32)policy_widens(&c->loads, 0);
    c->result.widens_idle = (policy_u32)policy_widens(&c->loads, 1);
    c->result.narrows = (policy_u32)policy_narrows(&c->loads);
    c->result.may_change = (policy_u32)policy_may_change(c->ns);
    c->result.call_ends_phase = (policy_u32)policy_call_ends_phase(c->shorts);
}
