// The kernels' own text, compiled for the processor, behind a C interface.

#include "simt.hpp"

#include "apply.cu"
#include "argmax.cu"
#include "sample.cu"

#define FORMWORK_ENTRY(name, Arguments)                                               \
    static void run_##name(const void *arguments) {                                   \
        formwork_##name(*(const formwork::Arguments *)arguments);                     \
    }                                                                                 \
    extern "C" void simt_##name(const void *arguments, unsigned blocks,               \
                                unsigned threads, unsigned stride) {                  \
        simt::launch(run_##name, arguments, blocks, threads, stride);                 \
    }

FORMWORK_ENTRY(apply_f32, ApplyArguments)
FORMWORK_ENTRY(apply_f16, ApplyArguments)
FORMWORK_ENTRY(apply_bf16, ApplyArguments)
FORMWORK_ENTRY(argmax_f32, ChooseArguments)
FORMWORK_ENTRY(argmax_f16, ChooseArguments)
FORMWORK_ENTRY(argmax_bf16, ChooseArguments)
FORMWORK_ENTRY(sample_f32, ChooseArguments)
FORMWORK_ENTRY(sample_f16, ChooseArguments)
FORMWORK_ENTRY(sample_bf16, ChooseArguments)

// The sizes that the caller's structs must have.
extern "C" void simt_layout(unsigned *sizes) {
    sizes[0] = sizeof(formwork::ApplyArguments);
    sizes[1] = sizeof(formwork::ChooseArguments);
    sizes[2] = sizeof(formwork::Message);
    sizes[3] = sizeof(formwork::Meeting);
    sizes[4] = sizeof(formwork::SampleKey);
}

extern "C" void simt_forget() {
    simt::ranges.clear();
    simt::sectors.clear();
}

extern "C" void simt_allow(const void *begin, size_t bytes, int counted) {
    simt::ranges.push_back({(uintptr_t)begin, (uintptr_t)begin + bytes, counted != 0});
}

extern "C" size_t simt_sectors() {
    auto &sectors = simt::sectors;
    std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
    return sectors.size();
}
