// SPDX-License-Identifier: Apache-2.0
// What is known of each layer type: see Layers.hpp.
#include "docs/Layers.hpp"

#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/Kernels.hpp"
#include "common/Enumerators.hpp"
#include "common/Names.hpp"
#include "docs/TypeText.hpp"
#include "graph/OpSchema.hpp"
#include "optimizer/assignment/Assignment.hpp"

#include <tenon/Descriptors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace tenon::docs
{

namespace
{

// Names of methods that are not Add<layer>Layer, and what no table holds.
const std::map<LayerType, const char*> OtherMethods = {{LayerType::PreCompiled, "AddPrecompiledLayer"}};
const std::map<LayerType, const char*> WithoutKernel = {
    {LayerType::Permute, "as Transpose, which the optimizer makes of it"},
    {LayerType::PreCompiled, "only on the backend that compiled it"},
    {LayerType::StandIn, "nowhere"},
};

std::string WithoutTypes(LayerType type)
{
    if (IsBoundByRuntime(type) || IsRunByRuntime(type))
    {
        return "any";
    }
    const auto found = WithoutKernel.find(type);
    return found != WithoutKernel.end() ? found->second : "only on backends of your own";
}

std::string DescribeTypes(LayerType type)
{
    const backends::Kernel* const exact = ref::FindKernel(type);
    const backends::Kernel* const asFloat = ref::FindKernelAsFloat(type);
    std::string text = exact != nullptr ? TypesOf({exact}) : WithoutTypes(type);
    if (asFloat != nullptr)
    {
        text += "<br>through Float32: " + TypesOf({asFloat});
    }
    std::vector<const backends::Kernel*> fast;
    for (const backends::Kernel* kernel : cpu::FindKernels(type))
    {
        if (kernel != exact && kernel != asFloat)
        {
            fast.push_back(kernel);
        }
    }
    if (!fast.empty())
    {
        text += "<br>CpuAcc: " + TypesOf(fast);
    }
    return text;
}

/// The values of `count` over all settings of the descriptor's switches, and over the enumerators of each enumeration;
/// one if the number is in a field instead.
template <typename D>
std::set<uint32_t> Counts(uint32_t (*count)(const BaseDescriptor&))
{
    std::vector<bool D::*> switches;
    D::Visit(
        [&](const char*, auto member)
        {
            if constexpr (std::is_convertible_v<decltype(member), bool D::*>)
            {
                switches.push_back(member);
            }
        });
    std::set<uint32_t> counts;
    for (uint32_t setting = 0; setting < uint32_t{1} << switches.size(); ++setting)
    {
        D descriptor{};
        for (size_t i = 0; i < switches.size(); ++i)
        {
            descriptor.*switches[i] = (setting >> i & 1U) != 0;
        }
        counts.insert(count(descriptor));
    }
    D::Visit(
        [&](const char*, auto member)
        {
            D descriptor{};
            using Field = std::remove_cvref_t<decltype(descriptor.*member)>;
            if constexpr (std::is_enum_v<Field>)
            {
                const std::vector<std::string>& names = EnumeratorNames<Field>();
                for (size_t i = 0; i < names.size(); ++i)
                {
                    descriptor.*member = names[i].empty() ? descriptor.*member : static_cast<Field>(i);
                    counts.insert(count(descriptor));
                }
            }
        });
    return counts;
}

template <typename D>
constexpr bool GivesNumInputs = requires(const D& d)
{
    d.GetNumInputs();
};
template <typename D>
constexpr bool GivesNumOutputs = requires(const D& d)
{
    d.GetNumOutputs();
};

std::string RangeText(uint32_t min, uint32_t max)
{
    return min == max ? std::to_string(min) : fmt::format("{}–{}", min, max);
}

/// A number that no switch changes comes from a field: it is free.
template <typename D>
std::string InputsText(const OpSchema& schema)
{
    const std::set<uint32_t> counts = Counts<D>(schema.m_NumInputs);
    if (GivesNumInputs<D> && counts.size() == 1)
    {
        return fmt::format("{}+", schema.m_MinInputs);
    }
    return RangeText(std::min<uint32_t>(schema.m_MinInputs, *counts.begin()), *counts.rbegin());
}

template <typename D>
std::string OutputsText(const OpSchema& schema)
{
    const std::set<uint32_t> counts = Counts<D>(schema.m_NumOutputs);
    return GivesNumOutputs<D> && counts.size() == 1 ? "any" : RangeText(*counts.begin(), *counts.rbegin());
}

/// "1", "1 and 2", "1, 2 and 3".
std::string ListBits(uint32_t bits)
{
    std::vector<std::string> numbers;
    for (uint32_t i = 0; i < 32; ++i)
    {
        if ((bits >> i & 1U) != 0)
        {
            numbers.push_back(std::to_string(i));
        }
    }
    const std::string last = numbers.back();
    numbers.pop_back();
    return numbers.empty() ? last : fmt::format("{} and {}", fmt::join(numbers, ", "), last);
}

/// `values` is that of ops.def, for the most inputs there are.
template <typename D>
std::string NotesText(const OpSchema& schema, LayerType type, uint32_t values)
{
    std::vector<std::string> notes;
    bool hasOptionalParameters = false;
    D::Visit([&](const char* name, auto) { hasOptionalParameters |= std::string_view(name) == "ParametersAsInputs"; });
    if (hasOptionalParameters)
    {
        notes.emplace_back("parameters in the descriptor or as inputs");
    }
    if (values != 0)
    {
        const bool isOne = (values & (values - 1)) == 0;
        notes.push_back(
            fmt::format("the output's shape depends on the values of input{} {}", isOne ? "" : "s", ListBits(values)));
    }
    if (schema.Has(OpFlags::Late))
    {
        notes.emplace_back("output shapes are known after the run only");
    }
    if (schema.Has(OpFlags::View))
    {
        notes.emplace_back("copies nothing");
    }
    if (schema.Has(OpFlags::InPlace))
    {
        notes.emplace_back("may write over its input");
    }
    if (IsRunByRuntime(type))
    {
        notes.emplace_back("run by the runtime itself");
    }
    if (schema.Has(OpFlags::Effect) && OutputsText<D>(schema) != "0")
    {
        notes.emplace_back("is kept even if nobody reads its outputs");
    }
    std::string text = fmt::format("{}", fmt::join(notes, "; "));
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    {
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
    return text;
}

/// The comment that ends right before position `at`, as one line.
std::string CommentBefore(const std::string& header, size_t at)
{
    std::string comment;
    size_t end = header.rfind('\n', at);
    while (end != std::string::npos && end > 0)
    {
        const size_t start = header.rfind('\n', end - 1) + 1;
        const std::string line = header.substr(start, end - start);
        const size_t first = line.find_first_not_of(' ');
        if (first != std::string::npos && line.compare(first, 4, "/// ") == 0)
        {
            comment.insert(0, line.substr(first + 4) + " ");
        }
        else if (!comment.empty() || line.find(';') != std::string::npos || first == std::string::npos)
        {
            break; // otherwise it is the first line of a declaration of two
        }
        end = start - 1;
    }
    return comment;
}

std::string FirstSentence(std::string text)
{
    size_t end = text.find(". ");
    // "e.g." and the like do not end a sentence: the next word then is not a new one.
    while (end != std::string::npos && end + 2 < text.size() && text[end + 2] >= 'a' && text[end + 2] <= 'z')
    {
        end = text.find(". ", end + 1);
    }
    text.resize(end == std::string::npos ? text.size() : end + 1);
    const size_t own = text.find(" (Tenon");
    if (own != std::string::npos)
    {
        text.erase(own, text.find(')', own) - own + 1);
    }
    for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2))
    {
        text.insert(bar, 1, '\\');
    }
    return text;
}

template <typename D>
LayerText Describe(LayerType type, const std::string& header, uint32_t values)
{
    const OpSchema& schema = GetSchema(type);
    LayerText layer{type, schema.m_Name, {}, {}, InputsText<D>(schema), OutputsText<D>(schema), {}, {}};
    layer.m_Types = DescribeTypes(type);
    layer.m_Notes = NotesText<D>(schema, type, values);
    if (schema.Has(OpFlags::Internal))
    {
        return layer;
    }
    const auto other = OtherMethods.find(type);
    layer.m_Method = other != OtherMethods.end() ? other->second : fmt::format("Add{}Layer", layer.m_Name);
    for (size_t at = header.find(" " + layer.m_Method + "("); at != std::string::npos && layer.m_Summary.empty();
         at = header.find(" " + layer.m_Method + "(", at + 1))
    {
        layer.m_Summary = FirstSentence(CommentBefore(header, at));
    }
    if (layer.m_Summary.empty())
    {
        throw std::runtime_error("INetwork.hpp has no documented method " + layer.m_Method);
    }
    return layer;
}

} // namespace

std::vector<LayerText> DescribeLayers(const std::string& header)
{
    return {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, ...)                  \
    Describe<descriptor>(LayerType::name, header, values),
#include <tenon/ops.def>
    };
}

} // namespace tenon::docs
