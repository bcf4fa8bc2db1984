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

/** The parts of the config's JSON Schema for tools, uploads and rate limits. */
export const toolSchemas = (): Record<string, JsonSchema> => ({
  contexts: contexts(),
  "custom-tools": customTools(),
  "mcp-servers": mcpServers(),
  "rate-limits": rateLimits(),
});

const NAME: JsonSchema = { type: "string", pattern: TOOL_NAME.source };
const HEADER_VALUES: JsonSchema = {
  type: "object",
  patternProperties: { "^.+$": { type: "string", maxLength: MAX_KEY_CHARS } },
};

/** An object that allows no other properties. */
function closedObject(properties: Record<string, JsonSchema>, ...required: string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

const contexts = (): JsonSchema => ({
  description: "Uploads (`massgen-edge push`) that the agents can read.",
  type: ["array", "null"],
  maxItems: MAX_CONTEXTS,
  items: {
    anyOf: [
      { type: "string", pattern: CONTEXT_NAME.source },
      closedObject(
        {
          path: {
            description: "Name of the upload.",
            type: "string",
            pattern: CONTEXT_NAME.source,
          },
          permission: {
            description:
              "`write`: the presenter may change the upload. Until the presentation, it is read-only.",
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
  description: "Tools over HTTP, and names of tools of this deployment.",
  anyOf: [
    { type: "array", maxItems: MAX_CUSTOM_TOOLS, items: customTool() },
    { enum: [null, false] },
  ],
});

const customTool = (): JsonSchema => ({
  anyOf: [
    { enum: REGISTRY.map(({ spec }) => spec.name) },
    closedObject(
      {
        name: {
          description: "The name of a tool of this deployment.",
          enum: REGISTRY.map(({ spec }) => spec.name),
        },
      },
      "name",
    ),
    closedObject(
      {
        name: { description: "Name of the tool for the model.", ...NAME },
        description: {
          description: "Description of the tool for the model.",
          ...HTTP_TOOL.description.schema,
        },
        parameters: {
          description: "Arguments of the tool: a JSON Schema of type object, without references.",
          type: "object",
        },
        url: {
          description:
            "Address of the tool. `{argument}` in path and query is replaced by the argument.",
          ...HTTP_TOOL.url.schema,
        },
        method: {
          description: "GET only reads; the other methods act on the outside.",
          ...HTTP_TOOL.method.schema,
          default: "GET",
        },
        headers: {
          description: `At most ${MAX_HEADERS}. \`\${NAME}\` is a secret, yours or the operator's, that is bound to the address.`,
          ...HEADER_VALUES,
        },
        preset_args: {
          description: "Arguments that the model neither sees nor sets.",
          type: "object",
        },
        timeout_seconds: {
          description: "Time limit of a call in seconds.",
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
    "MCP servers over HTTP, as a list or by name. For local programs, run `npm run bridge -- team.yaml`.",
  anyOf: [
    { type: "array", maxItems: MAX_MCP_SERVERS, items: mcpServer("name") },
    // A single server, or a mapping of names to servers.
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

const secretBoundTo = (origin: string): JsonSchema => ({
  description: `\`\${NAME}\` of a secret that is bound to ${origin}.`,
  type: "string",
  pattern: "^\\$\\{[A-Za-z_]\\w*\\}$",
});

const authorization = (): JsonSchema =>
  closedObject(
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
      client_secret: secretBoundTo("the issuer's origin"),
      access_token: secretBoundTo("the server's origin"),
      refresh_token: secretBoundTo("the issuer's origin"),
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
  ...closedObject(
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
      url: {
        description: "Address of the server: public https, or an origin that the operator allows.",
        ...MCP_SERVER.url.schema,
      },
      headers: {
        description: `At most ${MAX_HEADERS}. \`\${NAME}\` is a secret, yours or the operator's, that is bound to the address.`,
        ...HEADER_VALUES,
      },
      auth: {
        description: "OAuth credentials for the server. Omitted: no OAuth.",
        ...authorization(),
      },
      timeout: {
        description:
          "Seconds for connecting. Also the seconds of a call without a progress notification, unless `http_read_timeout` is set.",
        ...MCP_SERVER.timeout.schema,
      },
      http_read_timeout: {
        description:
          "Seconds of a call without a progress notification. No call lasts longer than 840 s.",
        ...MCP_SERVER.readTimeout.schema,
      },
      allowed_tools: {
        description: "Tools that agents get, by bare or full name. Omitted: all.",
        ...texts.schema,
      },
      exclude_tools: {
        description: "Tools that agents do not get, by bare or full name.",
        ...texts.schema,
      },
      read_only: {
        description:
          "Tools that only read, by bare or full name; `*` at the end matches any ending. They also run in planning mode. No other effect.",
        ...texts.schema,
      },
      security: {
        description: "Ignored: the service checks every address itself.",
        deprecated: true,
      },
    },
    "url",
    ...required,
  ),
});

const rateLimits = (): JsonSchema => ({
  description:
    "Rate limits of all sessions of a tenant together. Calls wait until the limits permit them.",
  type: ["object", "null"],
  properties: Object.fromEntries(
    Object.entries(RATES).map(([key, { description, kind }]) => [
      key,
      { description, ...kind.schema },
    ]),
  ),
  additionalProperties: false,
});
