// SPDX-License-Identifier: Apache-2.0
// GetPackingSources: identifies builds whose kernels may pack weights in different ways.
#pragma once

namespace tenon::cpu
{

/// A hash of the sources of all backends, made with each build (cmake/HashSources.cmake). Files of packed weights that
/// were written by a build with another hash are refused, so that nobody has to keep a version of the packing.
const char* GetPackingSources();

} // namespace tenon::cpu
