/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures one transition through libcharacterize and prints its phases:
 *     cc transition.c $(pkg-config --cflags --libs characterize) -o transition
 *     ./transition 128fma:512fma              on this processor
 *     ./transition 128fma:512fma model:xeon-gold-6130
 */
#include <characterize/characterize.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct characterize_options options = {.runs = 50};
    struct characterize_error error;
    struct characterize_phase phase;
    characterize_machine *machine;
    characterize_phases *phases = NULL;
    const char *pair = argc > 1 ? argv[1] : "128fma:512fma", *name = argc > 2 ? argv[2] : "auto";

    if (characterize_open(name, -1, NULL, &machine, &error) == CHARACTERIZE_OK)
        characterize_transition(machine, pair, &options, &phases, &error);
    characterize_close(machine);
    if (phases == NULL) {
        fprintf(stderr, "%s%s%s\n", error.text, error.remedy[0] != '\0' ? "; " : "", error.remedy);
        return (int)error.status;
    }
    for (size_t i = 0; characterize_phases_get(phases, i, &phase) == 0; i++)
        printf("%8.2f us  %-8s %7.2f us  %.3f GHz\n", phase.start_us, phase.kind, phase.duration_us.value,
               phase.freq_ghz.value);
    characterize_phases_free(phases);
    return 0;
}
