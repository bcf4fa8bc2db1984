import { z } from "@hono/zod-openapi";
import { HealthSchema } from "../../protocol/api/listings";
import type { App } from "../api-env";
import { docsPage } from "./docs-page";
import type { OpenApiDocument } from "./docs-schema";
import { HEALTH } from "../sessions/examples";
import { json, type Operation } from "../operation";
import { route } from "../routes";

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

const HEALTH_OPERATION: Operation = {
  id: "getHealth",
  tag: "Service",
  summary: "Health and version of the service",
  responses: { 200: json("The service is available", HealthSchema, HEALTH) },
  handle: (context) => context.json({ status: "ok", ...context.env.version }),
};

/** Routes for health and documentation: `/openapi.json`, and `/docs` as its page. */
export function documentationRoutes(app: App): void {
  // The document is created on first use, because it needs all routes, and because most isolates
  // never serve it.
  let cachedDocument: OpenApiDocument | null = null;
  const document = () => {
    cachedDocument ??= openApiDocument(app);
    return cachedDocument;
  };
  let page: ReturnType<typeof docsPage> | null = null;
  route(app, "/healthz", { get: HEALTH_OPERATION });
  route(app, "/openapi.json", {
    get: {
      id: "getOpenApi",
      tag: "Service",
      summary: "This document",
      responses: {
        200: json(
          "OpenAPI 3.1",
          z.looseObject({ openapi: z.string().describe("Version of OpenAPI") }),
          { openapi: "3.1.0" },
        ),
      },
      codes: ["access_closed"],
      handle: (context) => context.json(document()),
    },
  });
  route(app, "/docs", {
    get: {
      id: "getDocs",
      tag: "Service",
      summary: "This document as a page",
      responses: { 200: { description: "HTML", content: { "text/html": { schema: z.string() } } } },
      codes: ["access_closed"],
      handle: async (context) => {
        page ??= docsPage(document());
        const { html, policy } = await page;
        return context.html(html, 200, { "content-security-policy": policy });
      },
    },
  });
}

/** The OpenAPI document of all routes registered so far. */
export const openApiDocument = (app: App): OpenApiDocument => {
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) {
    app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  }
  return app.getOpenAPI31Document({ openapi: "3.1.0", info: INFO, security: [{ bearer: [] }] });
};
