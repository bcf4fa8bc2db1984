import { describe, expect, it } from "vitest";
import {
  type ConfigCheck,
  ConfigCheckSchema,
  type ConfigList,
  ConfigListSchema,
} from "../../../src/protocol/api/listings";
import { post, request, teamOf } from "../../durable-objects/session/session-client";

const validate = async (body: unknown) => {
  const response = await post("/api/configs/validate", body);
  return { status: response.status, check: ConfigCheckSchema.parse(await response.json()) };
};
const sendYaml = (
  body: string,
  headers: Record<string, string> = { "content-type": "application/yaml" },
) => request("/api/configs/validate", { method: "POST", headers, body });

describe("the included teams", () => {
  it("are listed, each with the reasons why it cannot run", async () => {
    const list = await (await request("/api/configs")).json<ConfigList>();
    expect(ConfigListSchema.parse(list)).toEqual(list);
    expect(list.data.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["demo", "one-provider"]),
    );
    expect(list.data.filter((team) => team.default).map(({ name }) => name)).toEqual(["demo"]);
    for (const { title, agents, keys, runnable, missing } of list.data) {
      expect([
        title.length > 10,
        agents.length > 0,
        keys.length > 0,
        runnable,
        missing[0]?.code,
      ]).toEqual([true, true, true, false, "key_not_set"]);
    }
  });

  it("are returned as YAML, and a check of this YAML has the same findings as the list", async () => {
    const { data } = await (await request("/api/configs")).json<ConfigList>();
    for (const { links, missing } of data) {
      const response = await request(links.config);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "application/yaml",
      ]);
      const check = await (await sendYaml(await response.text())).json<ConfigCheck>();
      expect([check.errors, check.refusals]).toEqual([[], missing]);
    }
  });

  it.each(["nobody", "__proto__", "constructor", "..%2fdemo", "demo.yaml"])(
    "do not include one with the name %s",
    async (name) => {
      const response = await request(`/api/configs/${name}`);
      expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
        404,
        "config_not_found",
      ]);
    },
  );

  it("cannot have the name `validate`, which is another route", async () => {
    const response = await request("/api/configs/validate");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("a config that is checked", () => {
  it("is runnable if it is a valid object", async () => {
    const { status, check } = await validate({ config: teamOf(["quick"]) });
    expect([status, check.runnable, check.errors, check.refusals]).toEqual([200, true, [], []]);
    expect(check.warnings).toContainEqual(expect.objectContaining({ code: "price_unknown" }));
  });

  it("has its errors listed with line and column", async () => {
    const config_yaml =
      "agents:\n  - id: a\n    backend:\n      type: openai\n      modle: gpt-6\n      api_key: k\n";
    const { status, check } = await validate({ config_yaml });
    expect([status, check.runnable]).toEqual([200, false]);
    expect(check.errors).toContainEqual(
      expect.objectContaining({ code: "unknown_key", line: 5, column: 7 }),
    );
  });

  it("has its unsupported settings listed separately from errors", async () => {
    const config_yaml =
      "agents:\n  - id: a\n    backend:\n      type: openai\n      model: gpt-6-luna\n      api_key: k\n      enable_image_generation: true\n";
    const { check } = await validate({ config_yaml });
    expect([check.runnable, check.errors.length]).toEqual([false, 0]);
    expect(check.refusals).toEqual([expect.objectContaining({ code: "not_served", line: 7 })]);
  });

  it("may be the name of an included team", async () => {
    const { check } = await validate({ config: "demo" });
    expect(check.refusals.map(({ code }) => code)).toContain("key_not_set");
  });

  it.each([
    { name: "broken", yaml: "agents: [", code: "syntax" },
    { name: "too long", yaml: `# ${"x".repeat(300_000)}`, code: "too_large" },
    { name: "empty", yaml: "", code: "missing" },
    { name: "JSON without agents", yaml: '{"agents": []}', code: "out_of_range" },
  ])("has the error of YAML that is $name", async ({ yaml, code }) => {
    const response = await sendYaml(yaml);
    const check = ConfigCheckSchema.parse(await response.json());
    expect([response.status, check.runnable, check.errors[0]?.code]).toEqual([200, false, code]);
  });

  it.each([
    {
      name: "it is given in both forms",
      body: { config: "demo", config_yaml: "agents: []" },
      status: 422,
    },
    { name: "it is missing", body: {}, status: 422 },
    { name: "it is an unknown name", body: { config: "nobody" }, status: 422 },
  ])("is refused if $name", async ({ body, status }) => {
    expect((await post("/api/configs/validate", body)).status).toBe(status);
  });

  it("is refused if it has another content type or is compressed", async () => {
    expect((await sendYaml("agents: []", { "content-type": "text/plain" })).status).toBe(415);
    const gzip = { "content-type": "application/yaml", "content-encoding": "gzip" };
    expect((await sendYaml("agents: []", gzip)).status).toBe(415);
  });
});
