import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ProblemSchema } from "../../../src/protocol/api";
import {
  follow,
  post,
  request,
  type Run,
  teamOf,
} from "../../durable-objects/session/session-client";
import { BAD_INPUTS, type BadInput, toRequest } from "./bad-inputs";
import {
  type Document,
  DocumentSchema,
  operationsOf,
  undocumented,
} from "../docs/openapi-document";

const ORIGIN = "http://127.0.0.1:8787";
const MAX_RESPONSE_CHARS = 12_000;
const USED_KEY = "used-before";
/** The methods that a test can send: all but TRACE and CONNECT. */
const TESTED_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

let run: Run;
let document: Document;
const sentRequests = vi.spyOn(globalThis, "fetch");

beforeAll(async () => {
  document = DocumentSchema.parse(await (await request("/openapi.json")).json());
  const body = { question: "What is six times seven?", config: teamOf(["quick", "plain"]) };
  run = await (await post("/api/runs", body, { "idempotency-key": USED_KEY })).json<Run>();
  await follow(run);
});

/** The stored state that a refused request must not change. */
async function storedState(): Promise<unknown> {
  const events = await request(`/api/sessions/${run.session_id}/events?limit=1000`, {
    headers: { accept: "application/json" },
  });
  const [sessions, claims] = await Promise.all(
    ["sessions", "start_claims"].map((table) =>
      env.DB.prepare(`SELECT count(*) AS rows FROM ${table}`).first(),
    ),
  );
  return { events: await events.text(), sessions, claims };
}

async function expectRefusal(
  response: Response,
  { status, code, pointer }: Pick<BadInput, "status" | "code" | "pointer">,
) {
  const text = await response.text();
  const problem = ProblemSchema.parse(JSON.parse(text));
  expect([response.status, problem.status, problem.code]).toEqual([status, status, code]);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect([problem.detail, problem.request_id]).toEqual([
    expect.stringMatching(/\w{3}/),
    expect.stringMatching(/^[0-9a-f-]{36}$/),
  ]);
  if (pointer !== undefined) expect(problem.errors?.[0]?.pointer).toBe(pointer);
  expect(text.length).toBeLessThan(MAX_RESPONSE_CHARS);
}

function expectSafeHeaders({ headers }: Response): void {
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("access-control-allow-origin")).toBeNull();
  expect(headers.get("access-control-allow-credentials")).toBeNull();
}

it("the spy records requests to providers; the tests below rely on this", async () => {
  sentRequests.mockClear();
  await follow(
    await (await post("/api/runs", { question: "x", config: teamOf(["quick"]) })).json<Run>(),
  );
  expect(sentRequests).toHaveBeenCalled();
});

describe("a bad input is refused and changes nothing:", () => {
  let before: unknown;
  beforeEach(async () => {
    before = await storedState();
    sentRequests.mockClear();
  });
  afterEach(async () => {
    expect(sentRequests).not.toHaveBeenCalled();
    expect(await storedState()).toEqual(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect((await request(`/api/sessions/${run.session_id}`)).status).toBe(200);
  });

  it.for(BAD_INPUTS)("$row $input", async (input, { task }) => {
    task.meta.refusal = `${input.status} ${input.code}`;
    const badRequest = toRequest(ORIGIN, input, { session: run.session_id, usedKey: USED_KEY });
    const path = badRequest.url.slice(ORIGIN.length);
    const response = await exports.default.fetch(badRequest);
    expectSafeHeaders(response);
    expect(await undocumented(document, { method: input.method, path }, response)).toEqual([]);
    await expectRefusal(response, input);
  });

  it("B9 every method that a path does not support", async ({ task }) => {
    task.meta.refusal = "405 method_not_allowed";
    const methodsByPath = new Map(operationsOf(document).map(({ path }) => [path, [] as string[]]));
    for (const { path, method } of operationsOf(document))
      methodsByPath.get(path)?.push(method.toUpperCase());
    for (const [path, supported] of methodsByPath) {
      const allow = supported.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      const address = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
        name === "turn" ? "1" : "session_unknown00",
      );
      for (const method of TESTED_METHODS.filter((tested) => !supported.includes(tested))) {
        const response = await request(address, { method });
        expect([address, method, response.status]).toEqual([address, method, 405]);
        expect(response.headers.get("allow")?.split(", ").sort()).toEqual(allow.sort());
        expectSafeHeaders(response);
        await expectRefusal(response, { status: 405, code: "method_not_allowed" });
      }
    }
  });
});

describe("an unusual request is accepted:", () => {
  it.each([
    { name: "cancelling a completed turn twice", path: "/cancel" },
    { name: "cancelling with a body", path: "/cancel", body: '{"a":1}' },
  ])("B13 $name results in 200", async ({ path, body }) => {
    const init = { method: "POST", ...(body === undefined ? {} : { body }) };
    for (let time = 0; time < 2; time += 1) {
      const response = await request(`/api/sessions/${run.session_id}${path}`, init);
      expect([response.status, await response.json()]).toEqual([
        200,
        { session_id: run.session_id, turn: 1, status: "completed" },
      ]);
    }
  });

  it("B11 an event number from another session counts as a number of this session", async () => {
    const response = await request(`/api/sessions/${run.session_id}/events?after=2`, {
      headers: { accept: "application/json" },
    });
    expect((await response.json<{ first_id: number }>()).first_id).toBe(3);
  });

  it("B7 a budget of 0 makes no paid call", async () => {
    sentRequests.mockClear();
    const response = await post("/api/runs", {
      question: "x",
      config: teamOf(["quick"]),
      budget: { max_tokens: 0 },
    });
    expect([sentRequests.mock.calls.length, response.status]).toEqual([0, 422]);
    expect(await response.json()).toMatchObject({
      code: "budget_too_small",
      capped: "max_tokens",
      cap: 0,
    });
  });

  it("A11 forged proxy headers change nothing", async () => {
    const forged = {
      "x-tenant-id": "other",
      "x-caller-tenant": "other",
      "cf-connecting-ip": "::1",
      "x-forwarded-for": "::1",
    };
    const [plain, other] = await Promise.all([
      request(`/api/sessions/${run.session_id}`),
      request(`/api/sessions/${run.session_id}`, { headers: forged }),
    ]);
    expect([plain.status, other.status]).toEqual([200, 200]);
  });
});

describe("a valid request gets the documented response:", () => {
  it.each([
    { method: "HEAD", path: "/api/sessions/{session}" },
    { path: "/healthz" },
    { path: "/openapi.json" },
    { path: "/docs" },
    { path: "/api/sessions" },
    { path: "/api/sessions/{session}" },
    { path: "/api/sessions/{session}/turns/1" },
    { path: "/api/sessions/{session}/turns/1/answers/agent1.1" },
    { path: "/api/sessions/{session}/turns/1/answers/agent1.final" },
    { path: "/api/sessions/{session}/events", headers: { accept: "application/json" } },
    { path: "/api/sessions/{session}/turns/1/events", headers: { accept: "application/json" } },
    { path: "/api/sessions/{session}/turns/1/events" },
    { path: "/api/sessions/{session}/turns/1/events?after=1000000" },
    { path: "/api/configs" },
    { path: "/api/configs/demo" },
    { method: "POST", path: "/api/sessions/{session}/cancel" },
    { method: "POST", path: "/api/configs/validate", body: '{"config":"demo"}' },
  ])("$method $path", async ({ method = "GET", path, headers = {}, body }) => {
    const address = path.replace("{session}", run.session_id);
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const init = {
      method,
      headers: { ...headers, ...json },
      ...(body === undefined ? {} : { body }),
    };
    const response = await request(address, init);
    expect(response.status).toBeLessThan(300);
    expect(await undocumented(document, { method, path: address }, response)).toEqual([]);
    await response.body?.cancel();
  });
});
