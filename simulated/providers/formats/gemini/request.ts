import type { HostedToolName } from "../../../../src/protocol/hosted-tools";
import { attachedIn } from "../../attached";
import type { ModelInput, ModelMessage } from "../../model-input";
import { callItem, type Item, joined } from "../../continuity";
import { type Json, RequestRefusal, type WireRequest } from "../../dialect";
import { onlyKnown, resultProblem, words } from "../../refusals";
import type { Failure } from "../../reply";
import {
  type GenerateRequest,
  GenerateRequestSchema,
  type Part,
  type Tool,
  type Turn,
} from "./schema";

/** Fields of a request that the API documents. */
const KNOWN = words(
  "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent serviceTier store labels",
);
const KNOWN_IN_CONFIG = words(`
  candidateCount enableEnhancedCivicAnswers frequencyPenalty logprobs maxOutputTokens mediaResolution presencePenalty
  responseJsonSchema responseLogprobs responseMimeType responseModalities responseSchema seed speechConfig stopSequences
  temperature thinkingConfig topK topP`);

export const invalid = (message: string): Failure => ({ status: 400, message });

const unknownName = (where: string) => (field: string) =>
  invalid(`Invalid JSON payload received. Unknown name "${field}"${where}: Cannot find field.`);

export const PATH = /^\/v1beta\/models\/([^/:]+):streamGenerateContent$/;

export const modelOf = ({ path }: WireRequest): string =>
  decodeURIComponent(PATH.exec(path)?.[1] ?? "");

export function read(sent: WireRequest): ModelInput {
  const { body, headers } = sent;
  if (!headers["x-goog-api-key"])
    throw new RequestRefusal({
      status: 403,
      message: "Method doesn't allow unregistered callers.",
    });
  onlyKnown(body, [KNOWN], unknownName(""));
  const parsed = GenerateRequestSchema.safeParse(body);
  if (!parsed.success) throw new RequestRefusal(invalid(`Invalid value: ${parsed.error.message}`));
  const {
    contents,
    systemInstruction,
    tools = [],
    toolConfig,
    generationConfig = {},
  } = parsed.data;
  onlyKnown(generationConfig, [KNOWN_IN_CONFIG], unknownName(" at 'generation_config'"));
  checkTools(parsed.data);
  checkTurns(contents);
  return {
    model: modelOf(sent),
    system: textIn(systemInstruction?.parts ?? []),
    messages: contents.flatMap(toMessages),
    attached: attachedIn("gemini", body),
    tools: tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name, parameters, parametersJsonSchema }) => ({
        name,
        parameters: parametersJsonSchema ?? lowerCaseTypes(parameters),
      })),
    ),
    hostedTools: tools.flatMap(hostedIn),
    forced: toolConfig?.functionCallingConfig?.mode === "ANY",
    outputCap: generationConfig.maxOutputTokens ?? null,
    thinks: generationConfig.thinkingConfig?.includeThoughts === true,
  };
}

const hostedIn = ({ googleSearch, codeExecution }: Tool): HostedToolName[] => [
  ...(googleSearch ? (["web_search"] as const) : []),
  ...(codeExecution ? (["code_execution"] as const) : []),
];

/** The older field `parameters` has JSON Schema types in upper case, as `STRING`. */
function lowerCaseTypes(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema ?? {}), (key, value) =>
    key === "type" && typeof value === "string" ? value.toLowerCase() : value,
  );
}

function checkTools({ tools = [], toolConfig }: GenerateRequest): void {
  const mixesToolKinds =
    tools.some(({ functionDeclarations = [] }) => functionDeclarations.length > 0) &&
    tools.flatMap(hostedIn).length > 0;
  if (mixesToolKinds && toolConfig?.includeServerSideToolInvocations !== true)
    throw new RequestRefusal(
      invalid(
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
      ),
    );
}

/**
 * Two user turns in a row are allowed, two model turns are not. The turn after a turn with calls
 * must contain one result for each call.
 */
function checkTurns(contents: readonly Turn[]): void {
  for (const [at, turn] of contents.entries()) {
    const before = contents[at - 1];
    if (roleOf(turn) === "user")
      checkResults(before && roleOf(before) === "model" ? before : {}, turn);
    else if (!before || roleOf(before) === "model")
      throw new RequestRefusal(
        invalid(
          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        ),
      );
  }
  const last = contents.at(-1);
  if (!last || roleOf(last) !== "user")
    throw new RequestRefusal(invalid("Please ensure that the last turn is the user's."));
}

const roleOf = ({ role = "user" }: Turn): string => role;

function checkResults({ parts: before = [] }: Turn, { parts = [] }: Turn): void {
  const calls = before.flatMap(({ functionCall }) => (functionCall ? [keyOf(functionCall)] : []));
  const results = parts.flatMap(({ functionResponse }) =>
    functionResponse ? [keyOf(functionResponse)] : [],
  );
  if (resultProblem(calls, results))
    throw new RequestRefusal(
      invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      ),
    );
}

const keyOf = ({ id = "", name }: { id?: string | undefined; name: string }): string =>
  `${name} ${id}`;

const textIn = (parts: readonly Part[]): string =>
  parts.map(({ text = "", thought }) => (thought ? "" : text)).join("");

/** The function responses of a user turn become messages before its text. */
function toMessages(turn: Turn): ModelMessage[] {
  const { parts = [] } = turn;
  const text = textIn(parts);
  if (roleOf(turn) === "model") {
    const calls = parts.flatMap(({ functionCall }) =>
      functionCall ? [functionCall.name + JSON.stringify(functionCall.args ?? {})] : [],
    );
    return [{ role: "assistant", text: text + calls.join("") }];
  }
  const results = parts.flatMap(({ functionResponse }): ModelMessage[] => {
    if (!functionResponse) return [];
    const { id = "", response = {} } = functionResponse;
    return [{ role: "tool", callId: id, text: Object.values(response).map(asText).join("\n") }];
  });
  return [
    ...results,
    ...(text === "" && results.length > 0 ? [] : [{ role: "user" as const, text }]),
  ];
}

const asText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

export function modelTurns(body: Json): Item[][] {
  const request = GenerateRequestSchema.safeParse(body);
  if (!request.success) return [];
  const turns = request.data.contents.filter((turn) => roleOf(turn) === "model");
  return turns.map(({ parts = [] }) => itemsOf(parts));
}

/**
 * The parts of a model turn that must be sent back unchanged. Thoughts are optional, their
 * signatures are not.
 */
export const itemsOf = (parts: readonly Part[]): Item[] =>
  joined(parts.flatMap((part) => toItem(part) ?? []));

function toItem({ thought, text, thoughtSignature = "", ...part }: Part): Item | null {
  const { functionCall, toolCall, toolResponse, executableCode, codeExecutionResult } = part;
  if (functionCall) {
    const { id = "", name, args = {} } = functionCall;
    const call = callItem(id, name, JSON.stringify(args));
    return { ...call, content: `${call.content} ${thoughtSignature}` };
  }
  if (toolCall)
    return {
      kind: "hosted",
      id: toolCall.id ?? "",
      content: `${JSON.stringify(toolCall.args)} ${thoughtSignature}`,
    };
  if (toolResponse)
    return {
      kind: "hosted",
      id: `${toolResponse.id} result`,
      content: JSON.stringify(toolResponse.response),
    };
  if (executableCode)
    return {
      kind: "hosted",
      id: executableCode.id ?? "",
      content: `${executableCode.code} ${thoughtSignature}`,
    };
  if (codeExecutionResult)
    return {
      kind: "hosted",
      id: `${codeExecutionResult.id} result`,
      content: codeExecutionResult.output ?? "",
    };
  if (thought || text === undefined) return null;
  // A part with a signature must not be merged with others.
  return {
    kind: text === "" && thoughtSignature ? "reasoning" : "text",
    id: thoughtSignature,
    content: text,
  };
}
