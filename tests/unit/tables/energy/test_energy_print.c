/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The printed table energy, to the letter. */
#include "tables/energy/energy.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

static void add_row(struct table *t, const char *kernel, unsigned cores, const char *mode, double ghz, double idle_ghz)
{
    table_add_row(t);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "freq_ghz", ghz);
    table_put_number(t, "active_cores", cores);
    table_put_text(t, "mode", mode);
    table_put_limits(t, "watts", 8.24, 8.2, 8.28);
    table_put_limits(t, "nj_per_op", 1.175, 1.17, 1.18);
    table_put_limits(t, "nj_per_lane", 0.294, 0.29, 0.298);
    table_put_limits(t, "idle_watts", 11.3, 11.2, 11.4);
    table_put_number(t, "idle_ghz", idle_ghz);
    table_put_number(t, "counted_cores", 1);
}

TEST(rows_and_what_they_say)
{
    struct table t;
    table_init(&t, "energy", table_energy.columns, table_energy.n_columns);
    add_row(&t, "256fma", 1, "fixed", 3.5, 3.5);
    add_row(&t, "256fma", 2, "automatic", 2.4, 2.8);
    char *text = rig_printed(&table_energy, &t);
    assert_string_equal(
        text, "Power and energy of an operation above a PAUSE loop\n"
              "                                       above PAUSE         per operation  64 bits  PAUSE  PAUSE\n"
              "kernel  cores  frequency    GHz    W [95 % limits]      nJ [95 % limits]       nJ      W    GHz\n"
              "256fma      1  fixed      3.500  8.24 [8.20, 8.28]  1.175 [1.170, 1.180]    0.294   11.3  3.500\n"
              "256fma      2  automatic  2.400  8.24 [8.20, 8.28]  1.175 [1.170, 1.180]    0.294   11.3  2.800\n"
              "Power above a PAUSE loop, 1 core at 3.5 GHz: 256fma 8.2 [8.2, 8.3] W.\n"
              "Energy of 64 bits of an operation, 1 core at 3.5 GHz: 256fma 0.29 [0.29, 0.30] nJ.\n"
              "In 1 of 2 rows PAUSE ran at a different frequency from the kernel (256fma on 2 cores: 2.800 GHz "
              "against 2.400), so their watts and energy are not those of the code alone; the rows at a fixed "
              "frequency are.\n"
              "The energy counter covers one package or die: of 2 active cores, power and energy are for 1.\n");
    free(text);
    table_free(&t);
}

/* Text that does not fit is printed below, with the kernel, the cores and how the frequency came about again. */
TEST(long_names_leave_room_for_less)
{
    struct table t;
    table_init(&t, "energy", table_energy.columns, table_energy.n_columns);
    add_row(&t, "512fma-chain@1/100-dirty", 16, "automatic", 1.9, 2.8);
    char *text = rig_printed(&table_energy, &t);
    static const char begins[] =
        "                                                         above PAUSE         per operation  64 "
        "bits\n"
        "kernel                    cores  frequency    GHz    W [95 % limits]      nJ [95 % limits]      "
        " nJ\n"
        "512fma-chain@1/100-dirty     16  automatic  1.900  8.24 [8.20, 8.28]  1.175 [1.170, 1.180]    "
        "0.294\n"
        "\n"
        "                                            PAUSE  PAUSE\n"
        "kernel                    cores  frequency      W    GHz\n"
        "512fma-chain@1/100-dirty     16  automatic   11.3  2.800\n"
        "Power above a PAUSE loop, 16 cores: 512fma-chain@1/100-dirty 8.2 [8.2, 8.3] W.\n";
    const char *table = strchr(text, '\n') + 1; /* after its title */
    if (strncmp(table, begins, sizeof begins - 1) != 0)
        fail_msg("%s", text);
    free(text);
    table_free(&t);
}
