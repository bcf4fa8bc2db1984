import { attachedIn } from "../../attached";
import type { ModelInput, ModelMessage } from "../../model-input";
import { callItem, type Item, joined } from "../../continuity";
import { type Json, type ReadRequest, RequestRefusal, type WireRequest } from "../../dialect";
import { NOTHING, onlyKnown, type ResultProblem, resultProblem, words } from "../../refusals";
import type { Failure } from "../../reply";
import { textOf } from "../../schema";
import type { PromptBlock } from "../../prompt-cache";
import { promptBlocks as blocksOf, setsBreakpoints, takesBreakpoints } from "../openai-prompt";
import { type ChatMessage, ChatRequestSchema } from "./schema";

/** Fields of a request that the API documents. */
const KNOWN = words(`
  messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata
  modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options
  prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options
  temperature tool_choice tools top_logprobs top_p user verbosity web_search_options`);

export const invalid = (message: string, code: string | null = null): Failure => ({
  status: 400,
  type: "invalid_request_error",
  message,
  ...(code && { code }),
});

export function read({ body, acceptedFields = NOTHING }: WireRequest): ModelInput {
  onlyKnown(body, [KNOWN, acceptedFields], (field) =>
    invalid(`Unrecognized request argument supplied: ${field}`),
  );
  const request = ChatRequestSchema.safeParse(body);
  if (!request.success)
    throw new RequestRefusal(invalid("The body is no Chat Completions request."));
  const {
    model,
    messages,
    tools = [],
    tool_choice,
    max_completion_tokens,
    max_tokens,
  } = request.data;
  if (setsBreakpoints(body) && !takesBreakpoints(model))
    throw new RequestRefusal(invalid("prompt_cache_breakpoint is not supported on this model."));
  checkResults(messages);
  return {
    model,
    system: messages
      .filter(isSystem)
      .map(({ content }) => textOf(content))
      .join("\n"),
    messages: messages.filter((message) => !isSystem(message)).map(toMessages),
    attached: attachedIn("openai-chat", body),
    tools: tools.map(({ function: { name, parameters } }) => ({ name, parameters })),
    hostedTools: [],
    forced: tool_choice !== undefined && tool_choice !== "auto" && tool_choice !== "none",
    outputCap: max_completion_tokens ?? max_tokens ?? null,
    thinks: true,
  };
}

export const promptBlocks = (request: ReadRequest): PromptBlock[] =>
  blocksOf(request, [], ChatRequestSchema.parse(request.body).messages);

const isSystem = ({ role }: ChatMessage): boolean => role === "system" || role === "developer";

function toMessages({
  role,
  content,
  tool_call_id = "",
  tool_calls = [],
}: ChatMessage): ModelMessage {
  const text = textOf(content);
  if (role === "tool") return { role, callId: tool_call_id, text };
  if (role !== "assistant") return { role: "user", text };
  return {
    role,
    text: text + tool_calls.map((call) => call.function.name + call.function.arguments).join(""),
  };
}

/** The tool messages after a message with calls must be one result for each call. */
function checkResults(messages: readonly ChatMessage[]): void {
  let open: { calls: string[]; results: string[] } = { calls: [], results: [] };
  const close = () => {
    const problem = resultProblem(open.calls, open.results);
    if (problem) throw new RequestRefusal(resultFailure(problem));
  };
  for (const { role, tool_calls = [], tool_call_id = "" } of messages) {
    if (role === "tool") {
      open.results.push(tool_call_id);
      continue;
    }
    close();
    open = { calls: tool_calls.map(({ id }) => id), results: [] };
  }
  close();
}

function resultFailure({ kind, id }: ResultProblem): Failure {
  switch (kind) {
    case "missing":
      return invalid(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${id}`,
      );
    case "unrequested":
      return invalid(
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      );
    case "duplicate":
      return invalid(`Duplicate value for 'tool_call_id' of '${id}'.`);
  }
}

/**
 * The assistant messages of a request. Without reasoning: this format does not require a client to
 * send it back.
 */
export function modelTurns(body: Json): Item[][] {
  const request = ChatRequestSchema.safeParse(body);
  if (!request.success) return [];
  const turns = request.data.messages.filter(({ role }) => role === "assistant");
  return turns.map(({ content, tool_calls = [] }) =>
    joined([
      { kind: "text", id: "", content: textOf(content) },
      ...tool_calls.map((call) => callItem(call.id, call.function.name, call.function.arguments)),
    ]),
  );
}
