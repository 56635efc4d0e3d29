"""Defects to plant in the product's code, one at a time, to see whether the tests notice: each
compiles without a warning and is wrong in a way that matters to a user.

Each replaces the one occurrence of `old` in `file` with `new`. `tests` selects, as ctest -R does,
those that should fail then. 'behaviour': they fail in any build. 'sanitizer': only a build with
AddressSanitizer (its leaks included), UBSan or ThreadSanitizer is sure to fail; a comment says
which.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Defect:
    name: str
    file: str  # from the root of the repository
    old: str
    new: str
    tests: str
    seen_by: str  # "behaviour" or "sanitizer"


DEFECTS = [
    # Says that steps change in every window whose scatter would allow it.
    Defect(
        name="a-window-that-may-change-is-changing",
        file="src/measure/steady_state.cpp",
        old="return slope.moved - slope.half > kChange || has_change_point(ten);",
        new="return slope.moved + slope.half > kChange || has_change_point(ten);",
        tests=r"^measure\.SteadyState\.AChangeInTheWindowIsSeen$",
        seen_by="behaviour",
    ),
    # The intervals of slopes from five pairs on are too narrow: what was cut off counts as there.
    Defect(
        name="trimmed-mean-is-too-sure",
        file="src/measure/statistics.cpp",
        old="deviation / (static_cast<double>(kept) / all * std::sqrt(all));",
        new="deviation / std::sqrt(all);",
        tests=r"^measure\.TrimmedMean\.HasYuensStandardError$",
        seen_by="behaviour",
    ),
    # `feedrate validate` compares it with the steps of a record. (validation.derived asks it, too,
    # but takes minutes.)
    Defect(
        name="p99-is-the-p95",
        file="src/measure/statistics.cpp",
        old=".p99 = quantile(sorted, 0.99),",
        new=".p99 = quantile(sorted, 0.95),",
        tests=r"^end_to_end\.(measured|resume)$",
        seen_by="behaviour",
    ),
    # A run whose queue never rests takes nearly twice --max-seconds.
    Defect(
        name="max-seconds-counts-anew",
        file="src/run/window.cpp",
        old="if (elapsed(steps, first_opened_) >= limits_.max_seconds) return true;",
        new="if (elapsed(steps, first_) >= limits_.max_seconds) return true;",
        tests=r"^run\.Window\.AStockThatNeverRestsEndsAtTheLimit$",
        seen_by="behaviour",
    ),
    # The interval is not widened by what came out of the queues.
    Defect(
        name="interval-before-the-queue-is-known",
        file="src/run/measurement.cpp",
        old=("  add_worst_ranks(m, ranks);\n  add_steps(m, settings, ranks, images_per_step);\n"),
        new=("  add_steps(m, settings, ranks, images_per_step);\n  add_worst_ranks(m, ranks);\n"),
        tests=r"^ledger\.Flags\.TheQueueOfTheWorstRankCounts$",
        seen_by="behaviour",
    ),
    # A rank's answer that names a bucket that there is not is written behind the histogram.
    # AddressSanitizer.
    Defect(
        name="latency-bucket-of-a-rank-unchecked",
        file="src/run/wire.cpp",
        old="h.counts.at(bucket.at(0).get<std::size_t>()) = bucket.at(1);",
        new="h.counts[bucket.at(0).get<std::size_t>()] = bucket.at(1);",
        tests=r"^run\.Wire\.RefusesALatencyThatNoBucketHolds$",
        seen_by="sanitizer",
    ),
    # A window that filled the queues gives a rate without the flag.
    Defect(
        name="a-queue-that-fills-is-no-flag",
        file="src/judge/flags.cpp",
        old="const double drawn = m.drawn_from_queue, share = std::abs(drawn);",
        new="const double drawn = m.drawn_from_queue, share = std::max(0.0, drawn);",
        tests=r"^ledger\.Flags\.ARunOfItsStockOrOfHalfItsLengthIsNoRate$",
        seen_by="behaviour",
    ),
    # --resume goes on silently with windows of another length.
    Defect(
        name="resume-mixes-other-min-steps",
        file="src/ledger/resume.cpp",
        old='{"warmup_seconds", "max_warmup_seconds", "min_seconds", "max_seconds", "min_steps"},',
        new='{"warmup_seconds", "max_warmup_seconds", "min_seconds", "max_seconds"},',
        tests=r"^end_to_end\.resume$",
        seen_by="behaviour",
    ),
    # Each record's seal of the one before it is wrong, but for the first of a resumed sweep.
    Defect(
        name="the-seal-hashes-the-line-end",
        file="src/ledger/ledger.cpp",
        old="text_.last_xxh3 = line_xxh3(std::string_view(line).substr(0, line.size() - 1));",
        new="text_.last_xxh3 = line_xxh3(line);",
        tests=r"^ledger\.Seal\.ALineFitsTheOneBeforeItAndNoOther$",
        seen_by="behaviour",
    ),
    # Whoever publishes anonymous records publishes the folders of a container's layers.
    Defect(
        name="anonymous-records-name-lower-folders",
        file="src/ledger/anonymize.cpp",
        old='"lowerdir=", "workdir=",',
        new='"workdir=",',
        tests=r"^ledger\.Anonymizer\.NamesNoFolderOfAContainersLayers$",
        seen_by="behaviour",
    ),
    # Ledgers of before can be neither resumed nor validated. Only the reference has ids of before:
    # new ones agree with each other.
    Defect(
        name="cell-ids-change",
        file="src/plan/cell.cpp",
        old='text.append(axis).append("=").append(value).append("\\n");',
        new='text.append(axis).append(value).append("\\n");',
        tests=r"^validation\.derived$",
        seen_by="behaviour",
    ),
    # A file whose tables differ from the last one's in symbols alone is decoded to other pixels.
    Defect(
        name="huffman-keeps-old-symbols",
        file="src/codec/jpeg/huffman.cpp",
        old=(
            "  if (built_ && dc == dc_ &&"
            " std::equal(counts_.begin(), counts_.end(), counts) &&\n"
            "      std::equal(symbols_.begin(), symbols_.end(), symbols)) {\n"
        ),
        new=(
            "  if (built_ && dc == dc_ && std::equal(counts_.begin(), counts_.end(), counts)) {\n"
        ),
        tests=r"^fuzz\.decoders$",
        seen_by="behaviour",
    ),
    # The last column of pictures of some widths takes a colour that is not the picture's.
    Defect(
        name="chroma-edge-is-not-repeated",
        file="src/codec/jpeg/baseline.cpp",
        old="if (behind <= 8 * units_.width * plane.across) row[behind] = row[behind - 1];",
        new="if (behind < 8 * units_.width * plane.across) row[behind] = row[behind - 1];",
        tests=r"^codec(_plain)?\.JpegBaseline\.TakesTheCommonKindsAndNoOthers$",
        seen_by="behaviour",
    ),
    # AddressSanitizer: up to ten bytes behind a file that is cut off in its header are read.
    Defect(
        name="npy-header-read-past-its-end",
        file="src/codec/npy.cpp",
        old="if (length > start.size() - kFixedBytes) return {",
        new="if (length > start.size()) return {",
        tests=r"^codec\.Files/Damage\.every_truncation_is_an_error/npy( |$)",
        seen_by="sanitizer",
    ),
    # UBSan: the least of all numbers has no negative.
    Defect(
        name="bmp-height-overflows",
        file="src/codec/bmp.cpp",
        old="const std::int64_t height = static_cast<std::int32_t>(",
        new="const std::int32_t height = static_cast<std::int32_t>(",
        tests=r"^codec\.Bmp\.headers_that_lie_are_refused$",
        seen_by="sanitizer",
    ),
    # AddressSanitizer, at the end of the program: each encoder's last file is never freed.
    Defect(
        name="jpeg-encoder-leaks",
        file="src/codec/jpeg/encode.cpp",
        old="    jpeg_destroy_compress(&info_);\n    std::free(buffer_);\n",
        new="    jpeg_destroy_compress(&info_);\n",
        tests=r"^codec\.Formats/EveryFormat\.encoding_replaces_the_output/jpeg( |$)",
        seen_by="sanitizer",
    ),
    # `gen` that was cut off and begun anew keeps half-written samples, with checksums that fit.
    Defect(
        name="torn-samples-are-trusted",
        file="data_gen/generate_sample.cpp",
        old=(
            "  if (!read_existing(path, file_) || !is_whole(variant, index, path.string()))"
            " return std::nullopt;\n"
        ),
        new="  if (!read_existing(path, file_)) return std::nullopt;\n",
        tests=r"^data_gen\.Resume\.does_not_trust_torn_files_of_an_interrupted_run$",
        seen_by="behaviour",
    ),
    # Nothing is shuffled anew: caches and learning see the same order again and again.
    Defect(
        name="every-epoch-in-one-order",
        file="src/pipeline/sampler.cpp",
        old="mix64(seed_ ^ 0x5eedULL, static_cast<std::uint64_t>(epoch));",
        new="mix64(seed_ ^ 0x5eedULL);",
        tests=r"^pipeline\.Sampler\.(EpochsAndSeedsDiffer|ByShard)",
        seen_by="behaviour",
    ),
    # With --on-bad skip: the next sample's pixels are taught with the bad one's label.
    Defect(
        name="a-replaced-sample-keeps-its-label",
        file="src/pipeline/worker.h",
        old=(
            "    asked.batch->labels[slot] =\n"
            "        options_.recipe.dataset->samples"
            "[static_cast<std::size_t>(asked.draw.sample)].label;\n"
        ),
        new=(
            "    const Draw first = options_.sampler.at(\n"
            "        asked.batch->sequence * options_.recipe.spec.batch_size + asked.slot);\n"
            "    asked.batch->labels[slot] =\n"
            "        options_.recipe.dataset->samples"
            "[static_cast<std::size_t>(first.sample)].label;\n"
        ),
        tests=r"^pipeline\.Loaders\.ABadSampleIsReplacedByTheNextWhereAsked$",
        seen_by="behaviour",
    ),
    # ThreadSanitizer: two workers that count bad samples at a time lose one, or tear its words.
    Defect(
        name="bad-samples-unlocked",
        file="src/pipeline/bad_samples.h",
        old=("    const std::lock_guard lock(mutex_);\n    ++totals_.count;\n"),
        new="    ++totals_.count;\n",
        tests=r"^pipeline\.Loaders\.NothingButBadSamplesIsAFailure$",
        seen_by="sanitizer",
    ),
    # A storage that serves less than was asked for gives the beginning twice, in the right length.
    Defect(
        name="short-reads-begin-anew",
        file="src/storage/read_parts.cpp",
        old="preadv(file, rest.data(), parts, static_cast<off_t>(offset + done));",
        new="preadv(file, rest.data(), parts, static_cast<off_t>(offset));",
        tests=r"^storage\.ShortReads\.AreGoneOnWithWhereTheyEnded$",
        seen_by="behaviour",
    ),
    # Shards that tar refuses, and other programs' shards that are refused as damaged.
    Defect(
        name="tar-checksum-without-spaces",
        file="src/storage/tar_header.cpp",
        old="sum += in_sum ? ' ' : static_cast<Byte>(block[i]);",
        new="sum += in_sum ? '\\0' : static_cast<Byte>(block[i]);",
        tests=r"^storage\.(Tar|WebDataset)\.IsWhatTarUnpacks$",
        seen_by="behaviour",
    ),
    # ThreadSanitizer: threads that begin to read at the same time spoil the list of them.
    Defect(
        name="outstanding-reads-unlocked",
        file="src/storage/outstanding_reads.cpp",
        old="  const std::lock_guard lock(mutex_);\n  return slots_.emplace_back();\n",
        new="  return slots_.emplace_back();\n",
        tests=r"^storage\.OutstandingReads\.ThreadsMayComeAtTheSameTime$",
        seen_by="sanitizer",
    ),
    # An emulated device is as fast as ever where the host cannot launch its steps in time.
    Defect(
        name="a-step-ends-before-its-launch",
        file="src/device/emulated.cpp",
        old="    const std::int64_t worked = std::max(start + length_of(steps_), launch());\n",
        new="    launch();\n    const std::int64_t worked = start + length_of(steps_);\n",
        tests=r"^device\.Emulated\.AStepWhoseDelayBurnsTakesTheLaunchingThreadsTime$",
        seen_by="behaviour",
    ),
    # Who does not know the secret sends a rank's own proof back to it, and is believed.
    Defect(
        name="a-ranks-proof-sent-back",
        file="src/ranks/proof.h",
        old="enum class Prover : char { rank = 'r', coordinator = 'c' };",
        new="enum class Prover : char { rank = 'r', coordinator = 'r' };",
        tests=r"^ranks\.Proof\.IsAnotherForEverythingThatDiffers$",
        seen_by="behaviour",
    ),
    # A slower device is called certain, though its ceiling is known no better than that.
    Defect(
        name="slowdown-without-the-ceilings-noise",
        file="src/judge/verdict.cpp",
        old="const double half = std::hypot(half_width(*here.ci95), half_width(*there.ci95));",
        new="const double half = half_width(*here.ci95);",
        tests=r"^judge\.Verdict\.AFewPercentAreSaidAndNotCalledInputBound$",
        seen_by="behaviour",
    ),
    # A script that looks at the exit code takes a sweep with holes for a whole one.
    Defect(
        name="a-sweep-with-failures-succeeds",
        file="src/cli/cmd_sweep.cpp",
        old="return session.exit_code(outcome.failed == 0 ? 0 : 1);",
        new="return session.exit_code(outcome.ok > 0 ? 0 : 1);",
        tests=r"^end_to_end\.(faults|damage)$",
        seen_by="behaviour",
    ),
    # Each further GPU makes the steps of the optimizer longer.
    Defect(
        name="gradients-are-added-up",
        file="src/train/replicas.cpp",
        old="      tensors[0].div_(state_->getSize());\n",
        new="",
        tests=r"^train\.Replicas\.AreOneProcessThatAccumulates$",
        seen_by="behaviour",
    ),
    # A report of many settings claims losses that are chance.
    Defect(
        name="claims-without-holm",
        file="scripts/report/claims/claims.py",
        old="adjusted = statistics.holm([s.p_low for s in family])",
        new="adjusted = [s.p_low for s in family]",
        tests=r"^report\.claims$",
        seen_by="behaviour",
    ),
    # What a whole repetition was slower by is no longer in both numbers of a share.
    Defect(
        name="shares-of-the-mean-ceiling",
        file="scripts/report/ledger/settings.py",
        old="    return [(rate, its[n]) for n, rate in mine.items() if n in its]\n",
        new=(
            "    mean = sum(its.values()) / len(its) if its else 0\n"
            "    return [(rate, mean) for n, rate in mine.items() if n in its]\n"
        ),
        tests=r"^report\.settings$",
        seen_by="behaviour",
    ),
]
