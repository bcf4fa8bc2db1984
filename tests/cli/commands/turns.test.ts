import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runLinks } from "../../../src/protocol/paths";
import { SESSION } from "../../protocol/builders";
import { problem, Service, type ServiceOptions } from "../service";
import { runAt } from "./terminal";

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "tree-"));
});
afterEach(() => rm(cwd, { recursive: true }));

const TURNS = `/api/sessions/${SESSION}/turns?limit=1000`;
const HEAD = `/api/sessions/${SESSION}/head`;
const entry = (turn: number, parent: number | null) => ({
  ...{ turn, parent_turn: parent, status: "completed", question_preview: `Question ${turn}` },
  ...{ started_at: 1_800_000_000, ended_at: 1_800_000_012, cost_usd: 0.5, cost_usd_known: 0.5 },
});
const TREE = {
  ...{ object: "list", data: [entry(1, null), entry(2, 1), entry(3, 1)], first_id: 1, last_id: 3 },
  ...{ has_more: false, head: 2 },
};
const ANSWERS: NonNullable<ServiceOptions["answers"]> = {
  [TURNS]: { status: 200, body: TREE },
  [HEAD]: { status: 200, body: { session_id: SESSION, head: 1 } },
};

/** Links the folder to a context of a service. */
async function linkTo(server: string): Promise<void> {
  await mkdir(path.join(cwd, ".massgen-edge"));
  const note = { server, name: "site", version: "01m7y9056benq60tp4hq1b3dey" };
  await writeFile(path.join(cwd, ".massgen-edge", "context.json"), JSON.stringify(note));
}

const run = (service: Service, ...args: string[]) =>
  runAt({ cwd, keys: [] }, ...args, "--server", service.url);

describe("massgen-edge turns", () => {
  it("draws the tree and marks the head", async () => {
    await using service = await Service.start({ events: [], answers: ANSWERS });
    const { code, stdout, screen } = await run(service, "turns", SESSION);
    const lines = stdout.split("\n").map((line) => line.slice(0, 7).trimEnd());
    expect([code, lines, screen]).toEqual([0, ["  1", "* ├─ 2", "  3", ""], ""]);
  });

  it("--json prints the list", async () => {
    await using service = await Service.start({ events: [], answers: ANSWERS });
    const { stdout } = await run(service, "turns", SESSION, "--json");
    expect(JSON.parse(stdout)).toEqual(TREE);
  });

  it("means the last session by default", async () => {
    await using service = await Service.start({ events: [], answers: ANSWERS });
    await expect(run(service, "turns")).rejects.toThrow("knows no last session");
  });
});

describe("massgen-edge branch", () => {
  it("asks the question after the turn", async () => {
    const started = {
      session_id: SESSION,
      turn: 4,
      status: "running",
      links: runLinks(SESSION, 4),
    };
    const turns = `/api/sessions/${SESSION}/turns`;
    const answers = { [turns]: { status: 202, body: started } };
    await using service = await Service.start({ events: [], answers });
    const words = ["branch", "2", "Why", "not?", "--session", SESSION, "--detach", "--json"];
    expect(JSON.parse((await run(service, ...words)).stdout)).toEqual(started);
    expect(service.requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      [turns, { question: "Why not?", parent_turn: 2, on_busy: "queue" }],
    ]);
  });
});

describe("massgen-edge compact", () => {
  it("starts a turn that summarises, within its limits", async () => {
    const path = `/api/sessions/${SESSION}/compact`;
    const refused = problem(409, { code: "nothing_to_summarise", detail: "There is nothing." });
    await using service = await Service.start({ events: [], answers: { [path]: refused } });
    const words = ["compact", SESSION, "--max-cost", "0.2", "--max-tokens", "9000"];
    await expect(run(service, ...words)).rejects.toThrow("There is nothing.");
    expect(service.requests.map(({ method, body }) => [method, JSON.parse(body)])).toEqual([
      ["POST", { budget: { max_cost_usd: 0.2, max_tokens: 9_000 } }],
    ]);
  });
});

describe("massgen-edge continue-from", () => {
  const MOVED = "The next question follows turn 1. No file was changed.\n";
  const pull = (server: string) =>
    `pull    npm run ask -- pull . --session ${SESSION} --turn 1 --apply --server ${server}\n`;

  it.each([
    { name: "moves the head", linked: null, expected: () => MOVED },
    {
      name: "prints the command that moves the linked folder",
      linked: (server: string) => server,
      expected: (server: string) => MOVED + pull(server),
    },
    {
      name: "prints no command for a folder of another service",
      linked: () => "https://other.example",
      expected: () => MOVED,
    },
  ])("$name", async ({ linked, expected }) => {
    await using service = await Service.start({ events: [], answers: ANSWERS });
    if (linked) await linkTo(linked(service.url));
    const { code, screen } = await run(service, "continue-from", "1", SESSION);
    expect([code, screen]).toEqual([0, expected(service.url)]);
    expect(service.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", HEAD, '{"turn":1}'],
    ]);
  });

  it("--json prints the response", async () => {
    await using service = await Service.start({ events: [], answers: ANSWERS });
    const { stdout, screen } = await run(service, "continue-from", "1", SESSION, "--json");
    expect([JSON.parse(stdout), screen]).toEqual([{ session_id: SESSION, head: 1 }, ""]);
  });

  it("explains a refusal while a turn runs", async () => {
    const detail = "Turn 3 is running. Wait until it ends, or cancel it.";
    const refusal = problem(409, { title: "Turn running", code: "turn_running", detail });
    await using service = await Service.start({ events: [], answers: { [HEAD]: refusal } });
    await expect(run(service, "continue-from", "1", SESSION)).rejects.toThrow(detail);
  });

  it("refuses a text that is no turn", async () => {
    await using service = await Service.start({ events: [], answers: ANSWERS });
    await expect(run(service, "continue-from", "last")).rejects.toThrow();
    expect(service.requests).toEqual([]);
  });
});
