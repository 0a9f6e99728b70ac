// SPDX-License-Identifier: Apache-2.0
// See Inputs.hpp.
#include "cli/Inputs.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"
#include "cli/FileInput.hpp"
#include "cli/OnnxModel.hpp"
#include "cli/Strings.hpp"
#include "cli/TensorMemory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

namespace tenon::cli
{
namespace
{

/// splitmix64: the same values on every machine, which the distributions of <random> do not promise.
class RandomBits
{
public:
    explicit RandomBits(uint64_t seed) : m_State(seed) {}

    uint64_t Next()
    {
        m_State += 0x9E3779B97F4A7C15U;
        uint64_t bits = m_State;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBU;
        return bits ^ bits >> 31;
    }

    /// In [0, 1), a multiple of 2^-24, so that it is the same in every float type that can hold it.
    double NextUnit() { return std::ldexp(static_cast<double>(Next() >> 40), -24); }

private:
    uint64_t m_State;
};

/// Whether random bits are good values of the type: quantized ones stand for a real number whatever they are.
bool IsAnyBitPatternGood(const TensorInfo& info)
{
    return info.IsQuantized() || info.GetDataType() == DataType::QSymmS4;
}

/// "float32 [1,224,224,3]"
std::string Expectation(const TensorInfo& info)
{
    return fmt::format("{} {}", GetNumPyName(info.GetDataType()), info.GetShape().ToString());
}

std::string PlaceOf(const Binding& binding)
{
    return fmt::format("input '{}'", OneLine(binding.m_Name));
}

/// A step for one input. What it throws gets the place in front.
template <typename Step>
auto At(const std::string& place, const TensorInfo& info, Step step)
{
    try
    {
        return step();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("{}: {}", place, error.what()));
    }
    catch (const InvalidArgumentException& error) // sizes that overflow
    {
        throw InputError(fmt::format("{}: {}", place, error.what()));
    }
    catch (const std::bad_alloc&)
    {
        throw RunError(fmt::format("{}: {}", place, DescribeLackOfMemory(info)));
    }
    catch (const std::length_error&) // a container was asked for more than can be addressed
    {
        throw RunError(fmt::format("{}: {}", place, DescribeLackOfMemory(info)));
    }
}

void CheckCount(const std::vector<Binding>& bindings, size_t numFiles, unsigned int iterations)
{
    const bool isWholeSets = !bindings.empty() && numFiles % bindings.size() == 0;
    const size_t numSets = isWholeSets ? numFiles / bindings.size() : 0;
    if (numFiles == 0 || (isWholeSets && numSets <= iterations))
    {
        return;
    }
    std::vector<std::string> expected;
    for (const Binding& binding : bindings)
    {
        expected.push_back(fmt::format("'{}' {}", OneLine(binding.m_Name), Expectation(binding.m_Info)));
    }
    std::string message = fmt::format("--input-tensor-data has {} file(s), but the model has {} input(s){}{}", numFiles,
                                      bindings.size(), expected.empty() ? "" : ": ", fmt::join(expected, ", "));
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

/// Without memory.
InputData PlanRandomInput(const TensorInfo& info, const Limits& limits)
{
    InputData data{info, {}, "seeded random values"};
    TensorShape& shape = data.m_Info.GetShape();
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        RequireKnownShape(info); // throws
    }
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        if (!shape.GetDimensionSpecificity(d))
        {
            shape.SetDimensionSize(d, 1);
            data.m_Description = "seeded random values, open dimensions taken as 1";
        }
    }
    CheckTensorBytes(data.m_Info, limits);
    return data;
}

void FillWithRandom(InputData& data, size_t index)
{
    RandomBits random(index + 1);
    if (IsAnyBitPatternGood(data.m_Info))
    {
        for (size_t i = 0; i < data.m_Data.Size(); ++i)
        {
            data.m_Data.Data()[i] = static_cast<std::byte>(random.Next() >> 56);
        }
        return;
    }
    const DataType type = data.m_Info.GetDataType();
    const bool isWhole = IsIntegerType(type) || type == DataType::Boolean;
    const uint64_t count = data.m_Info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        const double unit = random.NextUnit();
        SetElement(type, data.m_Data.Data(), i, isWhole ? std::floor(2.0 * unit) : 2.0 * unit - 1.0);
    }
}

} // namespace

std::vector<std::vector<unsigned int>> OrderShapes(const Options& options, size_t numInputs)
{
    std::vector<std::vector<unsigned int>> shapes = options.m_InputShapes;
    const size_t wanted = options.m_InputNames.empty() ? numInputs : options.m_InputNames.size();
    while (shapes.size() > wanted && shapes.back().empty())
    {
        shapes.pop_back();
    }
    if (!shapes.empty() && shapes.size() != wanted)
    {
        throw UsageError(
            fmt::format("--input-tensor-shape: {} shape(s) are given for {} input(s)", shapes.size(), wanted));
    }
    shapes.resize(numInputs);
    return shapes;
}

std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits, unsigned int iterations,
                                  bool quantizes)
{
    CheckCount(bindings, files.size(), iterations);
    std::vector<InputData> inputs;
    std::vector<FileInput> sources;
    std::vector<std::string> places;
    std::vector<std::string> remarks;
    for (size_t i = 0; i < std::max(bindings.size(), files.size()); ++i)
    {
        const Binding& binding = bindings[i % bindings.size()];
        TensorInfo info = binding.m_Info;
        std::string shapeFrom;
        if (i >= bindings.size())
        {
            info = inputs[i % bindings.size()].m_Info;
            shapeFrom = "the file of the first iteration";
        }
        else if (!shapes.empty() && !shapes[i].empty())
        {
            info.SetShape({static_cast<unsigned int>(shapes[i].size()), shapes[i].data()});
            shapeFrom = "--input-tensor-shape";
        }
        places.push_back(PlaceOf(binding));
        if (files.empty())
        {
            if (shapeFrom.empty())
            {
                AskForDimensions(binding);
            }
            inputs.push_back(At(places[i], info, [&] { return PlanRandomInput(info, limits); }));
            continue;
        }
        places[i] = fmt::format("file '{}' for {}, which is {}", OneLine(files[i]), places[i], Expectation(info));
        sources.push_back(At(places[i], info, [&] { return FileInput(files[i], info, shapeFrom, limits, quantizes); }));
        remarks.push_back(shapeFrom.empty() ? DescribeOtherShape(binding, sources[i].Info(), files[i]) : "");
        inputs.push_back({sources[i].Info(), {}, {}});
    }
    CheckTotalBytes(fmt::format("the {} inputs", inputs.size()), CountBytes(inputs), limits);
    for (size_t i = 0; i < sources.size(); ++i)
    {
        const Normalisation used = NormalisationOf(bindings[i % bindings.size()], normalisation);
        inputs[i] = At(places[i], sources[i].Info(), [&] { return sources[i].Load(used, limits); });
        inputs[i].m_Remark = remarks[i];
    }
    if ((!normalisation.m_Mean.empty() || !normalisation.m_Std.empty()) &&
        std::none_of(inputs.begin(), inputs.end(), [](const InputData& input) { return input.m_IsPicture; }))
    {
        throw UsageError("--input-mean, --input-std: they are for pictures, but no input is one");
    }
    return inputs;
}

std::string DescribeNewShape(const Binding& binding, const TensorShape& shape, size_t index, const Options& options)
{
    std::string from = "from --input-tensor-shape";
    if (index >= options.m_InputShapes.size() || options.m_InputShapes[index].empty())
    {
        from = options.m_InputFiles.empty() ? "open dimensions taken as 1" : "from " + options.m_InputFiles[index];
    }
    return fmt::format("{} as {} ({}; the model says {})", PlaceOf(binding), shape.ToString(), OneLine(from),
                       binding.m_Info.GetShape().ToString());
}

void FillRandomInputs(const std::vector<Binding>& bindings, std::vector<InputData>& inputs)
{
    // All memory first: filling takes long where there is much of it.
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        At(PlaceOf(bindings[i]), inputs[i].m_Info, [&] { inputs[i].m_Data = Buffer(inputs[i].m_Info.GetNumBytes()); });
    }
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        FillWithRandom(inputs[i], i);
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

} // namespace tenon::cli
