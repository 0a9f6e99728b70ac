// SPDX-License-Identifier: Apache-2.0
// Half-precision tensors for kernels that are written for Float32: they are converted to floats in scratch memory and
// back. Used by the convolutions, products, pools and normalizations.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <vector>

namespace tenon::ref
{

/// Tensors with Float32 in place of Float16 and BFloat16.
class WideInfos
{
public:
    explicit WideInfos(Span<const TensorInfo* const> tensors);
    WideInfos(const WideInfos&) = delete;
    WideInfos& operator=(const WideInfos&) = delete;

    /// All infos; null where a tensor is null.
    const std::vector<const TensorInfo*>& Get() const { return m_Pointers; }
    /// Indices of the tensors that were not Float32 before.
    const std::vector<size_t>& Widened() const { return m_Widened; }

private:
    std::vector<TensorInfo> m_Infos;
    std::vector<const TensorInfo*> m_Pointers;
    std::vector<size_t> m_Widened;
};

/// The constants, null for widened tensors, whose floats do not exist yet.
std::vector<const void*> WithoutWidened(Span<const void* const> constants, const WideInfos& inputs);

/// Conversions of `count` elements from a half-precision type to floats and back.
struct F16Loops
{
    void (*m_Widen)(IParallelFor& parallel, const void* halves, DataType type, size_t count, float* floats);
    void (*m_Narrow)(IParallelFor& parallel, const float* floats, DataType type, size_t count, void* halves);
};

/// Loops that run on the calling thread.
extern const F16Loops PlainF16Loops;

/// Calls `prepare` for `args`. If input 0, or input 1 alone, has one of backends::F16Types, the tensors have Float32 in
/// place of every such type, and conversions run before and after; `packed` then is left out. Declines if `prepare`
/// does.
backends::Prepared PrepareF16AsF32(const ReshapeArgs& args,
                                   backends::Prepared (*prepare)(const ReshapeArgs& args,
                                                                 const backends::PackedWeights* packed),
                                   const backends::PackedWeights* packed, const F16Loops& loops = PlainF16Loops);

} // namespace tenon::ref
