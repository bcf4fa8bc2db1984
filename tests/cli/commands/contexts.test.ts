import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { Service } from "../service";
import { runAt } from "./terminal";

const cwd = tmpdir();
const entry = (name: string) => ({
  name,
  version: "0".repeat(26),
  files: 3,
  bytes: 12,
  created_at: 1,
  links: { context: "", archive: "" },
});
const page = (names: string[], hasMore: boolean) => ({
  status: 200,
  body: {
    object: "list",
    data: names.map(entry),
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
    has_more: hasMore,
  },
});

describe("massgen-edge contexts", () => {
  it("lists all pages of contexts", async () => {
    await using service = await Service.start({
      events: [],
      answers: {
        "/api/contexts?limit=100": page(["blog", "site"], true),
        "/api/contexts?after=site&limit=100": page(["wiki"], false),
      },
    });
    const { code, stdout } = await runAt({ cwd }, "contexts", "list", "--server", service.url);
    expect([code, stdout.split("\n").map((line) => line.split("\t")[0])]).toEqual([
      0,
      ["blog", "site", "wiki", ""],
    ]);
  });

  const ERASED = { "/api/contexts/site": { status: 204, body: "" } };

  it("erases a context with --yes, or once the user confirms", async () => {
    await using service = await Service.start({ events: [], answers: ERASED });
    const server = ["--server", service.url];
    const confirmed = { cwd, keys: [["No", "y"]] as const };
    await runAt({ cwd }, "contexts", "delete", "site", "--yes", ...server);
    const { stdout } = await runAt(confirmed, "contexts", "delete", "site", ...server);
    expect(stdout).toBe("The context site is erased.\n");
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "DELETE /api/contexts/site",
      "DELETE /api/contexts/site",
    ]);
  });

  it("erases nothing without a terminal", async () => {
    await using service = await Service.start({ events: [], answers: ERASED });
    await expect(
      runAt({ cwd }, "contexts", "delete", "site", "--server", service.url),
    ).rejects.toThrow("Add --yes to erase the context.");
    expect(service.requests).toEqual([]);
  });
});
