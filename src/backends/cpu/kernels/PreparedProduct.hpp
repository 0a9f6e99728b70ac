// SPDX-License-Identifier: Apache-2.0
// Float products of data (input 0), packed weights and a bias (input 2) as kernels run them.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/ProductF32.hpp"

namespace tenon::cpu
{

/// `args`: of the layer, whose clamp is the product's.
inline backends::Prepared PrepareProduct(const ProductF32& product, const ReshapeArgs& args)
{
    const bool hasBias = args.HasInput(2);
    backends::Prepared prepared(
        [product, hasBias](const ExecuteArgs& run)
        {
            product.Run(run.GetInput<float>(0), hasBias ? run.GetInput<float>(2) : nullptr, run.GetOutput<float>(0),
                        run.m_Scratch, *run.m_Parallel);
        },
        product.GetScratchBytes());
    if (args.m_FusedActivation != nullptr || !product.CanAdd())
    {
        return prepared;
    }
    const auto addTensor = [product, hasBias, added = args.m_Inputs.size()](const ActivationDescriptor* activation)
    {
        ProductF32 sum = product;
        sum.SetClamp(backends::FloatClamp(activation));
        return backends::Prepared(
            [sum, hasBias, added](const ExecuteArgs& run)
            {
                sum.Run(run.GetInput<float>(0), hasBias ? run.GetInput<float>(2) : nullptr, run.GetOutput<float>(0),
                        run.m_Scratch, *run.m_Parallel, run.GetInput<float>(added));
            },
            sum.GetScratchBytes());
    };
    prepared.m_AddTensor =
        std::make_shared<const std::function<backends::Prepared(const ActivationDescriptor*)>>(addTensor);
    return prepared;
}

} // namespace tenon::cpu
