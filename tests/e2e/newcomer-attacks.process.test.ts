import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../simulated/service/loopback";
import { type Attack, ask, DEBUGGING, EXPLORING, rebinding, TRIGGERING } from "./support/attacks";
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

const DEV_VARS = `OPEN_ACCESS="loopback"\nOPENAI_API_KEY="${CANARY}"\n`;

describe.skipIf(process.platform !== "linux").each(NEWCOMER_SERVICES)(
  "$name",
  ({ name, start }) => {
    let attacked: Target;

    beforeAll(async () => {
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
    afterAll(() => attacked.newcomer.remove());

    /** Every attack on every port gets an error, or a page without data of the service. */
    async function expectNothing(attacks: readonly Attack[]): Promise<void> {
      const { newcomer, port } = attacked;
      const ports = newcomer.listeningPorts;
      expect(ports).toContain(port);
      for (const open of ports) {
        for (const attack of attacks) {
          const got = await ask(open, attack);
          const attackText = `${attack.method ?? "GET"} ${attack.path} at port ${open}: ${got.status} ${got.body.slice(0, 300)}`;
          expect(got.status, attackText).not.toBe(101);
          expect(got.status === 0 || got.status >= 400, attackText).toBe(true);
          expect(got.body, attackText).not.toMatch(
            /session_0|api_keys|webSocketDebuggerUrl|canary/i,
          );
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
