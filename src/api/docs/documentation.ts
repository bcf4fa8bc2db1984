import * as z from "zod";
import { version } from "../../../package.json";
import { lazy } from "../../async/lazy";
import { HealthSchema } from "../../protocol/api/health";
import type { App } from "../api-env";
import type { OpenApiDocument } from "./docs-schema";
import { json, type Operation } from "../operation";
import { route } from "../routes";

const HEALTH = { status: "ok", version, deployment: "2f0c8f5e-6a3b-4b0e-9d54-1f6a4a0f2c11" };

const HEALTH_OPERATION: Operation = {
  id: "getHealth",
  tag: "Service",
  summary: "Health and version of the service",
  responses: { 200: json("The service is available", HealthSchema, HEALTH) },
  handle: (context) => context.json({ status: "ok", ...context.env.version }),
};

/** Most isolates never serve the document. */
const generator = lazy(() => import("./openapi"));

/**
 * Routes for health and documentation: `/openapi.json`, and `/docs` as its page. `whole` loads an
 * app with all routes, which the document describes.
 */
export function documentationRoutes(app: App, whole: () => Promise<App>): void {
  let cachedDocument: OpenApiDocument | null = null;
  const document = async () => {
    const { openApiDocument } = await generator();
    cachedDocument ??= openApiDocument(await whole());
    return cachedDocument;
  };
  let page: { html: string; policy: string } | null = null;
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
      handle: async (context) => context.json(await document()),
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
        page ??= await (await generator()).docsPage(await document());
        const { html, policy } = page;
        return context.html(html, 200, { "content-security-policy": policy });
      },
    },
  });
}
