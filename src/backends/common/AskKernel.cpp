// SPDX-License-Identifier: Apache-2.0
// AskKernel: whether one kernel takes a layer, by its rows of types, the scales that they want and its own checks.
#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::backends
{

namespace
{

/// "Float32, QAsymmU8 or QAsymmS8".
std::string ToText(TypeSet types)
{
    std::vector<const char*> names;
    for (unsigned int i = 0; i <= static_cast<unsigned int>(DataType::Complex128); ++i)
    {
        if (types.Has(static_cast<DataType>(i)))
        {
            names.push_back(GetDataTypeName(static_cast<DataType>(i)));
        }
    }
    std::string text;
    for (size_t i = 0; i < names.size(); ++i)
    {
        text += i == 0 ? "" : (i + 1 == names.size() ? " or " : ", ");
        text += names[i];
    }
    return text;
}

/// The types that the row takes at one place, given the type of input 0; empty where it takes any.
TypeSet Accepted(const TypeRow& row, TypeSet listed, const LayerView& layer)
{
    return row.m_SameAsInput0 && !listed.Empty() && layer.HasInput(0) ? TypeSet(layer.GetInput(0).GetDataType())
                                                                      : listed;
}

/// Narrows the rows to those that take the layer's types, place by place, so that a refusal can name the first place
/// that rules out all rows and the types that would have fitted there.
class RowFilter
{
public:
    RowFilter(const LayerView& layer, std::span<const TypeRow> rows)
        : m_Layer(layer), m_Rows(rows), m_Fits(rows.size(), true)
    {
    }

    std::optional<SupportResult> Input(size_t i)
    {
        if (!m_Layer.HasInput(i))
        {
            return std::nullopt;
        }
        const auto accepted = [this, i](const TypeRow& row)
        { return i == 0 ? row.m_Inputs[0] : Accepted(row, row.m_Inputs[i], m_Layer); };
        return Narrow(i, accepted);
    }

    std::optional<SupportResult> Output()
    {
        if (m_Layer.GetNumOutputs() == 0)
        {
            return std::nullopt;
        }
        const auto accepted = [this](const TypeRow& row) { return Accepted(row, row.m_Output, m_Layer); };
        return Narrow(OutputPlace, accepted);
    }

    /// Whether the quantization meets the conditions of the first row that takes the types.
    SupportResult CheckScales() const
    {
        const auto first = std::find(m_Fits.begin(), m_Fits.end(), true);
        if (first == m_Fits.end())
        {
            return SupportResult::Yes(); // a table without rows
        }
        const TypeRow& row = m_Rows[static_cast<size_t>(first - m_Fits.begin())];
        for (size_t i = 0; i < OutputPlace; ++i)
        {
            if (m_Layer.HasInput(i))
            {
                if (SupportResult result = Check(row.m_InputScales[i], m_Layer.GetInput(i), i); !result)
                {
                    return result;
                }
            }
        }
        return m_Layer.GetNumOutputs() == 0 ? SupportResult::Yes()
                                            : Check(row.m_OutputScales, m_Layer.GetOutput(0), OutputPlace);
    }

private:
    static SupportResult Check(Scales wanted, const TensorInfo& info, size_t place)
    {
        switch (wanted)
        {
        case Scales::PerTensor: return CheckPerTensor(info, NameOf(place));
        case Scales::PerSlice: return CheckPerSlice(info, NameOf(place));
        case Scales::AnyZero: return CheckScalesAlone(info, NameOf(place));
        case Scales::Blocks:
            return info.HasBlockwiseQuantization() ? CheckBlocks(info, NameOf(place))
                                                   : CheckScalesAlone(info, NameOf(place));
        case Scales::Any: break;
        }
        return SupportResult::Yes();
    }

    static constexpr size_t OutputPlace = std::tuple_size_v<decltype(TypeRow::m_Inputs)>;

    DataType TypeAt(size_t place) const
    {
        return place == OutputPlace ? m_Layer.GetOutput(0).GetDataType() : m_Layer.GetInput(place).GetDataType();
    }

    static std::string NameOf(size_t place)
    {
        return place == OutputPlace ? "output 0" : "input " + std::to_string(place);
    }

    template <typename F>
    std::optional<SupportResult> Narrow(size_t place, F accepted)
    {
        const DataType type = TypeAt(place);
        TypeSet taken;
        bool any = false;
        for (size_t r = 0; r < m_Rows.size(); ++r)
        {
            if (m_Fits[r])
            {
                const TypeSet set = accepted(m_Rows[r]);
                taken = taken | set;
                m_Fits[r] = set.Empty() || set.Has(type);
                any = any || m_Fits[r];
            }
        }
        if (any)
        {
            return std::nullopt;
        }
        std::string reason = std::string("does not run ") + GetLayerTypeAsCString(m_Layer.m_Type) + " with " +
                             NameOf(place) + " of type " + GetDataTypeName(type) + ": it takes " + ToText(taken);
        const char* separator = " there beside ";
        for (size_t before = 0; before < place; ++before)
        {
            if (m_Layer.HasInput(before))
            {
                reason += separator + NameOf(before) + " " + GetDataTypeName(TypeAt(before));
                separator = ", ";
            }
        }
        return SupportResult::No(SupportCode::UnsupportedType, std::move(reason));
    }

    const LayerView& m_Layer;
    std::span<const TypeRow> m_Rows;
    std::vector<bool> m_Fits;
};

template <typename Descriptor>
RequantizationMode ModeOf(const BaseDescriptor& descriptor)
{
    if constexpr (requires(const Descriptor& d) { d.m_Requantization; })
    {
        return static_cast<const Descriptor&>(descriptor).m_Requantization;
    }
    else
    {
        return RequantizationMode::FixedPoint;
    }
}

/// Refuses a kernel that rounds in another way than the layer's mode says.
SupportResult CheckRequantization(const Kernel& kernel, const LayerView& layer)
{
    const bool fits = kernel.m_RoundsHalfToEven || layer.GetNumOutputs() == 0 || !layer.GetOutput(0).IsQuantized() ||
                      GetRequantization(layer.m_Type, layer.m_Descriptor) == RequantizationMode::FixedPoint;
    return fits ? SupportResult::Yes()
                : SupportResult::No(SupportCode::UnsupportedParameters,
                                    "it does not requantize by RequantizationMode::FloatHalfEven");
}

} // namespace

RequantizationMode GetRequantization(LayerType type, const BaseDescriptor* descriptor)
{
    if (descriptor == nullptr)
    {
        return RequantizationMode::FixedPoint;
    }
#define TENON_OP(name, descriptorType, ...)                                                                            \
    case LayerType::name: return ModeOf<descriptorType>(*descriptor);
    switch (type)
    {
#include <tenon/ops.def>
    default: return RequantizationMode::FixedPoint;
    }
}

SupportResult AskKernel(const Kernel& kernel, const LayerView& layer)
{
    RowFilter filter(layer, kernel.m_Types);
    for (size_t i = 0; i < std::tuple_size_v<decltype(TypeRow::m_Inputs)>; ++i)
    {
        if (std::optional<SupportResult> refusal = filter.Input(i))
        {
            return *std::move(refusal);
        }
    }
    if (std::optional<SupportResult> refusal = filter.Output())
    {
        return *std::move(refusal);
    }
    SupportResult result = filter.CheckScales();
    if (result)
    {
        result = CheckRequantization(kernel, layer);
    }
    if (result && kernel.m_Reference != nullptr && kernel.m_Reference->m_Check != nullptr)
    {
        result = kernel.m_Reference->m_Check(layer);
    }
    if (result && kernel.m_Check != nullptr)
    {
        result = kernel.m_Check(layer);
    }
    if (result && kernel.m_CheckMachine != nullptr)
    {
        result = kernel.m_CheckMachine();
    }
    if (!result)
    {
        result.m_Reason =
            std::string("does not run this ") + GetLayerTypeAsCString(layer.m_Type) + ": " + result.m_Reason;
    }
    return result;
}

} // namespace tenon::backends
