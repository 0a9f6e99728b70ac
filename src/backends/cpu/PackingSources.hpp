// SPDX-License-Identifier: Apache-2.0
// GetPackingSources: tells builds whose kernels may pack weights in other ways from each other.
#pragma once

namespace tenon::cpu
{

/// A hash of the sources of all backends, made with each build (cmake/HashSources.cmake): files of packed weights that
/// another one wrote are refused, without anybody having to remember that something about the packing has changed.
const char* GetPackingSources();

} // namespace tenon::cpu
