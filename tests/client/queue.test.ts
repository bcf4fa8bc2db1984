import { describe, expect, it, vi } from "vitest";
import { Client, ClientError } from "../../client/index";

const PLACE = { session: "session_a", id: "queued_b" };
const QUEUE = { session_id: "session_a", held: null, waiting: null, data: [] };

/** A client whose service returns these responses in order, and the requests that it received. */
function serviceWith(...responses: readonly Response[]) {
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname } = new URL(String(url));
    requests.push(`${init?.method} ${pathname} ${init?.body ?? ""}`.trim());
    const response = responses[requests.length - 1];
    if (!response) throw new Error("no response is left");
    return response;
  };
  return { requests, client: new Client({ server: "https://edge.example", fetch }) };
}

const waiting = (position: number) => Response.json({ ...PLACE, position, turn: null });
const started = (turn: number) => Response.json({ ...PLACE, position: null, turn });

describe("the queue of a session", () => {
  it("is read, resumed, and loses requests", async () => {
    const { requests, client } = serviceWith(
      ...[Response.json(QUEUE), Response.json(QUEUE), new Response(null, { status: 204 })],
    );
    expect(await client.queue.get("session_a")).toEqual(QUEUE);
    expect(await client.queue.resume("session_a")).toEqual(QUEUE);
    await client.queue.remove(PLACE);
    expect(requests).toEqual([
      "GET /api/sessions/session_a/queue",
      "POST /api/sessions/session_a/queue/resume {}",
      "DELETE /api/sessions/session_a/queue/queued_b",
    ]);
  });

  it("is asked until a request has started", async () => {
    vi.useFakeTimers();
    const { requests, client } = serviceWith(waiting(2), waiting(1), waiting(1), started(7));
    const positions: number[] = [];
    const turn = client.queue.started(PLACE, { onWait: (position) => positions.push(position) });
    await vi.runAllTimersAsync();
    vi.useRealTimers();
    expect([await turn, positions, requests.length]).toEqual([7, [2, 1, 1], 4]);
  });

  it("says that a request was removed", async () => {
    const problem = { title: "queued not found", status: 404, code: "queued_not_found" };
    const { client } = serviceWith(Response.json(problem, { status: 404 }));
    const error = await client.queue.started(PLACE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ kind: "refused", code: "queued_not_found" });
  });

  it("is not asked again after an abort", async () => {
    const { requests, client } = serviceWith(waiting(1));
    const stop = new AbortController();
    const onWait = () => stop.abort(new Error("stopped"));
    await expect(client.queue.started(PLACE, { signal: stop.signal, onWait })).rejects.toThrow(
      "stopped",
    );
    expect(requests).toHaveLength(1);
  });
});

it("a busy session queues a request", async () => {
  const queued = {
    ...{ session_id: "session_a", status: "queued", queued: { id: "queued_b", position: 1 } },
    links: { session: "", queue: "", queued: "" },
  };
  const { requests, client } = serviceWith(Response.json(queued, { status: 202 }));
  const response = await client.turns.start("session_a", { question: "Why?", on_busy: "queue" });
  expect("queued" in response ? response.queued : null).toEqual({ id: "queued_b", position: 1 });
  expect(requests).toEqual([
    'POST /api/sessions/session_a/turns {"question":"Why?","on_busy":"queue"}',
  ]);
});
