import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import { worksOnFiles } from "../../simulated/providers/coding";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { type RunResponse, RunResponseSchema, TurnResponseSchema } from "../../src/protocol/api";
import { Ask } from "../cli/ask-process";
import { type RawServer, startRawServer } from "../../simulated/raw-server";
import { bearer, KEYED, newKey } from "./support/keyed";

/**
 * A tenant's secret in the real runtime, from the command that sets the secret to the tool server
 * that receives it.
 */

const CANARY = "tenant-canary-value-31d7aa";
const NEXT_CANARY = "tenant-canary-next-9e02bc";
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
    // The server repeats its credentials. The events of the run must not contain them.
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
/** Waits until the turn has completed. Returns its events. */
const eventsAtEnd = async ({ session_id }: RunResponse, turn: number) => {
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
/** The `Authorization` headers that the tool server received. */
const sentCredentials = () => tools.received.map(({ headers }) => headers.authorization);

describe("a tenant's secret", () => {
  it("is read from a pipe, is sent only to the tool server, and is no longer sent after its deletion", {
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
    const events = await eventsAtEnd(run, 1);
    expect(events).toContain("you_sent");
    expect(new Set(sentCredentials())).toEqual(new Set([`Bearer ${CANARY}`]));
    expect((await start(stranger.key)).status).toBe(422);

    await cli(["secrets", "set", "ITEMS_KEY", ...place], NEXT_CANARY);
    await ask(runner.key, `/api/sessions/${run.session_id}/turns`, "POST", {
      question: "And on a mountain?",
    });
    const later = await eventsAtEnd(run, 2);
    expect(sentCredentials().at(-1)).toBe(`Bearer ${NEXT_CANARY}`);

    const before = sentCredentials().length;
    expect((await cli(["secrets", "delete", "ITEMS_KEY", "--yes"])).code).toBe(0);
    await ask(runner.key, `/api/sessions/${run.session_id}/turns`, "POST", {
      question: "And in a pot?",
    });
    const last = await eventsAtEnd(run, 3);
    expect(last).toContain("the service has no ITEMS_KEY");
    expect([sentCredentials().length, (await start(runner.key)).status]).toEqual([before, 422]);

    const outputs = [events, later, last, service.log, set.stdout, set.stderr, listed.stdout].join(
      "\n",
    );
    for (const secret of [CANARY, NEXT_CANARY]) {
      for (const form of [secret, btoa(secret), encodeURIComponent(secret)])
        expect(outputs).not.toContain(form);
    }
    for (const { body } of providers.requests())
      expect(JSON.stringify(body)).not.toContain("tenant-canary");
  });
});
