import { beforeAll, expect, it } from "vitest";
import { packTar } from "modern-tar";
import { hashOf } from "../../../src/workspace/snapshot";
import { teamOf } from "../../durable-objects/session/session-client";
import { ask, makeKey } from "../keyed-client";
import { type Document, DocumentSchema, operationsOf, undocumented } from "./openapi-document";

// A tenant uses every operation. Each response is validated against the OpenAPI document.

const TEAM = teamOf(["quick", "plain"]);
const FILES_TEAM = teamOf(["builder"], { orchestrator: { snapshot_storage: "snapshots" } });
const CONTEXT_TEAM = teamOf(["scribe"], {
  orchestrator: { context_paths: [{ path: "handbook", permission: "write" }] },
});
const NEW_HASH = await hashOf(new TextEncoder().encode("six times seven"));
const QUESTION = "What is six times seven?";
const STREAM = { accept: "text/event-stream" };
const PAGE = { accept: "application/json" };

/**
 * A request and the status of its response. `request`: method and path; names in braces are values
 * that earlier steps have saved. `body` is sent as JSON, and `text` unchanged. `savedField`: field
 * of the response whose value is saved under the name `savedAs`; a dot leads to a field in it.
 */
type Step = {
  request: string;
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
  expectedStatus: number;
  savedField?: string;
  savedAs?: string;
};

const SESSION = "/api/sessions/{session}";
const BUILT_TURN = "/api/sessions/{built}/turns/1";
const RESULT_PATHS = ["", "/answers/agent1.final"];
const EVALS = "/api/evals/simulated/runs";
const CONTEXT = "/api/contexts/handbook";
const HASHES = await Promise.all(
  ["one", "two"].map((text) => hashOf(new TextEncoder().encode(text))),
);
const FILES = HASHES.map((hash, index) => ({ path: `${index}.txt`, sha256: hash, size: 3 }));
const TAR = { "content-type": "application/x-tar" };
const BLOBS_TAR = new TextDecoder().decode(
  await packTar([{ header: { name: HASHES[1] ?? "", size: 3 }, body: "two" }]),
);
const SECRET = {
  value: "the-value",
  bindings: [{ origin: "https://api.example.com", paths: ["/v1"], methods: ["GET"] }],
};
const STEPS: readonly Step[] = [
  { request: "GET /healthz", expectedStatus: 200 },
  { request: "GET /openapi.json", expectedStatus: 200 },
  { request: "GET /docs", expectedStatus: 200 },
  { request: "GET /api/configs", expectedStatus: 200 },
  { request: "GET /api/configs/demo", expectedStatus: 200 },
  { request: "POST /api/configs/validate", body: { config: TEAM }, expectedStatus: 200 },
  {
    request: "POST /api/runs",
    body: { question: QUESTION, config: TEAM },
    expectedStatus: 202,
    savedField: "session_id",
    savedAs: "session",
  },
  { request: `POST ${SESSION}/tickets`, expectedStatus: 201 },
  { request: `GET ${SESSION}/turns/1/events`, expectedStatus: 200 },
  { request: `GET ${SESSION}/turns/1/events?after=1000000`, expectedStatus: 204 },
  { request: `GET ${SESSION}/turns/1/events?limit=1000`, headers: PAGE, expectedStatus: 200 },
  { request: `GET ${SESSION}`, expectedStatus: 200 },
  { request: `GET ${SESSION}/turns/1`, expectedStatus: 200 },
  { request: `GET ${SESSION}/turns/1/answers/agent1.1`, expectedStatus: 200 },
  {
    request: `POST ${SESSION}/turns`,
    body: { question: "And seven?" },
    headers: STREAM,
    expectedStatus: 200,
  },
  {
    request: `POST ${SESSION}/turns`,
    body: { question: "And eight?", parent_turn: 1 },
    expectedStatus: 202,
  },
  { request: `POST ${SESSION}/cancel`, expectedStatus: 200 },
  { request: `POST ${SESSION}/head`, body: { turn: 1 }, expectedStatus: 200 },
  { request: `POST ${SESSION}/compact`, body: {}, expectedStatus: 202 },
  { request: `GET ${SESSION}/turns`, expectedStatus: 200 },
  { request: `GET ${SESSION}/events?limit=1000`, headers: PAGE, expectedStatus: 200 },
  { request: "GET /api/sessions", expectedStatus: 200 },
  { request: `DELETE ${SESSION}`, expectedStatus: 204 },
  {
    request: "POST /api/runs",
    body: { question: QUESTION, config: { ...TEAM, ui: { display_type: "simple" } } },
    headers: STREAM,
    expectedStatus: 200,
  },
  {
    request: "POST /api/runs",
    body: { question: QUESTION, config: FILES_TEAM },
    expectedStatus: 202,
    savedField: "session_id",
    savedAs: "built",
  },
  { request: `GET ${BUILT_TURN}/events`, expectedStatus: 200 },
  ...RESULT_PATHS.flatMap((subpath) => [
    { request: `GET ${BUILT_TURN}${subpath}/files`, expectedStatus: 200 },
    { request: `GET ${BUILT_TURN}${subpath}/files/NOTES.md`, expectedStatus: 200 },
    { request: `GET ${BUILT_TURN}${subpath}/archive.zip`, expectedStatus: 200 },
  ]),
  {
    request: "POST /api/runs",
    body: { question: QUESTION, config: teamOf(["hanging"]) },
    expectedStatus: 202,
    savedField: "session_id",
    savedAs: "busy",
  },
  {
    request: "POST /api/sessions/{busy}/turns",
    body: { question: "And seven?", on_busy: "queue" },
    expectedStatus: 202,
    savedField: "queued.id",
    savedAs: "queued",
  },
  { request: "GET /api/sessions/{busy}/queue", expectedStatus: 200 },
  { request: "GET /api/sessions/{busy}", expectedStatus: 200 },
  { request: "GET /api/sessions/{busy}/queue/{queued}", expectedStatus: 200 },
  { request: "DELETE /api/sessions/{busy}/queue/{queued}", expectedStatus: 204 },
  { request: "POST /api/sessions/{busy}/queue/resume", expectedStatus: 200 },
  { request: "GET /api/sessions/{built}/diff?from=parent&to=turn_1", expectedStatus: 200 },
  { request: "GET /api/sessions/{built}/diff?format=diff", expectedStatus: 200 },
  {
    request: `PUT ${CONTEXT}`,
    body: { files: FILES },
    expectedStatus: 202,
    savedField: "version",
    savedAs: "version",
  },
  {
    request: `PUT ${CONTEXT}/blobs/${HASHES[0]}?version={version}`,
    text: "one",
    expectedStatus: 200,
  },
  {
    request: `PUT ${CONTEXT}/blobs?version={version}`,
    text: BLOBS_TAR,
    headers: TAR,
    expectedStatus: 200,
  },
  { request: `PUT ${CONTEXT}`, body: { files: FILES }, expectedStatus: 201 },
  { request: `PUT ${CONTEXT}`, body: { files: FILES }, expectedStatus: 200 },
  { request: "GET /api/contexts", expectedStatus: 200 },
  { request: `GET ${CONTEXT}?version={version}`, expectedStatus: 200 },
  { request: `GET ${CONTEXT}/files/0.txt`, expectedStatus: 200 },
  { request: `GET ${CONTEXT}/archive.zip`, expectedStatus: 200 },
  {
    request: "POST /api/runs",
    body: { question: QUESTION, config: CONTEXT_TEAM },
    expectedStatus: 202,
    savedField: "session_id",
    savedAs: "given",
  },
  { request: "GET /api/sessions/{given}/turns/1/events", expectedStatus: 200 },
  { request: "GET /api/sessions/{given}/turns/1/changes", expectedStatus: 200 },
  { request: `GET /api/sessions/{given}/turns/1/changes/blobs/${NEW_HASH}`, expectedStatus: 200 },
  { request: `DELETE ${CONTEXT}`, expectedStatus: 204 },
  {
    request: "POST /api/keys",
    body: { name: "ci", scopes: ["read"] },
    expectedStatus: 201,
    savedField: "id",
    savedAs: "key",
  },
  { request: "GET /api/keys", expectedStatus: 200 },
  { request: "DELETE /api/keys/{key}", expectedStatus: 200 },
  { request: "PUT /api/secrets/GITHUB_TOKEN", body: SECRET, expectedStatus: 201 },
  { request: "GET /api/secrets", expectedStatus: 200 },
  { request: "DELETE /api/secrets/GITHUB_TOKEN", expectedStatus: 204 },
  { request: "GET /api/audit", expectedStatus: 200 },
  { request: "GET /api/evals", expectedStatus: 200 },
  { request: `POST ${EVALS}`, expectedStatus: 202, savedField: "id", savedAs: "run" },
  { request: `GET ${EVALS}`, expectedStatus: 200 },
  { request: `GET ${EVALS}/{run}`, expectedStatus: 200 },
];

let document: Document;
const savedValues = new Map<string, string>();
const admin = await makeKey("life", { scopes: "admin" });

beforeAll(async () => {
  document = DocumentSchema.parse(await (await ask("/openapi.json")).json());
});

/**
 * Sends the request of a step and returns the response. Repeats a GET until it has the expected
 * status, because an evaluation run can be read only a moment after its start.
 */
async function send({
  request,
  body,
  text,
  headers = {},
  expectedStatus,
}: Step): Promise<{ method: string; path: string; response: Response }> {
  const [method = "", pattern = ""] = request.split(" ");
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => savedValues.get(name) ?? "");
  const allHeaders = {
    authorization: `Bearer ${admin.key}`,
    "content-type": "application/json",
    ...headers,
  };
  const init = {
    method,
    headers: allHeaders,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(text === undefined ? {} : { body: text }),
  };
  for (let tries = 1; ; tries += 1) {
    const response = await ask(path, init);
    if (response.status === expectedStatus || method !== "GET" || tries === 200)
      return { method, path, response };
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const fieldOf = (value: unknown, field: string): unknown =>
  field.split(".").reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], value);

it.each(STEPS)("$request returns $expectedStatus as documented", async (step) => {
  const { method, path, response } = await send(step);
  expect([response.status, await undocumented(document, { method, path }, response)]).toEqual([
    step.expectedStatus,
    [],
  ]);
  const text = await response.text();
  if (step.savedField !== undefined)
    savedValues.set(step.savedAs ?? "", String(fieldOf(JSON.parse(text), step.savedField)));
});

it("the steps use every operation of the document", () => {
  const requests = STEPS.map(({ request }) => request.split("?")[0] ?? "");
  const unused = operationsOf(document).filter(({ name }) => {
    const pattern = new RegExp(`^${name.replace("{path}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return !requests.some((request) => pattern.test(request));
  });
  expect(unused.map(({ name }) => name)).toEqual([]);
});
