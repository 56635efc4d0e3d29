#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.h"
#include "ranks/proof.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using ranks::Prover;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char c : bytes) {
    for (const int digit : {c >> 4, c & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

// RFC 4231, test case 2: the key "Jefe", the data "what do ya want for nothing?".
TEST(Proof, IsHmacSha256) {
  EXPECT_EQ(hex(ranks::proof_of({"Jefe"}, Prover{'w'}, "hat do ya ", "want for ", "nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Proof, IsAnotherForEverythingThatDiffers) {
  const ranks::Secret secret{"0123456789abcdef"};
  const std::string proof = ranks::proof_of(secret, Prover::rank, "a", "b", "text");
  EXPECT_TRUE(ranks::is_same_proof(proof, ranks::proof_of(secret, Prover::rank, "a", "b", "text")));
  for (const std::string& other :
       {ranks::proof_of({"another"}, Prover::rank, "a", "b", "text"),
        ranks::proof_of(secret, Prover::coordinator, "a", "b", "text"),
        ranks::proof_of(secret, Prover::rank, "c", "b", "text"),
        ranks::proof_of(secret, Prover::rank, "a", "c", "text"),
        ranks::proof_of(secret, Prover::rank, "a", "b", "texts"), proof.substr(1), std::string()})
    EXPECT_FALSE(ranks::is_same_proof(proof, other));
  EXPECT_NE(ranks::fresh_nonce(), ranks::fresh_nonce());
}

class SecretFile : public testing::Test {
 protected:
  // What is read from a file with this content and mode.
  ranks::Secret read(const std::string& content, mode_t mode = 0600) {
    std::ofstream(path_) << content;
    chmod(path_.c_str(), mode);
    return secret(path_.c_str(), nullptr);
  }
  // `path`, `value`: of the two variables; null: not set.
  static ranks::Secret secret(const char* path, const char* value) {
    return ranks::secret_of([&](const char* name) {
      return std::string(name) == "FEEDRATE_SECRET_FILE" ? path
             : std::string(name) == "FEEDRATE_SECRET"    ? value
                                                         : nullptr;
    });
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "secret";
};

TEST_F(SecretFile, IsReadWithoutTheLineEnd) {
  EXPECT_EQ(read("0123456789abcdef\r\n").bytes, "0123456789abcdef");
  EXPECT_EQ(secret(nullptr, "fedcba9876543210").bytes, "fedcba9876543210");
  EXPECT_FALSE(secret(nullptr, nullptr));
  EXPECT_THAT(message_of([&] { secret(path_.c_str(), "fedcba9876543210"); }),
              testing::HasSubstr("FEEDRATE_SECRET_FILE as well"));
}

TEST_F(SecretFile, MustBeItsOwnersAlone) {
  for (const mode_t mode : {0640, 0604, 0620}) {
    EXPECT_THAT(message_of([&] { read("0123456789abcdef", mode); }),
                testing::AllOf(testing::HasSubstr(path_), testing::HasSubstr("by other users"),
                               testing::HasSubstr("chmod 600")));
  }
}

TEST_F(SecretFile, ThatIsNoneIsRefused) {
  EXPECT_THAT(message_of([&] { secret(path_.c_str(), nullptr); }),
              testing::AllOf(testing::HasSubstr(path_), testing::HasSubstr("cannot be read")));
  EXPECT_THAT(message_of([&] { secret(folder_.path().c_str(), nullptr); }),
              testing::HasSubstr("is no regular file"));
  EXPECT_THAT(message_of([&] { secret("", nullptr); }),
              testing::HasSubstr("FEEDRATE_SECRET_FILE=: names no file"));
  EXPECT_THAT(message_of([&] { read("short\n"); }), testing::HasSubstr("has 5 characters"));
  EXPECT_THAT(message_of([&] { read(""); }), testing::HasSubstr("has 0 characters"));
  EXPECT_THAT(message_of([&] { read(std::string(5000, 'x')); }), testing::HasSubstr("more than"));
  EXPECT_THAT(message_of([&] { secret(nullptr, ""); }),
              testing::HasSubstr("FEEDRATE_SECRET: has 0 characters"));
  EXPECT_THAT(message_of([&] { secret(nullptr, "short"); }),
              testing::AllOf(testing::HasSubstr("FEEDRATE_SECRET:"),
                             testing::Not(testing::HasSubstr("short;"))));
  EXPECT_THAT(message_of([&] { read(std::string(32, '\0')); }), testing::HasSubstr("zero bytes"));
  mkfifo((folder_.path() / "pipe").c_str(), 0600);
  EXPECT_THAT(message_of([&] { secret((folder_.path() / "pipe").c_str(), nullptr); }),
              testing::HasSubstr("is no regular file"))
      << "and not waited for";
}

}  // namespace
}  // namespace feedrate::tests
