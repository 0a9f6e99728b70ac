// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: out[indices[i]] = in[i] in flat elements, and 0 elsewhere, as in ONNX. If an index occurs twice, the last
// element counts.
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <algorithm>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet UnpooledTypes =
    backends::FloatTypes | backends::SignedTypes |
    backends::TypeSet{DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};
constexpr backends::TypeRow MaxUnpoolTypes[] = {backends::SameType(UnpooledTypes)};

SupportResult CheckMaxUnpool(const LayerView& layer)
{
    return CheckSameType(layer.GetInput(1), "input 1", DataType::Signed64);
}

backends::Prepared PrepareMaxUnpool(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t elements = args.GetInput(0).GetNumElements();
    RequireElements(args.GetInput(1), "input 1", elements);
    return DispatchMoved(args.GetInput(0).GetDataType(),
                         [&](auto tag) -> backends::Prepared
                         {
                             using T = typename decltype(tag)::Type;
                             return [elements, indices = IndexInput(args, 1),
                                     outputs = args.GetOutput(0).GetNumElements()](const ExecuteArgs& run)
                             {
                                 const T* const in = run.GetInput<T>(0);
                                 T* const out = run.GetOutput<T>(0);
                                 std::fill_n(out, outputs, T{});
                                 for (size_t i = 0; i < elements; ++i)
                                 {
                                     out[indices.Read(run, i, 0, static_cast<int64_t>(outputs))] = in[i];
                                 }
                             };
                         });
}

} // namespace

extern const backends::Kernel RefMaxUnpoolKernel = {"RefMaxUnpool", MaxUnpoolTypes, PrepareMaxUnpool, CheckMaxUnpool};

} // namespace tenon::ref
