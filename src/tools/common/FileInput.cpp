// SPDX-License-Identifier: Apache-2.0
// See FileInput.hpp.
#include "tools/common/FileInput.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Npy.hpp"
#include "tools/common/NpyHeader.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/Quantize.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TensorMemory.hpp"
#include "tools/common/TextFile.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon::tools
{
namespace
{

void CheckKnownBytes(const TensorInfo& expected, const Limits& limits)
{
    if (expected.GetShape().AreAllDimensionsSpecified())
    {
        CheckTensorBytes(expected, limits);
    }
}

/// Files for quantized tensors hold Float32 if their numbers are to be quantized.
TensorInfo GetInfoInFile(const TensorInfo& expected, bool quantizes)
{
    return quantizes && StandsForReals(expected) ? AsFloat32(expected) : expected;
}

} // namespace

void RequireKnownShape(const TensorInfo& info)
{
    if (!info.GetShape().AreAllDimensionsSpecified())
    {
        throw InputError(
            fmt::format("the model leaves its shape open ({}); give it by --input-tensor-shape or by an .npy file{}",
                        info.GetShape().ToString(),
                        info.GetShape().GetDimensionality() == Dimensionality::NotSpecified
                            ? ""
                            : ", or the dimensions of an ONNX model by --dim"));
    }
}

InputSource FileInput::Open(const std::string& path, const TensorInfo& expected, const Limits& limits, bool quantizes)
{
    const TensorInfo inFile = GetInfoInFile(expected, quantizes);
    return {path, limits.m_MaxFileBytes, RaiseFileBytes,
            [&](std::string_view start)
            {
                CheckKnownBytes(inFile, limits);
                const bool isRaw = !IsNpz(path, start) && FindKind(path, start, inFile) == Kind::Raw;
                const bool isBounded = isRaw && inFile.GetShape().AreAllDimensionsSpecified();
                return isBounded ? inFile.GetNumBytes() + uint64_t{1} : NoBound;
            }};
}

FileInput::FileInput(InputSource source, const TensorInfo& expected, const std::string& shapeFrom, const Limits& limits,
                     bool quantizes)
    : m_InFile(GetInfoInFile(expected, quantizes)), m_Source(std::move(source)), m_Info(expected)
{
    CheckKnownBytes(m_InFile, limits);
    m_Kind = FindKind(m_Source.Path(), m_Source.ReadStart(InputSource::StartBytes), m_InFile);
    if (m_Kind == Kind::Npy)
    {
        m_InFile = ReadNpyInfo(m_Source, m_InFile, limits.m_MaxTensorBytes);
        m_Info.SetShape(m_InFile.GetShape());
        if (!shapeFrom.empty() && m_Info.GetShape() != expected.GetShape())
        {
            throw InputError(fmt::format("its shape is {}, but {} says {}", m_Info.GetShape().ToString(), shapeFrom,
                                         expected.GetShape().ToString()));
        }
    }
    else if (m_Kind == Kind::Picture)
    {
        m_Picture = m_Source.ReadAll();
        m_PictureInput = expected;
        m_Info = GetPictureInfo(m_Picture, expected);
        m_InFile = m_Info;
    }
    RequireKnownShape(m_Info);
    CheckTensorBytes(m_InFile, limits);
}

FileInput::Kind FileInput::FindKind(const std::string& path, std::string_view start, const TensorInfo& expected)
{
    if (EndsWithNoCase(path, ".bin") || EndsWithNoCase(path, ".raw"))
    {
        return Kind::Raw;
    }
    const bool isNothingExpected =
        expected.GetShape().AreAllDimensionsSpecified() && expected.GetShape().GetNumElements64() == 0;
    if (start.empty() && !isNothingExpected)
    {
        throw InputError("the file is empty");
    }
    if (IsNpy(start) || EndsWithNoCase(path, ".npy"))
    {
        return Kind::Npy;
    }
    if (IsText(start))
    {
        return Kind::Text;
    }
    if (IsPicture(start))
    {
        return Kind::Picture;
    }
    if (EndsWithNoCase(path, ".txt") || EndsWithNoCase(path, ".csv")) // the first word that is none will be named
    {
        return Kind::Text;
    }
    throw InputError(
        "its content is not known; supported are .npy, .npz for all inputs, pictures (PNG, JPEG, BMP), raw "
        "bytes in a file named .bin or .raw, and text with numbers");
}

InputData FileInput::LoadRaw() const
{
    InputFile file = m_Source.Open();
    if (file.Remaining() != m_InFile.GetNumBytes())
    {
        // Of a stream no more than this is read.
        const bool hasUnread = m_Source.Content() != nullptr && file.Remaining() > m_InFile.GetNumBytes();
        throw InputError(fmt::format("a raw file of {} bytes was expected; it has {}", m_InFile.GetNumBytes(),
                                     hasUnread ? "more" : std::to_string(file.Remaining())));
    }
    InputData data{m_InFile, Buffer(m_InFile.GetNumBytes()), "raw bytes"};
    file.Read(data.m_Data.Data(), data.m_Data.Size());
    if (m_InFile.GetDataType() == DataType::Boolean)
    {
        for (size_t i = 0; i < data.m_Data.Size(); ++i) // a Boolean is 0 or 1, but a file may hold anything
        {
            SetElement(DataType::Boolean, data.m_Data.Data(), i, GetElement(DataType::Boolean, data.m_Data.Data(), i));
        }
    }
    return data;
}

InputData FileInput::Load(const Normalisation& normalisation, const Limits& limits) const
{
    InputData data;
    if (m_Kind == Kind::Raw)
    {
        data = LoadRaw();
    }
    else if (m_Kind == Kind::Npy)
    {
        NpyArray array = ReadNpy(m_Source, m_InFile, limits.m_MaxTensorBytes);
        data = {std::move(array.m_Info), std::move(array.m_Data), {}};
    }
    else if (m_Kind == Kind::Picture)
    {
        PictureTensor picture = PictureToTensor(m_Picture, m_PictureInput, normalisation);
        data = {std::move(picture.m_Info), std::move(picture.m_Data), std::move(picture.m_Description), true};
    }
    else
    {
        data = {m_InFile, ParseTextTensor(m_Source.ReadAll(), m_InFile), "text"};
    }
    if (m_InFile.GetDataType() != m_Info.GetDataType())
    {
        data.m_Data = QuantizeFloats(data.m_Data, m_Info);
        data.m_Info = m_Info;
        data.m_Description += data.m_Description.empty() ? "quantized" : ", quantized";
    }
    data.m_Description = OneLine(m_Source.Path()) + (data.m_Description.empty() ? "" : ", " + data.m_Description);
    return data;
}

} // namespace tenon::tools
