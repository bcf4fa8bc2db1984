import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { worksOnFiles } from "../../simulated/providers/coding";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { freePort } from "../../simulated/service/loopback";
import { type Attack, ask, DEBUGGING, EXPLORING, rebinding, TRIGGERING } from "./support/attacks";
import { bestOf, healthDuring } from "./support/health-watch";
import { IdleServer } from "./support/idle-server";
import { Newcomer } from "./support/newcomer";
import { NEWCOMER_SERVICES } from "./support/newcomer-services";

/**
 * A web page or another program on the machine attacks `npm start` and `npm run demo` of a
 * newcomer. It attacks every TCP port of their processes. Only on Linux, the test can list these
 * ports.
 */

const CANARY = "sk-canary-0123456789abcdef";
const QUESTION = "Which canary sings in the coal mine?";

type Target = { newcomer: Newcomer; port: number };

const DEV_VARS = `OPEN_ACCESS="loopback"\nOPENAI_API_KEY="${CANARY}"\nALLOWED_ORIGINS="http://127.0.0.1:*"\n`;

/** The models of a program that attacks by what its agent does (H5). */
const MODELS = {
  greedy: worksOnFiles({
    last: [
      [
        "run_command",
        {
          command:
            'x=abbabaab; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do x=$x$x; done; for i in 1 2 3; do printf %s "$x"; done > f.txt',
        },
      ],
      ["grep", { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" }],
    ],
    answer: "Tried.",
  }),
};
const ANSWERS_WITHIN_MS = 250;
const TRIES = 3;
const ENDED_WITHIN_MS = 120_000;

describe.skipIf(process.platform !== "linux").each(NEWCOMER_SERVICES)(
  "$name",
  ({ name, start }) => {
    let attacked: Target;
    let providers: SimulatedProviders;
    let idle: IdleServer;

    beforeAll(async () => {
      providers = await startSimulatedProviders({ models: MODELS });
      idle = await IdleServer.start();
      const newcomer = new Newcomer();
      attacked = { newcomer, port: await freePort() };
      await start(newcomer, attacked.port, DEV_VARS);
      const body = JSON.stringify({ question: QUESTION, config: "one-provider" });
      // `npm start` needs a session with the question. The demo has its own session.
      if (name === "npm start") {
        const session = await ask(attacked.port, {
          method: "POST",
          path: "/api/runs",
          headers: { "content-type": "application/json" },
          body,
        });
        expect([session.status, session.body]).toEqual([202, expect.stringContaining("session_")]);
      }
    });
    afterAll(async () => {
      await attacked.newcomer.remove();
      await idle.stop();
      await providers.close();
    });

    const runRequest = (): Attack => ({
      method: "POST",
      path: "/api/runs",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        question: "Can you block the service?",
        config: {
          agents: [
            {
              id: "a",
              backend: {
                ...{ type: "chatcompletion", model: "greedy", base_url: providers.baseUrl },
                ...{ api_key: "k", cwd: "work", enable_mcp_command_line: true },
              },
            },
          ],
        },
      }),
    });

    /** The answer of a new run; throws if it does not end in time. */
    async function answerOf(port: number): Promise<string> {
      const started: { session_id: string } = JSON.parse((await ask(port, runRequest())).body);
      const path = `/api/sessions/${started.session_id}/turns/1`;
      const ended = async () => {
        const turn: { status: string; answer: string | null } = JSON.parse(
          (await ask(port, { path })).body,
        );
        expect(turn.status).not.toBe("running");
        return turn.answer ?? "";
      };
      return vi.waitFor(ended, { timeout: ENDED_WITHIN_MS, interval: 100 });
    }

    /** Every attack on every port gets an error, or a page without data of the service. */
    async function expectNothing(attacks: readonly Attack[]): Promise<void> {
      const { newcomer, port } = attacked;
      const ports = newcomer.listeningPorts;
      expect(ports).toContain(port);
      for (const open of ports) {
        for (const attack of attacks) {
          for (const host of ["127.0.0.1", "::1"] as const) {
            const got = await ask(open, attack, host);
            const attackText = `${attack.method ?? "GET"} ${attack.path} at ${host} port ${open}: ${got.status} ${got.body.slice(0, 300)}`;
            expect(got.status, attackText).not.toBe(101);
            expect(got.status === 0 || got.status >= 400, attackText).toBe(true);
            expect(got.body, attackText).not.toMatch(
              /session_0|api_keys|webSocketDebuggerUrl|canary/i,
            );
          }
        }
      }
    }

    it("opens only its own port and those of the simulated models", async () => {
      const { newcomer, port } = attacked;
      const others = newcomer.listeningPorts.filter((open) => open !== port);
      if (name === "npm start") expect(others).toEqual([]);
      for (const open of others) {
        expect((await ask(open, { path: "/healthz" })).status, `port ${open}`).not.toBe(200);
      }
    });

    it("rejects a request with a forged host or a foreign host name (H1)", () =>
      expectNothing(rebinding(attacked.port)));
    it("has no data explorer (H2)", () => expectNothing(EXPLORING));
    it("has no debugger (H3)", () => expectNothing(DEBUGGING));

    it("responds to others while an agent searches with a costly pattern, or runs no such agent (H5)", async () => {
      const { port, newcomer } = attacked;
      if (name === "npm run demo") {
        const refused = await ask(port, runRequest());
        expect([refused.status, refused.body]).toEqual([
          422,
          expect.stringContaining("ALLOWED_ORIGINS"),
        ]);
        return;
      }
      let answer = "";
      const pid = newcomer.workerdPid;
      expect(pid).not.toBeNull();
      const service = { url: `http://127.0.0.1:${port}`, pid };
      const wait = await bestOf(TRIES, ANSWERS_WITHIN_MS, () =>
        healthDuring({ service, idle }, async () => {
          answer = await answerOf(port);
        }),
      );
      expect(answer).toContain("pattern_too_costly");
      expect(wait.ownMs, JSON.stringify(wait)).toBeLessThan(ANSWERS_WITHIN_MS);
    });

    it("starts no scheduled work when a web page requests it (H4)", async () => {
      await expectNothing(TRIGGERING);
      const runs = await ask(attacked.port, { path: "/api/evals/smoke/runs" });
      expect([runs.status, JSON.parse(runs.body).data]).toEqual([200, []]);
    });

    it("answers its owner, prints no key, and does not store a key that a URL contains (L14)", async () => {
      const secret = "mge_01kb0000000000000000000000_SECRETINURLCANARY";
      await ask(attacked.port, { path: `/api/sessions/${secret}?api_key=${secret}` });
      expect((await ask(attacked.port, { path: "/api/sessions" })).body).toContain("session_");
      expect(attacked.newcomer.printed).not.toMatch(/SECRETINURL|sk-canary/);
      expect(attacked.newcomer.filesHolding("SECRETINURL")).toEqual([]);
    });
  },
);
