import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rememberSession } from "../../../cli/credentials/last-session";
import { findSession } from "../../../cli/service/find-session";
import { Service } from "../service";

const [OLD, NEW, OTHER] = [
  "session_01m8cxjewb5nkpe8309nyyzkth",
  "session_01m8cxjewc5nkpe8309nyyzkth",
  "session_01m9aaaaaaaaaaaaaaaaaaaaaa",
];
/** The service's list: newest first, below `after`. */
const pageBelow = (after: string) => ({
  status: 200,
  body: {
    data: [OTHER, NEW, OLD]
      .filter((id) => id < after)
      .map((id) => ({ id, created_at: 1_800_000_000, question_preview: `Why ${id}?` })),
    has_more: false,
  },
});

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "home-"));
});
afterAll(() => rm(home, { recursive: true }));

async function found(name: string): Promise<{ id: string | null; requests: number; why: string }> {
  const full = (
    name.startsWith("session_") || "session_".startsWith(name) ? name : `session_${name}`
  )
    .trim()
    .toLowerCase();
  const after = full.padEnd(64, "z");
  await using service = await Service.start({
    events: [],
    answers: { [`/api/sessions?limit=6&after=${after}`]: pageBelow(after) },
  });
  await rememberSession(service.url, OLD, { home, cwd: "/site" });
  try {
    const id = await findSession(name, { server: service.url }, { home, cwd: "/site" });
    return { id, requests: service.requests.length, why: "" };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { id: null, requests: service.requests.length, why };
  }
}

describe("a session is found", () => {
  it.each([
    { by: "its whole id, without a request", name: NEW, id: NEW, requests: 0 },
    { by: "the beginning of its id", name: "session_01m8cxjewc", id: NEW, requests: 1 },
    { by: "the beginning without session_", name: "01m9", id: OTHER, requests: 1 },
    { by: "a beginning in capital letters", name: "01M9", id: OTHER, requests: 1 },
    { by: "the word last, without a request", name: "last", id: OLD, requests: 0 },
  ])("by $by", async ({ name, id, requests }) => {
    expect(await found(name)).toEqual({ id, requests, why: "" });
  });
});

describe("no session is found", () => {
  it("by a beginning that several ids have, and the message lists them", async () => {
    const { id, why } = await found("01m8");
    expect(id).toBeNull();
    expect(why).toContain("Several sessions begin with session_01m8. Write more of the id:\n");
    expect(why.match(/session_\w{26}/g)).toEqual([NEW, OLD]);
  });
  it("by session_ alone, which every id has", async () => {
    expect((await found("sess")).why.match(/session_\w{26}/g)).toEqual([OTHER, NEW, OLD]);
  });
  it("by the beginning of no id", async () => {
    expect((await found("01zz")).why).toContain("No session begins with session_01zz. To list");
  });
  it.each(["", "a b", "../x", "session_é"])(
    "by %j, which no id can be, without a request",
    async (name) => {
      expect(await found(name)).toMatchObject({ id: null, requests: 0 });
    },
  );
});
