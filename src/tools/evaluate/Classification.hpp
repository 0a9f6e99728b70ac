// SPDX-License-Identifier: Apache-2.0
// Classification: the best classes of each picture, and how often the right one is among them.
#pragma once

#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/Options.hpp"
#include "tools/evaluate/PictureList.hpp"
#include "tools/evaluate/Task.hpp"

#include <memory>

namespace tenon::tools::evaluate
{

/// Reads the ground truth of the options, or takes the folders of pictures for it. Throws InputError and UsageError.
std::unique_ptr<Task> MakeClassification(const Options& options, const Network& network, PictureList pictures);

} // namespace tenon::tools::evaluate
