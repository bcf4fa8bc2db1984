import { Client } from "../../client/index";
import * as b from "../protocol/builders";

/** The events of a whole turn, and their frames. */
export const events = b.log(b.story);
export const frames = events.map(
  (event) =>
    `id: ${event.sequence_number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
);
export const START = { question: "Which sort is fastest?" };
export const PLACE = { session: b.SESSION, turn: 1 };

type RequestRecord = {
  method: string;
  path: string;
  lastEventId: string | null;
  key: string | null;
};

/**
 * A `fetch` whose connections send these frames, one after another; the last connection is
 * repeated.
 */
export function connections(...streams: (readonly string[])[]) {
  const requests: RequestRecord[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    requests.push({
      method: init?.method ?? "",
      path: new URL(String(url)).pathname,
      lastEventId: headers.get("last-event-id"),
      key: headers.get("idempotency-key"),
    });
    const stream = streams[Math.min(requests.length, streams.length) - 1] ?? [];
    const body = new Blob(["retry: 1\n\n", ...stream]).stream();
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  return { requests, client: new Client({ server: "https://edge.example", fetch }) };
}
