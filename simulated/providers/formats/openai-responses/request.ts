import type { HostedToolName } from "../../../../src/protocol/hosted-tools";
import { attachedIn } from "../../attached";
import type { ModelInput, ModelMessage } from "../../model-input";
import { callItem, type Item, joined } from "../../continuity";
import { type Json, type ReadRequest, RequestRefusal, type WireRequest } from "../../dialect";
import { NOTHING, onlyKnown, type ResultProblem, resultProblem, words } from "../../refusals";
import type { Failure } from "../../reply";
import { textOf } from "../../schema";
import type { PromptBlock } from "../../prompt-cache";
import { promptBlocks as blocksOf, setsBreakpoints, takesBreakpoints } from "../openai-prompt";
import { type InputItem, type ResponsesRequest, ResponsesRequestSchema } from "./schema";

/** Fields of a request that the API documents. */
const KNOWN = words(`
  background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation
  parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning
  safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`);

const HOSTED: Readonly<Record<string, HostedToolName>> = {
  web_search: "web_search",
  web_search_preview: "web_search",
  x_search: "x_search",
  code_interpreter: "code_execution",
};

export const invalid = (message: string, code: string | null = null): Failure => ({
  status: 400,
  type: "invalid_request_error",
  message,
  ...(code && { code }),
});

export function read({ body, headers, acceptedFields = NOTHING }: WireRequest): ModelInput {
  if (!headers["authorization"]?.startsWith("Bearer "))
    throw new RequestRefusal({ ...invalid("You didn't provide an API key."), status: 401 });
  onlyKnown(body, [KNOWN, acceptedFields], (field) =>
    invalid(`Unknown parameter: '${field}'.`, "unknown_parameter"),
  );
  const parsed = ResponsesRequestSchema.safeParse(body);
  if (!parsed.success)
    throw new RequestRefusal(invalid(`Invalid request: ${parsed.error.message}`));
  const request = parsed.data;
  if (request.stream !== true)
    throw new RequestRefusal(invalid("This simulated provider only streams: send 'stream': true."));
  if (setsBreakpoints(body) && !takesBreakpoints(request.model))
    throw new RequestRefusal(invalid("prompt_cache_breakpoint is not supported on this model."));
  const items = itemsOf(request);
  checkStored(request, items);
  checkResults(items);
  const tools = request.tools ?? [];
  return {
    model: request.model,
    system: [
      request.instructions ?? "",
      ...items.filter(isSystem).map(({ content }) => textOf(content)),
    ]
      .filter(Boolean)
      .join("\n"),
    messages: items.filter((item) => !isSystem(item)).flatMap(toMessages),
    attached: attachedIn("openai-responses", body),
    tools: tools.flatMap(({ type, name = "", parameters }) =>
      type === "function" ? [{ name, parameters }] : [],
    ),
    hostedTools: tools.flatMap(({ type }) => HOSTED[type] ?? []),
    forced: isForced(request.tool_choice),
    outputCap: request.max_output_tokens ?? null,
    thinks: Boolean(request.reasoning?.summary),
  };
}

export function promptBlocks(request: ReadRequest): PromptBlock[] {
  const parsed = ResponsesRequestSchema.parse(request.body);
  return blocksOf(request, [parsed.instructions ?? ""], itemsOf(parsed));
}

const itemsOf = ({ input }: ResponsesRequest): InputItem[] =>
  typeof input === "string" ? [{ role: "user", content: input, output: null }] : input;

const isSystem = ({ role }: InputItem): boolean => role === "system" || role === "developer";

function toMessages(item: InputItem): ModelMessage[] {
  if (item.type === "function_call_output")
    return [{ role: "tool", callId: item.call_id ?? "", text: textOf(item.output) }];
  if (item.type === "function_call")
    return [{ role: "assistant", text: `${item.name}${item.arguments}` }];
  if (item.role === "assistant") return [{ role: "assistant", text: textOf(item.content) }];
  return item.role === "user" ? [{ role: "user", text: textOf(item.content) }] : [];
}

function isForced(choice: ResponsesRequest["tool_choice"]): boolean {
  if (choice === undefined || typeof choice === "string") return choice === "required";
  return choice.type === "allowed_tools" ? choice.mode === "required" : true;
}

/** If the provider stores nothing, reasoning must be sent back with its encrypted content. */
function checkStored({ store }: ResponsesRequest, items: readonly InputItem[]): void {
  const unsealed = items.find(
    ({ type, encrypted_content }) => type === "reasoning" && store === false && !encrypted_content,
  );
  if (!unsealed) return;
  throw new RequestRefusal(
    invalid(
      `Item with id '${unsealed.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    ),
  );
}

function checkResults(items: readonly InputItem[]): void {
  const callIdsOf = (itemType: string) =>
    items.flatMap(({ type, call_id }) =>
      type === itemType && call_id !== undefined ? [call_id] : [],
    );
  const problem = resultProblem(callIdsOf("function_call"), callIdsOf("function_call_output"));
  if (problem) throw new RequestRefusal(resultFailure(problem));
}

function resultFailure({ kind, id }: ResultProblem): Failure {
  switch (kind) {
    case "missing":
      return invalid(`No tool output found for function call ${id}.`);
    case "unrequested":
      return invalid(`No tool call found for function call output with call_id ${id}.`);
    case "duplicate":
      return invalid(`Duplicate item found: function call output with call_id ${id}.`);
  }
}

/** The model turns of a request. Consecutive items of the model are one turn. */
export function modelTurns(body: Json): Item[][] {
  const request = ResponsesRequestSchema.safeParse(body);
  const turns: Item[][] = [[]];
  for (const item of request.success ? itemsOf(request.data) : []) {
    const modelItem = toItem(item);
    if (modelItem) turns.at(-1)?.push(modelItem);
    else turns.push([]);
  }
  return turns.map(joined).filter((turn) => turn.length > 0);
}

/** The part of a model's item that must be sent back unchanged; `null` for the client's items. */
export function toItem(item: InputItem): Item | null {
  const {
    type,
    role,
    id,
    content,
    call_id = "",
    name = "",
    arguments: args = "",
    encrypted_content,
  } = item;
  switch (type) {
    case "reasoning":
      return {
        kind: "reasoning",
        id: encrypted_content ?? id ?? "",
        content: encrypted_content ?? "",
      };
    case "function_call":
      return callItem(call_id, name, args);
    case "web_search_call":
    case "code_interpreter_call":
      return {
        kind: "hosted",
        id: id ?? "",
        content: JSON.stringify(item.action ?? item.code ?? null),
      };
    case "function_call_output":
      return null;
    default:
      return role === "assistant" ? { kind: "text", id: "", content: textOf(content) } : null;
  }
}
