#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.h"

namespace feedrate::tests {
namespace {

TEST(Thousands, SmallNumbersKeepOneDecimal) {
  EXPECT_EQ(thousands(0), "0.0");
  EXPECT_EQ(thousands(5.64), "5.6");
  EXPECT_EQ(thousands(-5.64), "-5.6");
}

TEST(Thousands, LargeNumbersAreGrouped) {
  EXPECT_EQ(thousands(100), "100");
  EXPECT_EQ(thousands(999.4), "999");
  EXPECT_EQ(thousands(999.6), "1,000");
  EXPECT_EQ(thousands(12345.6), "12,346");
  EXPECT_EQ(thousands(1234567), "1,234,567");
  EXPECT_EQ(thousands(-1234567), "-1,234,567");
  EXPECT_EQ(thousands(-123456), "-123,456");
}

TEST(Thousands, TheBorderReadsLikeItsNeighbours) {
  EXPECT_EQ(thousands(99.94), "99.9");
  EXPECT_THAT(thousands(99.96), testing::AnyOf("100", "100.0"));
}

TEST(Format, WritesWhatPrintfWouldWhateverItsLength) {
  EXPECT_EQ(format("%d %s", 3, "x"), "3 x");
  EXPECT_EQ(format("%s", std::string(5000, 'y').c_str()).size(), 5000u);
  EXPECT_EQ(percent(0.1234), "12.3 %");
}

TEST(Printable, IsOneLineOfAscii) {
  EXPECT_EQ(printable("a\tb\x1b[31m\x80", 300), "a?b?[31m?");
  EXPECT_EQ(printable("12345678", 8), "12345678");
  EXPECT_EQ(printable("123456789", 8), "12345...");
}

TEST(LineOfUtf8, KeepsLettersAndNothingThatATerminalObeys) {
  EXPECT_EQ(line_of_utf8("Bücher/画像/😀.jpg", 300), "Bücher/画像/😀.jpg");
  EXPECT_EQ(line_of_utf8("a\nb\x1b[31m\x7f", 300), "a?b?[31m?");
  EXPECT_EQ(line_of_utf8("\xc2\x9b"
                         "31m",
                         300),
            "??31m")
      << "the other way to write ESC [";
  EXPECT_EQ(line_of_utf8("\xc2\xa0", 300), "\xc2\xa0");
  for (const char* none : {"\xff", "\x80", "\xc0", "\xf5"}) EXPECT_EQ(line_of_utf8(none, 300), "?");
  EXPECT_EQ(line_of_utf8("\xed\xa0\x80", 300), "???") << "a surrogate";
  EXPECT_EQ(line_of_utf8("\xe0\x80\x80", 300), "???") << "longer than needed";
  EXPECT_EQ(line_of_utf8("\xf4\x90\x80\x80", 300), "????") << "beyond the last character";
  EXPECT_EQ(line_of_utf8("ü\xe7\x94", 300), "ü??") << "cut off";
}

TEST(Escaped, AnyBytesAreOneLineOfUtf8) {
  EXPECT_EQ(escaped("B\xc3\xbc"
                    "cher/a b.jpg"),
            "B\xc3\xbc"
            "cher/a b.jpg");
  EXPECT_EQ(escaped("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(escaped("\xff\xc2\x9b"), "\\xff\\xc2\\x9b");
  EXPECT_EQ(escaped(""), "");
  EXPECT_STREQ(Error("a\n\xff", "is bad", "mend it").what(), "a\\x0a\\xff: is bad; mend it");
}

TEST(ControlCharacters, AreThoseOfAscii) {
  for (const char* name : {"a\tb", "\n", "\x1b[31m", "end\x7f"})
    EXPECT_TRUE(has_control_characters(name));
  EXPECT_TRUE(has_control_characters(std::string_view("a\0b", 3)));
  for (const char* name : {"", "a b",
                           "B\xc3\xbc"
                           "cher",
                           "a\\b"})
    EXPECT_FALSE(has_control_characters(name)) << name;
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapped("  one two", 5, 4), "  one\n    two") << "the first line's blanks stay";
  EXPECT_EQ(wrapped("one unbreakable two", 5, 0), "one\nunbreakable\ntwo");
  EXPECT_EQ(wrapped("\xc3\xbc\xc3\xbc \xc3\xbc", 4, 0), "\xc3\xbc\xc3\xbc \xc3\xbc")
      << "4 characters";
  EXPECT_EQ(wrapped("one \n two  ", 80, 2), "one two");
  EXPECT_EQ(wrapped("one  two", 3, 1), "one\n two");
  EXPECT_EQ(wrapped("", 10, 2), "");
  EXPECT_EQ(wrapped("as it is", 80, 2), "as it is");
}

TEST(LineOfUtf8, IsCutBetweenCharacters) {
  EXPECT_EQ(line_of_utf8("üüü", 6), "üüü");
  EXPECT_EQ(line_of_utf8("üüüü", 7), "üü...");
  EXPECT_EQ(line_of_utf8("üüüü", 6), "ü...");
  EXPECT_EQ(line_of_utf8("12345", 3), "...");
  EXPECT_EQ(line_of_utf8("", 3), "");
}

TEST(NumberFrom, IsAllOfTheText) {
  EXPECT_EQ(number_from<int>("-12"), -12);
  EXPECT_EQ(number_from<double>("2.5"), 2.5);
  for (const char* none : {"", " 1", "1 ", "1x", "+1", "99999999999", "2.5"})
    EXPECT_EQ(number_from<int>(none), std::nullopt) << none;
}

TEST(Text, AnyBytesTravelAsUtf8) {
  EXPECT_EQ(utf8_of_latin1("a\xff"), "a\xc3\xbf");
  EXPECT_EQ(latin1_of_utf8("a\xc3\xbf"), "a\xff");
  for (const char* none : {"\xc3", "\xc4\x80", "\xff"})
    EXPECT_THROW(latin1_of_utf8(none), std::invalid_argument);
}

}  // namespace
}  // namespace feedrate::tests
