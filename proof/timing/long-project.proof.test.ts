import { afterAll, beforeAll, expect, it } from "vitest";
import { MemoryProbe } from "../faults/clients/memory";
import { CONTEXT_MODELS } from "../../simulated/providers/context-models";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { freePort } from "../../simulated/service/loopback";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { ContextUpload, TurnChanges } from "../../src/protocol/api/contexts";
import { hashOf } from "../../src/workspace/snapshot";
import { LOCAL, median } from "../../tests/e2e/support/local";
import { packTar } from "modern-tar";

/**
 * A long project in the real runtime: many turns on a context of 5,000 files. The last turns must
 * need no more time and memory than the first.
 */

const FILES = 5_000;
const TURNS = 30;
/** Turns at each end whose median is compared. */
const COMPARED = 5;

let service: ServiceProcess;
let providers: SimulatedProviders;
let inspectorPort = 0;

beforeAll(async () => {
  providers = await startSimulatedProviders({ models: CONTEXT_MODELS });
  inspectorPort = await freePort();
  service = await ServiceProcess.prepare(LOCAL, [], { inspectorPort });
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(service.url + path, init);
const json = async <T>(path: string, method: string, body: object): Promise<T> =>
  (
    await call(path, {
      ...{ method, body: JSON.stringify(body), headers: { "content-type": "application/json" } },
    })
  ).json() as Promise<T>;

async function push(): Promise<void> {
  const texts = Array.from({ length: FILES }, (_, nth) => `file ${nth}\n${"line\n".repeat(20)}`);
  const files = await Promise.all(
    texts.map(async (text, nth) => ({
      path: `src/part${nth % 50}/file${nth}.txt`,
      sha256: await hashOf(new TextEncoder().encode(text)),
      size: text.length,
    })),
  );
  const upload = await json<ContextUpload>("/api/contexts/site", "PUT", { files });
  for (let from = 0; from < FILES; from += 500) {
    const entries = texts.slice(from, from + 500).map((body, at) => ({
      header: { name: files[from + at]?.sha256 ?? "", size: body.length },
      body,
    }));
    const tar = await packTar(entries);
    const headers = { "content-type": "application/x-tar" };
    await call(upload.links.blobs, { method: "PUT", headers, body: new Uint8Array(tar) });
  }
  const { status } = await json<ContextUpload>("/api/contexts/site", "PUT", { files });
  expect(status).toBe("committed");
}

type Run = { session_id: string; turn: number };
type Tool = { type: string; name?: string; tool_call?: string; at: number };
type Figures = { turnMs: number; commandMs: number; heap: number };

/** Plays a turn that edits two files and runs a command over all files. */
async function play(
  session: string | null,
  turn: number,
  probe: MemoryProbe,
): Promise<Figures & Run> {
  const question = `write src/part1/file1.txt turn ${turn}\nwrite notes/turn${turn}.txt ${turn}\nrun grep -rl "file 4" /contexts/site/src | wc -l`;
  const config = {
    agents: [
      {
        id: "a",
        backend: {
          ...{ type: "chatcompletion", model: "dutiful", base_url: providers.baseUrl },
          ...{ api_key: "caller-key", enable_mcp_command_line: true },
        },
      },
    ],
  };
  const contexts = [{ name: "site", permission: "write" }];
  const startedAt = performance.now();
  const run =
    session === null
      ? await json<Run>("/api/runs", "POST", { question, config, contexts })
      : await json<Run>(`/api/sessions/${session}/turns`, "POST", { question });
  await (await call(`/api/sessions/${run.session_id}/turns/${run.turn}/events`)).text();
  const turnMs = performance.now() - startedAt;
  const page = await call(
    `/api/sessions/${run.session_id}/turns/${run.turn}/events?limit=1000&detail=summary`,
    { headers: { accept: "application/json" } },
  );
  const { data } = (await page.json()) as { data: Tool[] };
  const started = data.find(({ type, name }) => type === "tool.started" && name === "run_command");
  const ended = data.find(
    ({ type, tool_call }) => type === "tool.completed" && tool_call === started?.tool_call,
  );
  expect(data.at(-1)?.type).toBe("turn.completed");
  const heap = (await probe.live()) ?? Number.NaN;
  return { ...run, turnMs, commandMs: (ended?.at ?? 0) - (started?.at ?? 0), heap };
}

it("needs as much time and memory in turn 30 as in turn 1", { timeout: 300_000 }, async () => {
  await push();
  const probe = await MemoryProbe.connect(inspectorPort, service.pid ?? 0);
  const turns: (Figures & Run)[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1)
    turns.push(await play(turns[0]?.session_id ?? null, turn, probe));
  const last = turns.at(-1);
  const changes = await (
    await call(`/api/sessions/${last?.session_id}/turns/${last?.turn}/changes`)
  ).json();
  expect((changes as TurnChanges).data[0]?.changes.length).toBe(TURNS + 1);
  const of = (name: keyof Figures, from: number) =>
    median(turns.slice(from, from + COMPARED).map((figures) => figures[name]));
  const [first, late] = [1, TURNS - COMPARED];
  console.log(
    `turn ${of("turnMs", first).toFixed(0)} ms, later ${of("turnMs", late).toFixed(0)} ms; command ${of("commandMs", first)} ms, later ${of("commandMs", late)} ms; heap ${(of("heap", first) / 1e6).toFixed(1)} MB, later ${(of("heap", late) / 1e6).toFixed(1)} MB`,
  );
  expect(of("commandMs", late)).toBeLessThan(2 * of("commandMs", first) + 200);
  expect(of("turnMs", late)).toBeLessThan(2 * of("turnMs", first) + 500);
  expect(of("heap", late) - of("heap", first)).toBeLessThan(10_000_000);
});
