import type { StopReason } from "../../src/protocol/events";
import type { Citation, HostedUse } from "../../src/protocol/hosted-tools";
import { createGemini } from "../../src/providers/gemini";
import { isJsonObject } from "../../src/providers/json";
import type { Reply, Wire } from "./wire";

/**
 * `streamGenerateContent` as Google implements it: frames end in CRLF, each frame is a complete
 * response, and calls arrive complete.
 */

const frame = (data: unknown) => `data: ${JSON.stringify(data)}\r\n\r\n`;
const response = (fields: object) =>
  frame({ ...fields, modelVersion: "some-model", responseId: "resp_1" });
const candidate = (fields: object) => response({ candidates: [{ index: 0, ...fields }] });
const part = (fields: object) => candidate({ content: { role: "model", parts: [fields] } });

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  refusal: "LANGUAGE",
  unknown: "SOMETHING_NEW",
};

function encode({
  reasoning = [],
  hosted = [],
  text = [],
  citations = [],
  calls = [],
  stop,
  usage,
}: Reply): string[] {
  return [
    response({ candidates: [{ index: 0, content: { role: "model" } }] }),
    ...reasoning.map((piece) => part({ text: piece, thought: true })),
    ...hosted.flatMap(encodeUse),
    ...text.map((piece) => part({ text: piece })),
    ...calls.map(encodeCall),
    response({
      candidates: [
        {
          index: 0,
          content: { role: "model", parts: [{ text: "" }] },
          finishReason: FINISH_REASONS[stop],
          ...(citations.length > 0 && { groundingMetadata: encodeCitations(citations) }),
        },
      ],
      ...(usage && { usageMetadata: encodeUsage(usage) }),
    }),
  ];
}

function encodeUse({ name, input, outcome, output }: HostedUse): string[] {
  if (name === "web_search") {
    const id = `tool_${input}`;
    return [
      part({ toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: [input] }, id } }),
      part({
        toolResponse: {
          toolType: "GOOGLE_SEARCH_WEB",
          response: { search_suggestions: "<div></div>" },
          id,
        },
      }),
    ];
  }
  return [
    part({ executableCode: { language: "PYTHON", code: input } }),
    part({
      codeExecutionResult: { outcome: outcome === "ok" ? "OUTCOME_OK" : "OUTCOME_FAILED", output },
    }),
  ];
}

function encodeCitations(citations: readonly Citation[]): object {
  return {
    groundingChunks: citations.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: citations.flatMap(({ text }, n) =>
      text === undefined
        ? []
        : [{ segment: { startIndex: 0, endIndex: text.length, text }, groundingChunkIndices: [n] }],
    ),
  };
}

function encodeCall({ id, name, pieces }: NonNullable<Reply["calls"]>[number]): string {
  const text = pieces.join("");
  return part({ functionCall: { id, name, ...(text !== "" && { args: JSON.parse(text) }) } });
}

function encodeUsage(usage: NonNullable<Reply["usage"]>): object {
  return {
    promptTokenCount: usage.input_tokens,
    cachedContentTokenCount: usage.cached_tokens,
    candidatesTokenCount: usage.output_tokens - usage.reasoning_tokens,
    thoughtsTokenCount: usage.reasoning_tokens,
    totalTokenCount: usage.input_tokens + usage.output_tokens,
  };
}

const error = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
});
const info = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "googleapis.com",
  metadata: { service: "generativelanguage.googleapis.com" },
});
const violation = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [
    {
      quotaMetric: "generativelanguage.googleapis.com/generate_content_free_tier_requests",
      quotaId,
      quotaDimensions: { location: "global", model: "some-model" },
      quotaValue: "10",
    },
  ],
});
const retry = (retryDelay: string) => ({
  "@type": "type.googleapis.com/google.rpc.RetryInfo",
  retryDelay,
});
const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
const TOO_LONG =
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";

export const GEMINI: Wire = {
  name: "Gemini",
  basePath: "/v1beta",
  path: "/models/some-model:streamGenerateContent?alt=sse",
  create: createGemini,
  keyHeader: { name: "x-goog-api-key", value: (key) => key },
  encode,
  completes: (text) => /"finishReason":"/.test(text),
  errors: [
    {
      name: "a wrong key",
      status: 400,
      body: error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        info("API_KEY_INVALID"),
      ]),
      failureClass: "bad_credentials",
    },
    {
      name: "a key without permission",
      status: 403,
      body: error(
        403,
        "PERMISSION_DENIED",
        "Your API key was reported as leaked. Please use another API key.",
      ),
      failureClass: "bad_credentials",
    },
    {
      name: "an unknown model",
      status: 404,
      body: error(
        404,
        "NOT_FOUND",
        "models/gemini-0 is not found for API version v1beta, or is not supported for generateContent.",
      ),
      failureClass: "unknown_model",
    },
    {
      name: "a context that is too long",
      status: 400,
      body: error(400, "INVALID_ARGUMENT", TOO_LONG),
      failureClass: "context_too_long",
    },
    {
      name: "an exhausted limit per minute",
      status: 429,
      body: error(429, "RESOURCE_EXHAUSTED", QUOTA, [
        violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
        retry("31s"),
      ]),
      failureClass: "transient",
    },
    {
      name: "an exhausted limit per day",
      status: 429,
      body: error(429, "RESOURCE_EXHAUSTED", QUOTA, [
        violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        retry("43s"),
      ]),
      failureClass: "quota",
    },
    {
      name: "an unsupported country",
      status: 400,
      body: error(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
      failureClass: "bad_request",
    },
    {
      name: "a bad request",
      status: 400,
      body: error(
        400,
        "INVALID_ARGUMENT",
        'Invalid JSON payload received. Unknown name "topp": Cannot find field.',
      ),
      failureClass: "bad_request",
    },
    {
      name: "a server error",
      status: 500,
      body: error(500, "INTERNAL", "An internal error has occurred. Please retry."),
      failureClass: "transient",
    },
    {
      name: "an overloaded model",
      status: 503,
      body: error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
      failureClass: "transient",
    },
  ],
  midStreamError: {
    frame: frame(error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
    failureClass: "transient",
  },
  stops: ["stop", "length", "content_filter", "refusal", "unknown"],
  hostedTools: ["web_search", "code_execution"],
  acceptsHistory,
  prefixOf,
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isJsonObject(value) ? value : {};

function prefixOf(body: unknown): readonly unknown[] {
  const { tools, systemInstruction, contents } = fieldsOf(body);
  return [...listOf(tools), systemInstruction, ...listOf(contents)];
}

/**
 * Checks that the calls of the model are followed by one user content with a result for each call,
 * in the same order and with the same id and name.
 */
function acceptsHistory(body: unknown): string | null {
  let openCalls: readonly unknown[] = [];
  for (const [n, content] of listOf(fieldsOf(body)["contents"]).map(fieldsOf).entries()) {
    const parts = listOf(content["parts"]).map(fieldsOf);
    const results = parts.flatMap(({ functionResponse: response }) =>
      response === undefined ? [] : [fieldsOf(response)],
    );
    if (parts.length === 0) return `contents[${n}] is empty`;
    if (
      JSON.stringify(results.map(({ id, name }) => ({ id, name }))) !== JSON.stringify(openCalls)
    ) {
      return `contents[${n}]: results ${JSON.stringify(results)} for ${JSON.stringify(openCalls)}`;
    }
    if (results.some(({ response: content }) => !isJsonObject(content)))
      return `contents[${n}]: a result that is not an object`;
    const calls = parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [fieldsOf(call)],
    );
    if (calls.length > 0 && content["role"] !== "model")
      return `contents[${n}]: calls of ${content["role"]}`;
    if (calls.some(({ args }) => !isJsonObject(args)))
      return `contents[${n}]: a call without arguments`;
    openCalls = calls.map(({ id, name }) => ({ id, name }));
  }
  return openCalls.length > 0 ? `no results for ${JSON.stringify(openCalls)}` : null;
}
