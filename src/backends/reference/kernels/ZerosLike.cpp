// SPDX-License-Identifier: Apache-2.0
// ZerosLike: zeros in the shape of the input; in a tensor with a scale a zero is the zero point.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow ZerosLikeTypes[] = {
    backends::WithScales(backends::SameType(backends::QuantizedTypes), {}, backends::Scales::PerTensor),
    backends::SameType(backends::WholeByteType)};

backends::Prepared PrepareZerosLike(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    if (backends::QuantizedTypes.Has(output.GetDataType()))
    {
        const int32_t zero = GetTensorQuantization(output).m_ZeroPoint;
        return DispatchType<int8_t, uint8_t, int16_t>(
            output.GetDataType(),
            [&](auto tag) -> backends::Prepared
            {
                using T = typename decltype(tag)::Type;
                return [zero, count = output.GetNumElements()](const ExecuteArgs& run)
                { std::fill_n(run.GetOutput<T>(0), count, static_cast<T>(zero)); };
            });
    }
    return [bytes = output.GetNumBytes()](const ExecuteArgs& run)
    {
        if (bytes != 0)
        {
            std::memset(run.m_Outputs[0], 0, bytes); // +0 in every type
        }
    };
}

} // namespace

extern const backends::Kernel RefZerosLikeKernel = {"RefZerosLike", ZerosLikeTypes, PrepareZerosLike};

} // namespace tenon::ref
