// SPDX-License-Identifier: Apache-2.0
// Checks of a plugin's tenon_fusion, so that a wrong one is an error here and not a wrong address in a plan.
#include "backends/plugin/PluginBackend.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::plugin
{

namespace
{

static_assert(TENON_NO_ALIAS == TensorAliases::None);

constexpr unsigned int ByteBits = 8;

bool IsKnown(const TensorInfo* info)
{
    return info != nullptr && info->GetShape().AreAllDimensionsSpecified();
}

bool HasWholeBytes(const TensorInfo& info)
{
    return GetDataTypeBits(info.GetDataType()) % ByteBits == 0;
}

/// Whether `input` has the shape of `output`, or one that is broadcast to it, last dimensions aligned.
bool IsBroadcastTo(const TensorShape& input, const TensorShape& output)
{
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int more = output.GetNumDimensions() - rank;
    bool is = rank <= output.GetNumDimensions();
    for (unsigned int i = 0; is && i < rank; ++i)
    {
        is = input[i] == 1 || input[i] == output[i + more];
    }
    return is;
}

/// Whether pixels of both (all elements along the last dimension) have the same type of elements and the same places.
bool HasSamePixelOffsets(const TensorInfo& a, const TensorInfo& b)
{
    const unsigned int rank = a.GetNumDimensions();
    bool have = a.GetDataType() == b.GetDataType() && HasWholeBytes(a) && rank != 0 && rank == b.GetNumDimensions();
    for (unsigned int i = 0; have && i + 1 < rank; ++i)
    {
        have = a.GetShape()[i] == b.GetShape()[i];
    }
    return have;
}

class FusionCheck
{
public:
    FusionCheck(Span<const TensorInfo* const> inputs, Span<const TensorInfo* const> outputs, const std::string& who)
        : m_Inputs(inputs), m_Outputs(outputs), m_Who(who)
    {
    }

    [[noreturn]] void Fail(const std::string& fault) const { throw RuntimeException(m_Who + ": " + fault); }

    /// Output 0, which must be the only one and of a known shape.
    const TensorInfo& OnlyOutput(const char* member) const
    {
        if (m_Outputs.size() != 1 || !IsKnown(m_Outputs[0]))
        {
            Fail(fmt::format("{} is for layers with one output, whose shape is known before they run; leave it 0",
                             member));
        }
        return *m_Outputs[0];
    }

    void CheckCopy() const
    {
        const TensorInfo& output = OnlyOutput("is_copy");
        if (m_Inputs.empty() || !IsKnown(m_Inputs[0]) || m_Inputs[0]->GetNumBytes() != output.GetNumBytes())
        {
            Fail("is_copy is 1, but input 0 and output 0 have different numbers of bytes");
        }
    }

    void CheckElementLoop() const
    {
        const TensorInfo& output = OnlyOutput("element_loop");
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            if (!IsKnown(m_Inputs[i]) || !HasWholeBytes(*m_Inputs[i]) || !HasWholeBytes(output) ||
                !IsBroadcastTo(m_Inputs[i]->GetShape(), output.GetShape()))
            {
                Fail(fmt::format("element_loop does not suit input {}: it must be connected, of a type with whole "
                                 "bytes, and of a shape that is broadcast to that of output 0",
                                 i));
            }
        }
    }

    std::vector<size_t> InputsInOutput(size_t count, const size_t* offsets) const
    {
        auto result = Copy("inputs_in_output", count, offsets, "input", m_Inputs.size());
        std::vector<Range> ranges;
        for (size_t i = 0; i < result.size(); ++i)
        {
            if (result[i] != TENON_NO_ALIAS)
            {
                const auto& [input, output] = TensorsOf("inputs_in_output", i, m_Inputs[i], m_Outputs, "output");
                CheckRange("inputs_in_output", i, result[i], *input, input->GetNumBytes(), output->GetNumBytes());
                ranges.push_back({result[i], input->GetNumBytes(), i});
            }
        }
        CheckDisjoint("inputs_in_output", std::move(ranges));
        return result;
    }

    std::vector<size_t> OutputsInInput(size_t count, const size_t* offsets) const
    {
        auto result = Copy("outputs_in_input", count, offsets, "output", m_Outputs.size());
        for (size_t i = 0; i < result.size(); ++i)
        {
            if (result[i] != TENON_NO_ALIAS)
            {
                const auto& [output, input] = TensorsOf("outputs_in_input", i, m_Outputs[i], m_Inputs, "input");
                CheckRange("outputs_in_input", i, result[i], *output, output->GetNumBytes(), input->GetNumBytes());
            }
        }
        return result;
    }

    std::vector<size_t> InputsInPixels(size_t count, const size_t* offsets) const
    {
        auto result = Copy("inputs_in_pixels", count, offsets, "input", m_Inputs.size());
        std::vector<Range> ranges;
        for (size_t i = 0; i < result.size(); ++i)
        {
            if (result[i] == TENON_NO_ALIAS)
            {
                continue;
            }
            const auto& [input, output] = TensorsOf("inputs_in_pixels", i, m_Inputs[i], m_Outputs, "output");
            if (!HasSamePixelOffsets(*input, *output))
            {
                Fail(fmt::format("inputs_in_pixels[{}] is {}, but the shapes of input {} ({}) and output 0 ({}) differ "
                                 "in more than the last dimension, or their types differ",
                                 i, result[i], i, input->GetShape().ToString(), output->GetShape().ToString()));
            }
            const auto pixelBytes = [](const TensorInfo& info)
            { return size_t{info.GetShape()[info.GetNumDimensions() - 1]} * GetDataTypeSize(info.GetDataType()); };
            CheckRange("inputs_in_pixels", i, result[i], *input, pixelBytes(*input), pixelBytes(*output));
            ranges.push_back({result[i], pixelBytes(*input), i});
        }
        CheckDisjoint("inputs_in_pixels", std::move(ranges));
        return result;
    }

private:
    struct Range
    {
        size_t m_Offset;
        size_t m_Bytes;
        size_t m_Input;
    };

    /// An array of the plugin's, which has an entry for each tensor of the kind, or none.
    std::vector<size_t> Copy(const char* member, size_t count, const size_t* offsets, const char* kind,
                             size_t numTensors) const
    {
        if (count == 0)
        {
            return {};
        }
        if (count != numTensors)
        {
            Fail(fmt::format("num_{} is {}, but the number of the layer's {}s is {}; give one offset for each, or none",
                             member, count, kind, numTensors));
        }
        if (offsets == nullptr)
        {
            Fail(fmt::format("{} is null, but num_{} is {}", member, member, count));
        }
        return {offsets, offsets + count};
    }

    /// The tensor with number i, and tensor 0 of the other kind, which it is in; both of known shapes.
    std::pair<const TensorInfo*, const TensorInfo*> TensorsOf(const char* member, size_t i, const TensorInfo* tensor,
                                                              Span<const TensorInfo* const> others,
                                                              const char* otherKind) const
    {
        if (!IsKnown(tensor) || others.empty() || !IsKnown(others[0]))
        {
            Fail(fmt::format("{}[{}] must be TENON_NO_ALIAS: this tensor or {} 0 is not connected, or of a shape that "
                             "is known only in a run",
                             member, i, otherKind));
        }
        return {tensor, others[0]};
    }

    void CheckRange(const char* member, size_t i, size_t offset, const TensorInfo& tensor, size_t bytes,
                    size_t wholeBytes) const
    {
        if (offset > wholeBytes || bytes > wholeBytes - offset)
        {
            Fail(fmt::format("{}[{}] is {}, from where {} bytes do not fit into {}", member, i, offset, bytes,
                             wholeBytes));
        }
        const size_t elementBytes = std::max(GetDataTypeBits(tensor.GetDataType()) / ByteBits, 1U);
        if (offset % elementBytes != 0)
        {
            Fail(fmt::format("{}[{}] is {}, which is no multiple of the {} bytes of an element", member, i, offset,
                             elementBytes));
        }
    }

    void CheckDisjoint(const char* member, std::vector<Range> ranges) const
    {
        std::erase_if(ranges, [](const Range& range) { return range.m_Bytes == 0; });
        std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.m_Offset < b.m_Offset; });
        for (size_t i = 1; i < ranges.size(); ++i)
        {
            if (ranges[i].m_Offset - ranges[i - 1].m_Offset < ranges[i - 1].m_Bytes)
            {
                Fail(fmt::format("{} places inputs {} and {} so that they overlap", member, ranges[i - 1].m_Input,
                                 ranges[i].m_Input));
            }
        }
    }

    Span<const TensorInfo* const> m_Inputs;
    Span<const TensorInfo* const> m_Outputs;
    const std::string& m_Who;
};

} // namespace

TensorAliases CheckFusion(const tenon_fusion& fusion, LayerType type, Span<const TensorInfo* const> inputs,
                          Span<const TensorInfo* const> outputs, bool hasDevice, const std::string& who)
{
    const FusionCheck check(inputs, outputs, who);
    if (fusion.struct_size <= sizeof(fusion.struct_size))
    {
        check.Fail(fmt::format("struct_size is {}; set it to sizeof(tenon_fusion)", fusion.struct_size));
    }
    if (hasDevice && (fusion.writes_pitched != 0 || fusion.max_tile_threads != 0 || fusion.element_loop != nullptr ||
                      fusion.add_tensor != nullptr || fusion.make_attention != nullptr))
    {
        check.Fail("a plugin with a device offers kernel_name, declined, is_copy and aliases only; leave the other "
                   "members 0");
    }
    if (fusion.is_copy != 0)
    {
        check.CheckCopy();
    }
    if (fusion.element_loop != nullptr)
    {
        check.CheckElementLoop();
    }
    if (fusion.add_tensor != nullptr)
    {
        check.OnlyOutput("add_tensor");
    }
    if (fusion.make_attention != nullptr)
    {
        check.OnlyOutput("make_attention");
        if (type != LayerType::BatchMatMul)
        {
            check.Fail("make_attention is for BatchMatMul layers; leave it null");
        }
    }
    TensorAliases aliases;
    aliases.m_InputsInOutput = check.InputsInOutput(fusion.num_inputs_in_output, fusion.inputs_in_output);
    aliases.m_OutputsInInput = check.OutputsInInput(fusion.num_outputs_in_input, fusion.outputs_in_input);
    aliases.m_InputsInPixels = check.InputsInPixels(fusion.num_inputs_in_pixels, fusion.inputs_in_pixels);
    return aliases;
}

} // namespace tenon::plugin
