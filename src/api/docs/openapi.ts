import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type RouteConfig,
} from "@asteasolutions/zod-to-openapi";
import { ProblemSchema } from "../../protocol/api";
import type { App } from "../api-env";
import { CODE_MEANINGS, type ErrorCode, statusOf } from "../errors";
import { type Documentation, header, type Method, type OperationResponse } from "../operation";
import { documentedOperations } from "../routes";
import type { OpenApiDocument } from "./docs-schema";

export { docsPage } from "./docs-page";

const INFO = {
  title: "massgen-edge",
  version: "1",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  description:
    "A team of language models answers your question together. Each agent works on its own, sees the others' answers without names, and improves them or votes. The agent with the most votes presents the final answer. Runs survive crashes and deploys, and clients can leave and resume their streams. Errors are `application/problem+json` with a stable `code`.",
};

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key of this service" },
  ticket: {
    type: "apiKey",
    in: "query",
    name: "ticket",
    description: "A ticket for one event stream of the session, valid once",
  },
} as const;

/** The OpenAPI document of all routes of the app. */
export function openApiDocument(app: App): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  for (const { path, method, documentation } of documentedOperations(app))
    registry.registerPath(toRoute(path, method, documentation));
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES))
    registry.registerComponent("securitySchemes", name, scheme);
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: INFO,
    security: [{ bearer: [] }],
  });
}

/** Error codes of all routes below `/api`. */
const SHARED_CODES: readonly ErrorCode[] = [
  "loop_detected",
  "access_closed",
  "unauthorized",
  "insufficient_scope",
  "rate_limited",
  "internal",
  "interrupted",
];
/** Additional error codes of all methods except GET. */
const WRITE_CODES: readonly ErrorCode[] = ["cross_site_refused"];
/** Statuses of temporary errors. Their responses have `retry-after`. */
const RETRYABLE_STATUSES: readonly number[] = [402, 429, 503];

const RETRY_AFTER = header("retry-after", "Seconds to wait before a retry");

/** The operation in the form of the OpenAPI registry. `path` has parameters as `{name}`. */
function toRoute(
  path: string,
  method: Method,
  { id, tag, request, responses, codes = [], ...texts }: Documentation,
): RouteConfig {
  const { body, ...parts } = request ?? {};
  const isApiRoute = path.startsWith("/api/");
  const methodCodes = method === "get" ? [] : WRITE_CODES;
  const sharedCodes = isApiRoute ? [...SHARED_CODES, ...methodCodes] : [];
  return {
    method,
    path,
    operationId: id,
    tags: [tag],
    ...(isApiRoute ? {} : { security: [] }),
    ...texts,
    request: { ...parts, ...(body && { body: { content: body, required: true } }) },
    responses: { ...responses, ...errorResponses([...sharedCodes, ...codes]) },
  };
}

/** The descriptions of error responses: one for each status, with all codes of this status. */
function errorResponses(codes: readonly ErrorCode[]): Record<number, OperationResponse> {
  const statuses = [...new Set(codes.map(statusOf))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const codesOfStatus = codes.filter((code) => statusOf(code) === status);
      const [first] = codesOfStatus;
      const example = {
        type: "about:blank",
        title: first?.replaceAll("_", " "),
        status,
        code: first,
        request_id: EXAMPLE_REQUEST,
      };
      const description = codesOfStatus
        .map((code) => `\`${code}\`: ${CODE_MEANINGS[code]}`)
        .join(". ");
      const content = { "application/problem+json": { schema: ProblemSchema, example } };
      return [
        status,
        {
          description,
          content,
          ...(RETRYABLE_STATUSES.includes(status) ? { headers: RETRY_AFTER } : {}),
        },
      ];
    }),
  );
}

const EXAMPLE_REQUEST = "0f8fad5b-d9cb-469f-a165-70867728950e";
