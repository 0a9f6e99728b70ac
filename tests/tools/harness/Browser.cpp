// SPDX-License-Identifier: Apache-2.0
// See Browser.hpp. A page around all pages has each in a frame, and turns into their texts.
#include "tools/harness/Browser.hpp"

#include "tools/harness/Subprocess.hpp"
#include "tools/harness/TempFolder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace tenon::tools::test
{
namespace
{

constexpr const char* Mark = "\n<!-- page -->\n";

constexpr const char* Script = R"(<script>
addEventListener("load", () => setTimeout(() => {
  const texts = document.createElement("script");
  texts.type = "text/plain";
  for (const frame of document.querySelectorAll("iframe")) {
    texts.textContent += "\n<!-- page -->\n" + frame.contentDocument.documentElement.outerHTML;
  }
  document.documentElement.replaceChildren(texts);
}, 4000));
</script>
)";

} // namespace

std::optional<std::string> FindBrowser()
{
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
    {
        for (const char* name : {"/chromium", "/chromium-browser", "/google-chrome"})
        {
            if (std::filesystem::exists(folder + name))
            {
                return folder + name;
            }
        }
    }
    return {};
}

std::vector<std::string> ShowPages(const std::string& browser, const std::vector<PageView>& pages)
{
    const TempFolder folder;
    std::string frames = "<!DOCTYPE html>\n";
    for (size_t i = 0; i < pages.size(); ++i)
    {
        const std::string name = fmt::format("{}.html", i);
        folder.Write(name, pages[i].m_Html);
        frames += fmt::format("<iframe src=\"{}\" style=\"position:fixed;inset:0;width:{}px;height:900px;border:0\">"
                              "</iframe>\n",
                              name, pages[i].m_Width);
    }
    const Outcome outcome = RunProgram(
        {browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--allow-file-access-from-files", "--user-data-dir=" + folder.Path("browser"), "--window-size=1600,900",
         "--virtual-time-budget=10000", "--dump-dom", "file://" + folder.Write("pages.html", frames + Script)});
    std::vector<std::string> texts;
    size_t at = outcome.m_Out.find(Mark);
    while (at != std::string::npos)
    {
        const size_t next = outcome.m_Out.find(Mark, at + 1);
        texts.push_back(outcome.m_Out.substr(at, next - at));
        at = next;
    }
    if (outcome.m_Status != 0 || texts.size() != pages.size())
    {
        throw std::runtime_error(fmt::format("the browser ended with {} and showed {} of {} pages: {}",
                                             outcome.m_Status, texts.size(), pages.size(), outcome.m_Error));
    }
    return texts;
}

} // namespace tenon::tools::test
