// SPDX-License-Identifier: Apache-2.0
// Segmentation: the class of each pixel, and the mean over classes of intersection by union (mIoU).
#pragma once

#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/Options.hpp"
#include "tools/evaluate/PictureList.hpp"
#include "tools/evaluate/Task.hpp"

#include <memory>

namespace tenon::tools::evaluate
{

/// Masks are the PNG files of the ground truth's folder with the names of pictures. Throws InputError and UsageError.
std::unique_ptr<Task> MakeSegmentation(const Options& options, const Network& network, const PictureList& pictures);

} // namespace tenon::tools::evaluate
