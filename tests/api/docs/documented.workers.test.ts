import { beforeAll, expect, it } from "vitest";
import { packTar } from "modern-tar";
import { hashOf } from "../../../src/workspace/snapshot";
import { teamOf } from "../../durable-objects/session/session-client";
import { ask, makeKey } from "../keyed-client";
import { type Document, DocumentSchema, operationsOf, undocumented } from "./openapi-document";

/** A tenant uses every operation, and each response is validated against the document. */
const TEAM = teamOf(["quick", "plain"]);
const FILES_TEAM = teamOf(["builder"], { orchestrator: { snapshot_storage: "snapshots" } });
const GIVEN_TEAM = teamOf(["scribe"], {
  orchestrator: { context_paths: [{ path: "handbook", permission: "write" }] },
});
const NEW = await hashOf(new TextEncoder().encode("six times seven"));
const QUESTION = "What is six times seven?";
const STREAM = { accept: "text/event-stream" };
const PAGE = { accept: "application/json" };

/** `body` is sent as JSON, `text` unchanged. */
type Step = {
  asks: string;
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
  gives: number;
  keeps?: string;
  as?: string;
};

const SESSION = "/api/sessions/{session}";
const BUILT = "/api/sessions/{built}/turns/1";
const FILES_OF = ["", "/answers/agent1.final"];
const EVALS = "/api/evals/simulated/runs";
const CONTEXT = "/api/contexts/handbook";
const HASHES = await Promise.all(
  ["one", "two"].map((text) => hashOf(new TextEncoder().encode(text))),
);
const FILES = HASHES.map((hash, nth) => ({ path: `${nth}.txt`, sha256: hash, size: 3 }));
const TAR = { "content-type": "application/x-tar" };
const PACK = new TextDecoder().decode(
  await packTar([{ header: { name: HASHES[1] ?? "", size: 3 }, body: "two" }]),
);
const SECRET = {
  value: "the-value",
  bindings: [{ origin: "https://api.example.com", paths: ["/v1"], methods: ["GET"] }],
};
const STEPS: readonly Step[] = [
  { asks: "GET /healthz", gives: 200 },
  { asks: "GET /openapi.json", gives: 200 },
  { asks: "GET /docs", gives: 200 },
  { asks: "GET /api/configs", gives: 200 },
  { asks: "GET /api/configs/demo", gives: 200 },
  { asks: "POST /api/configs/validate", body: { config: TEAM }, gives: 200 },
  {
    asks: "POST /api/runs",
    body: { question: QUESTION, config: TEAM },
    gives: 202,
    keeps: "session_id",
    as: "session",
  },
  { asks: `POST ${SESSION}/tickets`, gives: 201 },
  { asks: `GET ${SESSION}/turns/1/events`, gives: 200 },
  { asks: `GET ${SESSION}/turns/1/events?after=1000000`, gives: 204 },
  { asks: `GET ${SESSION}/turns/1/events?limit=1000`, headers: PAGE, gives: 200 },
  { asks: `GET ${SESSION}`, gives: 200 },
  { asks: `GET ${SESSION}/turns/1`, gives: 200 },
  { asks: `GET ${SESSION}/turns/1/answers/agent1.1`, gives: 200 },
  { asks: `POST ${SESSION}/turns`, body: { question: "And seven?" }, headers: STREAM, gives: 200 },
  { asks: `POST ${SESSION}/turns`, body: { question: "And eight?", parent_turn: 1 }, gives: 202 },
  { asks: `POST ${SESSION}/cancel`, gives: 200 },
  { asks: `GET ${SESSION}/events?limit=1000`, headers: PAGE, gives: 200 },
  { asks: "GET /api/sessions", gives: 200 },
  { asks: `DELETE ${SESSION}`, gives: 204 },
  {
    asks: "POST /api/runs",
    body: { question: QUESTION, config: { ...TEAM, ui: { display_type: "simple" } } },
    headers: STREAM,
    gives: 200,
  },
  {
    asks: "POST /api/runs",
    body: { question: QUESTION, config: FILES_TEAM },
    gives: 202,
    keeps: "session_id",
    as: "built",
  },
  { asks: `GET ${BUILT}/events`, gives: 200 },
  ...FILES_OF.flatMap((below) => [
    { asks: `GET ${BUILT}${below}/files`, gives: 200 },
    { asks: `GET ${BUILT}${below}/files/NOTES.md`, gives: 200 },
    { asks: `GET ${BUILT}${below}/archive.zip`, gives: 200 },
  ]),
  { asks: `PUT ${CONTEXT}`, body: { files: FILES }, gives: 202, keeps: "version", as: "version" },
  { asks: `PUT ${CONTEXT}/blobs/${HASHES[0]}?version={version}`, text: "one", gives: 200 },
  { asks: `PUT ${CONTEXT}/blobs?version={version}`, text: PACK, headers: TAR, gives: 200 },
  { asks: `PUT ${CONTEXT}`, body: { files: FILES }, gives: 201 },
  { asks: `PUT ${CONTEXT}`, body: { files: FILES }, gives: 200 },
  { asks: "GET /api/contexts", gives: 200 },
  { asks: `GET ${CONTEXT}?version={version}`, gives: 200 },
  { asks: `GET ${CONTEXT}/files/0.txt`, gives: 200 },
  { asks: `GET ${CONTEXT}/archive.zip`, gives: 200 },
  {
    asks: "POST /api/runs",
    body: { question: QUESTION, config: GIVEN_TEAM },
    gives: 202,
    keeps: "session_id",
    as: "given",
  },
  { asks: "GET /api/sessions/{given}/turns/1/events", gives: 200 },
  { asks: "GET /api/sessions/{given}/turns/1/changes", gives: 200 },
  { asks: `GET /api/sessions/{given}/turns/1/changes/blobs/${NEW}`, gives: 200 },
  { asks: `DELETE ${CONTEXT}`, gives: 204 },
  {
    asks: "POST /api/keys",
    body: { name: "ci", scopes: ["read"] },
    gives: 201,
    keeps: "id",
    as: "key",
  },
  { asks: "GET /api/keys", gives: 200 },
  { asks: "DELETE /api/keys/{key}", gives: 200 },
  { asks: "PUT /api/secrets/GITHUB_TOKEN", body: SECRET, gives: 201 },
  { asks: "GET /api/secrets", gives: 200 },
  { asks: "DELETE /api/secrets/GITHUB_TOKEN", gives: 204 },
  { asks: "GET /api/audit", gives: 200 },
  { asks: "GET /api/evals", gives: 200 },
  { asks: `POST ${EVALS}`, gives: 202, keeps: "id", as: "run" },
  { asks: `GET ${EVALS}`, gives: 200 },
  { asks: `GET ${EVALS}/{run}`, gives: 200 },
];

let document: Document;
const kept = new Map<string, string>();
const admin = await makeKey("life", { scopes: "admin" });

beforeAll(async () => {
  document = DocumentSchema.parse(await (await ask("/openapi.json")).json());
});

/** The response to a step. A run of an evaluation can be read a moment after it began. */
async function take({
  asks,
  body,
  text,
  headers = {},
  gives,
}: Step): Promise<{ method: string; path: string; response: Response }> {
  const [method = "", pattern = ""] = asks.split(" ");
  const path = pattern.replace(/\{(\w+)\}/, (_, name: string) => kept.get(name) ?? "");
  const all = {
    authorization: `Bearer ${admin.key}`,
    "content-type": "application/json",
    ...headers,
  };
  const init = {
    method,
    headers: all,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(text === undefined ? {} : { body: text }),
  };
  for (let tries = 1; ; tries += 1) {
    const response = await ask(path, init);
    if (response.status === gives || method !== "GET" || tries === 200)
      return { method, path, response };
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it.each(STEPS)("$asks returns $gives as the document says", async (step) => {
  const { method, path, response } = await take(step);
  expect([response.status, await undocumented(document, { method, path }, response)]).toEqual([
    step.gives,
    [],
  ]);
  const text = await response.text();
  if (step.keeps !== undefined) kept.set(step.as ?? "", String(JSON.parse(text)[step.keeps]));
});

it("no operation of the document is left out", () => {
  const asked = STEPS.map(({ asks }) => asks.split("?")[0] ?? "");
  const left = operationsOf(document).filter(({ name }) => {
    const pattern = new RegExp(`^${name.replace("{path}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return !asked.some((one) => pattern.test(one));
  });
  expect(left.map(({ name }) => name)).toEqual([]);
});
