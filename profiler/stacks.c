/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/stacks.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/places.h"
#include "util/plain_text.h"

enum {
    STACKS_FRAME_MAX = 256,
    STACKS_LINE_MAX = (PROFILE_STACK_MAX + 2) * STACKS_FRAME_MAX,
};

struct profile_stacks {
    const struct profile_source *source; /* who names places; NULL: the system */
    struct places *places;
    void *lines;                /* tree of struct profile_stack, by line */
    struct profile_stack *list; /* as it was last asked for */
    size_t n, n_text;
};

static int compare_stack_lines(const void *a, const void *b)
{
    const struct profile_stack *x = a, *y = b;
    return strcmp(x->line, y->line);
}

static int compare_stack_counts(const void *a, const void *b)
{
    const struct profile_stack *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->line, y->line);
}

struct profile_stacks *profile_stacks_new(const struct profile_source *source, const char *proc)
{
    struct profile_stacks *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    s->source = source != NULL && source->ops->place != NULL ? source : NULL;
    s->places = places_new(proc != NULL ? proc : "/proc");
    if (s->places != NULL)
        return s;
    free(s);
    return NULL;
}

static void free_stack(void *data)
{
    struct profile_stack *one = data;
    free(one->line);
    free(one);
}

void profile_stacks_free(struct profile_stacks *s)
{
    if (s == NULL)
        return;
    tdestroy(s->lines, free_stack);
    places_free(s->places);
    free(s->list);
    free(s);
}

/* One more frame. Returns the new length. */
static size_t add_frame(char *line, size_t used, const char *frame)
{
    if (used > 0)
        line[used++] = ';';
    for (size_t end = used + STACKS_FRAME_MAX - 1; *frame != '\0' && used < end; frame++)
        line[used++] = *frame == ';' ? ':' : *frame; /* what separates frames is part of none */
    line[used] = '\0';
    return used;
}

static bool name_frame(struct profile_stacks *s, const struct profile_record *r, unsigned entry, char *out, size_t size)
{
    if (s->source == NULL)
        return places_name(s->places, r, entry, out, size);
    char *name = s->source->ops->place(s->source, r, entry);
    plain_text(name != NULL ? name : "[unknown]", out, size);
    free(name);
    return true;
}

static bool count_line(struct profile_stacks *s, const char *line, bool bounded)
{
    const struct profile_stack key = {.line = (char *)line};
    struct profile_stack *const *found = tfind(&key, &s->lines, compare_stack_lines);
    if (found != NULL) {
        (*found)->count++;
        return true;
    }
    if (bounded && (s->n >= PROFILE_STACKS_MAX || s->n_text + strlen(line) >= PROFILE_STACKS_TEXT_MAX))
        return count_line(s, "[other stacks]", false);
    struct profile_stack *one = calloc(1, sizeof(*one));
    if (one == NULL)
        return false;
    one->count = 1;
    one->line = strdup(line);
    if (one->line == NULL || tsearch(one, &s->lines, compare_stack_lines) == NULL) {
        free_stack(one);
        return false;
    }
    s->n++;
    s->n_text += strlen(line) + 1;
    return true;
}

bool profile_stacks_add(struct profile_stacks *s, const struct profile_record *r)
{
    char line[STACKS_LINE_MAX], frame[STACKS_FRAME_MAX], comm[sizeof(r->sight.task.comm) + 1], level[16];
    if (r->outcome != PROFILE_TAKEN || r->n_stack == 0 || r->n_stack > PROFILE_STACK_MAX || r->level_ideal == 0)
        return true;
    if (s->source == NULL && !places_look(s->places, r))
        return false;
    (void)snprintf(level, sizeof(level), "level %u", r->level_ideal);
    (void)snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(r->sight.task.comm), r->sight.task.comm);
    plain_text(comm, frame, sizeof(frame));
    size_t used = add_frame(line, 0, level);
    used = add_frame(line, used, frame[0] != '\0' ? frame : "[unknown]");
    bool unknown = false;
    for (unsigned i = r->n_stack; i-- > 0;) {
        if (!name_frame(s, r, i, frame, sizeof(frame)))
            return false;
        /* a chain of frames that leads nowhere says so once */
        bool again = unknown && strcmp(frame, "[unknown]") == 0;
        unknown = strcmp(frame, "[unknown]") == 0;
        if (!again)
            used = add_frame(line, used, frame);
    }
    return count_line(s, line, true);
}

/* twalk_r(3) visits each but the leaves three times. */
static void take_stack(const void *node, VISIT visit, void *closure)
{
    const struct profile_stack *const *one = node;
    struct profile_stack **next = closure;
    if (visit == postorder || visit == leaf)
        *(*next)++ = **one;
}

const struct profile_stack *profile_stacks_list(struct profile_stacks *s, size_t *n)
{
    struct profile_stack *list = realloc(s->list, (s->n + 1) * sizeof(*list)), *next = list;
    if (list == NULL)
        return NULL;
    s->list = list;
    twalk_r(s->lines, take_stack, &next);
    *n = s->n;
    qsort(list, *n, sizeof(*list), compare_stack_counts);
    return list;
}

int profile_stacks_write(FILE *out, struct profile_stacks *s)
{
    size_t n;
    const struct profile_stack *stacks = profile_stacks_list(s, &n);
    if (stacks == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        (void)fprintf(out, "%s %" PRIu64 "\n", stacks[i].line, stacks[i].count);
    return 0;
}
