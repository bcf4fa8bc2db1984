import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app";
import { OPEN_SERVICE } from "../../builders/open-service";
import { docsPage } from "../../../src/api/docs/docs-page";

describe("the docs page", () => {
  let response: Response;
  let page = "";
  beforeAll(async () => {
    response = await createApp().fetch(new Request("http://127.0.0.1/docs"), OPEN_SERVICE);
    page = await response.text();
  });

  it("is HTML that lists every path of the API", async () => {
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=UTF-8",
    ]);
    const openApi: { paths: Record<string, unknown> } = JSON.parse(
      await (
        await createApp().fetch(new Request("http://127.0.0.1/openapi.json"), OPEN_SERVICE)
      ).text(),
    );
    for (const path of Object.keys(openApi.paths)) expect(page).toContain(`${path}</code>`);
  });

  it("loads nothing from a server: no style sheet, script, image or frame", () => {
    const attributes = [...page.matchAll(/\b(?:src|href|action|data|style|on\w+)="([^"]*)"/g)].map(
      ([, value]) => value ?? "",
    );
    expect(attributes.length).toBeGreaterThan(20);
    for (const value of attributes) expect(value).toMatch(/^(#|\/openapi\.json$)/);
    expect(page).not.toMatch(/<(script|img|link|iframe|object|embed|form)\b|@import|url\(/i);
  });

  it("B19 has a Content-Security-Policy that allows only its own style", () => {
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(response.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it("links only to its own anchors", () => {
    const ids = new Set([...page.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id));
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });

  it("escapes all texts of the OpenAPI document", async () => {
    const markup = `<img src=x onerror=alert(1)>"'\`<b>`;
    const { html } = await docsPage({
      openapi: "3.1.0",
      info: { title: markup, version: "1", description: markup },
      paths: {
        "/x": {
          get: {
            operationId: markup,
            tags: [markup],
            summary: markup,
            responses: { 200: { description: markup } },
          },
        },
      },
      components: {
        schemas: {
          Schema: {
            type: "object",
            properties: { [markup]: { type: "string", description: markup } },
          },
        },
      },
    });
    expect(html).not.toMatch(/<img|<b>|"'/);
  });
});
