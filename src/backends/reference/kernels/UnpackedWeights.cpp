// SPDX-License-Identifier: Apache-2.0
// See UnpackedWeights.hpp.
#include "backends/reference/kernels/UnpackedWeights.hpp"

#include "backends/common/Scratch.hpp"

#include <utility>
#include <vector>

namespace tenon::ref
{

void Unpack(const int8_t* packed, size_t count, int8_t* unpacked)
{
    // Bytes are processed as unsigned, so that compilers vectorize the loop.
    const auto extend = [](unsigned int nibble) { return static_cast<int8_t>((nibble ^ 8U) - 8U); };
    for (size_t i = 0; i < count / 2; ++i)
    {
        const auto pair = static_cast<uint8_t>(packed[i]);
        unpacked[2 * i] = extend(pair & 0x0FU);
        unpacked[2 * i + 1] = extend(pair >> 4U);
    }
    if (count % 2 != 0)
    {
        unpacked[count - 1] = extend(static_cast<uint8_t>(packed[count / 2]) & 0x0FU);
    }
}

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
        Unpack(args.GetInput<int8_t>(1), m_NumWeights, unpacked);
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
