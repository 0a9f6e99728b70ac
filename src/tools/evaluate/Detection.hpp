// SPDX-License-Identifier: Apache-2.0
// Detection: the boxes of each picture, and average precision and recall over all of them.
#pragma once

#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/Options.hpp"
#include "tools/evaluate/PictureList.hpp"
#include "tools/evaluate/Task.hpp"

#include <memory>

namespace tenon::tools::evaluate
{

/// Reads COCO's file of the options. Throws InputError and UsageError.
std::unique_ptr<Task> MakeDetection(const Options& options, const Network& network, const PictureList& pictures);

} // namespace tenon::tools::evaluate
