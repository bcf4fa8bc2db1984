import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import { worksOnFiles } from "../../simulated/providers/coding";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { type RunResponse, RunResponseSchema, TurnResponseSchema } from "../../src/protocol/api";
import { Ask } from "../cli/ask-process";
import { type RawServer, startRawServer } from "../../simulated/raw-server";
import { bearer, KEYED, newKey } from "./support/keyed";

/**
 * A tenant's secret, from the command line that sets it to the tool server that receives it, in the
 * real runtime.
 */
const CANARY = "tenant-canary-value-31d7aa";
const NEXT = "tenant-canary-next-9e02bc";
const [admin, runner, stranger] = [
  newKey("acme", "admin"),
  newKey("acme", "run"),
  newKey("others", "admin"),
];
let service: ServiceProcess;
let providers: SimulatedProviders;
let tools: RawServer;

beforeAll(async () => {
  const model = worksOnFiles({ last: [["look_up", {}]], answer: "It boils at 100 °C." });
  providers = await startSimulatedProviders({ models: { looker: model } });
  tools = await startRawServer();
  tools.answer((response, { headers }) => {
    // A server that repeats its credentials: the tenant's events must not contain them.
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ you_sent: headers }));
  });
  service = await ServiceProcess.prepare(
    { ...KEYED, ALLOWED_TOOL_ORIGINS: tools.origin },
    [admin, runner, stranger].map(({ statement }) => statement),
  );
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([providers?.close(), tools?.close()]);
});

const ask = (key: string, path: string, method = "GET", body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: { ...bearer(key), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const cli = async (args: string[], input = "") => {
  const ran = new Ask([...args, "--server", service.url], {
    input,
    env: { MASSGEN_EDGE_KEY: admin.key },
  });
  return { code: await ran.ended(), stdout: ran.stdout, stderr: ran.stderr };
};
const config = () => ({
  agents: [
    {
      id: "looker",
      backend: {
        ...{
          type: "chatcompletion",
          model: "looker",
          base_url: providers.baseUrl,
          api_key: "simulated",
        },
        custom_tools: [
          {
            name: "look_up",
            description: "Looks it up.",
            url: `${tools.origin}/v1/items`,
            headers: { authorization: "Bearer ${ITEMS_KEY}" },
          },
        ],
      },
    },
  ],
});
const start = (key: string) =>
  ask(key, "/api/runs", "POST", { question: "When does water boil?", config: config() });
const ended = async ({ session_id }: RunResponse, turn: number) => {
  await expect
    .poll(
      async () =>
        TurnResponseSchema.parse(
          await (await ask(runner.key, `/api/sessions/${session_id}/turns/${turn}`)).json(),
        ).status,
      { timeout: 60_000 },
    )
    .toBe("completed");
  return (await ask(runner.key, `/api/sessions/${session_id}/turns/${turn}/events`)).text();
};
const sent = () => tools.received.map(({ headers }) => headers.authorization);

describe("a tenant's secret", () => {
  it("is set through a pipe, reaches only the tool server, and ends with its deletion", {
    timeout: 180_000,
  }, async () => {
    expect((await start(runner.key)).status).toBe(422);
    const place = ["--origin", tools.origin, "--path", "/v1", "--method", "get"];
    const set = await cli(["secrets", "set", "ITEMS_KEY", ...place], `${CANARY}\n`);
    expect(set).toMatchObject({
      code: 0,
      stdout: `ITEMS_KEY is set. It is sent to GET ${tools.origin}/v1.\n`,
    });
    const listed = await cli(["secrets", "list"]);
    expect(listed.stdout).toContain("ITEMS_KEY");

    const run = RunResponseSchema.parse(await (await start(runner.key)).json());
    const events = await ended(run, 1);
    expect(events).toContain("you_sent");
    expect(new Set(sent())).toEqual(new Set([`Bearer ${CANARY}`]));
    expect((await start(stranger.key)).status).toBe(422);

    await cli(["secrets", "set", "ITEMS_KEY", ...place], NEXT);
    await ask(runner.key, `/api/sessions/${run.session_id}/turns`, "POST", {
      question: "And on a mountain?",
    });
    const later = await ended(run, 2);
    expect(sent().at(-1)).toBe(`Bearer ${NEXT}`);

    const before = sent().length;
    expect((await cli(["secrets", "delete", "ITEMS_KEY", "--yes"])).code).toBe(0);
    await ask(runner.key, `/api/sessions/${run.session_id}/turns`, "POST", {
      question: "And in a pot?",
    });
    const last = await ended(run, 3);
    expect(last).toContain("the service has no ITEMS_KEY");
    expect([sent().length, (await start(runner.key)).status]).toEqual([before, 422]);

    const outputs = [events, later, last, service.log, set.stdout, set.stderr, listed.stdout].join(
      "\n",
    );
    for (const secret of [CANARY, NEXT]) {
      for (const form of [secret, btoa(secret), encodeURIComponent(secret)])
        expect(outputs).not.toContain(form);
    }
    for (const { body } of providers.requests())
      expect(JSON.stringify(body)).not.toContain("tenant-canary");
  });
});
