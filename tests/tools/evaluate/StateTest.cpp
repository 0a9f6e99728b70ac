// SPDX-License-Identifier: Apache-2.0
// The state of a run: interrupted runs go on, with the same figures, and other files are refused.
#include "Evaluation.hpp"

namespace tenon::tools::evaluate
{
namespace
{

class State : public Evaluation
{
protected:
    Outcome Run(const Words& more = {}) const
    {
        return Evaluate(With(DigitsCommand(DigitsInt8, m_Digits), With({"--state", m_State, "-j", "2"}, more)));
    }

    std::vector<std::string> Lines() const
    {
        std::ifstream file(m_State);
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);)
        {
            lines.push_back(line);
        }
        return lines;
    }

    static std::string WithoutFirstLine(const std::string& text) { return text.substr(text.find('\n')); }

    void WriteState(const std::string& content) const { m_Folder.Write("digits.state", content); }

    const std::string m_Digits = WriteDigits();
    const std::string m_State = m_Folder.Path("digits.state");
};

TEST_F(State, InterruptedRunsGoOn)
{
    const Outcome whole = Run();
    ASSERT_EQ(whole.m_Status, 0) << whole.m_Error;
    const std::vector<std::string> lines = Lines();
    ASSERT_EQ(lines.size(), 361U);
    const Outcome again = Run();
    EXPECT_TRUE(Has(again.m_Out, ", 360 known from '" + m_State + "'\n")) << again.m_Out;
    EXPECT_EQ(WithoutFirstLine(again.m_Out), WithoutFirstLine(whole.m_Out));

    // Cut within a line, as a program that is killed leaves the file.
    std::string cut;
    for (size_t i = 0; i < 101; ++i)
    {
        cut += lines[i] + "\n";
    }
    WriteState(cut + lines[101].substr(0, 40));
    const std::string report = m_Folder.Path("report.json");
    const Outcome rest = Run({"--report-json", report});
    EXPECT_TRUE(Has(rest.m_Out, ", 100 known from '")) << rest.m_Out << rest.m_Error;
    EXPECT_EQ(WithoutFirstLine(rest.m_Out), WithoutFirstLine(whole.m_Out));
    EXPECT_EQ(Lines().size(), 361U);
    const std::string other = m_Folder.Path("other.json");
    ASSERT_EQ(Evaluate(With(DigitsCommand(DigitsInt8, m_Digits), {"--report-json", other})).m_Status, 0);
    EXPECT_EQ(ReadFile(report), ReadFile(other));

    WriteState(lines[0].substr(0, 10));
    EXPECT_FALSE(Has(Run().m_Out, "known")) << "the first line was not finished";
    EXPECT_EQ(Lines().size(), 361U);
}

TEST_F(State, ChangedPicturesRunAgain)
{
    ASSERT_EQ(Run().m_Status, 0);
    std::filesystem::copy_file(m_Digits + "/digit001.png", m_Digits + "/digit000.png",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_TRUE(Has(Run().m_Out, ", 360 known from ")) << "known by its content";
    m_Folder.Write("digits/digit000.png", test::Png(8, 8, 1, std::vector<uint8_t>(64, 17)));
    EXPECT_TRUE(Has(Run().m_Out, ", 359 known from "));
}

TEST_F(State, OtherModelsAndOptionsAreRefused)
{
    ASSERT_EQ(Run({"--num-images", "3"}).m_Status, 0);
    const auto refuse = [&](const Words& words)
    {
        ExpectFailure(Evaluate(With(words, {"--state", m_State})), 3,
                      "state '" + m_State + "': it is of another model, another version or other options; delete it");
    };
    refuse(DigitsCommand(DigitsFloat, m_Digits));
    refuse(With(DigitsCommand(DigitsInt8, m_Digits), {"--top-k", "2"}));
    refuse(With(DigitsCommand(DigitsInt8, m_Digits), {"--input-mean", "1"}));
    EXPECT_EQ(Lines().size(), 4U) << "the file is as it was";
}

TEST_F(State, DamagedFilesAreRefused)
{
    ASSERT_EQ(Run({"--num-images", "3"}).m_Status, 0);
    const std::string start = Lines()[0] + "\n";
    const auto refuse = [&](const std::string& content, const std::string& words)
    {
        WriteState(content);
        ExpectFailure(Run(), 3, words);
        EXPECT_EQ(ReadFile(m_State), content);
    };
    refuse("no state\n", "it is no state of tenon-evaluate; name another file");
    refuse(start + "0123 1 0.5 two\n", "line 2 is damaged at 'two'; delete the file");
    refuse(start + "0123 1 0.5 2\n", "line 2 is damaged: it is no result of a picture");
    refuse(start + "0123 -1 0.5\n", "line 2 is damaged: it is no result of a picture");
    refuse(start + "0123 1e300 0.5\n", "line 2 is damaged: it is no result of a picture");
    refuse(start + "0123\n", "line 2 is damaged: it is no result of a picture");
    ExpectFailure(Evaluate(With(DigitsCommand(DigitsInt8, m_Digits), {"--state", m_Digits})), 2, "it is a folder");
    ExpectFailure(Evaluate(With(DigitsCommand(DigitsInt8, m_Digits), {"--state", m_Folder.Path("none/x")})), 2,
                  "there is no folder");
    ExpectFailure(Evaluate(With(DigitsCommand(DigitsInt8, m_Digits), {"--state", "/dev/null"})), 3,
                  "it is no regular file");
}

} // namespace
} // namespace tenon::tools::evaluate
