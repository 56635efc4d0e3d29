#pragma once
#include <string>

#include "run/rank.h"

namespace feedrate::run {

// Another machine's words, which the terminal and the ledger show: one printable line remains.
void clean(std::string& words);

// Cleans the words of an answer that may be anybody's. Throws std::invalid_argument, which says
// why, where one cannot compute with it.
void check_answer(RankAnswer& answer);

}  // namespace feedrate::run
