// SPDX-License-Identifier: Apache-2.0
// ContainedModel: a .tflite model in a file that may be a container of several. ListModels opens all kinds of files
// that the parser reads.
#pragma once

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tflite
{

/// Whether the bytes have the identifier of .tflite models.
bool HasTfLiteIdentifier(Span<const uint8_t> bytes);

struct ContainedModel
{
    std::string m_Name; ///< empty for a file that is a model
    Span<const uint8_t> m_Bytes;
    Span<const uint8_t> m_Weights; ///< values of external buffers, which a .litertlm file has apart from the model
};

/// The models of a file: of a .litertlm file, of a zip archive such as MediaPipe's .task bundles, and in bundles within
/// it ("outer.task/inner.tflite"). Names are unique. A file of no such kind is taken for a model, unread. Throws
/// ParseException for a damaged container and for one without a model, and UnimplementedException.
std::vector<ContainedModel> ListModels(Span<const uint8_t> file, const Limits& limits);

/// The names of a container's models; none for a file that is a model.
std::vector<std::string> NamesOf(const std::vector<ContainedModel>& models);

/// The model of this name, or the only one if `name` is empty. Throws InvalidArgumentException, which lists the names.
const ContainedModel& ChooseModel(const std::vector<ContainedModel>& models, const std::string& name);

} // namespace tenon::tflite
