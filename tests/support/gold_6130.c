/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/gold_6130.h"

#include "tests/support/export_text.h"
#include "tests/support/test.h"

const double gold_6130_ghz[GOLD_6130_TURBO_LEVELS][GOLD_6130_LEVELS] = {
    {3.7, 3.6, 3.5}, {3.5, 3.4, 3.1}, {3.4, 3.1, 2.4}, {3.1, 2.6, 2.1}, {2.8, 2.4, 1.9}};

static const char gold_head[] =
    "{\"format\": \"characterize-export/1\", \"cpu\": \"Gold 6130\", \"modelled\": true, \"levels\": 3,"
    "\"classes\": [{\"class\": 0, \"width\": 64, \"heavy\": false, \"level\": 0},"
    "{\"class\": 1, \"width\": 256, \"heavy\": false, \"level\": 0},"
    "{\"class\": 2, \"width\": 256, \"heavy\": true, \"level\": 1},"
    "{\"class\": 3, \"width\": 512, \"heavy\": false, \"level\": 1},"
    "{\"class\": 4, \"width\": 512, \"heavy\": true, \"level\": 2}],"
    "\"triggers\": [], \"costs\": [], \"throttles\": [], \"missing\": [],"
    "\"level_relaxations\": [{\"from\": 1, \"to\": 0, \"mode\": 1, \"wait_ns\": 670000},"
    "{\"from\": 2, \"to\": 0, \"mode\": 1, \"wait_ns\": 670000},"
    "{\"from\": 2, \"to\": 1, \"mode\": 1, \"wait_ns\": 670000}],"
    "\"level_costs\": [{\"from\": 0, \"to\": 1, \"active_cores\": 16, \"down_ns\": 40000, \"up_ns\": 10000},"
    "{\"from\": 0, \"to\": 2, \"active_cores\": 16, \"down_ns\": 40000, \"up_ns\": 10000},"
    "{\"from\": 1, \"to\": 2, \"active_cores\": 16, \"down_ns\": 40000, \"up_ns\": 10000}],\"frequencies\": [";

struct sim_params *gold_6130_params(void)
{
    static const int most[GOLD_6130_TURBO_LEVELS] = {2, 4, 8, 12, 16};
    char text[8000];
    int n = snprintf(text, sizeof text, "%s", gold_head);
    for (int cores = 1; cores <= 16; cores++)
        for (int level = 0; level < GOLD_6130_LEVELS; level++) {
            int turbo = 0;
            while (most[turbo] < cores)
                turbo++;
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "%s{\"cpu\": 0, \"active_cores\": %d, \"level\": %d, \"mhz\": %.0f}",
                          cores + level > 1 ? "," : "", cores, level, 1000 * gold_6130_ghz[turbo][level]);
        }
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    return export_text_read(text);
}
