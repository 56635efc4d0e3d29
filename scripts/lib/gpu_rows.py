"""The rows of gpu-check's table, from records of `feedrate run`."""

import roofline


def said_of(a, records):
    """What the table is of."""
    device = next((r["device"]["name"] for r in records if "device" in r), "no device")
    usual = [r for r in records if "cell" in r and r["cell"].get("precision") == a.precision[-1]]
    # With typed ways, what `auto` means is not tried.
    tried = [r for r in usual if "cuda-graph" in r.get("stands_for", {})]
    precision = precision_of((tried or usual)[0]) if usual else a.precision[-1]
    return (
        f"{a.model} on {device}, batch {a.batch_size}, {a.input_size}x{a.input_size},"
        f" {a.workers} workers; in {precision} where a row does not say; shares of its"
        " synthetic ceiling, those of a way of making a step of the rate without it"
    )


def section_rows(one):
    """A part's own table."""
    record = one["record"]
    yield f"## {one['name']}"
    yield ""
    yield f"{one['shows']}; {one['took_s']:.0f} s"
    if record.get("error"):
        yield f"**Failed:** {record['error']}"
    yield ""
    yield f"| {' | '.join(record['columns'])} |"
    yield f"|{'---|' * len(record['columns'])}"
    for cells in record["rows"]:
        yield f"| {' | '.join(map(str, cells))} |"


def heading():
    return [
        (
            "| cell | shows | img/s | of ceiling | % of roofline by data sheet: bytes unfused /"
            " fused / FLOPs | as measured | step ms | data wait ms | device idle % |"
            " flags or failure |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]


def row(a, name, shows, record, ceiling):
    """`ceiling`: the record of the table's; None: this is it, or there is none."""
    if record["status"] != "ok":
        reason = str(record.get("error") or record["status"]).replace("|", "/")
        return f"| {name} | {shows} | - | - | - | - | - | - | - | {reason} |"
    if "checks" in record:
        return f"| {name} | {shows} | - | - | - | - | - | - | - | {record['checks']} |"
    rate = record["imgs_per_s"]
    share = f"{rate / ceiling['imgs_per_s']:.3f}" if ceiling and is_sound(ceiling) else "-"
    sheet, measured = roofs(record)
    return (
        f"| {name} | {shows} | {rate:.0f} | {share} | {of_roofline(a, record, sheet)} |"
        f" {of_roofline(a, record, measured)} | {record['step_ms']['median']:.2f} |"
        f" {record['data_wait_ms']['median']:.2f} |"
        f" {100 * record['device_idle_fraction']:.1f} | {remarks(record, ceiling)} |"
    )


def rung_rows(record):
    """One for each way of making a step: what it gains on top of those above."""
    for rung in record.get("qualification", []):
        name = f"+ {rung['axis']} {rung['value']}"
        low, high = rung.get("ratio_ci95", (0, 0))
        gain = f"{rung['ratio']:.3f} ({low:.3f} to {high:.3f})" if "ratio" in rung else "-"
        why = str(rung.get("reason") or error_text(record, rung)).replace("|", "/")
        rate = f"{rung['imgs_per_s']:.0f}" if "imgs_per_s" in rung else "-"
        yield f"| {name} | {rung['verdict']} | {rate} | {gain} | - | - | - | - | - | {why} |"


def error_text(record, rung):
    """How far its change of weights is from fp64, beside the plain step's."""
    errors = rung.get("error", {}), record.get("plain_step_error", {})
    own, plain = (one.get("update") for one in errors)
    if own is None or plain is None:
        return ""
    return f"{own:.2g} away from fp64, the plain step {plain:.2g}"


def batch_rows(record):
    """One for each batch size at which the chosen ways were timed."""
    for one in record.get("rates_over_batches", []):
        rate = f"{one['imgs_per_s']:.0f}" if "imgs_per_s" in one else "-"
        why = str(one.get("reason", "")).replace("|", "/")
        name = f"batch of {one['batch_size']}"
        yield f"| {name} | with the ways taken | {rate} | - | - | - | - | - | - | {why} |"


def remarks(record, ceiling):
    """What stands in the last column beside a rate."""
    said = [] if is_sound(record) else ["must not be quoted"]
    if ceiling and record["cell"].get("precision") == ceiling["cell"].get("precision"):
        if record.get("stands_for") != ceiling.get("stands_for"):  # what was left to the GPU
            said.append("its steps are made in another way than the ceiling's")
    said += [flag["name"] for flag in record.get("flags", [])]
    decoded = (record.get("arrivals") or {}).get("decoded") or {}
    return ", ".join(said + [f"{count} by {who}" for who, count in decoded.items()])


def is_sound(record):
    """Measured, and fit to be quoted."""
    return record["status"] == "ok" and record.get("valid", True)


def precision_of(record):
    return record.get("stands_for", {}).get("precision") or record["cell"].get("precision")


def of_roofline(a, record, peaks):
    """The rate as percentages of what memory allows unfused, and fused, and of what arithmetic
    allows."""
    if not peaks or a.model != "resnet50" or precision_of(record) not in ("fp16", "bf16"):
        return "-"
    bounds = roofline.bounds(*peaks, a.input_size)
    return " / ".join(f"{100 * record['imgs_per_s'] / bound:.0f}" for bound in bounds)


def roofs(record):
    """[bytes/s, FLOP/s] by the data sheet, and as they were measured; None: unknown."""
    return roofline.data_sheet(record["device"]["name"]), record.get("measured_roofs")
