import type { Failure } from "../../../simulated/providers/reply";
import type { Faults } from "./faults";

/** Draws the failure that a provider returns for a request; `null` if no fault strikes. */
export function drawFailure(faults: Faults): Failure | null {
  if (faults.strikes("rate_limited")) {
    const chance = faults.chance("rate_limited");
    const wait = chance.weighted({ none: 3, seconds: 4, long: 1, absurd: 1 });
    const retryAfter = {
      none: null,
      seconds: chance.int(1, 30),
      long: chance.int(61, 600),
      absurd: 1_000_000_000,
    }[wait];
    return {
      status: 429,
      message: "Too many requests.",
      ...(retryAfter === null ? {} : { retryAfter }),
    };
  }
  if (faults.strikes("server_error"))
    return {
      status: faults.chance("server_error").pick([500, 502, 503, 524, 529]),
      message: "Overloaded.",
    };
  if (faults.strikes("quota"))
    return {
      status: 429,
      code: "insufficient_quota",
      type: "insufficient_quota",
      message: "You exceeded your current quota, please check your plan and billing details.",
    };
  if (faults.strikes("bad_key"))
    return { status: 401, code: "invalid_api_key", message: "Incorrect API key provided." };
  if (faults.strikes("bad_request"))
    return { status: 400, message: "Something about this request is not right." };
  if (faults.strikes("context_too_long"))
    return {
      status: 400,
      code: "context_length_exceeded",
      message: "prompt is too long: 210000 tokens > 200000 maximum context length",
    };
  return null;
}
