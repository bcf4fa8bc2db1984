import { beforeAll, describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { CLIENTS, type ClientFigures, playClients } from "./clients/campaign";
import { toClientReport } from "./clients/report";

/**
 * Misbehaving clients. They test these parts of robustness.md §3: SSE clients, concurrent turns,
 * cancels and resumes, and I16.
 */
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const HISTORIES = countOf("client_histories");

describe(`the real service withstands misbehaving clients (KILL_SEED=${SEED})`, () => {
  let figures: ClientFigures;
  beforeAll(async () => {
    figures = await playClients({
      seed: SEED,
      histories: HISTORIES,
      loudAgents: countOf("agents_of_the_largest_session"),
    });
    console.log(toClientReport(figures));
  }, 600_000);

  it.each([...CLIENTS.map(({ name }) => name), `${HISTORIES} histories`])("%s", (name) => {
    const scenes = figures.scenes.filter((scene) => scene.name.startsWith(name));
    expect(scenes).toHaveLength(1);
    expect(scenes.flatMap(({ problems }) => problems)).toEqual([]);
  });
});
