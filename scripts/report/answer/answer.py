"""The answer of a report, which it opens with: what was found, what limits, what that costs, how
sure it is, and what to do next. The page, the deck, the index and the terminal print the fields of
an Answer, so that no two of them can state different numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..claims import claims, epoch, limiting, memory_limit, panels, quotable, utilisation
from ..claims.claims import EQUIVALENT, LOSES, NOT_CLEAR
from ..figures import findings
from ..ledger import statistics
from ..ledger.heading import EMULATION, device_name, devices, heading
from ..text import amount, clean, counted, duration, plus_minus, spread
from . import facts, next_step

NOTHING, FEEDS = "nothing", "feeds"
RANK = (LOSES, FEEDS, EQUIVALENT, NOT_CLEAR, NOTHING)  # which one opens a report
LOOK = claims.LOOK[0].upper() + claims.LOOK[1:]


@dataclass(frozen=True)
class Answer:
    """What is to be said of a setting. Plain text: whoever prints it escapes it."""

    setting: object  # cells.Setting
    verdict: str  # one of RANK
    found: str  # a sentence; its first clause, before a semicolon, is short and stands alone
    limit: str  # a resource and its demand; "" where it is unknown
    cost: str  # of an epoch of the dataset; "" where no loss is shown
    next: str  # what to do next, and the command for it
    command: str  # that alone
    is_valid: bool
    validity: str  # "valid", or why the answer must not be quoted
    facts: tuple  # ((label, text), …)
    cell: object = None  # cells.Cell that it is about; None: about none alone

    @property
    def about(self):
        """The setting in words."""
        return heading(self.setting)

    @property
    def caveat(self):
        """What an emulated device's answer does not show; "" of any other."""
        return EMULATION if self.setting.kind == "emulated" else ""

    @property
    def title(self):
        """The first clause of what was found, for a heading."""
        return self.found.partition("; ")[0]

    @property
    def advice(self):
        """What to do next, without its command."""
        return self.next.removesuffix(self.command).rstrip(": ")


def of(settings, context):
    """An Answer for each setting, sorted by order()."""
    all_claims = context.claims or claims.of(settings)
    return tuple(sorted((_of_setting(setting, all_claims) for setting in settings), key=order))


def order(answer):
    """What sorts answers: valid ones first, among them a loss before all others, the largest
    first."""
    ratio = answer.cell.ratio if answer.cell else None
    share = ratio.mean if answer.verdict == LOSES and ratio else 0.0
    return not answer.is_valid, RANK.index(answer.verdict), share


def _of_setting(setting, all_claims):
    if setting.diagnosis:
        parts = _of_diagnosis(setting)
    elif _is_search(setting):
        parts = _of_search(setting)
    else:
        parts = _of_cells(setting, all_claims)
    known = {"limit": "", "cost": "", "is_valid": True, "cell": None, **parts}
    words, command = known.pop("step")
    known.setdefault("validity", quotable.words(setting.planned, known["is_valid"]))
    known.update(next=f"{words}: {command}", command=command, facts=facts.of(setting))
    return Answer(setting=setting, **known)


# --- A sweep: cells beside their ceilings.


def _of_cells(setting, all_claims):
    cells = panels.places(setting.cells)
    judged = [(c, all_claims.loss(c)) for c in cells if c.rate]
    known = [(c, claim) for c, claim in judged if claim.is_known]
    if not known:
        return _nothing(setting, [c for c in cells if c.rate], cells)
    left = findings.not_judged([c for c, _ in judged], all_claims)
    losing = [pair for pair in known if pair[1].verdict == LOSES]
    if losing:
        losing.sort(key=lambda pair: pair[1].share.mean)
        return _loses(setting, losing, known, left)
    verdicts = {claim.verdict for _, claim in known}
    verdict = EQUIVALENT if verdicts == {EQUIVALENT} else NOT_CLEAR
    worst = [pair for pair in known if pair[1].verdict == verdict]
    cell, claim = max(worst, key=lambda pair: pair[1].farthest)
    alone = len(known) == 1
    if verdict == EQUIVALENT:
        name = name_of(cell, setting) if alone else f"Each of {len(known)} {_kinds(setting)}"
        words = claim.against_ceiling(name)
        step = next_step.keeps_up(cell, setting)
    else:
        words = claim.against_ceiling(name_of(cell, setting))
        if not alone:
            words += f"; no larger loss is shown for any of {len(known)} {_kinds(setting)}"
        step = next_step.more_repetitions(cell)
    return {"verdict": verdict, "found": words + left, "step": step, "cell": cell}


def _loses(setting, losing, known, left):
    cell, claim = losing[0]
    tests = len(known) if len(losing) > 1 else 1  # the largest of several: see statistics.widened()
    if tests > 1:
        share = statistics.widened(claim.share, tests)
        # Holm's test has shown the loss: no interval that goes with it reaches the ceiling
        claim = replace(claim, share=replace(share, high=min(share.high, 1.0)))
    words = claim.against_ceiling(name_of(cell, setting))
    if len(known) > 1:
        words += f"; a loss is shown for {len(losing)} of {len(known)} {_kinds(setting)}"
    counts = [c.gpus for c, _ in losing if panels.series_key(c) == panels.series_key(cell)]
    if len(setting.gpu_counts()) > 1:
        words += f"; {kind_of(cell)} loses from {devices(min(counts), setting)} on"
    return {
        "verdict": LOSES,
        "found": words + left,
        "limit": limiting.of_cell(cell),
        "cost": _cost(cell, tests),
        "step": next_step.of_loss(cell),
        "cell": cell,
    }


def _cost(cell, tests):
    """How much longer an epoch takes than at the ceiling."""
    images = epoch.images_of(cell)
    if not images:
        return ""
    hours = statistics.widened_mean(epoch.hours_lost(cell, images), tests)
    hours = replace(hours, low=max(hours.low, 0.0)) if hours.low is not None else hours
    return f"{spread(hours, duration)} more for each epoch of {images:,} images"


def _nothing(setting, done, cells):
    """Where no cell can be judged: why, and what to do about it."""
    parts = {"verdict": NOTHING, "cell": done[0] if done else None}
    if not cells:
        top = [c for c in setting.ceilings if c.rate]
        rate = f"; the ceiling is {plus_minus(top[0].rate)} images/s" if top else ""
        found, step = f"No cell of stored data was measured{rate}", next_step.stored_data(setting)
        return dict(parts, found=found, step=step, is_valid=not any(c.serious for c in top))
    if not done:
        which = f"none of {len(cells)} cells has one" if len(cells) > 1 else "the cell has none"
        end = cells[0].lost[-1].get("error") if cells[0].lost else ""
        found = f"No result: {which}" + (f"; {clean(end, 120)}" if end else "")
        sure = {"is_valid": False, "validity": "there is nothing to quote"}
        return dict(parts, found=found, step=next_step.again(cells[0]), **sure)
    fit = [c for c in done if not c.share_serious]
    if not fit:
        which = f"each of {len(done)} cells carries" if len(done) > 1 else "the cell carries"
        found = f"Nothing may be quoted: {which} a serious flag, or its ceiling does"
        step = next_step.of_flag(done[0], quotable.most_frequent(setting.planned))
        return dict(parts, found=found, step=step, is_valid=False)
    return {**parts, "cell": fit[0], **_not_enough(fit, setting)}


def _not_enough(cells, setting):
    """Of valid cells, none of which has both a ceiling and repetitions enough."""
    name = name_of(cells[0], setting)
    if not any(c.ratio for c in cells):
        words = f"{name} reached {plus_minus(cells[0].rate)} images/s"
        return {"found": f"No ceiling was measured: {words}", "step": next_step.ceiling(cells[0])}
    looked = [c for c in cells if c.ratio and c.ratio.mean <= 1 + claims.MARGIN]
    if not looked:
        words = f"{name} lies above its ceiling; one of the two was not measured at a steady rate"
        return {"found": words, "step": next_step.again(cells[0]), "is_valid": False}
    cell = min(looked, key=lambda c: c.ratio.mean)
    share = f"{spread(cell.ratio)} of its ceiling in {counted(cell.ratio.n, 'repetition')}"
    words = f"{LOOK}; {name_of(cell, setting)} reached {share}"
    return {"found": words, "step": next_step.more_repetitions(cell), "cell": cell}


def _kinds(setting):
    several = len({c.gpus for c in setting.cells}) > 1
    return "kinds, sizes and GPU counts" if several else "kinds and sizes"


def kind_of(cell):
    """The cell without its workers and GPUs, in few letters."""
    return panels.kind(cell, 16)


def name_of(cell, setting):
    """The same with its workers, and with its GPUs where the setting has several counts."""
    words = panels.name(cell, " with ", 16)
    return words + (f" on {devices(cell.gpus, setting)}" if setting.gpu_counts() != [1] else "")


# --- `feedrate diagnose` and `feedrate capacity`.


def _of_diagnosis(setting):
    found, label = setting.diagnosis, clean(setting.diagnosis.label, 60)
    sure = {"is_valid": not found.serious, "validity": found.not_quotable or quotable.VALID}
    if found.is_look:
        words = f"{LOOK}; {label} was diagnosed: {found.measured}"
        step = next_step.longer_diagnosis(found, setting)
        return dict(sure, verdict=NOTHING, found=words, step=step)
    is_clear = bool(found.verdict.names) and found.verdict.is_clear
    words = clean(found.verdict.sentence, 200).rstrip(".")
    words = f"Must not be quoted: {words}" if found.serious else words[:1].upper() + words[1:]
    words += f"; the cell is {label}"
    words += "" if found.verdict.agrees else "; the evidence does not agree"
    verdict, limit = (LOSES, found.words()) if is_clear else (NOT_CLEAR, "")
    step = next_step.of_diagnosis(found, setting)
    return dict(sure, verdict=verdict, found=words, limit=limit, step=step)


def _is_search(setting):
    """Whether a search of `feedrate capacity` made its runs."""
    return any(isinstance(r.get("search"), dict) for c in setting.cells for r in c.runs + c.lost)


def _of_search(setting):
    # a search has one kind of data, at one size
    line = next((one for one in utilisation.lines(setting) if one.unbroken), None)
    if not line:
        words = "The search tells no number of GPUs; too few of its runs say enough"
        step = next_step.search_again(setting)
        return {"verdict": NOTHING, "found": words, "step": step, "is_valid": False}
    counts, fed = line.unbroken, utilisation.fed(line.unbroken)
    at = next((c for c in counts if c.gpus == fed.gpus), counts[0])
    limit, limit_words = memory_limit.of_line(setting.memory, line)
    through = " through this machine, which limits" if limit == memory_limit.MACHINE else ""
    each = utilisation.demand(at.records[-1]) / at.gpus
    words = (
        f"{line.source} feeds {fed.words}{through}; each takes {amount(each)} images/s, the rate of"
        f" {device_name(setting)}, and computes {100 * utilisation.LEAST:.0f} % of the time or more"
    )
    is_repeated, is_valid = utilisation.is_repeated(counts), not utilisation.is_serious(line.cells)
    if not is_repeated:
        words = f"{LOOK}; {words[0].lower()}{words[1:]}"
    step = next_step.search_again(setting)
    if is_repeated and is_valid:
        step = next_step.of_search(fed, limit == memory_limit.MACHINE, at.cell)
    return {
        "verdict": FEEDS if is_repeated else NOTHING,
        "found": words,
        "limit": limit_words,
        "step": step,
        "is_valid": is_valid,
        "validity": quotable.words(setting.planned, is_valid, utilisation.CORRECTED),
        "cell": at.cell,
    }
