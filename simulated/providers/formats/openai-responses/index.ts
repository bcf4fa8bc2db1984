import type { Mismatch } from "../../continuity";
import type { Dialect } from "../../dialect";
import type { Failure } from "../../reply";
import { failureBody } from "../openai-chat";
import { newPromptCache } from "../openai-prompt";
import { completeEvents } from "./complete-events";
import { modelTurns, invalid, promptBlocks, read } from "./request";

/** The streamed Responses API of OpenAI. */
export const OPENAI_RESPONSES: Dialect = {
  format: "openai-responses",
  basePath: "/v1",
  serves: (path) => path === "/v1/responses",
  modelOf: ({ body }) => String(body["model"] ?? ""),
  read,
  promptBlocks,
  newPromptCache,
  modelTurns,
  mismatchFailure,
  failureBody,
  callIdPrefix: "call_",
  completeEvents,
};

function mismatchFailure(mismatch: Mismatch): Failure {
  if (mismatch.kind === "unknown")
    return invalid(
      `The items of turn ${mismatch.turn + 1} were never given by this model.`,
      "item_not_found",
    );
  const { kind, item } = mismatch;
  if (item.kind !== "reasoning")
    return invalid(
      `Item '${item.id || "message"}' of the model's output is ${kind}.`,
      "invalid_item",
    );
  if (kind === "changed")
    return invalid("The encrypted content could not be verified.", "invalid_encrypted_content");
  return invalid(
    "Item of type 'function_call' was provided without its required 'reasoning' item.",
  );
}
