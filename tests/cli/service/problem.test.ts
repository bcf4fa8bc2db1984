import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { examineClock } from "../../../cli/commands/doctor";
import { EXIT, EXIT_MEANINGS, exitCodeLines } from "../../../cli/exit-codes";
import { VERSION } from "../../../cli/invocation";
import { type ConfigSource, toCliError } from "../../../cli/service/problem";
import { Client, ClientError } from "../../../client/index";
import packageJson from "../../../package.json";

const SERVER = "https://edge.example";

/** The error that the command prints for a response. */
function errorFrom(
  { status, body = "", headers = {} }: { status: number; body?: unknown; headers?: HeadersInit },
  config?: ConfigSource,
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = {
    status,
    headers: new Headers(headers),
    bytes: Uint8Array.from(Buffer.from(text)),
  };
  const context = { server: SERVER, ...(config ? { config } : {}) };
  return toCliError(new Client({ server: SERVER }).errorFrom(answer), context);
}

describe("an error response", () => {
  it.each([
    { status: 400, code: "bad_json", exitCode: 1, advice: "Correct this and retry." },
    {
      status: 401,
      code: "unauthorized",
      exitCode: 5,
      advice:
        "Store a key with `npm run ask -- login --server https://edge.example`, or set MASSGEN_EDGE_KEY.",
    },
    {
      status: 402,
      code: "spend_exceeded",
      exitCode: 5,
      advice: "The daily budget is exhausted",
    },
    { status: 403, code: "insufficient_scope", exitCode: 5, advice: "The key does not allow this" },
    {
      status: 404,
      code: "turn_not_found",
      exitCode: 1,
      advice: "To list the turns: npm run ask -- turns <session> --server https://edge.example",
    },
    {
      status: 404,
      code: "answer_not_found",
      exitCode: 1,
      advice: "To list the answers: npm run ask -- show <session> --server https://edge.example",
    },
    { status: 404, code: "session_not_found", exitCode: 1, advice: "Check the id and the server." },
    {
      status: 409,
      code: "turn_running",
      exitCode: 7,
      advice: "Wait for the running turn, attach to it, or cancel it.",
    },
    { status: 422, code: "config_invalid", exitCode: 1, advice: "Correct this and retry." },
    { status: 429, code: "rate_limited", exitCode: 7, advice: "Wait a little and retry." },
    {
      status: 429,
      code: "spend_exceeded",
      exitCode: 5,
      advice: "The daily budget is exhausted",
    },
    { status: 500, code: "internal", exitCode: 2, advice: "Internal error of the service." },
    { status: 503, code: "interrupted", exitCode: 7, advice: "Wait a little and retry." },
  ])("$status $code ends the program with $exitCode", ({ status, code, exitCode, advice }) => {
    const body = { title: "No", status, code, request_id: "req_1" };
    const error = errorFrom({ status, body });
    expect(error).toMatchObject({
      exitCode,
      message: expect.stringContaining(`No (${status} ${code})\n${advice}`),
    });
  });

  it("asks for --backend if the provider of --model is unknown", () => {
    const errors = [{ pointer: "/agents/0/backend", detail: "type is missing", code: "missing" }];
    const problem = { title: "No", status: 422, code: "config_invalid", errors };
    const adviceFor = (name: string) =>
      errorFrom({ status: 422, body: problem }, { name, text: null }).message.split("\n").at(-1);
    expect(adviceFor("--model")).toContain("--backend");
    expect(adviceFor("team.yaml")).not.toContain("--backend");
  });

  it("names the address that a redirect leads to", () => {
    const headers = { location: "https://other.example/api" };
    expect(errorFrom({ status: 301, headers })).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("redirects to https://other.example."),
    });
  });

  it("that is no problem document is reported with its status", () => {
    expect(errorFrom({ status: 502, body: "<h1>Bad gateway</h1>" })).toMatchObject({
      exitCode: 2,
      message: `Unexpected response (502) from ${SERVER}. Check the address.`,
    });
  });
});

describe("a request without an answer", () => {
  const local = "http://127.0.0.1:8787";
  it.each([
    {
      name: "from this machine names the command that starts the service",
      server: local,
      kind: "unreachable" as const,
      message: `Cannot reach ${local}. Start it with \`npm start\`, or name another with --server.`,
    },
    {
      name: "from another machine names the address as a cause",
      server: SERVER,
      kind: "unreachable" as const,
      message: `Cannot reach ${SERVER}. Check the address and your connection, or name another with --server.`,
    },
    {
      name: "after a connection says that the service accepted the request",
      server: SERVER,
      kind: "timed_out" as const,
      message: `${SERVER} accepted the request and did not answer. Check the address and your connection, or name another with --server.`,
    },
    {
      name: "that is complete says that the connection broke",
      server: SERVER,
      kind: "interrupted" as const,
      message: `The connection to ${SERVER} broke during the response. Check the address and your connection, or name another with --server.`,
    },
  ])("$name", ({ server, kind, message }) => {
    expect(toCliError(new ClientError(kind, ""), { server })).toMatchObject({
      exitCode: 6,
      message,
    });
  });
});

describe("exit codes", () => {
  it("start with MassGen's, and each has a meaning", () => {
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
  const serviceDate = "Mon, 01 Mar 2027 12:00:00 GMT";
  const now = Date.parse(serviceDate);
  it.each([
    { clock: now + 2_000, state: "good", text: "agrees" },
    { clock: now + 90_000, state: "bad", text: "90 s ahead of the service's" },
    { clock: now - 61_000, state: "bad", text: "61 s behind the service's" },
  ])("is $state if the message has: $text", ({ clock, state, text }) => {
    expect(examineClock(serviceDate, clock)).toEqual([
      expect.objectContaining({ state, text: expect.stringContaining(text) }),
    ]);
  });
  it.each([null, "soon"])("is not mentioned if the service's date is %s (A33)", (date) => {
    expect(examineClock(date, now)).toEqual([]);
  });
});

it("the program has the version of its package", () => {
  expect(VERSION).toBe(packageJson.version);
});
