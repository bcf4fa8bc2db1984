import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PRESENTATION } from "../../simulated/demo/texts";
import { freePort } from "../../simulated/service/loopback";
import { demos, healthy } from "./support/demo-run";

const { demo, scratch } = demos();

describe("npm run demo", () => {
  it("shows a run from start to end, prints the answer, and leaves nothing behind", async () => {
    const port = await freePort();
    const { output, ended } = demo("--once", "--port", `${port}`);
    const status = await ended;
    expect(output.stdout, output.stderr).toBe(`${PRESENTATION}\n`);
    expect(status).toBe(0);
    const story = [
      "sprinter votes for agent3.1:",
      "thinker answers: agent1.1",
      "new answer agent1.1: sprinter's vote no longer counts",
      "sprinter is shown agent1.1 and decides again",
      "sprinter answers: agent2.2",
      "judge's vote for agent3.1 ignored: agent1.1, agent2.2 arrived meanwhile",
      "judge is shown agent1.1, agent2.2",
      "judge votes for agent2.2:",
      "settled: agent2.2 wins, 3 of 3 votes, unanimous",
      "sprinter presents the final answer",
      "sprinter searched the web: PostgreSQL superuser_reserved_connections default",
      "PostgreSQL Documentation: Connections and Authentication",
    ];
    const places = story.map((line) => output.stderr.indexOf(line));
    expect(places, output.stderr).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(output.stderr.match(/ arrived meanwhile/g)).toHaveLength(1);
    expect(output.stderr).toMatch(/^cost +\$0\.0[1-9]/m);
    expect(output.stderr).toMatch(
      new RegExp(`^run +http://127\\.0\\.0\\.1:${port}/api/sessions/session_[0-9a-z]+$`, "m"),
    );
    expect(await healthy(port)).toBe(false);
    expect(readdirSync(scratch())).toEqual([]);
  });
});
