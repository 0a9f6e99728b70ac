// SPDX-License-Identifier: Apache-2.0
// Descriptors in .tenon files: each field by its name in the descriptor's Visit, so that a new operator needs no code
// here. Options of backends are named values, too.
#pragma once

#include "serializer/FileReader.hpp"
#include "serializer/FileWriter.hpp"

#include <tenon/BackendOptions.hpp>
#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/descriptors/Base.hpp>

#include <memory>
#include <vector>

namespace tenon::serializer
{

using Attributes = flatbuffers::Vector<flatbuffers::Offset<schema::Attribute>>;
using OptionGroups = flatbuffers::Vector<flatbuffers::Offset<schema::BackendOptions>>;

/// The fields that differ from their defaults. Throws InvalidArgumentException for an invalid enumerator.
flatbuffers::Offset<Attributes> WriteDescriptor(FileWriter& file, LayerType type, const BaseDescriptor& descriptor);
/// The descriptor; null for a layer without parameters. Throws ParseException, which names the attribute.
std::unique_ptr<BaseDescriptor> ReadDescriptor(FileReader& file, LayerType type, const Attributes* attributes);

flatbuffers::Offset<OptionGroups> WriteOptions(FileWriter& file, const std::vector<BackendOptions>& options);
std::vector<BackendOptions> ReadOptions(FileReader& file, const OptionGroups* groups);

/// The optimizer's options that a loaded network needs. Limits are not written: the reader has its own.
flatbuffers::Offset<Attributes> WriteOptimizerOptions(FileWriter& file, const OptimizerOptionsOpaque& options);
void ReadOptimizerOptions(FileReader& file, const Attributes* attributes, OptimizerOptionsOpaque& options);

} // namespace tenon::serializer
