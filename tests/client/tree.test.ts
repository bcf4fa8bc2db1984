import { describe, expect, it } from "vitest";
import { Client } from "../../client/index";

/** A client whose service returns these responses in order, and the requests that it received. */
function serviceWith(...responses: readonly object[]) {
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname, search } = new URL(String(url));
    requests.push(`${init?.method} ${pathname}${search} ${init?.body ?? ""}`.trim());
    return Response.json(responses[requests.length - 1]);
  };
  return { requests, client: new Client({ server: "https://edge.example", fetch }) };
}

const page = (numbers: readonly number[], head: number, hasMore: boolean) => ({
  object: "list",
  data: numbers.map((turn) => ({ turn })),
  first_id: numbers[0] ?? null,
  last_id: numbers.at(-1) ?? null,
  has_more: hasMore,
  head,
});
const TURNS = "GET /api/sessions/session_a/turns";

describe("the turns of a session", () => {
  it.each([
    { name: "one page", pages: [page([1, 2], 2, false)], after: [null] },
    {
      name: "several pages, with the head as of the last page",
      pages: [page([1], 1, true), page([2, 3], 1, true), page([4], 4, false)],
      after: [null, 1, 3],
    },
    {
      name: "a page that is empty although more turns were announced",
      pages: [page([1], 1, true), page([], 1, true)],
      after: [null, 1],
    },
  ])("are read from $name", async ({ pages, after }) => {
    const { requests, client } = serviceWith(...pages);
    const numbers = pages.flatMap(({ data }) => data.map(({ turn }) => turn));
    expect(await client.turns.list("session_a")).toEqual(
      page(numbers, pages.at(-1)?.head ?? 0, false),
    );
    expect(requests).toEqual(
      after.map((turn) => `${TURNS}?${turn === null ? "" : `after=${turn}&`}limit=1000`),
    );
  });
});

it("the head is moved to a turn", async () => {
  const { requests, client } = serviceWith({ session_id: "session_a", head: 2 });
  expect((await client.turns.moveHead("session_a", 2)).head).toBe(2);
  expect(requests).toEqual(['POST /api/sessions/session_a/head {"turn":2}']);
});

it("the conversation is summarised within the limits of the request", async () => {
  const { requests, client } = serviceWith({ session_id: "session_a", turn: 3 });
  const body = { budget: { max_tokens: 9_000 } };
  expect((await client.turns.compact("session_a", body)).turn).toBe(3);
  expect(requests).toEqual(['POST /api/sessions/session_a/compact {"budget":{"max_tokens":9000}}']);
});
