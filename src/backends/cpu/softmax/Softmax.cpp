// SPDX-License-Identifier: Apache-2.0
// Kernel rows of Softmax and LogSoftmax: floats along any axis, and quantized tensors along the last one, bit for bit
// as the reference kernel.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/softmax/LogSoftmaxInt8.hpp"
#include "backends/cpu/softmax/SoftmaxF32.hpp"
#include "backends/cpu/softmax/SoftmaxInt16.hpp"
#include "backends/cpu/softmax/SoftmaxInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <memory>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow SoftmaxTypes[] = {
    backends::SameType(DataType::Float32),
    backends::WithScales(backends::SameType({DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16}),
                         {backends::Scales::PerTensor}, backends::Scales::Any)};
constexpr backends::TypeRow LogSoftmaxTypes[] = {
    backends::PerTensor(backends::SameType({DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8}))};

/// The cost of an element in bytes moved at the speed of memory.
constexpr size_t CostF32 = 16;
constexpr size_t CostInt8 = 8;
constexpr size_t CostInt16 = 16;

Prepared MakeRowsF32(const ref::AxisRows& rows, float beta, SoftmaxFunction function)
{
    return [rows, beta, function](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * CostF32),
                  [&](size_t begin, size_t end)
                  {
                      const size_t first = begin * rows.m_Depth;
                      function(run.GetInput<float>(0) + first, end - begin, rows.m_Depth, beta,
                               run.GetOutput<float>(0) + first);
                  });
    };
}

/// Along an axis that is not the last one. A unit of the loop is a range of neighbouring columns.
Prepared MakeColumnsF32(const ref::AxisRows& rows, float beta, SoftmaxColumnsFunction function)
{
    constexpr size_t LineFloats = 16; // floats of a cache line
    const size_t unit = std::min(rows.m_Step, LineFloats);
    const size_t units = DivideUp(rows.m_Step, unit);
    return [rows, beta, function, unit, units](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer * units, GetGrain(rows.m_Depth * unit * CostF32),
                  [&](size_t begin, size_t end)
                  {
                      while (begin < end)
                      {
                          const size_t outer = begin / units;
                          const size_t last = std::min(end - outer * units, units);
                          const size_t column = (begin - outer * units) * unit;
                          const size_t first = outer * rows.m_Depth * rows.m_Step + column;
                          function(run.GetInput<float>(0) + first, std::min(last * unit, rows.m_Step) - column,
                                   rows.m_Depth, rows.m_Step, beta, run.GetOutput<float>(0) + first);
                          begin = outer * units + last;
                      }
                  });
    };
}

/// The type Softmax is SoftmaxInt8 or LogSoftmaxInt8.
template <typename Softmax>
Prepared MakeInt8(const ref::AxisRows& rows, float beta, const TensorInfo& input)
{
    const auto softmax = std::make_shared<const Softmax>(beta, ref::GetTensorQuantization(input).m_Scale,
                                                         input.GetDataType() == DataType::QAsymmS8);
    return [rows, softmax](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * CostInt8),
                  [&](size_t begin, size_t end)
                  {
                      const size_t first = begin * rows.m_Depth;
                      softmax->Rows(run.GetInput<uint8_t>(0) + first, end - begin, rows.m_Depth,
                                    run.GetOutput<uint8_t>(0) + first);
                  });
    };
}

Prepared MakeInt16(const ref::AxisRows& rows, float beta, const TensorInfo& input)
{
    const auto softmax = std::make_shared<const ref::SoftmaxTablesInt16>(beta, input.GetQuantizationScale());
    return [rows, softmax, function = FindSoftmaxInt16()](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * CostInt16),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end; ++row)
                      {
                          const size_t first = row * rows.m_Depth;
                          function(*softmax, run.GetInput<int16_t>(0) + first, rows.m_Depth,
                                   run.GetOutput<int16_t>(0) + first);
                      }
                  });
    };
}

/// The reason to leave the layer to the reference kernel; null: it is supported.
const char* FindDeclineReason(const ref::AxisRows& rows, float beta, DataType type)
{
    return rows.m_Step != 1 && type != DataType::Float32 ? "not along the last dimension"
           : rows.m_Depth == 0 || rows.m_Step == 0       ? "its rows are empty"
           : !(beta > 0.0f)                              ? "beta is not positive"
                                                         : nullptr;
}

Prepared MakeF32(const ref::AxisRows& rows, float beta, SoftmaxFunction function, SoftmaxColumnsFunction columns)
{
    return rows.m_Step == 1 ? MakeRowsF32(rows, beta, function) : MakeColumnsF32(rows, beta, columns);
}

Prepared PrepareSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (const char* const reason = FindDeclineReason(rows, descriptor.m_Beta, input.GetDataType()); reason != nullptr)
    {
        return Prepared::Declined(reason);
    }
    switch (input.GetDataType())
    {
    case DataType::Float32:
        return MakeF32(rows, descriptor.m_Beta, GetSoftmaxFunctions().m_Softmax,
                       GetSoftmaxFunctions().m_SoftmaxColumns);
    case DataType::QSymmS16: return MakeInt16(rows, descriptor.m_Beta, input);
    default: return MakeInt8<SoftmaxInt8>(rows, descriptor.m_Beta, input);
    }
}

Prepared PrepareLogSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<LogSoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (const char* const reason = FindDeclineReason(rows, descriptor.m_Beta, input.GetDataType()); reason != nullptr)
    {
        return Prepared::Declined(reason);
    }
    return input.GetDataType() == DataType::Float32
               ? MakeF32(rows, descriptor.m_Beta, GetSoftmaxFunctions().m_LogSoftmax,
                         GetSoftmaxFunctions().m_LogSoftmaxColumns)
               : MakeInt8<LogSoftmaxInt8>(rows, descriptor.m_Beta, input);
}

} // namespace

extern const backends::Kernel CpuSoftmaxKernel = {.m_Name = "CpuSoftmax",
                                                  .m_Types = SoftmaxTypes,
                                                  .m_Prepare = PrepareSoftmax,
                                                  .m_Reference = &ref::RefSoftmaxKernel};
extern const backends::Kernel CpuLogSoftmaxKernel = {.m_Name = "CpuLogSoftmax",
                                                     .m_Types = LogSoftmaxTypes,
                                                     .m_Prepare = PrepareLogSoftmax,
                                                     .m_Reference = &ref::RefLogSoftmaxKernel};

} // namespace tenon::cpu
