// SPDX-License-Identifier: Apache-2.0
// Shapes and tensor infos in .tenon files.
#pragma once

#include "serializer/FileReader.hpp"
#include "serializer/FileWriter.hpp"

#include <tenon/Tensor.hpp>

namespace tenon::serializer
{

flatbuffers::Offset<schema::Shape> WriteShape(FileWriter& file, const TensorShape& shape);
/// Throws ParseException for sizes that no shape has.
TensorShape ReadShape(const FileReader& file, const schema::Shape& shape);

flatbuffers::Offset<schema::TensorInfo> WriteTensorInfo(FileWriter& file, const TensorInfo& info);
/// Throws ParseException for an unknown type and for quantization parameters that no tensor has.
TensorInfo ReadTensorInfo(FileReader& file, const schema::TensorInfo& info);

} // namespace tenon::serializer
