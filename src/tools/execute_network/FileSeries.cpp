// SPDX-License-Identifier: Apache-2.0
// See FileSeries.hpp.
#include "tools/execute_network/FileSeries.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/InputPlace.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/Progress.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <utility>

namespace tenon::tools
{
namespace
{

constexpr const char* Option = "--input-tensor-data";

/// Whether sizes that `wanted` leaves open are all that differs.
bool Conforms(const TensorShape& given, const TensorShape& wanted)
{
    if (wanted.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return true;
    }
    bool isSame = given.GetNumDimensions() == wanted.GetNumDimensions();
    for (unsigned int d = 0; isSame && d < given.GetNumDimensions(); ++d)
    {
        isSame = !wanted.GetDimensionSpecificity(d) || given[d] == wanted[d];
    }
    return isSame;
}

void RefuseOption(bool isGiven, const char* option, const char* reason)
{
    if (isGiven)
    {
        throw UsageError(
            fmt::format("{}: {} has a folder or pattern, of which {}; leave it out", option, Option, reason));
    }
}

} // namespace

bool HasFileSeries(const Options& options)
{
    return std::any_of(options.m_InputFiles.begin(), options.m_InputFiles.end(), StandsForMany);
}

FileSeries::FileSeries(const Options& options) : m_Options(options), m_Lists(ListFiles(options.m_InputFiles, Option))
{
    if (IsUsed())
    {
        RefuseOption(options.m_Iterations > 1, options.m_CompareWith.empty() ? "--iterations" : "--num-runs",
                     "each file runs once");
        RefuseOption(!options.m_CompareFiles.empty(), "--compare-output", "each file has outputs of its own");
        RefuseOption(!options.m_CompareBackends.empty(), "--compare-output-with-backend",
                     "each file has outputs of its own");
    }
}

std::vector<InputData> FileSeries::LoadFirst(const std::vector<Binding>& inputs,
                                             const std::vector<std::vector<unsigned int>>& shapes,
                                             const std::function<void(size_t, const std::string&)>& fail)
{
    FileSets sets = MakeFileSets(m_Lists, inputs.size(), Option);
    if (!sets.m_Remark.empty())
    {
        PrintWarning(fmt::format("{}: {}", Option, sets.m_Remark));
    }
    m_Sets = std::move(sets.m_Sets);
    m_Inputs = inputs;
    m_Shapes = shapes;
    for (m_First = 0; m_First < m_Sets.size(); ++m_First)
    {
        if (std::optional<std::vector<InputData>> first = TryLoad(m_First, fail))
        {
            for (size_t i = 0; i < m_Inputs.size(); ++i)
            {
                if (!m_Inputs[i].m_Info.GetShape().AreAllDimensionsSpecified())
                {
                    m_ShapesFrom = fmt::format("'{}'", OneLine(DescribeSet(m_First)));
                }
                m_Inputs[i].m_Info = (*first)[i].m_Info;
            }
            m_Shapes.clear();
            return std::move(*first);
        }
    }
    ThrowIfFailed();
    return {};
}

std::string FileSeries::DescribeSet(size_t index) const
{
    return fmt::format("{}", fmt::join(m_Sets[index], ", "));
}

std::vector<InputData> FileSeries::Load(size_t index) const
{
    const std::vector<std::string>& files = m_Sets[index];
    if (files.size() < m_Inputs.size() && !IsNpz(files.front(), ""))
    {
        throw InputError(fmt::format("file '{}': it is no .npz file, which alone holds all {} inputs",
                                     OneLine(files.front()), m_Inputs.size()));
    }
    std::vector<InputData> inputs =
        LoadInputs(m_Inputs, files, m_Shapes, {m_Options.m_InputMean, m_Options.m_InputStd, false, false},
                   m_Options.m_Limits, 1, m_Options.m_QuantizeInputs);
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        const TensorShape& given = inputs[i].m_Info.GetShape();
        const TensorShape& wanted = m_Inputs[i].m_Info.GetShape();
        const bool isFree = !m_Shapes.empty() && !m_Shapes[i].empty(); // --input-tensor-shape says it
        if (!isFree && !Conforms(given, wanted))
        {
            throw InputError(
                fmt::format("file '{}' for {}, which is {}: its shape is {}, but {} says {}; all files run "
                            "through one network, to which --input-tensor-shape gives another shape",
                            OneLine(files[files.size() == 1 ? 0 : i]), PlaceOf(m_Inputs[i]),
                            Expectation(m_Inputs[i].m_Info), given.ToString(), m_ShapesFrom, wanted.ToString()));
        }
    }
    return inputs;
}

std::optional<std::vector<InputData>> FileSeries::TryLoad(size_t index,
                                                          const std::function<void(size_t, const std::string&)>& fail)
{
    try
    {
        std::vector<InputData> inputs = Load(index);
        m_HasPicture = m_HasPicture || std::any_of(inputs.begin(), inputs.end(),
                                                   [](const InputData& input) { return input.m_IsPicture; });
        return inputs;
    }
    catch (const InputError& error)
    {
        Fail(index, error.what(), true, fail);
    }
    catch (const RunError& error)
    {
        Fail(index, error.what(), false, fail);
    }
    return {};
}

void FileSeries::Fail(size_t index, const std::string& error, bool isOfInput,
                      const std::function<void(size_t, const std::string&)>& fail)
{
    PrintError(error);
    ++m_NumFailed;
    m_IsFailureOfInputs = m_IsFailureOfInputs && isOfInput;
    fail(index, error);
}

void FileSeries::Run(std::vector<InputData>& inputs, const SeriesSteps& steps)
{
    // Layers that are printed by the library itself would be mixed with the line.
    std::optional<Progress> progress;
    if (!m_Options.m_PrintLayers)
    {
        progress.emplace(m_Sets.size(), m_First);
    }
    for (size_t index = m_First; index < m_Sets.size(); ++index)
    {
        bool isLoaded = index == m_First;
        if (!isLoaded)
        {
            inputs.clear(); // their memory is free before more is taken
            std::optional<std::vector<InputData>> next = TryLoad(index, steps.m_Fail);
            isLoaded = next.has_value();
            inputs = std::move(next).value_or(std::vector<InputData>());
        }
        if (isLoaded && TryInfer(index, steps))
        {
            steps.m_Finish(index);
        }
        if (progress)
        {
            progress->Advance();
        }
    }
    progress.reset();
    if (m_NumFailed == m_Sets.size())
    {
        ThrowIfFailed();
    }
    if ((!m_Options.m_InputMean.empty() || !m_Options.m_InputStd.empty()) && !m_HasPicture)
    {
        PrintWarning("--input-mean, --input-std: they are for pictures, but no file is one");
    }
}

bool FileSeries::TryInfer(size_t index, const SeriesSteps& steps)
{
    const auto fail = [&](const char* error, bool isOfInput)
    { Fail(index, fmt::format("file '{}': {}", OneLine(DescribeSet(index)), error), isOfInput, steps.m_Fail); };
    try
    {
        steps.m_Infer(index);
        return true;
    }
    catch (const InputError& error)
    {
        fail(error.what(), true);
    }
    catch (const RunError& error)
    {
        fail(error.what(), false);
    }
    catch (const std::bad_alloc&)
    {
        fail("not enough memory", false);
    }
    return false;
}

const char* FileSeries::NameSets() const
{
    return m_Sets.front().size() > 1 ? "sets of files" : m_Sets.size() == 1 ? "file" : "files";
}

std::string FileSeries::Summarize() const
{
    return fmt::format("{} {}{}", m_Sets.size(), NameSets(),
                       m_NumFailed > 0 ? fmt::format(", {} of them failed", m_NumFailed) : "");
}

void FileSeries::ThrowIfFailed() const
{
    if (m_NumFailed == 0)
    {
        return;
    }
    const std::string message = fmt::format("{}: {} of {} {} failed", Option, m_NumFailed, m_Sets.size(), NameSets());
    if (m_IsFailureOfInputs)
    {
        throw InputError(message);
    }
    throw RunError(message);
}

} // namespace tenon::tools
