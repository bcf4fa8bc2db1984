import { accepts } from "hono/accepts";
import type { Call } from "./api-env";

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

/**
 * Whether a caller who may have either takes JSON or the event stream: what its `Accept` likes best, of equals the one named
 * first; `otherwise` where it names neither.
 */
export function wantedForm(context: Call, otherwise: "json" | "stream"): "json" | "stream" {
  const preset = otherwise === "json" ? JSON_TYPE : STREAM_TYPE;
  const type = accepts(context, {
    header: "Accept",
    supports: [JSON_TYPE, STREAM_TYPE],
    default: preset,
  });
  return type === JSON_TYPE ? "json" : "stream";
}
