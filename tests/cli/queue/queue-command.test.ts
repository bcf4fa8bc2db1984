import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { problem, Service, type ServiceOptions } from "../service";
import { runAt } from "../commands/terminal";

const { SESSION } = b;
const cwd = mkdtempSync(path.join(tmpdir(), "queue-"));
const PATH = `/api/sessions/${SESSION}/queue`;
const entry = (position: number, question: string) => ({
  ...{ id: `queued_000000000${position}`, position, question_preview: question },
  ...{ attachments: 0, parent_turn: null, interrupts: false, created_at: 1_800_000_000 },
});
const queue = (members: object) => ({
  status: 200,
  body: { session_id: SESSION, held: null, waiting: null, data: [], ...members },
});
const HELD = { code: "turn_failed", message: "A turn failed. Resume the queue." };
const TWO = [entry(1, "And for strings?"), entry(2, "And\nfor maps?")];

const run = (service: Service, ...args: string[]) =>
  runAt({ cwd }, "queue", SESSION, ...args, "--server", service.url);
const start = (answers: NonNullable<ServiceOptions["answers"]>) =>
  Service.start({ events: [], answers });

describe("massgen-edge queue", () => {
  it.each([
    { name: "nothing", members: {}, lines: ["No question waits."] },
    {
      name: "the questions in order",
      members: { waiting: { code: "turn_running", message: "A turn is running." }, data: TWO },
      lines: ["queued  1  And for strings?", "queued  2  And for maps?"],
    },
    {
      name: "why a held queue starts nothing",
      members: { held: HELD, data: TWO.slice(0, 1) },
      lines: ["queued  1  And for strings?", "held     A turn failed. Resume the queue."],
    },
    {
      name: "for which limit the first question waits",
      members: {
        waiting: { code: "spend_exceeded", message: "The daily budget is exhausted." },
        data: TWO.slice(0, 1),
      },
      lines: ["queued  1  And for strings?", "waiting  The daily budget is exhausted."],
    },
  ])("shows $name", async ({ members, lines }) => {
    await using service = await start({ [PATH]: queue(members) });
    const { code, stdout } = await run(service);
    expect([code, stdout]).toEqual([0, `${lines.join("\n")}\n`]);
  });

  it("--resume resumes the queue", async () => {
    await using service = await start({ [`${PATH}/resume`]: queue({ data: TWO }) });
    const { stdout } = await run(service, "--resume");
    expect(stdout).toContain("queued  2");
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${PATH}/resume`,
    ]);
  });

  it("--remove removes the question at a position", async () => {
    const id = TWO[1]?.id ?? "";
    await using service = await start({
      ...{ [PATH]: queue({ data: TWO }), [`${PATH}/${id}`]: { status: 200, body: {} } },
    });
    const { screen } = await run(service, "--remove", "2");
    expect(screen).toContain("Removed: And for maps?");
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toContain(
      `DELETE ${PATH}/${id}`,
    );
  });

  it("says which positions there are", async () => {
    await using service = await start({ [PATH]: queue({ data: TWO }) });
    await expect(run(service, "--remove", "3")).rejects.toThrow("positions 1 to 2");
    await expect(run(service, "--remove", "1", "--resume")).rejects.toThrow("Use only one");
  });
});

const TURNS = `/api/sessions/${SESSION}/turns`;
const ID = "queued_0000000001";
const queuedResponse = {
  status: 202,
  body: {
    ...{ session_id: SESSION, status: "queued", queued: { id: ID, position: 1 } },
    links: { session: "", queue: "", queued: "" },
  },
};

describe("massgen-edge ask in a busy session", () => {
  const ask = (service: Service, ...args: string[]) =>
    runAt({ cwd }, "ask", "--session", SESSION, "Why?", ...args, "--server", service.url);

  it("says with --detach where the question waits", async () => {
    await using service = await start({ [TURNS]: queuedResponse });
    const { code, stdout } = await ask(service, "--detach", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([0, queuedResponse.body]);
    const [post] = service.requests.filter(({ method }) => method === "POST");
    expect(JSON.parse(post?.body ?? "")).toEqual({ question: "Why?", on_busy: "queue" });
  });

  it("ends if the queue is held, and says how to resume it", async () => {
    const first = { ...entry(1, "Why?"), id: ID };
    await using service = await start({
      ...{ [TURNS]: queuedResponse, [PATH]: queue({ held: HELD, data: [first] }) },
    });
    await expect(ask(service)).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringMatching(/A turn failed[\s\S]*queue session_\w+ --resume/),
    });
  });

  it("prints the commands that name the winning side if conflicts refused its turn", async () => {
    const events = b.log([b.created("anna"), b.turnStarted("anna"), b.refusedByConflicts]);
    const answers = {
      ...{ [TURNS]: queuedResponse, [PATH]: queue({}) },
      [`${PATH}/${ID}`]: { status: 200, body: { id: ID, position: null, turn: 1 } },
    };
    await using service = await Service.start({ events, answers });
    const { code, screen } = await ask(service, "--max-cost", "1");
    expect(code).toBe(2);
    const command = `npm run ask -- ask --session ${SESSION} --max-cost 1 'Why?' --conflicts`;
    expect(screen).toContain("Both changed a.txt.");
    expect(screen).toContain(`To keep the turn's files:  ${command} turn`);
    expect(screen).toContain(`To keep the pushed files:  ${command} upload`);
  });

  it("says if the question was removed meanwhile", async () => {
    await using service = await start({
      ...{ [TURNS]: queuedResponse, [PATH]: queue({}) },
      [`${PATH}/${ID}`]: problem(404, { title: "Not found", code: "queued_not_found" }),
    });
    await expect(ask(service)).rejects.toThrow("The question was removed from the queue.");
  });
});
