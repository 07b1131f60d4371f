/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulation does nothing that a model file does not name: the shipped models give the same bytes as before there
 * were sibling threads, wandering, power limits and ramps. */
#include <inttypes.h>

#include "tests/support/model_rig.h"
#include "tests/support/test.h"

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash_words(uint64_t hash, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ (words[i] >> (8 * byte) & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

/* Recordings, the voltage after them and the energy in all. */
static uint64_t hash_model(const char *name, const char *const *kernels, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct model m;
    rig_load(name, &m);
    for (size_t i = 0; i < n; i++) {
        struct rig r;
        struct machine_error err;
        rig_open(&r, &m, i % 2 ? 1 : 0, 1, 17 + i);
        for (uint64_t repetition = 0; repetition < 20; repetition++) {
            uint64_t volts;
            struct recording rec = rig_switch(&r, kernels[i], kernels[(i + 1) % n], 1500, repetition);
            hash = hash_words(hash, rec.words, rec.n * rec.stride);
            hash = hash_words(hash, &rec.zero_tsc, 1);
            assert_int_equal(r.machine.ops->read_register(&r.machine, 0x198, &volts, &err), MACHINE_OK);
            hash = hash_words(hash, &volts, 1);
            if (r.machine.ops->read_register(&r.machine, 0x611, &volts, &err) == MACHINE_OK)
                hash = hash_words(hash, &volts, 1);
        }
        rig_close(&r);
    }
    return hash;
}

TEST(shipped_models_give_the_bytes_they_gave)
{
    static const char *const narrow[] = {"64add", "128fma", "256fma", "256or"};
    static const char *const wide[] = {"64add", "512fma", "256or", "512mul", "128fma", "512or"};
    static const struct {
        const char *name;
        bool wide;
        uint64_t hash;
    } expected[] = {
        {"core-i5-1035g4", true, UINT64_C(0xa271042d08f1e53a)},
        {"core-i7-6700hq", false, UINT64_C(0x44f0a6f7d8dfd96f)},
        {"core-i9-11900k", true, UINT64_C(0xdc78680ea1c35a26)},
        {"core-i9-7940x", true, UINT64_C(0x46dd2ccadaaff53e)},
        {"generic-no-licence", false, UINT64_C(0xf5d61c54c9775d2a)},
        {"xeon-gold-6130", true, UINT64_C(0x8d4d9967bc0c606a)},
        {"xeon-w-2104", true, UINT64_C(0xd4d70b17cfe03704)},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint64_t hash = expected[i].wide ? hash_model(expected[i].name, wide, 6)
                                         : hash_model(expected[i].name, narrow, 4);
        if (hash != expected[i].hash) {
            print_message("%s: 0x%016" PRIx64 "\n", expected[i].name, hash);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}
