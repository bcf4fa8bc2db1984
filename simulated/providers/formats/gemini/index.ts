import type { Mismatch } from "../../continuity";
import type { Dialect, Json } from "../../dialect";
import type { Failure } from "../../reply";
import { completeEvents } from "./complete-events";
import { newPromptCache, promptBlocks } from "./prompt";
import { modelTurns, invalid, modelOf, PATH, read } from "./request";

/** The streamed Gemini API of Google. The name of the model is in the path. */
export const GEMINI: Dialect = {
  format: "gemini",
  basePath: "",
  serves: (path) => PATH.test(path),
  modelOf,
  read,
  promptBlocks,
  newPromptCache,
  modelTurns,
  mismatchFailure,
  failureBody,
  callIdPrefix: "",
  completeEvents,
};

function mismatchFailure(mismatch: Mismatch): Failure {
  const at = `position ${2 * mismatch.turn + 2}`;
  if (mismatch.kind === "unknown")
    return invalid(`The content block at ${at} was never given by the model.`);
  const { kind, item } = mismatch;
  if (item.kind === "text") return invalid(`The text of the content block at ${at} is ${kind}.`);
  if (kind === "missing")
    return invalid(
      `Function call, tool call or signature ${item.id} is missing in the content block at ${at}.`,
    );
  return invalid(
    `Function call or text is missing a thought_signature, or its thought signature is not valid, in the content block at ${at}.`,
  );
}

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** In this format, the body contains the delay before a retry. */
function failureBody({ status, type, message, code, retryAfter }: Failure): Json {
  const details = [
    ...(code
      ? [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: code,
            domain: "googleapis.com",
          },
        ]
      : []),
    ...(typeof retryAfter === "number"
      ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfter}s` }]
      : []),
  ];
  const text = message ?? `Simulated failure with status ${status}.`;
  return {
    error: {
      code: status,
      message: text,
      status: type ?? STATUS[status] ?? "UNKNOWN",
      ...(details.length > 0 && { details }),
    },
  };
}
