import { cacheKeyField, cacheMarkOf } from "../cache-marks";
import type { Host } from "../hosts";
import { isJsonObject } from "../json";
import type { ModelRequest, ToolSpec } from "../provider";
import { toInput } from "./input";
import { OUTPUT_CAPS, RESERVED } from "./params";

type Body = Record<string, unknown>;

/** Parameters that are converted, or reserved for the service. */
const CONVERTED_OR_RESERVED: ReadonlySet<string> = new Set([
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
 * The body of `POST /responses`. The provider stores only background replies, because a reply that
 * is not stored cannot be resumed.
 */
export function toBody(request: ModelRequest, host: Host, background: boolean): Body {
  const { model, system, messages, maxOutputTokens } = request;
  const params = { ...objectOf(request.params["extra_body"]), ...request.params };
  const include = toInclude(request, host);
  return {
    ...cacheKeyField(host, request),
    ...Object.fromEntries(
      Object.entries(params).filter(([name]) => !CONVERTED_OR_RESERVED.has(name)),
    ),
    ...nestedParams(request.params),
    model,
    instructions: system === "" ? undefined : system,
    input: toInput(messages, cacheMarkOf(host, model)),
    ...toolFields(request, host),
    include: include.length === 0 ? undefined : include,
    max_output_tokens: maxOutputTokens ?? undefined,
    store: background,
    background: background || undefined,
    stream: true,
  };
}

/** Parameters that are nested in the request. A config may also use their short names. */
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

/**
 * The fields for tools. Omitted without tools, because some servers refuse an empty list of tools,
 * or a tool choice without tools.
 */
function toolFields({ tools, hostedTools, toolChoice }: ModelRequest, host: Host): Body {
  const hostedEntries = hostedTools.flatMap(({ name }) => {
    const facts = host.hostedTools[name];
    return facts ? [{ type: facts.wireName, ...facts.wireFields }] : [];
  });
  if (tools.length + hostedEntries.length === 0) return {};
  const isForced = toolChoice === "required" && tools.length > 0 && host.forcesTools;
  const uses = hostedTools.reduce((sum, { maxUses }) => sum + maxUses, 0);
  return {
    tools: [...tools.map(toTool), ...hostedEntries],
    tool_choice: isForced ? "required" : "auto",
    ...(host.usesLimit && hostedEntries.length > 0 && { [host.usesLimit]: uses }),
  };
}

/**
 * A function tool. It is not strict, because strict schemas must require every property and forbid
 * other properties. Schemas of users rarely do.
 */
function toTool({ name, description, parameters }: ToolSpec): Body {
  return { type: "function", name, description, parameters, strict: false };
}

/**
 * Values of `include`. With encrypted reasoning, a model can continue to think after a tool result
 * although the provider stores nothing.
 */
function toInclude({ model, params, hostedTools }: ModelRequest, host: Host): string[] {
  const setsEffort = ["reasoning", "reasoning_effort", "model_reasoning_effort"].some(
    (name) => params[name] !== undefined,
  );
  const returnsReasoning =
    host.encryptsReasoning !== undefined && (setsEffort || host.encryptsReasoning.test(model));
  const results = hostedTools.flatMap(({ name }) => host.hostedTools[name]?.include ?? []);
  return [...(returnsReasoning ? ["reasoning.encrypted_content"] : []), ...results];
}

const objectOf = (value: unknown): Body => (isJsonObject(value) ? value : {});
