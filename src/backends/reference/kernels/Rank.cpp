// SPDX-License-Identifier: Apache-2.0
// Rank: the number of dimensions of the input, a scalar.
#include "backends/reference/kernels/DataMovement.hpp"

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow RankTypes[] = {backends::Types({backends::AnyType}, DataType::Signed32)};

backends::Prepared PrepareRank(const ReshapeArgs& args, const backends::PackedWeights*)
{
    CheckOutputShape(args, "Rank", {});
    const auto rank = static_cast<int32_t>(args.GetInput(0).GetNumDimensions());
    return [rank](const ExecuteArgs& run) { *run.GetOutput<int32_t>(0) = rank; };
}

} // namespace

extern const backends::Kernel RefRankKernel = {"RefRank", RankTypes, PrepareRank};

} // namespace tenon::ref
