/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/slow_simulator.h"

#include "tests/support/slow_learned.h"
#include "tests/support/test.h"

static const int64_t LOOK_PS = 100 * SIM_PS_PER_US; /* of policy software */
static const int64_t SOFTWARE_WAIT_PS = 666 * SIM_PS_PER_US;

/* The state of a logical CPU: it plays the row before `next` if there is one, of which `left` is to be done. */
struct slow_cpu {
    const struct sim_row *rows;
    size_t n, next;
    const struct sim_row *row; /* NULL: there are none left */
    int64_t left;              /* of work: units; of idle time: ps */
    int64_t done;              /* units of work */
    unsigned core;
    uint32_t speed; /* 0: halted, or idle */
};

struct slow_core {
    unsigned level, target;
    bool changing;
    struct sim_change change;
    unsigned phase;
    int64_t phase_left;
    unsigned demand;
    int64_t hold[SIM_LEVELS_MAX];
    uint64_t falls;
    /* policy software */
    bool runs_512, is_heavy;
    int64_t began_512, next_look;
    int64_t instructions, cycles; /* since the last look: thousandths of 10^-7; 10^-7 */
    /* policy learned */
    uint32_t demander; /* the task that demands what the core does, or did at the last instant */
    struct slow_gap gap;
};

struct slow_scenario {
    const struct slow_params *p;
    const struct sim_workload *w;
    const struct sim_options *o;
    struct slow_cpu *cpu;
    struct slow_core *core;
    struct slow_learned *learned;
    unsigned n; /* active cores */
    int64_t now;
    bool missing; /* a parameter */
    struct sim_result *out;
    struct slow_counts counts;
};

static bool is_512(const struct sim_row *row)
{
    return row && row->task != SIM_IDLE && (row->class == SIM_512LIGHT || row->class == SIM_512HEAVY);
}

static bool has_work(const struct slow_cpu *c)
{
    return c->row && c->row->task != SIM_IDLE;
}

/* Follows ended rows by the next that have a length. */
static void follow_rows(const struct slow_scenario *s, struct slow_cpu *c)
{
    while ((!c->row || c->left == 0) && c->next < c->n) {
        c->row = &c->rows[c->next++];
        c->left = c->row->task == SIM_IDLE ? c->row->ps : c->row->ps * s->w->recorded;
        c->done = 0;
    }
    if (c->row && c->left == 0)
        c->row = NULL;
}

/* Units of work after which the row demands its level; 0: at once. */
static int64_t trigger_work(const struct slow_scenario *s, const struct sim_row *row)
{
    int64_t count = slow_params_trigger(s->p, row->class);
    if (!s->w->has_ipc || count == 0 || s->o->policy == SIM_SOFTWARE || slow_params_demand(s->p, row->class) == 0)
        return 0;
    /* count / ipc cycles of 10^7 units each */
    __int128 units_ipc = (__int128)count * 10000000 * 1000;
    return (int64_t)((2 * units_ipc + row->ipc) / (2 * row->ipc));
}

static unsigned cpu_demand(const struct slow_scenario *s, const struct slow_cpu *c)
{
    if (!has_work(c))
        return 0;
    if (s->o->policy == SIM_SOFTWARE) {
        unsigned most = slow_params_levels(s->p) - 1, wanted = s->core[c->core].is_heavy ? 2 : 1;
        return !is_512(c->row) ? 0 : wanted < most ? wanted : most;
    }
    int level = slow_params_demand(s->p, c->row->class);
    assert_true(level >= 0);
    return c->done >= trigger_work(s, c->row) ? (unsigned)level : 0;
}

static unsigned core_demand(const struct slow_scenario *s, unsigned core)
{
    unsigned most = 0;
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        if (s->cpu[i].core == core && cpu_demand(s, &s->cpu[i]) > most)
            most = cpu_demand(s, &s->cpu[i]);
    return most;
}

/* The class by which a core's demand is what it is. */
static enum sim_class class_of_demand(const struct slow_scenario *s, unsigned core, unsigned demand)
{
    for (unsigned i = 0; i < s->w->n_cpus && s->o->policy != SIM_SOFTWARE; i++)
        if (s->cpu[i].core == core && has_work(&s->cpu[i]) && cpu_demand(s, &s->cpu[i]) == demand)
            return s->cpu[i].row->class;
    return SIM_NONE;
}

static uint32_t speed_at(const struct slow_scenario *s, const struct sim_row *row, unsigned level)
{
    uint32_t f = slow_params_speed(s->p, level, s->n);
    return s->w->has_stall ? slow_stalled_speed(f, s->w->recorded, row->stall) : f;
}

/* How long until its row ends or reaches its trigger, at this speed; for ever without a row, or while halted. */
static int64_t until_next(const struct slow_scenario *s, const struct slow_cpu *c, int64_t speed)
{
    if (c->row && !has_work(c))
        return c->left;
    if (!c->row || speed == 0)
        return SIM_FOREVER;
    int64_t trigger = trigger_work(s, c->row) - c->done, work = trigger > 0 && trigger < c->left ? trigger : c->left;
    return (work + speed - 1) / speed;
}

/* Returns the work that was done. */
static int64_t play_row(struct slow_cpu *c, int64_t speed, int64_t dt)
{
    int64_t units = has_work(c) ? speed * dt : dt;
    if (!c->row)
        return 0;
    if (units > c->left)
        units = c->left;
    c->left -= units;
    c->done += units;
    return has_work(c) ? units : 0;
}

static void keep_earlier(int64_t *a, int64_t b)
{
    if (b < *a)
        *a = b;
}

/* ---- parameters, of which one may be missing ---- */

static double down_ps(struct slow_scenario *s, unsigned from, unsigned to, enum sim_class class)
{
    struct sim_change c = {0};
    if (!slow_params_down(s->p, from, to, class, s->n, &c))
        s->missing = true;
    return c.total_ps;
}

static int64_t known(struct slow_scenario *s, int64_t ps)
{
    if (ps < 0)
        s->missing = true;
    return ps < 0 ? 0 : ps;
}

/* ---- policy oracle ---- */

/* The CPUs of a core as they go on from now at the speed of level v, and what it gains to be at level j. */
struct oracle_play {
    struct slow_cpu cpu[SIM_CORE_CPUS_MAX];
    int64_t worked[SIM_CORE_CPUS_MAX];
    unsigned n;
    double gained;
};

static unsigned play_working(const struct oracle_play *play)
{
    unsigned working = 0;
    for (unsigned i = 0; i < play->n; i++)
        working += has_work(&play->cpu[i]);
    return working;
}

static bool play_ended(const struct oracle_play *play)
{
    for (unsigned i = 0; i < play->n; i++)
        if (play->cpu[i].row)
            return false;
    return true;
}

/* Up to the next instant. */
static void play_on(const struct slow_scenario *s, struct oracle_play *play, unsigned v, unsigned j)
{
    int64_t dt = SIM_FOREVER;
    for (unsigned i = 0; i < play->n; i++) {
        const struct slow_cpu *c = &play->cpu[i];
        keep_earlier(&dt, until_next(s, c, has_work(c) ? speed_at(s, c->row, v) : 0));
    }
    for (unsigned i = 0; i < play->n; i++) {
        struct slow_cpu *c = &play->cpu[i];
        double speed_v = has_work(c) ? speed_at(s, c->row, v) : 1, speed_j = has_work(c) ? speed_at(s, c->row, j) : 1;
        play->worked[i] += has_work(c) ? dt : 0;
        play->gained += (double)play_row(c, (int64_t)speed_v, dt) * (1 / speed_v - 1 / speed_j);
        follow_rows(s, c);
    }
}

/* Returns true if it pays to go up from v to j. */
static bool oracle_pays(struct slow_scenario *s, unsigned core, unsigned v, unsigned j)
{
    struct oracle_play play = {.n = 0};
    int64_t breakeven = known(s, slow_params_breakeven(s->p, j, v, s->n));
    double up = (double)known(s, slow_params_up(s->p, v, j, s->n)), most_down = 0;
    if (breakeven == SIM_FOREVER)
        return false;
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        if (s->cpu[i].core == core)
            play.cpu[play.n++] = s->cpu[i];
    for (unsigned c = 0; c < SIM_CLASSES; c++) {
        int demand = slow_params_demand(s->p, c);
        if (s->w->class_used[c] && demand > (int)j)
            most_down = fmax(most_down, down_ps(s, j, (unsigned)demand, c));
    }
    for (unsigned working = play_working(&play);;) {
        unsigned demand = 0;
        enum sim_class class = SIM_NONE;
        int64_t longest = 0;
        for (unsigned i = 0; i < play.n; i++) {
            if (cpu_demand(s, &play.cpu[i]) > demand) {
                demand = cpu_demand(s, &play.cpu[i]);
                class = play.cpu[i].row->class;
            }
            longest = play.worked[i] > longest ? play.worked[i] : longest;
        }
        if (demand > j) {
            double dearer = down_ps(s, j, demand, class) - (demand > v ? down_ps(s, v, demand, class) : 0);
            return play.gained > working * up + play_working(&play) * dearer;
        }
        if (play_ended(&play))
            return play.gained > working * up;
        if (play.gained > play.n * (up + most_down))
            return true;
        if (longest > 16 * breakeven)
            return false;
        play_on(s, &play, v, j);
    }
}

static void oracle_fell(struct slow_scenario *s, unsigned core, unsigned b)
{
    struct slow_core *c = &s->core[core];
    unsigned v = c->changing ? c->target : c->level, j = b;
    while (j < v && !oracle_pays(s, core, v, j))
        j++;
    for (unsigned k = b + 1; k < SIM_LEVELS_MAX; k++)
        c->hold[k] = j < v && k > j ? s->now : SIM_FOREVER;
}

/* ---- the other policies ---- */

static uint64_t splitmix_output(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int64_t stock_wait(struct slow_scenario *s, unsigned core, unsigned a, unsigned b)
{
    struct sim_wait wait = {0};
    uint64_t z = splitmix_output(s->o->seed ^ splitmix_output(((uint64_t)core << 32) + s->core[core].falls));
    if (!slow_params_wait(s->p, a, b, &wait))
        s->missing = true;
    return (double)(z >> 11) * 0x1p-53 < wait.long_share ? wait.long_ps : wait.usual_ps;
}

static int64_t software_hold(const struct slow_scenario *s, const struct slow_core *c)
{
    int64_t at = c->began_512;
    while (at < s->now + SOFTWARE_WAIT_PS)
        at += LOOK_PS;
    return at;
}

/* The demand of a core has fallen from a to b. */
static void policy_fell(struct slow_scenario *s, unsigned core, unsigned a, unsigned b)
{
    struct slow_core *c = &s->core[core];
    int64_t wait = SIM_FOREVER;
    if (s->o->policy == SIM_ORACLE) {
        oracle_fell(s, core, b);
        return;
    }
    if (s->o->policy == SIM_STOCK)
        wait = stock_wait(s, core, a, b);
    else if (s->o->policy == SIM_TIMEOUT)
        wait = s->o->timeout_given ? s->o->timeout_ps : known(s, slow_params_breakeven(s->p, b, a, s->n));
    else if (s->o->policy == SIM_SOFTWARE)
        wait = software_hold(s, c) - s->now;
    else if (s->o->policy == SIM_LEARNED)
        wait = slow_learned_fell(s->learned, &c->gap, c->demander, a, b,
                                 known(s, slow_params_breakeven(s->p, b, a, s->n)));
    else
        assert_int_equal(s->o->policy, SIM_NEVER);
    for (unsigned k = b + 1; k <= a; k++)
        c->hold[k] = wait == SIM_FOREVER ? SIM_FOREVER : s->now + wait;
}

static void software_look(const struct slow_scenario *s, unsigned core)
{
    struct slow_core *c = &s->core[core];
    bool ran = c->runs_512;
    c->runs_512 = false;
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        c->runs_512 = c->runs_512 || (s->cpu[i].core == core && is_512(s->cpu[i].row));
    if (!c->runs_512) {
        c->is_heavy = false;
    } else if (!ran) {
        c->began_512 = s->now;
        c->next_look = s->now + LOOK_PS;
        c->instructions = c->cycles = 0;
    } else if (s->now == c->next_look) {
        c->is_heavy = c->is_heavy || c->instructions > 1000 * c->cycles;
        c->next_look += LOOK_PS;
        c->instructions = c->cycles = 0;
    }
}

/* ---- changes of level ---- */

static bool is_halted(const struct slow_core *c)
{
    return c->changing && c->change.phase[c->phase].permille == 0;
}

/* Passes over phases that have ended; after the last, the core has its new level. */
static void follow_phases(struct slow_core *c)
{
    while (c->changing && c->phase_left == 0)
        if (++c->phase < c->change.n) {
            c->phase_left = c->change.phase[c->phase].ps;
        } else {
            c->changing = false;
            c->level = c->target;
        }
}

static void begin_change(struct slow_core *c, unsigned target, const struct sim_change *change)
{
    c->changing = true;
    c->target = target;
    c->change = *change;
    c->phase = 0;
    c->phase_left = change->n ? change->phase[0].ps : 0;
    follow_phases(c);
}

static void change_level(struct slow_scenario *s, unsigned core)
{
    struct slow_core *c = &s->core[core];
    struct sim_change change = {0};
    unsigned wanted = c->demand;
    for (unsigned k = 1; k < slow_params_levels(s->p); k++)
        if (k > wanted && c->hold[k] > s->now)
            wanted = k;
    if (c->changing)
        return;
    if (c->demand > c->level) {
        if (!slow_params_down(s->p, c->level, c->demand, class_of_demand(s, core, c->demand), s->n, &change))
            s->missing = true;
        s->counts.down++;
        begin_change(c, c->demand, &change);
    } else if (wanted < c->level) {
        change.n = 1;
        change.phase[0].ps = known(s, slow_params_up(s->p, c->level, wanted, s->n));
        s->counts.up++;
        begin_change(c, wanted, &change);
    }
}

/* ---- "At one instant" ---- */

static bool core_works(const struct slow_scenario *s, unsigned core)
{
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        if (s->cpu[i].core == core && has_work(&s->cpu[i]))
            return true;
    return false;
}

static void count_active(struct slow_scenario *s)
{
    s->n = 0;
    for (unsigned i = 0; i < s->w->n_cores; i++)
        s->n += core_works(s, i);
    if (s->n == 0)
        s->n = 1;
    if (s->w->active_cores)
        s->n = s->w->active_cores;
}

static void look_at_demand(struct slow_scenario *s, unsigned core)
{
    struct slow_core *c = &s->core[core];
    unsigned before = c->demand, demand = core_demand(s, core);
    c->demand = demand;
    if (demand > before && c->gap.open && demand > c->gap.b)
        slow_learned_rose(s->learned, &c->gap, known(s, slow_params_breakeven(s->p, c->gap.b, c->gap.a, s->n)));
    if (demand < before) {
        policy_fell(s, core, before, demand);
        c->falls++;
        s->counts.falls++;
    }
    for (unsigned i = s->w->n_cpus; i-- > 0;) /* the first one is looked at last */
        if (s->cpu[i].core == core && has_work(&s->cpu[i]) && cpu_demand(s, &s->cpu[i]) == demand)
            c->demander = s->cpu[i].row->task;
}

static uint32_t speed_now(const struct slow_scenario *s, const struct slow_cpu *c)
{
    const struct slow_core *core = &s->core[c->core];
    if (!has_work(c) || is_halted(core))
        return 0;
    uint32_t speed = speed_at(s, c->row, core->level);
    if (!core->changing)
        return speed;
    uint32_t throttled = (uint32_t)(((uint64_t)speed * core->change.phase[core->phase].permille + 500) / 1000);
    return throttled ? throttled : 1;
}

static void at_one_instant(struct slow_scenario *s)
{
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        follow_rows(s, &s->cpu[i]);
    for (unsigned i = 0; i < s->w->n_cores && s->o->policy == SIM_SOFTWARE; i++)
        software_look(s, i);
    count_active(s);
    for (unsigned i = 0; i < s->w->n_cores; i++)
        follow_phases(&s->core[i]);
    for (unsigned i = 0; i < s->w->n_cores; i++)
        look_at_demand(s, i);
    for (unsigned i = 0; i < s->w->n_cores; i++)
        change_level(s, i);
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        s->cpu[i].speed = speed_now(s, &s->cpu[i]);
}

/* ---- between instants ---- */

/* Until the next instant at which anything may happen. */
static int64_t time_to_next(const struct slow_scenario *s)
{
    int64_t dt = SIM_FOREVER;
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        keep_earlier(&dt, until_next(s, &s->cpu[i], s->cpu[i].speed));
    for (unsigned i = 0; i < s->w->n_cores; i++) {
        const struct slow_core *c = &s->core[i];
        if (c->changing)
            keep_earlier(&dt, c->phase_left);
        if (c->runs_512)
            keep_earlier(&dt, c->next_look - s->now);
        for (unsigned k = 1; k < slow_params_levels(s->p); k++)
            if (c->hold[k] > s->now)
                keep_earlier(&dt, c->hold[k] - s->now);
    }
    return dt;
}

static void count_piece(struct slow_scenario *s, unsigned cpu, int64_t dt)
{
    const struct slow_cpu *c = &s->cpu[cpu];
    const struct slow_core *core = &s->core[c->core];
    struct sim_times *t = &s->out->tasks[c->row->task];
    double piece = (double)dt, speed = c->speed, ideal = piece * speed / speed_at(s, c->row, 0);
    unsigned siblings = 0; /* the level that they demand */
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        if (i != cpu && s->cpu[i].core == c->core && cpu_demand(s, &s->cpu[i]) > siblings)
            siblings = cpu_demand(s, &s->cpu[i]);
    t->level_ps[core->level] += dt;
    t->throttled_ps += core->changing && !is_halted(core) ? dt : 0;
    t->halted_ps += is_halted(core) ? dt : 0;
    t->ideal_ps += ideal;
    t->end_ps = s->now + dt;
    if (slow_params_demand(s->p, c->row->class) != 0)
        return;
    t->remote_ps += dt;
    t->remote_ideal_ps += ideal;
    if (core->changing && core->target > core->level && siblings > 0)
        t->remote_smt_ps += piece - ideal;
    else
        t->remote_smt_ps += piece * speed / speed_at(s, c->row, siblings) - ideal;
}

static void move_on(struct slow_scenario *s, int64_t dt)
{
    for (unsigned i = 0; i < s->w->n_cores; i++)
        if (core_works(s, i))
            s->core[i].gap.worked += dt;
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        if (has_work(&s->cpu[i]))
            count_piece(s, i, dt);
    for (unsigned i = 0; i < s->w->n_cpus; i++) {
        struct slow_cpu *c = &s->cpu[i];
        bool counts = has_work(c) && c->row->class == SIM_512HEAVY;
        int64_t work = play_row(c, c->speed, dt);
        s->core[c->core].instructions += counts ? work * c->row->ipc : 0;
    }
    for (unsigned i = 0; i < s->w->n_cores; i++) {
        struct slow_core *c = &s->core[i];
        if (c->runs_512 && !is_halted(c))
            c->cycles += dt * slow_params_speed(s->p, c->level, s->n);
        if (c->changing)
            c->phase_left -= dt;
    }
    s->now += dt;
}

/* ---- from the beginning to the end ---- */

static struct sim_row *read_cpu(const struct sim_workload *w, unsigned cpu, size_t *n)
{
    enum { AT_ONCE = 64 };
    struct sim_row *rows = NULL;
    size_t got = 1;
    for (*n = 0; got > 0; *n += got) {
        struct sim_row *more = realloc(rows, (*n + AT_ONCE) * sizeof *rows);
        assert_non_null(more);
        rows = more;
        got = w->cpus.read(w->cpus.self, cpu, rows + *n, AT_ONCE);
    }
    return rows;
}

static bool all_ended(const struct slow_scenario *s)
{
    for (unsigned i = 0; i < s->w->n_cpus; i++)
        if (s->cpu[i].row)
            return false;
    return true;
}

static void add_times(struct sim_times *a, const struct sim_times *b)
{
    for (unsigned k = 0; k < SIM_LEVELS_MAX; k++)
        a->level_ps[k] += b->level_ps[k];
    a->throttled_ps += b->throttled_ps;
    a->halted_ps += b->halted_ps;
    a->ideal_ps += b->ideal_ps;
    a->remote_ps += b->remote_ps;
    a->remote_ideal_ps += b->remote_ideal_ps;
    a->remote_smt_ps += b->remote_smt_ps;
    a->end_ps = a->end_ps > b->end_ps ? a->end_ps : b->end_ps;
}

bool slow_simulate(const struct slow_params *p, const struct sim_workload *w, const struct sim_options *o,
                   struct sim_result *out, struct slow_counts *counts)
{
    struct slow_scenario s = {.p = p, .w = w, .o = o, .out = out};
    struct sim_row *rows[SIM_CORES_MAX];
    *out = (struct sim_result){
        .n_tasks = w->n_tasks, .n_cores = w->n_cores, .tasks = calloc(w->n_tasks + 1, sizeof *out->tasks)};
    s.cpu = calloc(w->n_cpus, sizeof *s.cpu);
    s.core = calloc(w->n_cores, sizeof *s.core);
    s.learned = slow_learned_make(w->n_tasks);
    assert_true(s.cpu && s.core && out->tasks && w->n_cpus <= SIM_CORES_MAX);
    w->cpus.rewind(w->cpus.self);
    for (unsigned i = 0; i < w->n_cpus; i++) {
        rows[i] = read_cpu(w, i, &s.cpu[i].n);
        s.cpu[i].rows = rows[i];
        s.cpu[i].core = w->core[i];
        out->rows += s.cpu[i].n;
    }
    for (at_one_instant(&s); !all_ended(&s) && !s.missing; at_one_instant(&s))
        move_on(&s, time_to_next(&s));
    for (size_t i = 0; i < w->n_tasks; i++)
        add_times(&out->all, &out->tasks[i]);
    out->transitions = s.counts.down + s.counts.up;
    *counts = s.counts;
    for (unsigned i = 0; i < w->n_cpus; i++)
        free(rows[i]);
    free(s.cpu);
    free(s.core);
    free(s.learned);
    if (s.missing)
        free(out->tasks);
    return !s.missing;
}
