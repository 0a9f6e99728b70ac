// SPDX-License-Identifier: Apache-2.0
// See Inputs.hpp.
#include "tools/common/Inputs.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/FileInput.hpp"
#include "tools/common/InputPlace.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/RandomInputs.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TensorMemory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

std::string ListExpected(const std::vector<Binding>& bindings)
{
    std::vector<std::string> expected;
    for (const Binding& binding : bindings)
    {
        expected.push_back(fmt::format("'{}' {}", OneLine(binding.m_Name), Expectation(binding.m_Info)));
    }
    return fmt::format("{}", fmt::join(expected, ", "));
}

/// `numEntries`: files of single inputs, where an .npz file counts as one for each input.
void CheckCount(const std::vector<Binding>& bindings, size_t numFiles, size_t numEntries, unsigned int iterations)
{
    const bool isWholeSets = !bindings.empty() && numEntries % bindings.size() == 0;
    const size_t numSets = isWholeSets ? numEntries / bindings.size() : 0;
    if (numFiles == 0 || (isWholeSets && numSets <= iterations))
    {
        return;
    }
    std::string message = fmt::format("--input-tensor-data has {} file(s), but the model has {} input(s){}{}", numFiles,
                                      bindings.size(), bindings.empty() ? "" : ": ", ListExpected(bindings));
    if (isWholeSets)
    {
        message += fmt::format("; if they are a set for each of {0} iterations, add --iterations {0}", numSets);
    }
    else if (iterations > 1)
    {
        message += fmt::format("; {} iterations take one set of as many files, or several sets in turn", iterations);
    }
    throw UsageError(message);
}

std::string DescribeUnusedArrays(const std::string& place, const std::vector<std::string>& arrays,
                                 const std::vector<std::string>& chosen)
{
    std::vector<std::string> unused;
    std::copy_if(arrays.begin(), arrays.end(), std::back_inserter(unused),
                 [&](const std::string& name)
                 { return std::find(chosen.begin(), chosen.end(), name) == chosen.end(); });
    return fmt::format("{} also has arrays that are no inputs: {}", place, QuoteSome(unused));
}

/// Whether the file is known for an .npz file before it is opened, or, as the only file for several inputs, can be no
/// other one.
bool HoldsAllInputs(const std::string& file, bool isAlone)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
    {
        return isAlone || IsNpz(file, "");
    }
    try
    {
        return IsNpz(file, InputSource(file).ReadStart(NpzStartBytes));
    }
    catch (const InputError&) // which is thrown again where the file is read
    {
        return false;
    }
}

/// Values in another order are easily taken for a batch of another size where nothing else shows the difference.
std::string DescribeOtherShape(const Binding& binding, const TensorInfo& info, const std::string& file)
{
    const TensorShape& wanted = binding.m_Info.GetShape();
    const TensorShape& given = info.GetShape();
    if (!wanted.AreAllDimensionsSpecified() || given == wanted || given.GetNumElements64() != wanted.GetNumElements64())
    {
        return {};
    }
    return fmt::format(
        "{} has the shape {} in '{}' and {} in the model, with as many elements; the model is run with {}",
        PlaceOf(binding), given.ToString(), OneLine(file), wanted.ToString(), given.ToString());
}

/// The numbers of the options; those that are not given are, for float inputs, of the model's metadata.
Normalisation NormalisationOf(const Binding& input, const Normalisation& options)
{
    Normalisation normalisation = options;
    if (IsFloatType(input.m_Info.GetDataType()))
    {
        const auto complete = [](std::vector<float>& numbers, const std::vector<float>& ofModel, bool& isOfModel)
        {
            isOfModel = numbers.empty() && !ofModel.empty();
            if (isOfModel)
            {
                numbers = ofModel;
            }
        };
        complete(normalisation.m_Mean, input.m_Normalisation.m_Mean, normalisation.m_IsMeanOfModel);
        complete(normalisation.m_Std, input.m_Normalisation.m_Std, normalisation.m_IsStdOfModel);
    }
    return normalisation;
}

/// Reads sets of files, one set after another: their shapes first, then their content.
class FileSetReader
{
public:
    FileSetReader(const std::vector<Binding>& bindings, const std::vector<WantedInput>& wanted, const Limits& limits,
                  bool quantizes)
        : m_Bindings(bindings), m_Wanted(wanted), m_Limits(limits), m_Quantizes(quantizes)
    {
    }

    std::vector<InputData> Read(const std::vector<std::string>& files, const Normalisation& normalisation,
                                unsigned int iterations)
    {
        const bool isAlone = files.size() == 1 && m_Bindings.size() > 1;
        size_t numEntries = 0;
        for (const std::string& file : files)
        {
            numEntries += m_Bindings.size() > 1 && HoldsAllInputs(file, isAlone) ? m_Bindings.size() : 1;
        }
        CheckCount(m_Bindings, files.size(), numEntries, iterations);
        for (const std::string& file : files)
        {
            AddFile(file, isAlone);
        }
        std::vector<InputData> inputs;
        for (const Entry& entry : m_Entries)
        {
            inputs.push_back({entry.m_Input.Info(), {}, {}});
        }
        CheckTotalBytes(fmt::format("the {} inputs", inputs.size()), CountBytes(inputs), m_Limits);
        for (size_t i = 0; i < m_Entries.size(); ++i)
        {
            const Normalisation used = NormalisationOf(m_Bindings[i % m_Bindings.size()], normalisation);
            inputs[i] =
                At(m_Entries[i].m_Place, inputs[i].m_Info, [&] { return m_Entries[i].m_Input.Load(used, m_Limits); });
            inputs[i].m_Remark = m_Entries[i].m_Remark;
        }
        return inputs;
    }

private:
    struct Entry
    {
        FileInput m_Input;
        std::string m_Place; ///< for messages
        std::string m_Remark;
    };

    WantedInput GetNextWanted() const
    {
        const size_t index = m_Entries.size();
        return index < m_Bindings.size() ? m_Wanted[index]
                                         : WantedInput{m_Entries[index % m_Bindings.size()].m_Input.Info(),
                                                       "the file of the first iteration"};
    }

    const Binding& GetNextBinding() const { return m_Bindings[m_Entries.size() % m_Bindings.size()]; }

    static std::string DescribePlace(const std::string& file, const Binding& binding, const TensorInfo& info)
    {
        return fmt::format("file '{}' for {}, which is {}", OneLine(file), PlaceOf(binding), Expectation(info));
    }

    /// Adds an entry for each input of an .npz file, and one for any other file.
    void AddFile(const std::string& file, bool isAlone)
    {
        const WantedInput wanted = GetNextWanted();
        const std::string place = DescribePlace(file, GetNextBinding(), wanted.m_Info);
        const auto open = [&]
        {
            InputSource source = FileInput::Open(file, wanted.m_Info, m_Limits, m_Quantizes);
            const bool isNpz = IsNpz(file, source.ReadStart(NpzStartBytes));
            return std::pair(std::move(source), isNpz);
        };
        auto [source, isNpz] = At(place, wanted.m_Info, open);
        if (isNpz)
        {
            AddArrays(source);
        }
        else if (isAlone)
        {
            CheckCount(m_Bindings, 1, 1, 1); // throws
        }
        else
        {
            AddEntry(std::move(source));
        }
    }

    void AddEntry(InputSource source)
    {
        const WantedInput wanted = GetNextWanted();
        const Binding& binding = GetNextBinding();
        const std::string file = source.Path();
        const std::string place = DescribePlace(file, binding, wanted.m_Info);
        FileInput input =
            At(place, wanted.m_Info,
               [&] { return FileInput(std::move(source), wanted.m_Info, wanted.m_ShapeFrom, m_Limits, m_Quantizes); });
        std::string remark = wanted.m_ShapeFrom.empty() ? DescribeOtherShape(binding, input.Info(), file) : "";
        m_Entries.push_back({std::move(input), place, std::move(remark)});
    }

    void AddArrays(const InputSource& source)
    {
        const std::string place = fmt::format("file '{}'", OneLine(source.Path()));
        if (m_Entries.size() % m_Bindings.size() != 0)
        {
            throw UsageError(fmt::format("--input-tensor-data: '{}' holds all inputs of an iteration, so it cannot "
                                         "stand between files of single inputs",
                                         OneLine(source.Path())));
        }
        const TensorInfo& info = m_Bindings.front().m_Info;
        const auto npz = At(place, info, [&] { return std::make_unique<NpzFile>(source, m_Limits); });
        const std::vector<std::string> arrays = npz->GetNames();
        const std::vector<std::string> chosen = At(place, info, [&] { return ChooseArrays(arrays, m_Bindings); });
        const bool isFirst = m_Entries.empty();
        for (const std::string& name : chosen)
        {
            AddEntry(At(place, info, [&] { return npz->Open(name); }));
        }
        if (isFirst && arrays.size() > chosen.size())
        {
            std::string& remark = m_Entries.front().m_Remark;
            remark += (remark.empty() ? "" : "; ") + DescribeUnusedArrays(place, arrays, chosen);
        }
    }

    const std::vector<Binding>& m_Bindings;
    const std::vector<WantedInput>& m_Wanted;
    const Limits& m_Limits;
    bool m_Quantizes;
    std::vector<Entry> m_Entries;
};

} // namespace

std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits, unsigned int iterations,
                                  bool quantizes)
{
    std::vector<WantedInput> wanted;
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        wanted.push_back({bindings[i].m_Info});
        if (!shapes.empty() && !shapes[i].empty())
        {
            wanted[i].m_Info.SetShape({static_cast<unsigned int>(shapes[i].size()), shapes[i].data()});
            wanted[i].m_ShapeFrom = "--input-tensor-shape";
        }
    }
    if (files.empty())
    {
        return PlanRandomInputs(bindings, wanted, limits);
    }
    return FileSetReader(bindings, wanted, limits, quantizes).Read(files, normalisation, iterations);
}

void RequirePicture(const std::vector<InputData>& inputs, const Normalisation& normalisation)
{
    if ((!normalisation.m_Mean.empty() || !normalisation.m_Std.empty()) &&
        std::none_of(inputs.begin(), inputs.end(), [](const InputData& input) { return input.m_IsPicture; }))
    {
        throw UsageError("--input-mean, --input-std: they are for pictures, but no input is one");
    }
}

uint64_t CountBytes(const std::vector<InputData>& inputs)
{
    uint64_t bytes = 0;
    for (const InputData& input : inputs)
    {
        bytes += input.m_Info.GetNumBytes();
    }
    return bytes;
}

} // namespace tenon::tools
