// SPDX-License-Identifier: Apache-2.0
// See RowBlocksF16.hpp.
#include "backends/cpu/half/RowBlocksF16.hpp"

#include "backends/cpu/half/ConversionsF16.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "common/OneThread.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t HalfBytes = 2;
/// Bytes of a block as floats, input and output: a quarter of a second-level cache of 1 MiB.
constexpr size_t BandBytes = 256 * 1024;
/// Layers of up to this many bytes as floats are not cut.
constexpr size_t WholeBytes = 2 * BandBytes;
/// Layers with at least this many multiplications for each element of input and output spend little time in
/// conversions. Larger blocks read the weights less often: blocks are 4 times and uncut layers 8 times as large.
constexpr double ManyMultiplications = 512;
constexpr size_t LargerBands = 4;
constexpr size_t LargerWholes = 8;
/// Minimum output rows of a block whose windows overlap: input rows that two blocks share are converted for both.
constexpr size_t LeastOverlappingRows = 4;
/// Elements of a fused residual add that are rounded at a time.
constexpr size_t ChunkElements = 1024;

/// Output rows of a block; 0: the layer is not cut.
size_t ChooseRows(const BandShape& shape)
{
    const double rowFloats =
        static_cast<double>(shape.m_RowElements) +
        static_cast<double>(shape.m_Windows.m_Stride) * static_cast<double>(shape.m_InputRowElements);
    const double elements = static_cast<double>(shape.m_Images) *
                            (static_cast<double>(shape.m_Rows) * static_cast<double>(shape.m_RowElements) +
                             static_cast<double>(shape.m_InputRows) * static_cast<double>(shape.m_InputRowElements));
    const bool areMany = shape.m_Multiplications >= ManyMultiplications * elements;
    const size_t wholeBytes = areMany ? LargerWholes * WholeBytes : WholeBytes;
    if (shape.m_Rows == 0 || elements * sizeof(float) <= static_cast<double>(wholeBytes))
    {
        return 0;
    }
    const size_t bandBytes = areMany ? LargerBands * BandBytes : BandBytes;
    const bool areOverlapping =
        (uint64_t{shape.m_Windows.m_Kernel} - 1) * shape.m_Windows.m_Dilation >= shape.m_Windows.m_Stride;
    const size_t least = std::min(areOverlapping ? LeastOverlappingRows : 1, shape.m_Rows);
    size_t rows = std::clamp(static_cast<size_t>(static_cast<double>(bandBytes / sizeof(float)) / rowFloats), least,
                             shape.m_Rows);
    // At least as many blocks as threads.
    const size_t parts = std::min(GetCutParts(), GetWorthwhileParts(shape.m_Multiplications));
    rows = std::min(rows, std::max(least, DivideUp(shape.m_Images * shape.m_Rows, parts)));
    return DivideUp(shape.m_Rows, DivideUp(shape.m_Rows, rows)); // as equal as possible
}

} // namespace

HalfBands::HalfBands(const ReshapeArgs& args, const BandShape& shape, const float* bias,
                     FunctionRef<backends::Prepared(const Band*)> prepare)
    : m_Type(args.GetOutput(0).GetDataType()), m_Bias(bias)
{
    const bool hasHalfBias =
        bias == nullptr && args.HasInput(2) && backends::HalfTypes.Has(args.GetInput(2).GetDataType());
    m_BiasCount = hasHalfBias ? args.GetInput(2).GetNumElements() : 0;
    const size_t rows = ChooseRows(shape);
    std::vector<Band> variants;
    size_t inner = 0;
    const auto add = [&](const Band* band)
    {
        backends::Prepared prepared = prepare(band);
        inner = std::max(inner, prepared.m_ScratchBytes);
        m_Declined = prepared.IsDeclined() ? prepared.m_Declined : m_Declined;
        m_Runs.push_back(std::move(prepared.m_Run));
    };
    if (rows != 0 && FindPlaces(shape, rows, variants) && m_Places.size() > 1)
    {
        for (const Band& band : variants)
        {
            add(&band);
        }
    }
    else
    {
        m_Places = {{0, 0, args.GetInput(0).GetNumElements(), 0, args.GetOutput(0).GetNumElements()}};
        add(nullptr);
    }
    size_t inputs = 0;
    size_t outputs = 0;
    for (const Place& place : m_Places)
    {
        inputs = std::max(inputs, place.m_InputCount);
        outputs = std::max(outputs, place.m_OutputCount);
    }
    Scratch part;
    m_InputOffset = part.Add<float>(inputs);
    m_OutputOffset = part.Add<float>(outputs);
    m_InnerOffset = part.Add<std::byte>(inner);
    m_PartBytes = part.GetBytes();
    m_Parts = std::min({GetMaxParts(args.m_MaxThreads), m_Places.size(), GetWorthwhileParts(shape.m_Multiplications)});
    m_BiasOffset = m_Scratch.Add<float>(m_BiasCount);
    m_PartsOffset = m_Scratch.AddParts(part, m_Parts);
}

bool HalfBands::FindPlaces(const BandShape& shape, size_t rows, std::vector<Band>& variants)
{
    // In 64 bits: strides, dilations and padding may be any 32-bit numbers.
    const BandWindows& windows = shape.m_Windows;
    const uint64_t height = (uint64_t{windows.m_Kernel} - 1) * windows.m_Dilation + 1;
    for (size_t image = 0; image < shape.m_Images; ++image)
    {
        for (size_t row = 0; row < shape.m_Rows; row += rows)
        {
            Band band;
            band.m_Rows = std::min(rows, shape.m_Rows - row);
            // Rows are counted from the first row of the padding.
            const uint64_t begin = uint64_t{row} * windows.m_Stride;
            const uint64_t end = (uint64_t{row} + band.m_Rows - 1) * windows.m_Stride + height;
            const uint64_t last = uint64_t{windows.m_PadTop} + shape.m_InputRows;
            const uint64_t first = std::max<uint64_t>(begin, windows.m_PadTop);
            if (first >= std::min(end, last))
            {
                return false; // the block reads nothing but padding
            }
            band.m_PadTop = static_cast<size_t>(first - begin);
            band.m_PadBottom = static_cast<size_t>(end - std::min(end, last));
            band.m_InputRows = static_cast<size_t>(std::min(end, last) - first);
            const auto found = std::find(variants.begin(), variants.end(), band);
            const auto variant = static_cast<size_t>(found - variants.begin());
            if (found == variants.end())
            {
                variants.push_back(band);
            }
            const size_t inputRow = image * shape.m_InputRows + static_cast<size_t>(first - windows.m_PadTop);
            m_Places.push_back({variant, inputRow * shape.m_InputRowElements,
                                band.m_InputRows * shape.m_InputRowElements,
                                (image * shape.m_Rows + row) * shape.m_RowElements, band.m_Rows * shape.m_RowElements});
        }
    }
    return true;
}

void HalfBands::Run(const ExecuteArgs& args, const void* added, const backends::FloatClamp& clamp) const
{
    const float* const bias = FindBias(args);
    const Sum sum = {added, &clamp};
    std::byte* const scratch = static_cast<std::byte*>(args.m_Scratch) + m_PartsOffset;
    if (m_Places.size() == 1)
    {
        RunBand(args, m_Places[0], bias, sum, *args.m_Parallel, scratch);
        return;
    }
    const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
    RunParts(*args.m_Parallel, parts,
             [&](size_t index)
             {
                 OneThread thread;
                 const Part bands = GetPart(m_Places.size(), parts, index);
                 for (size_t i = bands.m_Begin; i < bands.m_End; ++i)
                 {
                     RunBand(args, m_Places[i], bias, sum, thread, scratch + index * m_PartBytes);
                 }
             });
}

const float* HalfBands::FindBias(const ExecuteArgs& args) const
{
    if (m_Bias != nullptr || args.m_Inputs.size() <= 2 || m_BiasCount == 0)
    {
        return m_Bias != nullptr || args.m_Inputs.size() <= 2 ? m_Bias : args.GetInput<float>(2);
    }
    auto* const bias = Scratch::At<float>(args.m_Scratch, m_BiasOffset);
    OneThread thread;
    VectorHalfLoops.m_Widen(thread, args.m_Inputs[2], m_Type, m_BiasCount, bias);
    return bias;
}

void HalfBands::RunBand(const ExecuteArgs& args, const Place& band, const float* bias, const Sum& sum,
                        IParallelFor& parallel, std::byte* scratch) const
{
    auto* const input = Scratch::At<float>(scratch, m_InputOffset);
    auto* const output = Scratch::At<float>(scratch, m_OutputOffset);
    VectorHalfLoops.m_Widen(parallel, args.GetInput<std::byte>(0) + band.m_Input * HalfBytes, m_Type, band.m_InputCount,
                            input);
    const std::array<const void*, 3> inputs = {input, nullptr, bias}; // null: weights are packed
    void* const outputs = output;
    ExecuteArgs run = args;
    run.m_Inputs = {inputs.data(), inputs.size()};
    run.m_Outputs = {&outputs, 1};
    run.m_Scratch = scratch + m_InnerOffset;
    run.m_Parallel = &parallel;
    m_Runs[band.m_Variant](run);
    std::byte* const halves = args.GetOutput<std::byte>(0) + band.m_Output * HalfBytes;
    if (sum.m_Added == nullptr)
    {
        VectorHalfLoops.m_Narrow(parallel, output, m_Type, band.m_OutputCount, halves);
        return;
    }
    const std::byte* const added = static_cast<const std::byte*>(sum.m_Added) + band.m_Output * HalfBytes;
    RunRanges(parallel, band.m_OutputCount, GetGrain(sizeof(float) + 2 * HalfBytes),
              [&](size_t begin, size_t end) {
                  NarrowSum(output + begin, end - begin, added + begin * HalfBytes, *sum.m_Clamp,
                            halves + begin * HalfBytes);
              });
}

void HalfBands::NarrowSum(float* floats, size_t count, const std::byte* added, const backends::FloatClamp& clamp,
                          std::byte* halves) const
{
    std::array<float, ChunkElements> others;     // NOLINT: written before it is read
    std::array<uint16_t, ChunkElements> rounded; // NOLINT: likewise
    OneThread thread;
    for (size_t begin = 0; begin < count; begin += ChunkElements)
    {
        const size_t size = std::min(ChunkElements, count - begin);
        float* const sums = floats + begin;
        VectorHalfLoops.m_Narrow(thread, sums, m_Type, size, rounded.data());
        VectorHalfLoops.m_Widen(thread, rounded.data(), m_Type, size, sums);
        VectorHalfLoops.m_Widen(thread, added + begin * HalfBytes, m_Type, size, others.data());
        for (size_t i = 0; i < size; ++i)
        {
            sums[i] += others[i];
        }
        clamp.Run(sums, size);
        VectorHalfLoops.m_Narrow(thread, sums, m_Type, size, halves + begin * HalfBytes);
    }
}

backends::Prepared PrepareBands(std::shared_ptr<const HalfBands> bands, const ReshapeArgs& args)
{
    const size_t bytes = bands->GetScratchBytes();
    backends::Prepared prepared([bands](const ExecuteArgs& run) { bands->Run(run, nullptr, {}); }, bytes);
    if (args.m_FusedActivation == nullptr)
    {
        const auto addTensor = [bands, bytes, added = args.m_Inputs.size()](const ActivationDescriptor* activation)
        {
            return backends::Prepared([bands, added, clamp = backends::FloatClamp(activation)](const ExecuteArgs& run)
                                      { bands->Run(run, run.m_Inputs[added], clamp); },
                                      bytes);
        };
        prepared.m_AddTensor =
            std::make_shared<const std::function<backends::Prepared(const ActivationDescriptor*)>>(addTensor);
    }
    return prepared;
}

} // namespace tenon::cpu
