// SPDX-License-Identifier: Apache-2.0
// BackendNames: classes of <tenon/backend/...> by their short names, for headers that only mention them.
#pragma once

namespace tenon
{

namespace backend
{
class BackendRegistry;
class IBackend;
class ILayerSupport;
} // namespace backend
using backend::BackendRegistry;
using backend::IBackend;
using backend::ILayerSupport;

} // namespace tenon
