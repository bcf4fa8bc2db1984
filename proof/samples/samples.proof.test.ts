import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TOKEN_SECRET } from "../../local/bridge/plan";
import { ServiceProcess } from "../../simulated/service/service-process";
import { within } from "../../simulated/service/within";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { RunResponseSchema, type TurnResponse, TurnResponseSchema } from "../../src/protocol/api";
import type { WireEvent } from "../../src/protocol/events";
import { SessionFilesSchema } from "../../src/protocol/api/files";
import { runAt } from "../../tests/cli/commands/terminal";
import { PUSHED_AS, runnableSamples } from "../../tests/config/samples";
import { startEverything } from "../../tests/tools/mcp/everything";
import { startRecordingToolServer } from "../../simulated/tool-servers/recording-tool-server";
import { LOCAL } from "../../tests/e2e/support/local";
import { FINAL_ANSWER, PRESENTER_FILE, PUSHED_FILE, REPORT, usesEveryTool } from "./sample-models";
import {
  modelsOfSamples,
  type PreparedAgent,
  type PreparedSample,
  prepareSample,
} from "./sample-run";
import { Watcher } from "../../tests/e2e/support/watcher";

/**
 * Runs each of MassGen's sample configs that docs/reference/massgen-configs.md lists as running,
 * unchanged except for the addresses of models and tool servers. Local files that a config names
 * are pushed first.
 */

const RUNNABLE = (await runnableSamples()).map(({ file }) => file);
const TOKEN = "a-token-of-the-bridge-0123456789";
const ENDS_WITHIN_MS = 60_000;

let everythingServer: Awaited<ReturnType<typeof startEverything>>;
let tools: Awaited<ReturnType<typeof startRecordingToolServer>>;
let providers: SimulatedProviders;
let service: ServiceProcess;
let folder = "";

describe.skipIf(RUNNABLE.length === 0)(
  "MassGen's sample configs [needs ../shared/massgen-configs]",
  () => {
    beforeAll(async () => {
      everythingServer = await startEverything();
      tools = await startRecordingToolServer(everythingServer.url);
      providers = await startSimulatedProviders({
        models: modelsOfSamples(RUNNABLE, usesEveryTool),
      });
      service = await ServiceProcess.prepare({
        ...LOCAL,
        ALLOWED_TOOL_ORIGINS: new URL(tools.url).origin,
        TOOL_SECRETS: `${TOKEN_SECRET}=${new URL(tools.url).origin}`,
        [TOKEN_SECRET]: TOKEN,
      });
      await service.start();
      folder = await mkdtemp(path.join(tmpdir(), "sample-"));
      await writeFile(path.join(folder, PUSHED_FILE.path), PUSHED_FILE.content);
      await runAt({ cwd: folder }, "push", "--name", PUSHED_AS, "--server", service.url);
    });
    afterAll(async () => {
      await service?.stop();
      await Promise.all([providers?.close(), tools?.close(), everythingServer?.kill()]);
      await rm(folder, { recursive: true, force: true });
    });

    it("that run are those listed in docs/reference/massgen-configs.md", async () => {
      const page = await readFile("docs/reference/massgen-configs.md", "utf8");
      const listed = [...page.matchAll(/^\| `(.+)` \| runs\b/gm)].map(([, file]) => file);
      expect(RUNNABLE.toSorted()).toEqual(listed.toSorted());
    });

    it.each(RUNNABLE)("%s runs, uses all its tools, and answers", async (name) => {
      const sample = await prepareSample(name, { providers, toolsUrl: tools.url });
      const before = tools.received.length;
      const { turn, events } = await ask(sample);
      expect(turn, JSON.stringify(turn.error)).toMatchObject({
        status: "completed",
        answer: FINAL_ANSWER,
      });
      expect(sample.agents.map(({ id }) => id)).toContain(turn.winner);
      expect(
        events.filter(({ type }) => type === "call.failed" || type === "agent.failed"),
      ).toEqual([]);
      for (const agent of sample.agents) checkAgent(agent, sample, { turn, events });
      if (sample.agents.some(({ serverNames }) => serverNames.length > 0)) {
        const tokens = tools.received.slice(before).map(({ headers }) => headers["x-api-key"]);
        expect([...new Set(tokens)]).toEqual([TOKEN]); // the bridge requires this token
      }
      if (sample.agents.some(({ hasFiles }) => hasFiles))
        expect(await resultOf(turn)).toEqual({ [REPORT.path]: REPORT.content });
      if (sample.hasContext) {
        const pulled = await runAt(
          { cwd: folder },
          "pull",
          "--session",
          turn.session_id,
          "--dry-run",
          "--server",
          service.url,
        );
        expect(pulled.stdout).toBe(`write\t${PRESENTER_FILE.path}\n`);
      }
    });
  },
);

type Run = { turn: TurnResponse; events: WireEvent[] };

/** Starts the sample as any client would, and reads events until the stream ends. */
async function ask({ yaml, question }: PreparedSample): Promise<Run> {
  const { session_id: id, links } = RunResponseSchema.parse(
    await json("/api/runs", { question, config_yaml: yaml }),
  );
  const watcher = new Watcher(service.url + links.events);
  await within(ENDS_WITHIN_MS, `the end of ${id}`, watcher.ended);
  const events = watcher.frames.map(
    (frame): WireEvent => JSON.parse(/^data: (.*)$/m.exec(frame.toString())?.[1] ?? ""),
  );
  return { turn: TurnResponseSchema.parse(await json(links.turn)), events };
}

/** Checks that the agent's requests and events contain all that its config requires. */
function checkAgent(
  agent: PreparedAgent,
  { attachmentHashes }: PreparedSample,
  { turn, events }: Run,
): void {
  const agentRequests = providers
    .requests()
    .filter(({ headers }) => Object.values(headers).some((value) => value.endsWith(agent.key)));
  const [firstRequest] = agentRequests;
  const errors = agentRequests.flatMap(({ refusal, scriptError }) => refusal ?? scriptError ?? []);
  expect(errors).toEqual([]);
  expect(firstRequest, `${agent.id} was never called`).toMatchObject({ model: agent.model });
  expect(firstRequest?.asked.system).toContain(agent.systemMessage.trim());
  const sentHashes = firstRequest?.asked.attached.map((line) => line.split(" ").at(-1));
  expect(sentHashes).toEqual(attachmentHashes);
  const offeredTools = new Set(
    agentRequests.flatMap(({ asked }) => [
      ...asked.tools.map((tool) => tool.name),
      ...asked.hostedTools,
    ]),
  );
  expect([...offeredTools]).toEqual(expect.arrayContaining([...agent.tools, ...agent.hosted]));
  const usedTools = events.flatMap((event) =>
    event.type === "tool.completed" && event.agent === agent.id && event.outcome === "ok"
      ? [event.name]
      : [],
  );
  expect([...new Set(usedTools)].toSorted()).toEqual(agent.tools.toSorted());
  expect(Object.keys(turn.hosted_uses[agent.id] ?? {}).toSorted()).toEqual(agent.hosted.toSorted());
}

/** The files of a turn's result, by path. */
async function resultOf({ session_id, turn }: TurnResponse): Promise<Record<string, string>> {
  const files = `/api/sessions/${session_id}/turns/${turn}/files`;
  const { data } = SessionFilesSchema.parse(await json(files));
  const entries = data.map(
    async ({ path: file }) =>
      [file, await (await fetch(`${service.url}${files}/${file}`)).text()] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Returns the service's JSON response. Sends a POST request with `body`; if omitted, a GET. */
async function json(requestPath: string, body?: unknown): Promise<unknown> {
  const postRequest = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(service.url + requestPath, body === undefined ? {} : postRequest);
  const text = await response.text();
  if (!response.ok) throw new Error(`${requestPath} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
