// SPDX-License-Identifier: Apache-2.0
// See HybridData8.hpp.
#include "backends/cpu/gemm/HybridData8.hpp"

#include "backends/cpu/Parts.hpp"

#include <algorithm>

namespace tenon::cpu
{

ByteData8 HybridQuantizer8::Quantize(const ExecuteArgs& args, const Engine8& engine) const
{
    auto* const quantized = backends::Scratch::At<int8_t>(args.m_Scratch, m_Values);
    auto* const scales = backends::Scratch::At<FloatScale>(args.m_Scratch, m_Scales);
    const float* const values = args.GetInput<float>(0);
    const size_t parts = std::min<size_t>(m_Data.m_Batches, args.m_Parallel->GetNumThreads());
    RunParts(*args.m_Parallel, parts,
             [&](size_t index)
             {
                 const Part part = GetPart(m_Data.m_Batches, parts, index);
                 for (size_t batch = part.m_Begin; batch < part.m_End; ++batch)
                 {
                     const size_t at = batch * m_BatchElements;
                     scales[batch] =
                         engine.m_Quantize(values + at, m_BatchElements, m_Data.m_IsAsymmetric, quantized + at);
                 }
             });
    return {reinterpret_cast<const uint8_t*>(quantized), scales};
}

} // namespace tenon::cpu
