// SPDX-License-Identifier: Apache-2.0
// The order of the passes, and why it is this one.
#include "optimizer/Pass.hpp"

namespace tenon
{

std::span<const Pass> GetPasses()
{
    static constexpr Pass list[] = {
        // So that no pass works on what nobody wants.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
        // Before folding, so that what several layers fold alike is folded once.
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions},
        // Parameters that arrive as tensors may become constants, which the passes after it then see as such.
        {"ConstantFolding", &passes::ConstantFolding},
        {"BakeParameters", &passes::BakeParameters},
        // Nothing after it meets a Permute.
        {"CanonicalTranspose", &passes::CanonicalTranspose, Pass::Kind::Necessary},
        // Makes Transposes, which those after it remove wherever two NCHW layers meet or a weight is constant.
        {"LowerToNhwc", &passes::LowerToNhwc, Pass::Kind::Necessary},
        {"FoldTransposes", &passes::FoldTransposes},
        {"MoveTransposes", &passes::MoveTransposes},
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions},
        {"ConstantFolding", &passes::ConstantFolding},
        // Last: the others leave layers behind that nothing reads.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
    };
    return list;
}

} // namespace tenon
