import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { Service } from "../service";
import { runAt } from "./terminal";

const cwd = tmpdir();
const session = (id: string) => ({ id, created_at: 1_800_000_000, question_preview: "Why?" });
const page = (ids: string[], has_more: boolean) => ({
  status: 200,
  body: { data: ids.map(session), has_more },
});
const [A, B, C] = ["session_a000000000", "session_b000000000", "session_c000000000"] as const;
const ids = (stdout: string) => stdout.match(/session_\w+/g);

describe("massgen-edge sessions", () => {
  it("prints on a terminal the command for the next page, with the same service and limit", async () => {
    await using service = await Service.start({
      events: [],
      answers: { "/api/sessions?limit=2": page([A, B], true) },
    });
    const result = await runAt(
      { cwd, keys: [] },
      "sessions",
      "--limit",
      "2",
      "--server",
      service.url,
    );
    expect(ids(result.stdout)).toEqual([A, B]);
    expect(result.screen).toBe(
      `More: npm run ask -- sessions --limit 2 --after ${B} --server ${service.url}\n`,
    );
  });

  it.each([
    { name: "to its end", last: page([C], false), all: [A, B, C] },
    {
      name: "up to a page without new sessions",
      last: page([B], true),
      all: [A, B, B],
    },
  ])("--all follows the list $name", async ({ last, all }) => {
    const answers = {
      "/api/sessions?limit=100": page([A, B], true),
      [`/api/sessions?limit=100&after=${B}`]: last,
    };
    await using service = await Service.start({ events: [], answers });
    const result = await runAt({ cwd }, "sessions", "--all", "--server", service.url);
    expect([result.code, ids(result.stdout), result.screen]).toEqual([0, all, ""]);
  });

  it("--all --json prints a line for each page", async () => {
    const answers = {
      "/api/sessions?limit=100": page([A], true),
      [`/api/sessions?limit=100&after=${A}`]: page([B], false),
    };
    await using service = await Service.start({ events: [], answers });
    const result = await runAt({ cwd }, "sessions", "--all", "--json", "--server", service.url);
    const lines = result.stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).data[0].id)).toEqual([A, B]);
  });
});

it("massgen-edge keys list reports an empty list", async () => {
  await using service = await Service.start({
    events: [],
    answers: { "/api/keys?limit=20": page([], false) },
  });
  const result = await runAt({ cwd }, "keys", "list", "--server", service.url);
  expect([result.code, result.stdout, result.screen]).toEqual([0, "", "No keys yet.\n"]);
});
