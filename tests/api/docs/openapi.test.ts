import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app";
import { OPEN_SERVICE } from "../../builders/open-service";
import { DocumentSchema, faultsOf, operationsOf } from "./openapi-document";

const answer = await createApp().fetch(new Request("http://127.0.0.1/openapi.json"), OPEN_SERVICE);
const document = DocumentSchema.parse(await answer.json());
const operations = operationsOf(document);
const MEDIA = operations.flatMap(({ name, operation }) => [
  ...Object.entries(operation.requestBody?.content ?? {}).map(([type, media]) => ({
    name: `${name} takes`,
    type,
    ...media,
  })),
  ...Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.entries(content ?? {}).map(([type, media]) => ({
      name: `${name} ${status}`,
      type,
      ...media,
    })),
  ),
]);

/** Operations that the service promises. It may have more. */
const ROUTES = [
  "GET /healthz",
  "GET /openapi.json",
  "GET /docs",
  "POST /api/runs",
  "POST /api/sessions/{id}/turns",
  "GET /api/sessions/{id}",
  "POST /api/sessions/{id}/cancel",
  "GET /api/sessions/{id}/turns/{turn}",
  "GET /api/sessions/{id}/turns/{turn}/answers/{label}",
  "GET /api/sessions/{id}/events",
  "GET /api/sessions/{id}/turns/{turn}/events",
];

describe("the OpenAPI document", () => {
  it("is served as JSON", () => {
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  });

  it("lists every route", () => {
    expect(operations.map(({ name }) => name)).toEqual(expect.arrayContaining(ROUTES));
    const served = createApp()
      .routes.filter(({ method, path }) => method !== "ALL" && path !== "/*" && path !== "*")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(\{\.\+\})?/g, "{$1}")}`);
    expect(operations.map(({ name }) => name).sort()).toEqual([...new Set(served)].sort());
  });

  it("names each operation once", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(operations)(
    "$name has every parameter of its path, with a description",
    ({ path, operation }) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(inPath.map(({ name }) => name).sort()).toEqual(names.sort());
      for (const { description } of operation.parameters ?? []) expect(description).not.toBe("");
    },
  );

  it.each(operations.filter(({ path }) => path.startsWith("/api/")))(
    "$name lists its refusals as problems, by their codes",
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
    "$name says who may call it: everyone, a key, or a ticket too",
    ({ path, operation }) => {
      const wanted = !path.startsWith("/api/")
        ? []
        : path.endsWith("/events")
          ? ["bearer", "ticket"]
          : ["bearer"];
      const ways = (operation.security ?? document.security).flatMap((way) => Object.keys(way));
      expect(ways).toEqual(wanted);
      expect(Object.keys(document.components.securitySchemes)).toEqual(
        expect.arrayContaining(ways),
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

  it("names the schema of every JSON body except its own", () => {
    const unnamed = MEDIA.filter(
      ({ type, schema }) => type.endsWith("json") && !("$ref" in schema),
    );
    expect(unnamed.map(({ name }) => name)).toEqual(["GET /openapi.json 200"]);
  });

  it.each(MEDIA.filter(({ type }) => type.endsWith("json")))(
    "$name has a valid example",
    ({ schema, example }) => {
      expect(example).toBeDefined();
      expect(faultsOf(document, schema, example)).toEqual([]);
    },
  );

  it("detects errors, so that the tests above can fail", () => {
    const run = { $ref: "#/components/schemas/Run" };
    expect(faultsOf(document, run, { session_id: "x", turn: 0, status: "running" })).not.toEqual(
      [],
    );
  });
});
