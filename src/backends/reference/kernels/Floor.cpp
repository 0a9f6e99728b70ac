// SPDX-License-Identifier: Apache-2.0
// Floor: the largest integer that is not above each number.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <cmath>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow FloorTypes[] = {
    backends::SameType({DataType::Float16, DataType::Float32, DataType::Float64, DataType::BFloat16})};

backends::Prepared PrepareFloor(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t count = args.GetInput(0).GetNumElements();
    return DispatchType<float, double, Half, BFloat16>(args.GetInput(0).GetDataType(),
                                                       [count](auto tag) -> backends::Prepared
                                                       {
                                                           using T = typename decltype(tag)::Type;
                                                           return [count](const ExecuteArgs& run)
                                                           {
                                                               const T* in = run.GetInput<T>(0);
                                                               T* out = run.GetOutput<T>(0);
                                                               for (size_t i = 0; i < count; ++i)
                                                               {
                                                                   out[i] = static_cast<T>(
                                                                       std::floor(static_cast<ComputeType<T>>(in[i])));
                                                               }
                                                           };
                                                       });
}

} // namespace

extern const backends::Kernel RefFloorKernel = {"RefFloor", FloorTypes, PrepareFloor};

} // namespace tenon::ref
