import type { Host } from "../hosts";
import { isJsonObject } from "../json";
import type { ModelRequest, ToolSpec } from "../provider";
import { toInput } from "./input";
import { OUTPUT_CAPS, RESERVED } from "./params";

type Body = Record<string, unknown>;

/** Names that are said in another way, or are the request's own business, whatever a config says. */
const NOT_AS_THEY_ARE: ReadonlySet<string> = new Set([
  ...RESERVED,
  ...OUTPUT_CAPS,
  "extra_body",
  "reasoning",
  "reasoning_effort",
  "model_reasoning_effort",
  "text",
  "verbosity",
]);

/**
 * Our request as the body of `POST /responses`. Replies are not kept by the provider, except those it writes in the background,
 * which it could not give again otherwise.
 */
export function toBody(request: ModelRequest, host: Host, background: boolean): Body {
  const { model, system, messages, maxOutputTokens } = request;
  const params = { ...objectOf(request.params["extra_body"]), ...request.params };
  const include = toInclude(request, host);
  return {
    ...Object.fromEntries(Object.entries(params).filter(([name]) => !NOT_AS_THEY_ARE.has(name))),
    ...nestedParams(request.params),
    model,
    instructions: system === "" ? undefined : system,
    input: toInput(messages),
    ...toolFields(request, host),
    include: include.length === 0 ? undefined : include,
    max_output_tokens: maxOutputTokens ?? undefined,
    store: background,
    background: background || undefined,
    stream: true,
  };
}

/** Parameters that lie inside others in a request; a config may also write them by their short names. */
function nestedParams(params: ModelRequest["params"]): Body {
  const extra = objectOf(params["extra_body"]);
  const effort = params["reasoning_effort"] ?? params["model_reasoning_effort"];
  const { verbosity } = params;
  const reasoning = {
    ...objectOf(extra["reasoning"]),
    ...(effort !== undefined && { effort }),
    ...objectOf(params["reasoning"]),
  };
  const text = {
    ...objectOf(extra["text"]),
    ...(verbosity !== undefined && { verbosity }),
    ...objectOf(params["text"]),
  };
  return {
    reasoning: Object.keys(reasoning).length === 0 ? undefined : reasoning,
    text: Object.keys(text).length === 0 ? undefined : text,
  };
}

/** An empty list of tools is an error to some servers, and so is a tool choice without tools. */
function toolFields({ tools, hostedTools, toolChoice }: ModelRequest, host: Host): Body {
  const offered = hostedTools.flatMap(({ name }) => {
    const facts = host.hostedTools[name];
    return facts ? [{ type: facts.wireName, ...facts.wireFields }] : [];
  });
  if (tools.length + offered.length === 0) return {};
  const forced = toolChoice === "required" && tools.length > 0 && host.forcesTools;
  const uses = hostedTools.reduce((sum, { maxUses }) => sum + maxUses, 0);
  return {
    tools: [...tools.map(toTool), ...offered],
    tool_choice: forced ? "required" : "auto",
    ...(host.usesLimit && offered.length > 0 && { [host.usesLimit]: uses }),
  };
}

/** Not strict: strict schemas must require every property and forbid all others, which those of users' tools seldom do. */
function toTool({ name, description, parameters }: ToolSpec): Body {
  return { type: "function", name, description, parameters, strict: false };
}

/** Encrypted reasoning is what lets a model go on thinking after a tool's result while the provider keeps nothing. */
function toInclude({ model, params, hostedTools }: ModelRequest, host: Host): string[] {
  const saysEffort = ["reasoning", "reasoning_effort", "model_reasoning_effort"].some(
    (name) => params[name] !== undefined,
  );
  const thinks =
    host.encryptsReasoning !== undefined && (saysEffort || host.encryptsReasoning.test(model));
  const results = hostedTools.flatMap(({ name }) => host.hostedTools[name]?.include ?? []);
  return [...(thinks ? ["reasoning.encrypted_content"] : []), ...results];
}

const objectOf = (value: unknown): Body => (isJsonObject(value) ? value : {});
