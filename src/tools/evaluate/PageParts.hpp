// SPDX-License-Identifier: Apache-2.0
// The files of the folder page, as the build embeds them.
#pragma once

namespace tenon::tools::evaluate
{

extern const char* const PageHtml;
extern const char* const PageCss;
extern const char* const PageJs;

} // namespace tenon::tools::evaluate
