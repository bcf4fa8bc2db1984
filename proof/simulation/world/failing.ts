import type { CallFailure } from "../../../src/coordination";
import type { FailureClass, Usage } from "../../../src/protocol/events";
import type { ReplySources } from "./character";

/** Draws a failure of the call; `null` if the call replies. */
export function drawFailure({ chance, has }: ReplySources, usage: Usage): CallFailure | null {
  const rates: Partial<Record<FailureClass | "none" | "unreachable", number>> = {
    none: 100,
    transient: has("transient_failures") ? 60 : 0,
    unreachable: has("transient_failures") ? 30 : 0,
    quota: has("fatal_failures") ? 4 : 0,
    context_too_long: has("fatal_failures") ? 4 : 0,
    bad_credentials: has("fatal_failures") ? 2 : 0,
    unknown_model: has("fatal_failures") ? 2 : 0,
    bad_request: has("fatal_failures") ? 5 : 0,
    content_filter: has("withheld_replies") ? 6 : 0,
    refusal: has("withheld_replies") ? 6 : 0,
  };
  const kind = chance.weighted(rates);
  if (kind === "none") return null;
  if (kind === "unreachable") return UNREACHABLE;
  const reached = chance.is(0.6);
  const retryAfterMs = kind === "transient" && chance.is(0.3) ? chance.latency(1, 120_000) : null;
  return {
    class: kind,
    code: kind === "transient" ? transientCode(retryAfterMs) : `simulated_${kind}`,
    message: `The simulated provider answered with ${kind}.`,
    retryAfterMs,
    usage: reached && chance.is(0.5) ? usage : null,
    reached,
  };
}

/** A provider that asks for a wait limits the rate. After other failures, a retry is quick. */
const transientCode = (retryAfterMs: number | null): string =>
  retryAfterMs === null ? "server_error" : "rate_limited";

/** The failure of a probe. The request was not sent, so the provider charges nothing. */
const UNREACHABLE: CallFailure = {
  class: "transient",
  code: "cannot_reach",
  message: "cannot reach models.example",
  retryAfterMs: null,
  usage: null,
  reached: false,
};
