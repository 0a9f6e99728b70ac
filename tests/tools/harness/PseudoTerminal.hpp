// SPDX-License-Identifier: Apache-2.0
// A terminal for programs of tests.
#pragma once

#include <string>
#include <thread>

namespace tenon::tools::test
{

class PseudoTerminal
{
public:
    /// A terminal with so many columns. Throws std::runtime_error where the system has none.
    explicit PseudoTerminal(unsigned short columns);
    ~PseudoTerminal();
    PseudoTerminal(const PseudoTerminal&) = delete;
    PseudoTerminal& operator=(const PseudoTerminal&) = delete;

    /// The file that programs write to.
    const std::string& Path() const { return m_Path; }

    /// All that was written, with "\n" at line ends. To be called once no program has the terminal open.
    std::string Finish();

private:
    int m_Master = -1;
    int m_Slave = -1; ///< kept open until the end, as reading ends when no program has it open
    std::string m_Path;
    std::string m_Text;
    std::thread m_Reader;
};

} // namespace tenon::tools::test
