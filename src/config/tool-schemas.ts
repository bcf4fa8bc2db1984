import { CONTEXT_NAME } from "../protocol/api/contexts";
import { REGISTRY } from "../tools/registry";
import { PROTECTION_LIMITS } from "../workspace/permissions";
import { TOOL_NAME } from "./custom-tools";
import { type JsonSchema, texts } from "./fields";
import { HTTP_TOOL } from "./http-tools";
import {
  MAX_CONTEXTS,
  MAX_CUSTOM_TOOLS,
  MAX_HEADERS,
  MAX_KEY_CHARS,
  MAX_MCP_SERVERS,
} from "./config-limits";
import { MCP_AUTH } from "./mcp-auth";
import { MCP_NAME, MCP_SERVER } from "./mcp-servers";
import { RATES } from "./rates";
import { PERMISSION, PROTECTED_PATH } from "./workspace";

/** The parts of the config's JSON Schema for tools, uploads and quotas. */
export const toolSchemas = (): Record<string, JsonSchema> => ({
  contexts: contexts(),
  "custom-tools": customTools(),
  "mcp-servers": mcpServers(),
  "rate-limits": rateLimits(),
});

const NAME: JsonSchema = { type: "string", pattern: TOOL_NAME.source };
const TEXTS: JsonSchema = {
  type: "object",
  patternProperties: { "^.+$": { type: "string", maxLength: MAX_KEY_CHARS } },
};

function closed(properties: Record<string, JsonSchema>, ...required: string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

const contexts = (): JsonSchema => ({
  description: "What you uploaded (`massgen-edge push`) and the agents see.",
  type: ["array", "null"],
  maxItems: MAX_CONTEXTS,
  items: {
    anyOf: [
      { type: "string", pattern: CONTEXT_NAME.source },
      closed(
        {
          path: {
            description: "The name it was uploaded by.",
            type: "string",
            pattern: CONTEXT_NAME.source,
          },
          permission: {
            description: "`write`: the presenter may change it; before, it is read-only.",
            ...PERMISSION.schema,
            default: "read",
          },
          protected_paths: {
            description: "Files, folders and .gitignore patterns that no agent may change.",
            type: "array",
            maxItems: PROTECTION_LIMITS.entries,
            items: PROTECTED_PATH.schema,
          },
        },
        "path",
      ),
    ],
  },
});

const customTools = (): JsonSchema => ({
  description: "Tools over HTTP, and names of tools that this deployment has.",
  anyOf: [
    { type: "array", maxItems: MAX_CUSTOM_TOOLS, items: customTool() },
    { enum: [null, false] },
  ],
});

const customTool = (): JsonSchema => ({
  anyOf: [
    { enum: REGISTRY.map(({ spec }) => spec.name) },
    closed(
      {
        name: {
          description: "The name of a tool of this deployment.",
          enum: REGISTRY.map(({ spec }) => spec.name),
        },
      },
      "name",
    ),
    closed(
      {
        name: { description: "What the model calls it by.", ...NAME },
        description: {
          description: "What it does, for the model.",
          ...HTTP_TOOL.description.schema,
        },
        parameters: {
          description: "Its arguments: a JSON Schema of type object, without references.",
          type: "object",
        },
        url: {
          description: "`{argument}` in path and query is filled in.",
          ...HTTP_TOOL.url.schema,
        },
        method: {
          description: "GET reads only; the others act on the outside.",
          ...HTTP_TOOL.method.schema,
          default: "GET",
        },
        headers: {
          description: `At most ${MAX_HEADERS}. \`\${NAME}\` is a secret, yours or the operator's, that is bound to the address.`,
          ...TEXTS,
        },
        preset_args: {
          description: "Arguments that the model neither sees nor sets.",
          type: "object",
        },
        timeout_seconds: {
          description: "For a whole call.",
          ...HTTP_TOOL.timeoutSeconds.schema,
          default: 60,
        },
      },
      "name",
      "description",
      "url",
    ),
  ],
});

const mcpServers = (): JsonSchema => ({
  description:
    "MCP servers over HTTP, as a list or by name. Programs run beside you: `npm run bridge -- team.yaml`.",
  anyOf: [
    { type: "array", maxItems: MAX_MCP_SERVERS, items: mcpServer("name") },
    // One server, or several by name.
    mcpServer("name"),
    {
      type: "object",
      maxProperties: MAX_MCP_SERVERS,
      patternProperties: { [MCP_NAME.source]: mcpServer() },
      additionalProperties: false,
    },
    { enum: [null, false] },
  ],
});

const secret = (what: string): JsonSchema => ({
  description: `${what}: \`\${NAME}\` of a secret.`,
  type: "string",
  pattern: "^\\$\\{[A-Za-z_]\\w*\\}$",
});

const authorization = (): JsonSchema =>
  closed(
    {
      type: { description: "The kind of OAuth grant.", ...MCP_AUTH.type.schema },
      issuer: {
        description: "The only authorization server that receives the secrets.",
        ...MCP_AUTH.issuer.schema,
      },
      client_id: {
        description: "The id of the client at the authorization server.",
        ...MCP_AUTH.clientId.schema,
      },
      client_secret: secret("Bound to the issuer's origin"),
      access_token: secret("Bound to the server's origin"),
      refresh_token: secret("Bound to the issuer's origin"),
      scope: {
        description: "The requested scopes, separated by spaces. Omitted: the server's default.",
        ...MCP_AUTH.scope.schema,
      },
    },
    "type",
    "issuer",
    "client_id",
  );

const mcpServer = (...required: string[]): JsonSchema => ({
  ...closed(
    {
      name: {
        description: "Part of the names of its tools: mcp__{name}__{tool}.",
        type: "string",
        pattern: MCP_NAME.source,
      },
      type: {
        description: "The transport. Default: streamable HTTP.",
        enum: ["streamable-http", "streamable_http", "http"],
      },
      url: { description: "Public https, or what the operator allows.", ...MCP_SERVER.url.schema },
      headers: {
        description: `At most ${MAX_HEADERS}. \`\${NAME}\` is a secret, yours or the operator's, that is bound to the address.`,
        ...TEXTS,
      },
      auth: {
        description: "OAuth credentials for the server. Omitted: no OAuth.",
        ...authorization(),
      },
      timeout: {
        description:
          "Seconds for connecting; for a call too, without news of progress, unless http_read_timeout is set.",
        ...MCP_SERVER.timeout.schema,
      },
      http_read_timeout: {
        description: "Seconds of a call without news of progress; no call lasts beyond 840 s.",
        ...MCP_SERVER.readTimeout.schema,
      },
      allowed_tools: { description: "Names of tools, bare or full.", ...texts.schema },
      exclude_tools: { description: "Names of tools, bare or full.", ...texts.schema },
      read_only: {
        description:
          "Tools that only read, by bare or full name, with * at the end for any ending: they run in planning mode too. Nothing else follows.",
        ...texts.schema,
      },
      security: {
        description: "Ignored: every address passes the service's own rules.",
        deprecated: true,
      },
    },
    "url",
    ...required,
  ),
});

const rateLimits = (): JsonSchema => ({
  description:
    "How much of the provider's quota all sessions of a tenant use together; calls wait for room.",
  type: ["object", "null"],
  properties: Object.fromEntries(
    Object.entries(RATES).map(([key, { about, kind }]) => [
      key,
      { description: about, ...kind.schema },
    ]),
  ),
  additionalProperties: false,
});
