import { hostById } from "../../src/providers/hosts";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import { createOpenAiResponses } from "../../src/providers/openai-responses";
import type { ProviderOptions } from "../../src/providers/provider";
import { OPENAI_CHAT } from "./openai-chat-wire";
import { OPENAI_RESPONSES } from "./openai-responses-wire";
import type { Reply, Wire } from "./wire";

/**
 * Endpoints that use the format of another vendor, with their own addresses, headers and error
 * texts.
 */

const DATE = "2025-04-01-preview";

const azureError = (code: string, message: string, more: object = {}) => ({
  error: { code, message, ...more },
});

const AZURE_ERRORS: Wire["errors"] = [
  {
    name: "a wrong key",
    status: 401,
    body: azureError("401", "Access denied due to invalid subscription key or wrong API endpoint."),
    failureClass: "bad_credentials",
  },
  {
    name: "an unknown deployment",
    status: 404,
    body: azureError("DeploymentNotFound", "The API deployment for this resource does not exist."),
    failureClass: "unknown_model",
  },
  {
    name: "a filtered prompt",
    status: 400,
    body: azureError(
      "content_filter",
      "The response was filtered due to the prompt triggering a policy.",
      {
        param: "prompt",
        status: 400,
        innererror: {
          code: "ResponsibleAIPolicyViolation",
          content_filter_result: { violence: { filtered: true, severity: "high" } },
        },
      },
    ),
    failureClass: "content_filter",
  },
  {
    name: "a context that is too long",
    status: 400,
    body: azureError(
      "context_length_exceeded",
      "This model's maximum context length is 128000 tokens.",
    ),
    failureClass: "context_too_long",
  },
  {
    name: "an exhausted quota",
    status: 429,
    body: azureError("insufficient_quota", "You exceeded your current quota."),
    failureClass: "quota",
  },
  {
    name: "a parameter that the version does not know",
    status: 400,
    body: azureError("BadRequest", "Unknown parameter: 'verbosity'."),
    failureClass: "bad_request",
  },
  {
    name: "a rate limit",
    status: 429,
    body: azureError(
      "429",
      "Requests to this operation have exceeded the call rate limit. Please retry after 6 seconds.",
    ),
    failureClass: "transient",
  },
];

const azure = (options: ProviderOptions, apiVersion: string | null): ProviderOptions => ({
  ...options,
  host: hostById("azure_openai"),
  apiVersion,
});
const API_KEY_HEADER: Wire["keyHeader"] = { name: "api-key", value: (key) => key };

/**
 * The frames of a reply. They begin with the filter results of the prompt, in a chunk without
 * choices.
 */
function encodeFiltered(reply: Reply): string[] {
  const verdict = { hate: { filtered: false, severity: "safe" } };
  const first = {
    id: "",
    model: "",
    choices: [],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: verdict }],
  };
  return [`data: ${JSON.stringify(first)}\n\n`, ...OPENAI_CHAT.encode(reply)];
}

const AZURE_CHAT: Wire = {
  ...OPENAI_CHAT,
  name: "Azure Chat Completions",
  basePath: "/openai/v1",
  create: (options) => createOpenAiChat(azure(options, null)),
  keyHeader: API_KEY_HEADER,
  encode: encodeFiltered,
  errors: AZURE_ERRORS,
  framesOf: OPENAI_CHAT.name,
};

const AZURE_RESPONSES: Wire = {
  ...OPENAI_RESPONSES,
  name: "Azure Responses",
  basePath: "/openai/v1",
  create: (options) => createOpenAiResponses(azure(options, null)),
  keyHeader: API_KEY_HEADER,
  errors: AZURE_ERRORS,
  hostedTools: ["code_execution"],
  framesOf: OPENAI_RESPONSES.name,
};

export const ENDPOINTS: readonly Wire[] = [
  AZURE_CHAT,
  {
    ...AZURE_CHAT,
    name: "Azure Chat Completions with a dated version",
    basePath: "/openai",
    path: `/deployments/some-model/chat/completions?api-version=${DATE}`,
    create: (options) => createOpenAiChat(azure(options, DATE)),
  },
  AZURE_RESPONSES,
  {
    ...AZURE_RESPONSES,
    name: "Azure Responses with a dated version",
    basePath: "/openai",
    path: `/responses?api-version=${DATE}`,
    create: (options) => createOpenAiResponses(azure(options, DATE)),
  },
  {
    ...OPENAI_RESPONSES,
    name: "Grok Responses",
    create: (options) => createOpenAiResponses({ ...options, host: hostById("xai") }),
    hostedTools: ["web_search", "x_search", "code_execution"],
    framesOf: OPENAI_RESPONSES.name,
  },
];
