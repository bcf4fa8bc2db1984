import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app";
import { OPEN_SERVICE } from "../../builders/open-service";
import { DocumentSchema, faultsOf, operationsOf } from "./openapi-document";

const response = await createApp().fetch(
  new Request("http://127.0.0.1/openapi.json"),
  OPEN_SERVICE,
);
const document = DocumentSchema.parse(await response.json());
const operations = operationsOf(document);
const MEDIA = operations.flatMap(({ name, operation }) => [
  ...Object.entries(operation.requestBody?.content ?? {}).map(([type, media]) => ({
    name: `${name}: the request body`,
    type,
    ...media,
  })),
  ...Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.entries(content ?? {}).map(([type, media]) => ({
      name: `${name}: the response ${status}`,
      type,
      ...media,
    })),
  ),
]);

/** Operations that clients rely on. The service may have others. */
const ROUTES = [
  "GET /healthz",
  "GET /openapi.json",
  "GET /docs",
  "POST /api/runs",
  "POST /api/sessions/{id}/turns",
  "GET /api/sessions/{id}",
  "POST /api/sessions/{id}/cancel",
  "POST /api/sessions/{id}/head",
  "POST /api/sessions/{id}/compact",
  "GET /api/sessions/{id}/turns",
  "GET /api/sessions/{id}/turns/{turn}",
  "GET /api/sessions/{id}/turns/{turn}/answers/{label}",
  "GET /api/sessions/{id}/events",
  "GET /api/sessions/{id}/turns/{turn}/events",
];

describe("the OpenAPI document", () => {
  it("is served as JSON", () => {
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "application/json",
    ]);
  });

  it("lists every route", () => {
    expect(operations.map(({ name }) => name)).toEqual(expect.arrayContaining(ROUTES));
    const servedRoutes = createApp()
      .routes.filter(({ method, path }) => method !== "ALL" && path !== "/*" && path !== "*")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(\{\.\+\})?/g, "{$1}")}`);
    expect(operations.map(({ name }) => name).sort()).toEqual([...new Set(servedRoutes)].sort());
  });

  it("has a unique id for each operation", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(operations)("describes every path parameter of $name", ({ path, operation }) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const pathParameters = (operation.parameters ?? []).filter(
      (parameter) => parameter.in === "path",
    );
    expect(pathParameters.map(({ name }) => name).sort()).toEqual(names.sort());
    for (const { description } of operation.parameters ?? []) expect(description).not.toBe("");
  });

  it.each(operations.filter(({ path }) => path.startsWith("/api/")))(
    "lists the error responses of $name with their codes",
    ({ operation }) => {
      const refusals = Object.entries(operation.responses).filter(
        ([status]) => Number(status) >= 400,
      );
      expect(refusals.map(([status]) => status)).toEqual(
        expect.arrayContaining(["401", "500", "503"]),
      );
      for (const [, { description, content }] of refusals) {
        expect(description).toMatch(/^`\w+`: /);
        expect(content?.["application/problem+json"]?.schema).toEqual({
          $ref: "#/components/schemas/Problem",
        });
      }
    },
  );

  it.each(operations)(
    "states how $name is authenticated: not at all, by a key, or by either a key or a ticket",
    ({ path, operation }) => {
      const expected = !path.startsWith("/api/")
        ? []
        : path.endsWith("/events")
          ? ["bearer", "ticket"]
          : ["bearer"];
      const schemeNames = (operation.security ?? document.security).flatMap((scheme) =>
        Object.keys(scheme),
      );
      expect(schemeNames).toEqual(expected);
      expect(Object.keys(document.components.securitySchemes)).toEqual(
        expect.arrayContaining(schemeNames),
      );
    },
  );

  it("has no reference without a target", () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name ?? "",
    );
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([...new Set(names)]),
    );
  });

  it("has a named schema for every JSON body except the document itself", () => {
    const unnamed = MEDIA.filter(
      ({ type, schema }) => type.endsWith("json") && !("$ref" in schema),
    );
    expect(unnamed.map(({ name }) => name)).toEqual(["GET /openapi.json: the response 200"]);
  });

  it.each(MEDIA.filter(({ type }) => type.endsWith("json")))(
    "has a valid example for $name",
    ({ schema, example }) => {
      expect(example).toBeDefined();
      expect(faultsOf(document, schema, example)).toEqual([]);
    },
  );

  it("has a schema that an invalid example violates, so the tests of examples can fail", () => {
    const run = { $ref: "#/components/schemas/Run" };
    expect(faultsOf(document, run, { session_id: "x", turn: 0, status: "running" })).not.toEqual(
      [],
    );
  });
});
