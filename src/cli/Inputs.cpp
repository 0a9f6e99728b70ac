// SPDX-License-Identifier: Apache-2.0
// See Inputs.hpp.
#include "cli/Inputs.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"
#include "cli/File.hpp"
#include "cli/Npy.hpp"
#include "cli/NpyHeader.hpp"
#include "cli/Strings.hpp"
#include "cli/TextFile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::cli
{
namespace
{

/// Enough to tell the kinds of files apart.
constexpr size_t StartBytes = 4096;

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

void CheckSize(const TensorInfo& info, const Limits& limits)
{
    if (info.GetNumBytes() > limits.m_MaxTensorBytes)
    {
        throw InputError(fmt::format("{} is {} bytes; the limit is {}", info.ToString(), info.GetNumBytes(),
                                     limits.m_MaxTensorBytes));
    }
}

TensorShape MakeShape(const std::vector<unsigned int>& sizes)
{
    return {static_cast<unsigned int>(sizes.size()), sizes.data()};
}

void RequireKnownShape(const TensorInfo& info)
{
    if (!info.GetShape().AreAllDimensionsSpecified())
    {
        throw InputError(
            fmt::format("the model leaves the shape open ({}); give it by --input-tensor-shape or by an .npy "
                        "file",
                        info.GetShape().ToString()));
    }
}

/// "float32 [1,224,224,3]"
std::string Expectation(const TensorInfo& info)
{
    return fmt::format("{} {}", GetNumPyName(info.GetDataType()), info.GetShape().ToString());
}

InputData LoadRaw(const std::string& path, const TensorInfo& expected)
{
    RequireKnownShape(expected);
    InputFile file(path);
    if (file.Remaining() != expected.GetNumBytes())
    {
        throw InputError(
            fmt::format("a raw file of {} bytes was expected; it has {}", expected.GetNumBytes(), file.Remaining()));
    }
    InputData data{expected, Buffer(expected.GetNumBytes()), "raw bytes"};
    file.Read(data.m_Data.Data(), data.m_Data.Size());
    if (expected.GetDataType() == DataType::Boolean)
    {
        for (size_t i = 0; i < data.m_Data.Size(); ++i) // a Boolean is 0 or 1, but a file may hold anything
        {
            SetElement(DataType::Boolean, data.m_Data.Data(), i, GetElement(DataType::Boolean, data.m_Data.Data(), i));
        }
    }
    return data;
}

InputData LoadNpy(const std::string& path, const TensorInfo& expected, bool isShapeFixed, const Limits& limits)
{
    NpyArray array = ReadNpy(path, expected, limits.m_MaxTensorBytes);
    if (isShapeFixed && array.m_Info.GetShape() != expected.GetShape())
    {
        throw InputError(fmt::format("its shape is {}, but --input-tensor-shape says {}",
                                     array.m_Info.GetShape().ToString(), expected.GetShape().ToString()));
    }
    return {std::move(array.m_Info), std::move(array.m_Data), {}};
}

InputData LoadPicture(const std::string& path, const TensorInfo& expected, const Normalisation& normalisation,
                      const Limits& limits)
{
    PictureTensor picture = PictureToTensor(ReadWhole(path, limits.m_MaxFileBytes), expected, normalisation);
    return {std::move(picture.m_Info), std::move(picture.m_Data), std::move(picture.m_Description), true};
}

InputData LoadText(const std::string& path, const TensorInfo& expected, const Limits& limits)
{
    RequireKnownShape(expected);
    const std::string content = ReadWhole(path, limits.m_MaxFileBytes);
    return {expected, ParseTextTensor(content, expected), "text"};
}

InputData LoadOneInput(const Binding& binding, size_t index, const std::vector<std::string>& files,
                       const std::vector<unsigned int>& shape, const Normalisation& normalisation, const Limits& limits)
{
    TensorInfo info = binding.m_Info;
    if (!shape.empty())
    {
        info.SetShape(MakeShape(shape));
    }
    std::string place = fmt::format("input '{}'", OneLine(binding.m_Name));
    try
    {
        if (files.empty())
        {
            return MakeRandomInput(info, index, limits);
        }
        place = fmt::format("file '{}' for input '{}', which is {}", OneLine(files[index]), OneLine(binding.m_Name),
                            Expectation(info));
        return LoadInputFile(files[index], info, !shape.empty(), normalisation, limits);
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("{}: {}", place, error.what()));
    }
    catch (const InvalidArgumentException& error) // sizes that overflow
    {
        throw InputError(fmt::format("{}: {}", place, error.what()));
    }
}

} // namespace

InputData LoadInputFile(const std::string& path, const TensorInfo& expected, bool isShapeFixed,
                        const Normalisation& normalisation, const Limits& limits)
{
    if (expected.GetShape().AreAllDimensionsSpecified())
    {
        CheckSize(expected, limits);
    }
    const std::string start = ReadStart(path, StartBytes);
    InputData data;
    if (EndsWithNoCase(path, ".bin") || EndsWithNoCase(path, ".raw"))
    {
        data = LoadRaw(path, expected);
    }
    else if (IsNpy(start) || EndsWithNoCase(path, ".npy"))
    {
        data = LoadNpy(path, expected, isShapeFixed, limits);
    }
    else if (IsPicture(start) && !IsText(start))
    {
        data = LoadPicture(path, expected, normalisation, limits);
    }
    else if (IsText(start))
    {
        data = LoadText(path, expected, limits);
    }
    else
    {
        throw InputError("its content is not known; supported are .npy, pictures (PNG, JPEG, BMP), raw bytes in a file "
                         "named .bin or .raw, and text with numbers");
    }
    CheckSize(data.m_Info, limits);
    data.m_Description = OneLine(path) + (data.m_Description.empty() ? "" : ", " + data.m_Description);
    return data;
}

InputData MakeRandomInput(const TensorInfo& info, size_t index, const Limits& limits)
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
    CheckSize(data.m_Info, limits);

    data.m_Data = Buffer(data.m_Info.GetNumBytes());
    RandomBits random(index + 1);
    if (IsAnyBitPatternGood(data.m_Info))
    {
        for (size_t i = 0; i < data.m_Data.Size(); ++i)
        {
            data.m_Data.Data()[i] = static_cast<std::byte>(random.Next() >> 56);
        }
        return data;
    }
    const DataType type = info.GetDataType();
    const bool isWhole = IsIntegerType(type) || type == DataType::Boolean;
    const uint64_t count = shape.GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        const double unit = random.NextUnit();
        SetElement(type, data.m_Data.Data(), i, isWhole ? std::floor(2.0 * unit) : 2.0 * unit - 1.0);
    }
    return data;
}

std::vector<InputData> LoadInputs(const std::vector<Binding>& bindings, const std::vector<std::string>& files,
                                  const std::vector<std::vector<unsigned int>>& shapes,
                                  const Normalisation& normalisation, const Limits& limits)
{
    if (!files.empty() && files.size() != bindings.size())
    {
        std::vector<std::string> expected;
        for (const Binding& binding : bindings)
        {
            expected.push_back(fmt::format("'{}' {}", OneLine(binding.m_Name), Expectation(binding.m_Info)));
        }
        throw UsageError(fmt::format("--input-tensor-data has {} file(s), but the model has {} input(s){}{}",
                                     files.size(), bindings.size(), expected.empty() ? "" : ": ",
                                     fmt::join(expected, ", ")));
    }
    std::vector<InputData> inputs;
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        inputs.push_back(LoadOneInput(bindings[i], i, files, shapes.empty() ? std::vector<unsigned int>() : shapes[i],
                                      normalisation, limits));
    }
    if ((normalisation.m_Mean || normalisation.m_Std) &&
        std::none_of(inputs.begin(), inputs.end(), [](const InputData& input) { return input.m_IsPicture; }))
    {
        throw UsageError("--input-mean, --input-std: they are for pictures, but no input is one");
    }
    return inputs;
}

} // namespace tenon::cli
