import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { worksOnFiles } from "../../simulated/providers/coding";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { ServiceProcess } from "../../simulated/service/service-process";
import { LOCAL } from "./support/local";
import { ServiceClient } from "./support/service-client";

/** JavaScript that a model writes: what the code can reach, and code that ends the process. */

const CANARY = "canary-key-of-the-operator-0123456789";
const ENDED_WITHIN_MS = 60_000;

/**
 * Uses memory until the runtime has none left. The code runs few steps, so a limit of steps does
 * not stop it.
 */
const BOMB = "const all = []; for (;;) all.push(new Array(30_000_000).fill(all.length));";

/** A server that counts its connections. */
let countingServer: { server: Server; url: string; connections: number };
let providers: SimulatedProviders;
let service: ServiceProcess;
let client: ServiceClient;

async function startCountingServer(): Promise<typeof countingServer> {
  const server = createServer((_, response) => void response.end("reached"));
  const counter = { server, url: "", connections: 0 };
  server.on("connection", () => (counter.connections += 1));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  counter.url = `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}/`;
  return counter;
}

/** Code that tries to reach this URL, and code that lists what it can access. */
const attempts = (url: string): readonly string[] => [
  `return (await fetch(${JSON.stringify(url)})).status`,
  `return (await Object.getPrototypeOf(globalThis).fetch.call(globalThis, ${JSON.stringify(url)})).status`,
  `const s = new WebSocket(${JSON.stringify(url.replace("http", "ws"))}); await new Promise((end) => s.onopen = s.onerror = end); return s.readyState`,
  `const s = new EventSource(${JSON.stringify(url)}); await new Promise((end) => s.onopen = s.onerror = end); return s.readyState`,
  "return JSON.stringify([typeof process, typeof require, typeof Buffer, Object.keys(globalThis), typeof Cloudflare === 'object' && Object.keys(Cloudflare)])",
];

beforeAll(async () => {
  countingServer = await startCountingServer();
  const code = (text: string): [string, Record<string, unknown>] => [
    "run_javascript",
    { code: text, timeout_ms: 5_000 },
  ];
  providers = await startSimulatedProviders({
    models: {
      computer: worksOnFiles({
        last: [
          ["write_file", { path: "n.txt", content: "6 7" }],
          [
            "run_javascript",
            { code: "const [a, b] = files['n.txt'].split(' '); return a * b", files: ["n.txt"] },
          ],
          code("console.log('begins'); for (;;);"),
        ],
        answer: "Computed.",
      }),
      burglar: worksOnFiles({ last: attempts(countingServer.url).map(code), answer: "Tried." }),
      bomber: worksOnFiles({
        last: [code(BOMB), code("return 'alive ' + 6 * 7")],
        answer: "Blown up.",
      }),
    },
  });
  const variables = { ...LOCAL, JAVASCRIPT: "on", OPENAI_API_KEY: CANARY };
  service = await ServiceProcess.prepare(variables, [], { loaders: ["LOADER"] });
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
  countingServer?.server.close();
});

const start = (model: string) =>
  client.start({
    baseUrl: providers.baseUrl,
    agents: [{ id: "a", model }],
    backend: { cwd: "work", enable_mcp_command_line: true },
    config: { timeout_settings: { orchestrator_timeout_seconds: 300 } },
  });
const answerOf = async (model: string): Promise<string> => {
  const { session_id: id } = await start(model);
  return (await client.ended(id, ENDED_WITHIN_MS)).answer ?? "";
};

describe("JavaScript that a model writes", () => {
  it("computes with the texts of files, and is stopped if it runs forever", async () => {
    const answer = await answerOf("computer");
    expect(answer).toContain("[returned]\n42");
    expect(answer).toContain("begins\n[The code was stopped: it");
  });

  it("reaches no server and finds no key", async () => {
    expect(await (await fetch(countingServer.url)).text()).toBe("reached");
    const before = countingServer.connections;
    const answer = await answerOf("burglar");
    expect(answer).toContain("There is no network here.");
    expect(answer).not.toContain("[returned]\n200");
    expect(answer).not.toContain(CANARY);
    expect(countingServer.connections).toBe(before);
  });

  it("is not run again if it ended the process; the outcome of its call is unknown, and the turn continues", async () => {
    const { session_id: id } = await start("bomber");
    let deaths = 0;
    // null until the first status was read: the process may end before
    let turn: Awaited<ReturnType<ServiceClient["turn"]>> | null = null;
    for (
      const giveUpAt = performance.now() + ENDED_WITHIN_MS;
      turn === null || turn.status === "running";
    ) {
      if (performance.now() > giveUpAt) throw new Error(`still running after ${deaths} deaths`);
      try {
        turn = await client.turn(id);
        await new Promise((resolve) => setTimeout(resolve, 100));
      } catch {
        await service.kill(); // ends the remaining processes
        await service.start();
        deaths += 1;
      }
    }
    expect(deaths).toBe(1);
    expect(turn.answer).toContain("The outcome is unknown");
    expect(turn.answer).toContain("[returned]\nalive 42");
    const ends = (await client.events(id)).flatMap(({ type }) =>
      /^tool\.(started|unknown|completed|interrupted)$/.test(type) ? [type] : [],
    );
    expect(ends).toEqual(["tool.started", "tool.unknown", "tool.started", "tool.completed"]);
  });
});
