// SPDX-License-Identifier: Apache-2.0
// See PatchRunsInt8.hpp.
#include "backends/cpu/gemm/driver/PatchRunsInt8.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>

namespace tenon::cpu
{

std::vector<uint8_t> PatchRunsInt8::Pad(const uint8_t* weights, size_t outputs) const
{
    const size_t padded = GetGroups() * GroupBytes;
    std::vector<uint8_t> result(outputs * m_Count * padded);
    for (size_t run = 0; run < outputs * m_Count; ++run)
    {
        std::copy_n(weights + run * m_Bytes, m_Bytes, result.data() + run * padded);
    }
    return result;
}

bool FitsImplicitGemm(const LayerView& layer, const MicrokernelsInt8& microkernels)
{
    const auto isCentred = [](const TensorInfo& info)
    { return info.HasMultipleQuantizationScales() || info.GetQuantizationOffset() == 0; };
    const auto isSigned = [](const TensorInfo& info)
    { return info.GetDataType() == DataType::QAsymmS8 || info.GetDataType() == DataType::QSymmS8; };
    const TensorInfo& data = layer.GetInput(0);
    const TensorInfo& weights = layer.GetInput(1);
    if ((!isSigned(weights) && weights.GetDataType() != DataType::QSymmS4) || !isCentred(weights))
    {
        return false;
    }
    if (data.GetDataType() == DataType::Float32)
    {
        return microkernels.Get(KernelRoleInt8::Hybrid).m_ImplicitGemmDequantizeKernels[1] != nullptr;
    }
    if (microkernels.Get(KernelRoleInt8::Int8).m_ImplicitGemmKernels[0][1] == nullptr || !isSigned(data))
    {
        return false;
    }
    const std::vector<double> scales = ref::GetSumScales(data, weights, layer.GetOutput(0), true);
    return std::all_of(scales.begin(), scales.end(),
                       [](double scale)
                       { return RequantizeColumns::IsShifted(backends::QuantizeMultiplier(scale).m_Shift); });
}

} // namespace tenon::cpu
