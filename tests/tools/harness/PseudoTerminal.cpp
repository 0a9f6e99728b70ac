// SPDX-License-Identifier: Apache-2.0
// See PseudoTerminal.hpp.
#include "tools/harness/PseudoTerminal.hpp"

#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tenon::tools::test
{

PseudoTerminal::PseudoTerminal(unsigned short columns) : m_Master(posix_openpt(O_RDWR | O_NOCTTY))
{
    const bool isReady = m_Master >= 0 && grantpt(m_Master) == 0 && unlockpt(m_Master) == 0;
    const char* const path = isReady ? ptsname(m_Master) : nullptr;
    m_Path = path != nullptr ? path : "";
    m_Slave = path != nullptr ? open(path, O_RDWR | O_NOCTTY) : -1;
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 40;
    if (m_Slave < 0 || ioctl(m_Master, TIOCSWINSZ, &size) != 0)
    {
        throw std::runtime_error("no terminal can be made");
    }
    m_Reader = std::thread(
        [this]
        {
            char bytes[4096];
            for (ssize_t count = 0; (count = read(m_Master, bytes, sizeof(bytes))) > 0;)
            {
                m_Text.append(bytes, static_cast<size_t>(count));
            }
        });
}

PseudoTerminal::~PseudoTerminal()
{
    Finish();
    close(m_Master);
}

std::string PseudoTerminal::Finish()
{
    if (m_Reader.joinable())
    {
        close(m_Slave);
        m_Reader.join();
    }
    for (size_t at = 0; (at = m_Text.find("\r\n", at)) != std::string::npos;)
    {
        m_Text.erase(at, 1);
    }
    return m_Text;
}

} // namespace tenon::tools::test
