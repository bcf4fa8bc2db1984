import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { examineClock } from "../../../cli/commands/doctor";
import { EXIT, EXIT_MEANINGS, exitCodeLines } from "../../../cli/exit-codes";
import { VERSION } from "../../../cli/invocation";
import { errorFrom, unreachable } from "../../../cli/service/problem";
import packageJson from "../../../package.json";

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
const SERVER = "https://edge.example";

describe("a response that is not a success", () => {
  it.each([
    { status: 400, code: "bad_json", exitCode: 1, advice: "Correct that and ask again." },
    {
      status: 401,
      code: "unauthorized",
      exitCode: 5,
      advice: "Store a key with `npm run ask -- login`, or set MASSGEN_EDGE_KEY.",
    },
    {
      status: 402,
      code: "spend_exceeded",
      exitCode: 5,
      advice: "The limit of spending is reached",
    },
    { status: 403, code: "insufficient_scope", exitCode: 5, advice: "The key does not allow this" },
    { status: 404, code: "session_not_found", exitCode: 1, advice: "Check the id and the server." },
    {
      status: 409,
      code: "turn_running",
      exitCode: 7,
      advice: "Wait for the running turn, attach to it, or cancel it.",
    },
    { status: 422, code: "config_invalid", exitCode: 1, advice: "Correct that and ask again." },
    { status: 429, code: "rate_limited", exitCode: 7, advice: "Wait a little and ask again." },
    {
      status: 429,
      code: "spend_exceeded",
      exitCode: 5,
      advice: "The limit of spending is reached",
    },
    { status: 500, code: "internal", exitCode: 2, advice: "The fault is the service's." },
    { status: 503, code: "interrupted", exitCode: 7, advice: "Wait a little and ask again." },
  ])(
    "$status $code ends the program with $exitCode",
    async ({ status, code, exitCode, advice }) => {
      const error = await errorFrom(
        answer(status, { title: "No", status, code, request_id: "req_1" }),
        { server: SERVER },
      );
      expect(error).toMatchObject({
        exitCode,
        message: expect.stringContaining(`No (${status} ${code})\n${advice}`),
      });
    },
  );

  it("names the option that sets the backend of a model", async () => {
    const errors = [{ pointer: "/agents/0/backend", detail: "type is missing", code: "missing" }];
    const problem = { title: "No", status: 422, code: "config_invalid", errors };
    const adviceFor = async (name: string) =>
      (
        await errorFrom(answer(422, problem), { server: SERVER, config: { name, text: null } })
      ).message
        .split("\n")
        .at(-1);
    expect(await adviceFor("--model")).toContain("with --backend");
    expect(await adviceFor("team.yaml")).toBe("Correct that and ask again.");
  });

  it("is not followed to another address", async () => {
    const error = await errorFrom(answer(301, "", { location: "https://other.example/api" }), {
      server: SERVER,
    });
    expect(error).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("sends its callers to https://other.example."),
    });
  });
  it("is reported as another server if it is not from the service", async () => {
    const error = await errorFrom(answer(502, "<h1>Bad gateway</h1>"), { server: SERVER });
    expect(error).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("answered 502, not as this service does"),
    });
  });
});

describe("a request without a response", () => {
  const late = new DOMException("late", "TimeoutError");
  it.each([
    {
      name: "on this machine prints the command that starts the service",
      server: "http://127.0.0.1:8787",
      cause: new TypeError("fetch failed"),
      says: "No service answers at http://127.0.0.1:8787. Start it with `npm start`, or name another with --server.",
    },
    {
      name: "to another machine asks to check the address",
      server: SERVER,
      cause: new TypeError("fetch failed"),
      says: `No service answers at ${SERVER}. Check the address and your connection, or name another with --server.`,
    },
    {
      name: "in time is reported as a timeout",
      server: SERVER,
      cause: late,
      says: `${SERVER} took the request and did not answer. Check the address and your connection, or name another with --server.`,
    },
  ])("$name", ({ server, cause, says }) => {
    expect(unreachable({ server }, cause)).toMatchObject({ exitCode: 6, message: says });
  });
});

describe("exit codes", () => {
  it("begin with those of MassGen, each with its meaning", () => {
    expect(Object.values(EXIT)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(exitCodeLines()).toHaveLength(Object.keys(EXIT_MEANINGS).length);
    expect(exitCodeLines()[4]).toMatch(/^ {2}4 {2}detached or cancelled/);
  });
});

it("the page about the command line lists the same exit codes", async () => {
  const page = await readFile("docs/reference/cli.md", "utf8");
  const codes = [...page.matchAll(/^\| (\d) \| /gm)].map(([, code]) => code);
  expect(codes).toEqual(exitCodeLines().map((line) => line.trim().split(" ")[0]));
});

describe("the clock", () => {
  const there = "Mon, 01 Mar 2027 12:00:00 GMT";
  const now = Date.parse(there);
  it.each([
    { date: there, at: now + 2_000, state: "good", text: "agrees" },
    { date: there, at: now + 90_000, state: "bad", text: "90 s ahead of the service's" },
    { date: there, at: now - 61_000, state: "bad", text: "61 s behind the service's" },
  ])("is $state when it $text", ({ date, at, state, text }) => {
    expect(examineClock(date, at)).toEqual([
      expect.objectContaining({ state, text: expect.stringContaining(text) }),
    ]);
  });
  it.each([null, "soon"])("is not reported if the date of the service is %s (A33)", (date) => {
    expect(examineClock(date, now)).toEqual([]);
  });
});

it("the program has the version of its package", () => {
  expect(VERSION).toBe(packageJson.version);
});
