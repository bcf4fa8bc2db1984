import { describe, expect, it } from "vitest";
import { post, request, teamOf } from "../../durable-objects/session/session-client";

const JSON_TYPE = { "content-type": "application/json" };
const question = "What is six times seven?";
const postText = (body: string, headers: Record<string, string> = JSON_TYPE) =>
  request("/api/runs", { method: "POST", headers, body });

describe("POST /api/runs refuses", () => {
  it.each([
    {
      name: "JSON sent as text",
      body: "{}",
      headers: { "content-type": "text/plain" },
      status: 415,
      code: "unsupported_media_type",
    },
    {
      name: "a compressed body",
      body: "{}",
      headers: { ...JSON_TYPE, "content-encoding": "gzip" },
      status: 415,
      code: "unsupported_media_type",
    },
    {
      name: "broken JSON",
      body: '{"question": "x',
      headers: JSON_TYPE,
      status: 400,
      code: "bad_json",
    },
    {
      name: "JSON followed by other characters",
      body: '{"question": "x"} y',
      headers: JSON_TYPE,
      status: 400,
      code: "bad_json",
    },
    {
      name: "ten thousand opening brackets",
      body: "[".repeat(10_000),
      headers: JSON_TYPE,
      status: 400,
      code: "bad_json",
    },
    { name: "an array", body: "[]", headers: JSON_TYPE, status: 422, code: "request_invalid" },
    { name: "null", body: "null", headers: JSON_TYPE, status: 422, code: "request_invalid" },
    {
      name: "a body of 3 MiB",
      body: `{"question": "${"x".repeat(3 * 1024 * 1024)}"}`,
      headers: JSON_TYPE,
      status: 413,
      code: "body_too_large",
    },
    {
      name: "a field named __proto__",
      body: '{"question":"x","__proto__":{"admin":true}}',
      headers: JSON_TYPE,
      status: 422,
      code: "request_invalid",
    },
  ])("$name with $status $code", async ({ body, headers, status, code }) => {
    const response = await postText(body, headers);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      status,
      "application/problem+json",
    ]);
    expect(await response.json()).toMatchObject({ code, status });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it.each([
    { name: "a request without a question", body: {}, pointer: "/question" },
    { name: "a blank question", body: { question: " \n" }, pointer: "/question" },
    { name: "a question that is not a string", body: { question: 42 }, pointer: "/question" },
    { name: "an unknown field", body: { question, budgets: {} }, pointer: "" },
    {
      name: "a negative budget",
      body: { question, budget: { max_cost_usd: -1 } },
      pointer: "/budget/max_cost_usd",
    },
    {
      name: "a budget that is a string",
      body: { question, budget: { max_cost_usd: "Infinity" } },
      pointer: "/budget/max_cost_usd",
    },
    {
      name: "a timeout of 0",
      body: { question, timeout_seconds: 0 },
      pointer: "/timeout_seconds",
    },
    {
      name: "a timeout of 1e9 seconds",
      body: { question, timeout_seconds: 1e9 },
      pointer: "/timeout_seconds",
    },
    {
      name: "two configs",
      body: { question, config: "demo", config_yaml: "agents: []" },
      pointer: "/config_yaml",
    },
  ])("$name, and returns a pointer to the field", async ({ body, pointer }) => {
    const response = await post("/api/runs", body);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "request_invalid",
      errors: [expect.objectContaining({ pointer })],
    });
  });

  it("a config with an unknown key, and returns its line", async () => {
    const config_yaml =
      "agents:\n  - id: a\n    backend:\n      type: chatcompletion\n      modle: gpt-5\n";
    const response = await post("/api/runs", { question, config_yaml });
    expect(response.status).toBe(422);
    const problem = await response.json<{
      code: string;
      detail: string;
      errors: { line: number; detail: string }[];
    }>();
    expect(problem.code).toBe("config_invalid");
    expect(problem.errors).toContainEqual(
      expect.objectContaining({ line: 5, detail: expect.stringContaining("model") }),
    );
  });

  it("a config that is too long with an error of the config, not of the body", async () => {
    const response = await post("/api/runs", {
      question,
      config_yaml: `# ${"x".repeat(1_100_000)}`,
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "config_invalid",
      errors: [{ code: "too_large" }],
    });
  });

  it("no body for its size if the config and the question have their maximum length and only escapes", async () => {
    const escaped = (length: number) => "\\u0416".repeat(length);
    const config_yaml = `# ${escaped(256 * 1024 - 2)}`;
    const response = await postText(
      `{"question": "${escaped(200_000)}", "config_yaml": "${config_yaml}"}`,
    );
    expect(await response.json()).toMatchObject({
      status: 422,
      code: "config_invalid",
      errors: [{ code: "missing" }],
    });
  });

  it("a hundred thousand unknown fields with a short message", async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`field${index}`, 1]),
    );
    const response = await post("/api/runs", { question, ...fields });
    expect(response.status).toBe(422);
    expect((await response.text()).length).toBeLessThan(2_000);
  });

  it.each(["nobody", "__proto__", "constructor", "toString"])(
    "the unknown team %s, and lists the included teams",
    async (config) => {
      const response = await post("/api/runs", { question, config });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        code: "unknown_team",
        detail: expect.stringContaining("demo"),
      });
    },
  );

  it("a cost limit for a model without a known price, and names the agent and the alternative", async () => {
    const response = await post("/api/runs", {
      question,
      config: teamOf(["quick"]),
      budget: { max_cost_usd: 1 },
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "price_unknown",
      agents: ["a0"],
      detail: expect.stringContaining("max_tokens"),
    });
    const run = await (await post("/api/runs", { question, config: teamOf(["quick"]) })).json<{
      session_id: string;
    }>();
    await (await request(`/api/sessions/${run.session_id}/turns/1/events`)).text();
    const turn = await post(`/api/sessions/${run.session_id}/turns`, {
      question,
      budget: { max_cost_usd: 1 },
    });
    expect(await turn.json()).toMatchObject({ status: 422, code: "price_unknown" });
  });

  it("an otherwise valid config with an endpoint on a private network", async () => {
    const agents = [
      {
        id: "a",
        backend: {
          type: "chatcompletion",
          model: "m",
          base_url: "http://169.254.169.254/v1",
          api_key: "k",
        },
      },
    ];
    expect((await post("/api/runs", { question, config: { agents } })).status).toBe(422);
  });
});

describe("requests for events", () => {
  it.each(["limit=0", "limit=1e3", "limit=1001", "detail=all"])(
    "with the query parameter %s are refused",
    async (query) => {
      const response = await request(`/api/sessions/session_unknown00/events?${query}`, {
        headers: { accept: "application/json" },
      });
      expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
        400,
        "bad_query",
      ]);
    },
  );
});

describe("the service", () => {
  it.each([
    { path: "/api/runs", method: "GET", allow: "POST" },
    { path: "/api/runs", method: "DELETE", allow: "POST" },
    { path: "/healthz", method: "POST", allow: "GET, HEAD" },
    { path: "/api/sessions/session_unknown00/cancel", method: "GET", allow: "POST" },
    { path: "/api/sessions/session_unknown00/events", method: "PUT", allow: "GET, HEAD" },
  ])(
    "responds to $method $path with 405 and lists the supported methods",
    async ({ path, method, allow }) => {
      const response = await request(path, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
      expect(await response.json()).toMatchObject({ code: "method_not_allowed" });
    },
  );

  it("opens no stream for a HEAD request", async () => {
    const run = await (
      await post("/api/runs", { question, config: teamOf(["quick", "plain"]) })
    ).json<{ session_id: string }>();
    const response = await request(`/api/sessions/${run.session_id}/events`, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it("B19 forbids caching and media type sniffing", async () => {
    const { headers } = await request("/healthz");
    expect([headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
      "no-store",
      "nosniff",
    ]);
  });
});

describe("the start of a run", () => {
  it("returns the stream of the turn, with the path of the session", async () => {
    const body = { question, config: teamOf(["quick", "plain"]) };
    const response = await post("/api/runs", body, { accept: "text/event-stream" });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream",
    ]);
    const session = response.headers.get("location") ?? "";
    const text = await response.text();
    expect(text).toContain("event: turn.completed");
    const withoutWarnings = text.replace(/^(: warning .*\n)+\n/, "");
    expect(await (await request(`${session}/turns/1/events`)).text()).toBe(withoutWarnings);
  });

  it("returns the warnings of its config in a JSON response", async () => {
    const config = teamOf(["quick"], { ui: { display_type: "simple" } });
    const body = await (await post("/api/runs", { question, config })).json<{
      warnings: { detail: string }[];
    }>();
    expect(body.warnings).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining("display_type") }),
    );
  });

  it("returns the warnings of its config in the stream, before the first event", async () => {
    const config = teamOf(["hanging"], { ui: { display_type: "simple" } });
    const response = await post("/api/runs", { question, config }, { accept: "text/event-stream" });
    // The second warning is that the price of the model is not known.
    expect([response.status, response.headers.get("x-config-warnings")]).toEqual([200, "2"]);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: ")) text += (await reader?.read())?.value ?? "";
    expect(text).toMatch(/^(: warning \{.*\}\n){2}\nretry: /);
    expect(text).toContain("display_type");
    await reader?.cancel();
    await post(`${response.headers.get("location")}/cancel`);
  });

  it("returns links to the session, the turn and the events if it is requested as JSON", async () => {
    const response = await post("/api/runs", { question, config: teamOf(["quick"]) });
    const { links, status } = await response.json<{
      status: string;
      links: Record<string, string>;
    }>();
    expect([response.status, status, response.headers.get("location")]).toEqual([
      202,
      "running",
      links["session"],
    ]);
    for (const name of ["session", "turn", "events"])
      expect((await request(links[name] ?? "")).ok).toBe(true);
  });
});
