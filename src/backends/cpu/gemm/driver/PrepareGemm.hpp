// SPDX-License-Identifier: Apache-2.0
// The workload of a GEMM, with or without a fused residual add: out = clamp(gemm + added), where the driver CanAdd().
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/GemmBf16.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"

namespace tenon::cpu
{

/// `run(gemm, args, added)` runs a GEMM; `added`, a tensor of the output's shape and type, may be null.
template <typename Gemm, typename Run>
backends::Prepared PrepareGemmBy(const Gemm& product, const ReshapeArgs& args, const Run& run)
{
    backends::Prepared prepared([product, run](const ExecuteArgs& e) { run(product, e, nullptr); },
                                product.GetScratchBytes());
    if (args.m_FusedActivation != nullptr || !product.CanAdd())
    {
        return prepared;
    }
    const auto addTensor = [product, run, added = args.m_Inputs.size()](const ActivationDescriptor* activation)
    {
        Gemm sum = product;
        sum.SetClamp(backends::FloatClamp(activation));
        return backends::Prepared([sum, run, added](const ExecuteArgs& e) { run(sum, e, e.m_Inputs[added]); },
                                  sum.GetScratchBytes());
    };
    prepared.m_AddTensor =
        std::make_shared<const std::function<backends::Prepared(const ActivationDescriptor*)>>(addTensor);
    return prepared;
}

inline backends::Prepared PrepareGemm(const GemmF32& product, const ReshapeArgs& args)
{
    const bool hasBias = args.HasInput(2);
    return PrepareGemmBy(product, args,
                         [hasBias](const GemmF32& p, const ExecuteArgs& run, const void* added)
                         {
                             p.Run(run.GetInput<float>(0), hasBias ? run.GetInput<float>(2) : nullptr,
                                   run.GetOutput<float>(0), run.m_Scratch, *run.m_Parallel,
                                   static_cast<const float*>(added));
                         });
}

/// The workload of a GEMM by packed bfloat16 weights.
inline backends::Prepared PrepareGemm(const GemmBf16& product, const ReshapeArgs& args)
{
    return PrepareGemmBy(product, args,
                         [](const GemmBf16& p, const ExecuteArgs& run, const void* added)
                         {
                             p.Run(run.GetInput<uint16_t>(0), run.GetOutput<uint16_t>(0), run.m_Scratch,
                                   *run.m_Parallel, static_cast<const uint16_t*>(added));
                         });
}

} // namespace tenon::cpu
