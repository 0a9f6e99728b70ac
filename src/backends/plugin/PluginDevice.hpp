// SPDX-License-Identifier: Apache-2.0
// The device of a plugin as the runtime sees it: memory and queues.
#pragma once

#include "backends/plugin/Plugin.hpp"

#include <tenon/backend/ITensorHandleFactory.hpp>

#include <memory>

namespace tenon::plugin
{

/// Precondition: plugin->HasDevice().
std::unique_ptr<ITensorHandleFactory> MakePluginDevice(std::shared_ptr<const Plugin> plugin);

/// The plugin's objects behind those of MakePluginDevice.
tenon_plugin_memory* MemoryOf(const IDeviceMemory* memory);
tenon_plugin_queue* QueueOf(const IDeviceQueue* queue);

} // namespace tenon::plugin
