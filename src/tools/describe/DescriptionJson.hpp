// SPDX-License-Identifier: Apache-2.0
// Descriptions of models as JSON.
#pragma once

#include "tools/describe/Inspection.hpp"

#include <string>
#include <vector>

namespace tenon::tools
{

/// One description, with the version and the backends that it belongs to.
std::string FormatDescriptionJson(const DescribeSettings& settings, const ModelDescription& description);
/// Descriptions of several models: version, folder or file, backends and an array `models`. `isBrief`: with those
/// members alone that tell whether a model can run.
std::string FormatDescriptionsJson(const DescribeSettings& settings, const std::vector<ModelDescription>& descriptions,
                                   bool isBrief);

} // namespace tenon::tools
