#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace feedrate::pipeline {

// A queue of at most `capacity` items. put() waits while it is full, get() while it is empty;
// close() wakes both ends. Thread-safe for any number of producers and consumers.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // False if the queue was closed before the item fitted; the item is dropped.
  bool put(T item) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
    return true;
  }

  // Nothing once the queue is closed, whatever it still holds.
  std::optional<T> get() {
    std::optional<T> item;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
      if (closed_) return std::nullopt;
      item.emplace(std::move(items_.front()));
      items_.pop_front();
    }
    room_.notify_one();
    return item;
  }

  void close() {
    std::deque<T> dropped;  // destroyed outside the lock: an item's destructor may be long
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      dropped.swap(items_);
    }
    room_.notify_all();
    filled_.notify_all();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  std::size_t capacity() const { return capacity_; }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace feedrate::pipeline
