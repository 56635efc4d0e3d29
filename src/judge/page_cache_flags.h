#pragma once
#include "judge/flag_rule.h"

// The rules of the page cache: whether "warm" and "cold" are what they say, and what "as-is" was.
namespace feedrate::judge {

Raised page_cache_unknown(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_at_start(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_left(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_elsewhere(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_backing(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_below(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_memory(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_helped(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_differs(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_state_differs(const FlagFacts& facts, const FlagRule& rule);
Raised page_cache_passes(const FlagFacts& facts, const FlagRule& rule);
Raised storage_rested(const FlagFacts& facts, const FlagRule& rule);
Raised client_cold(const FlagFacts& facts, const FlagRule& rule);

}  // namespace feedrate::judge
