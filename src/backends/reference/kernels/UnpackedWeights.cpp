// SPDX-License-Identifier: Apache-2.0
// See UnpackedWeights.hpp.
#include "backends/reference/kernels/UnpackedWeights.hpp"

#include "backends/common/Scratch.hpp"
#include "common/FourBits.hpp"

#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

struct UnpackingExecutor
{
    backends::Executor m_Run;
    size_t m_NumWeights;
    size_t m_Unpacked; ///< offset in the scratch memory

    void operator()(const ExecuteArgs& args) const
    {
        auto* unpacked = backends::Scratch::At<int8_t>(args.m_Scratch, m_Unpacked);
        UnpackFourBits(args.m_Inputs[1], m_NumWeights, true, unpacked);
        const void* inputs[] = {args.m_Inputs[0], unpacked, args.m_Inputs.size() > 2 ? args.m_Inputs[2] : nullptr};
        ExecuteArgs wide = args;
        wide.m_Inputs = {inputs, std::size(inputs)};
        m_Run(wide);
    }
};

} // namespace

backends::Prepared PrepareWithUnpackedWeights(const ReshapeArgs& args,
                                              backends::Prepared (*prepare)(const ReshapeArgs&,
                                                                            const backends::PackedWeights*),
                                              const backends::PackedWeights* packed)
{
    if (args.GetInput(1).GetDataType() != DataType::QSymmS4)
    {
        return prepare(args, packed);
    }
    TensorInfo weights = args.GetInput(1);
    weights.SetDataType(DataType::QSymmS8);
    std::vector<const TensorInfo*> infos(args.m_Inputs.begin(), args.m_Inputs.end());
    infos[1] = &weights;
    std::vector<const void*> constants(args.m_ConstantData.begin(), args.m_ConstantData.end());
    constants.resize(infos.size());
    constants[1] = nullptr;
    ReshapeArgs wide = args;
    wide.m_Inputs = infos;
    wide.m_ConstantData = constants;
    backends::Prepared inner = prepare(wide, nullptr);

    backends::Scratch scratch;
    scratch.Add<std::byte>(inner.m_ScratchBytes);
    const size_t unpacked = scratch.Add<int8_t>(weights.GetNumElements());
    return backends::Prepared(UnpackingExecutor{std::move(inner.m_Run), weights.GetNumElements(), unpacked},
                              scratch.GetBytes());
}

} // namespace tenon::ref
