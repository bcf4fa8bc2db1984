import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { SESSION } from "../../protocol/builders";
import { problem, Service } from "../service";
import { runAt } from "./terminal";

const PATH = `/api/sessions/${SESSION}`;
const cwd = tmpdir();
const status = {
  meta: { question: "Which database?\x1b[2J", elapsed_seconds: 1 },
  turns: [
    { turn: 1, status: "completed" },
    { turn: 2, status: "running" },
  ],
};
const statusAnswer = { [PATH]: { status: 200, body: status } };
const methods = ({ requests }: Service) => requests.map(({ method, path }) => `${method} ${path}`);

describe("massgen-edge delete", () => {
  it("erases at once with --yes", async () => {
    await using service = await Service.start({
      events: [],
      answers: { [PATH]: { status: 204, body: "" } },
    });
    const result = await runAt({ cwd }, "delete", SESSION, "--yes", "--server", service.url);
    expect([result.code, result.stdout, methods(service)]).toEqual([
      0,
      expect.stringContaining(SESSION),
      [`DELETE ${PATH}`],
    ]);
  });

  it("does nothing without a terminal", async () => {
    await using service = await Service.start({ events: [], answers: statusAnswer });
    await expect(runAt({ cwd }, "delete", SESSION, "--server", service.url)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("--yes"),
    });
    expect(service.requests).toEqual([]);
  });

  it("shows the session, and erases it if the user answers yes", async () => {
    await using service = await Service.start({ events: [], answers: statusAnswer });
    const result = await runAt(
      { cwd, keys: [["No", "y"]] },
      "delete",
      SESSION,
      "--server",
      service.url,
    );
    const screenText = result.screen.replaceAll(/\n│\s+/g, "");
    for (const part of [SESSION, '"Which database?"', "2 turns", "running"])
      expect(screenText).toContain(part);
    expect([result.code, methods(service)]).toEqual([0, [`GET ${PATH}`, `DELETE ${PATH}`]]);
  });

  it.each([
    { name: "the answer no", press: "n" },
    { name: "only Enter", press: "\r" },
    { name: "Escape", press: "\x1b" },
  ])("keeps the session after $name", async ({ press }) => {
    await using service = await Service.start({ events: [], answers: statusAnswer });
    const run = runAt({ cwd, keys: [["No", press]] }, "delete", SESSION, "--server", service.url);
    await expect(run).rejects.toMatchObject({ exitCode: 4 });
    expect(methods(service)).toEqual([`GET ${PATH}`]);
  });

  it("reports an unknown session before it asks", async () => {
    const refusal = problem(404, { title: "No such session", code: "session_not_found" });
    await using service = await Service.start({ events: [], answers: { [PATH]: refusal } });
    const run = runAt({ cwd, keys: [] }, "delete", SESSION, "--server", service.url);
    await expect(run).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/\bid\b/),
    });
  });
});
