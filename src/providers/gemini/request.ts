import {
  FunctionCallingConfigMode,
  type FunctionCallingConfigMode as Mode,
  type GenerateContentConfig,
  type GenerateContentParameters,
  HarmBlockThreshold,
  HarmCategory,
  ServiceTier,
  ThinkingLevel,
  type Tool,
  type ToolConfig,
} from "@google/genai/web";
import { isJsonObject } from "../json";
import { type HostedTool, type ModelRequest, ProviderError } from "../provider";
import { toContents } from "./contents";
import { canCombineHosted, toThinking } from "./thinking";
import { PARAMS, RESERVED_GENERATION, toCamel } from "./params";
import { toSafety } from "./safety";
import { toFunctionDeclaration } from "./tool-schema";

type Params = ModelRequest["params"];

/**
 * The request as parameters of the SDK. Throws a ProviderError for a tool that this format cannot
 * express, and for hosted tools combined with functions if the model accepts only one kind.
 */
export function toParameters(request: ModelRequest): GenerateContentParameters {
  const extraBody = allowedExtraBody(request.params);
  return {
    model: request.model,
    contents: toContents(request.messages),
    config: {
      ...(request.system !== "" && { systemInstruction: { parts: [{ text: request.system }] } }),
      ...(request.maxOutputTokens !== null && { maxOutputTokens: request.maxOutputTokens }),
      ...toolFields(request),
      ...samplingFields(request.params),
      ...thinkingFields(request),
      ...safetyFields(request.params),
      ...(Object.keys(extraBody).length > 0 && { httpOptions: { extraBody } }),
      // The SDK must send only one request. By default it would also run tools, and repeat the
      // request after a server limit or a lost connection.
      automaticFunctionCalling: { disable: true },
      automaticContinuation: false,
    },
  };
}

function toolFields({ model, tools, hostedTools, toolChoice }: ModelRequest): {
  tools?: Tool[];
  toolConfig?: ToolConfig;
} {
  const hosted = hostedTools.map(toHostedTool);
  if (tools.length === 0) return hosted.length === 0 ? {} : { tools: hosted };
  const isCombined = hosted.length > 0;
  if (isCombined && !canCombineHosted(model)) {
    const names = hostedTools.map(({ name }) => name).join(", ");
    throw new ProviderError(
      "bad_request",
      "bad_request",
      `${model} takes ${names} only without other tools.`,
    );
  }
  return {
    tools: [...hosted, { functionDeclarations: tools.map(toFunctionDeclaration) }],
    toolConfig: {
      functionCallingConfig: { mode: toCallingMode(toolChoice, isCombined) },
      ...(isCombined && { includeServerSideToolInvocations: true }),
    },
  };
}

function toHostedTool({ name }: HostedTool): Tool {
  switch (name) {
    case "web_search":
      return { googleSearch: {} };
    case "code_execution":
      return { codeExecution: {} };
    case "x_search":
      throw new ProviderError(
        "bad_request",
        "bad_request",
        `This provider has no hosted tool ${name}.`,
      );
  }
}

/**
 * The mode of function calls. The API refuses `AUTO` together with hosted tools; `VALIDATED` has
 * the same meaning there.
 */
function toCallingMode(toolChoice: ModelRequest["toolChoice"], isCombined: boolean): Mode {
  if (toolChoice === "required") return FunctionCallingConfigMode.ANY;
  return isCombined ? FunctionCallingConfigMode.VALIDATED : FunctionCallingConfigMode.AUTO;
}

function samplingFields(params: Params): GenerateContentConfig {
  const { temperature, top_p, top_k, seed, stop, service_tier } = params;
  const stopTexts = Array.isArray(stop) ? stop.filter((text) => typeof text === "string") : [];
  const tier = Object.values(ServiceTier).find((value) => value === service_tier);
  return {
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof top_p === "number" && { topP: top_p }),
    ...(typeof top_k === "number" && { topK: top_k }),
    ...(typeof seed === "number" && { seed }),
    ...(stopTexts.length > 0 && { stopSequences: stopTexts }),
    ...(tier && { serviceTier: tier }),
  };
}

function thinkingFields({ params, model }: ModelRequest): GenerateContentConfig {
  const thinking = toThinking(params, model);
  if (!thinking) return {};
  const { thinkingLevel, ...others } = thinking;
  return {
    thinkingConfig: {
      ...others,
      ...(thinkingLevel && { thinkingLevel: ThinkingLevel[thinkingLevel] }),
    },
  };
}

function safetyFields(params: Params): GenerateContentConfig {
  const settings = toSafety(params["safety_settings"]).map(({ category, threshold }) => ({
    category: HarmCategory[category],
    threshold: HarmBlockThreshold[threshold],
  }));
  return settings.length === 0 ? {} : { safetySettings: settings };
}

/**
 * The `extra_body` of the config without reserved fields. They must be removed, because the SDK
 * lets this object overwrite our fields. The provider accepts two spellings of each name.
 */
function allowedExtraBody(params: Params): Record<string, unknown> {
  const extra = params["extra_body"];
  if (!isJsonObject(extra)) return {};
  const reservedNames: ReadonlySet<string> = new Set(PARAMS.reserved.map(toCamel));
  return Object.fromEntries(
    Object.entries(extra).flatMap(([key, value]) => {
      const name = toCamel(key);
      if (reservedNames.has(name)) return [];
      return [name === "generationConfig" ? [name, withoutReserved(value)] : [key, value]];
    }),
  );
}

function withoutReserved(generation: unknown): unknown {
  if (!isJsonObject(generation)) return {};
  const reservedNames: ReadonlySet<string> = new Set(RESERVED_GENERATION);
  return Object.fromEntries(
    Object.entries(generation).filter(([key]) => !reservedNames.has(toCamel(key))),
  );
}
