#pragma once
#include <filesystem>
#include <stop_token>

namespace feedrate::cli {

// A few generated JPEGs of ImageNet's sizes and bytes in a temporary folder, for who has no data at
// hand: made by the constructor in some seconds, gone with the object.
class SmallDataset {
 public:
  // Shows its progress on stderr unless `quiet`. Throws an Error: where it cannot be written, and
  // once `stop` is requested.
  SmallDataset(bool quiet, std::stop_token stop);
  ~SmallDataset();
  SmallDataset(const SmallDataset&) = delete;
  SmallDataset& operator=(const SmallDataset&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void make(bool quiet, const std::stop_token& stop) const;
  void remove() noexcept;
  std::filesystem::path folder_;
};

}  // namespace feedrate::cli
