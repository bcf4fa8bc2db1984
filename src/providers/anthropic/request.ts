import type { HostedToolName } from "../../protocol/hosted-tools";
import { modelFacts } from "../models";
import type { HostedTool, ModelRequest, ToolSpec } from "../provider";
import { marked, markTurns, toTurns } from "./turns";
import { isBeta, PARAMS } from "./params";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";
import { thinkingBetas, thinkingFields, thinks } from "./thinking";

type Body = Record<string, unknown>;

/** Parameters that are said elsewhere in the body or in a header, or are the request's own business. */
const NOT_AS_THEY_ARE = new Set([
  ...PARAMS.reserved,
  "stop",
  "reasoning",
  "reasoning_effort",
  "max_thinking_tokens",
  "extra_body",
]);

/** Our request as the body of `POST /v1/messages`. Params go in as they are or in the format's words, ours over them. */
export function toBody(request: ModelRequest): Body {
  const { model, system, params } = request;
  const maxTokens = request.maxOutputTokens ?? usualMaxTokens(model);
  const tools = toTools(request);
  const turns = markTurns(toTurns(request), request.continues);
  return {
    ...asTheyAre({ ...fieldsOf(params["extra_body"]), ...params }),
    ...stopFields(params),
    model,
    max_tokens: maxTokens,
    ...thinkingFields(params, model, maxTokens),
    ...(tools.length > 0 && { tools: system.trim() === "" ? markLastTool(tools) : tools }),
    ...(request.tools.length > 0 && { tool_choice: { type: toolChoice(request) } }),
    ...(system.trim() !== "" && { system: [marked({ type: "text", text: system })] }),
    messages: turns.map(({ role, blocks }) => ({ role, content: blocks })),
    ...containerField(request),
    stream: true,
  };
}

/** The config's betas and ours, each once; empty: no header. */
export function toBetas({ params, model }: ModelRequest): string {
  const theirs = listOf(params["betas"]).filter(isBeta);
  return [...new Set([...theirs, ...thinkingBetas(params, model)])].join(",");
}

/**
 * The format demands a cap. Without one of ours it is the model's own, thinking included, but at most a quarter of its window: a
 * conversation is cut short at three quarters, and early models refuse a cap that the rest of the window cannot hold.
 */
function usualMaxTokens(model: string): number {
  const { contextWindow, maxOutputTokens } = modelFacts(model);
  return Math.min(maxOutputTokens, Math.floor(contextWindow / 4));
}

const asTheyAre = (params: Fields): Body =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !NOT_AS_THEY_ARE.has(name)));

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

/** Versions that are generally available, want no beta, and work with every model that takes the tool at all. */
const HOSTED_TYPES: Readonly<Partial<Record<HostedToolName, string>>> = {
  web_search: "web_search_20250305",
  code_execution: "code_execution_20250825",
};

function toHostedTool({ name, maxUses }: HostedTool): Fields[] {
  const type = HOSTED_TYPES[name];
  if (type === undefined) return [];
  return [{ type, name, ...(name === "web_search" && { max_uses: maxUses }) }]; // running code has no such limit
}

/** Without a system text the tools are all that every round has in common. */
function markLastTool(tools: readonly Fields[]): Fields[] {
  return tools.map((tool, place) => (place === tools.length - 1 ? marked(tool) : tool));
}

/** The machine that ran the conversation's code, so that its files are there; the API demands it while code waits to run. */
function containerField({ messages, hostedTools }: ModelRequest): Body {
  if (!hostedTools.some(({ name }) => name === "code_execution")) return {};
  const items = messages.flatMap((message) => (message.role === "assistant" ? message.items : []));
  const containers = items.flatMap((item) =>
    item.type === "hosted" ? [textOf(fieldsOf(item.opaque)["container"])] : [],
  );
  const container = containers.findLast((id) => id !== "");
  return container === undefined ? {} : { container };
}
