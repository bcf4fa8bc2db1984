import type { Mismatch } from "../../continuity";
import type { Dialect, Json } from "../../dialect";
import type { Failure } from "../../reply";
import { completeEvents } from "./complete-events";
import { newPromptCache, promptBlocks } from "./prompt";
import { modelTurns, invalid, read } from "./request";

/** The streamed Messages API of Anthropic. */
export const ANTHROPIC: Dialect = {
  format: "anthropic",
  basePath: "",
  serves: (path) => path === "/v1/messages",
  modelOf: ({ body }) => String(body["model"] ?? ""),
  read,
  promptBlocks,
  newPromptCache,
  modelTurns,
  mismatchFailure,
  failureBody,
  callIdPrefix: "toolu_",
  completeEvents,
};

function mismatchFailure(mismatch: Mismatch): Failure {
  const at = `messages.${2 * mismatch.turn + 1}`;
  if (mismatch.kind === "unknown") return invalid(`${at}: this turn was never given by the model`);
  const { kind, item } = mismatch;
  if (item.kind !== "reasoning")
    return invalid(`${at}: a ${item.kind} block of the original response (${item.id}) is ${kind}`);
  if (kind === "missing")
    return invalid(
      `${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found something else. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
    );
  return invalid(
    `${at}: Invalid \`signature\` in \`thinking\` block. \`thinking\` blocks in the latest assistant message cannot be modified.`,
  );
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** If the failure has no type, the type depends on the status. */
function failureBody({ status, type, message }: Failure): Json {
  const error = {
    type: type ?? TYPES[status] ?? "api_error",
    message: message ?? `Simulated failure with status ${status}.`,
  };
  return { type: "error", error, request_id: "req_simulated" };
}
