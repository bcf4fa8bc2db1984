import type { HostedToolName } from "../../protocol/hosted-tools";
import { modelFacts } from "../models";
import type { HostedTool, ModelRequest, ToolSpec } from "../provider";
import { hasMarkLeft, markTurns, toTurns, withMark } from "./turns";
import { isBeta, PARAMS } from "./params";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
import { thinkingBetas, thinkingFields, thinks } from "./thinking";

type Body = Record<string, unknown>;

/** Parameters that are renamed, sent in a header, or reserved for the service. */
const CONVERTED_OR_RESERVED = new Set([
  ...PARAMS.reserved,
  "stop",
  "reasoning",
  "reasoning_effort",
  "max_thinking_tokens",
  "extra_body",
]);

/**
 * The body of `POST /v1/messages`. Parameters of the config are passed unchanged or converted.
 * Fields that we set take precedence over them.
 */
export function toBody(request: ModelRequest): Body {
  const { model, system, params } = request;
  const maxTokens = request.maxOutputTokens ?? defaultMaxTokens(model);
  const tools = toTools(request);
  const turns = markTurns(toTurns(request), request.continues);
  const mark = hasMarkLeft(turns) ? withMark : (block: Fields) => block;
  return {
    ...unchangedParams({ ...fieldsOf(params["extra_body"]), ...params }),
    ...stopFields(params),
    model,
    max_tokens: maxTokens,
    ...thinkingFields(params, model, maxTokens),
    ...(tools.length > 0 && { tools: system.trim() === "" ? markLastTool(tools, mark) : tools }),
    ...(request.tools.length > 0 && { tool_choice: { type: toolChoice(request) } }),
    ...(system.trim() !== "" && { system: [mark({ type: "text", text: system })] }),
    messages: turns.map(({ role, blocks }) => ({ role, content: blocks })),
    ...containerField(request),
    stream: true,
  };
}

/**
 * Value of the beta header: the betas of the config and those that our fields need, without
 * duplicates. "" means that no header is sent.
 */
export function toBetas({ params, model }: ModelRequest): string {
  const configBetas = listOf(params["betas"]).filter(isBeta);
  return [...new Set([...configBetas, ...thinkingBetas(params, model)])].join(",");
}

/**
 * The output cap if the request has none, because the API requires one. It is the model's own cap,
 * thinking included, but at most a quarter of the context window. Reason: early models refuse a cap
 * larger than the rest of the window, and conversations are compacted at three quarters of it.
 */
function defaultMaxTokens(model: string): number {
  const { contextWindow, maxOutputTokens } = modelFacts(model);
  return Math.min(maxOutputTokens, Math.floor(contextWindow / 4));
}

const unchangedParams = (params: Fields): Body =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !CONVERTED_OR_RESERVED.has(name)));

function stopFields(params: ModelRequest["params"]): Body {
  const texts = [...listOf(params["stop"]), ...listOf(params["stop_sequences"])];
  return texts.length > 0 ? { stop_sequences: [...new Set(texts)] } : {};
}

const toolChoice = ({ toolChoice: wanted, params, model }: ModelRequest) =>
  wanted === "required" && !thinks(params, model) ? "any" : "auto";

const toTools = ({ tools, hostedTools }: ModelRequest): Fields[] => [
  ...tools.map(toTool),
  ...hostedTools.flatMap(toHostedTool),
];

const toTool = ({ name, description, parameters }: ToolSpec): Fields => ({
  name,
  description,
  input_schema: parameters,
});

/** Versions of hosted tools that need no beta and work with every model that supports the tool. */
const HOSTED_TYPES: Readonly<Partial<Record<HostedToolName, string>>> = {
  web_search: "web_search_20250305",
  code_execution: "code_execution_20250825",
};

function toHostedTool({ name, maxUses }: HostedTool): Fields[] {
  const type = HOSTED_TYPES[name];
  if (type === undefined) return [];
  // code execution has no limit of uses
  return [{ type, name, ...(name === "web_search" && { max_uses: maxUses }) }];
}

/**
 * Marks the last tool for the cache. Used without a system text, because then the tools are the
 * only part that all rounds share.
 */
function markLastTool(tools: readonly Fields[], mark: (tool: Fields) => Fields): Fields[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? mark(tool) : tool));
}

/**
 * The container that ran the earlier code of the conversation. With its id, the files of that code
 * are available. The API requires the id while code waits to run.
 */
function containerField({ messages, hostedTools }: ModelRequest): Body {
  if (!hostedTools.some(({ name }) => name === "code_execution")) return {};
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  const containers = items.flatMap((item) =>
    item.type === "hosted" ? [textOf(fieldsOf(item.opaque)["container"])] : [],
  );
  const container = containers.findLast((id) => id !== "");
  return container === undefined ? {} : { container };
}
