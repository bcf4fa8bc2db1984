import { createServer } from "node:http";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { transferJson } from "../../../cli/contexts/transfer";

let stop = () => {};
afterEach(() => stop());

/** A service that returns these responses to uploads in order, and the requests it received. */
async function serving(answers: readonly { status: number; retryAfter?: string; body: object }[]) {
  const sent: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const { status, retryAfter, body: answer } = answers[sent.length] ?? { status: 500, body: {} };
    sent.push(body);
    response.writeHead(status, {
      "content-type": "application/json",
      ...(retryAfter ? { "retry-after": retryAfter } : {}),
    });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stop = () => void server.close().closeAllConnections();
  const address = server.address();
  return { sent, server: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` };
}

const busy = { title: "uploads busy", status: 503, detail: "Send it again.", code: "uploads_busy" };
const stored = { status: 200, body: { stored: 1 } };
const call = {
  method: "PUT",
  path: "/api/contexts/site/blobs",
  body: { type: "application/x-tar", bytes: "a tar" },
} as const;
const schema = z.object({ stored: z.number() });

it("blobs that the busy service refuses are sent again, as often as it asks", async () => {
  const full = { status: 503, retryAfter: "1", body: busy };
  const { server, sent } = await serving([full, full, stored]);
  expect(await transferJson(call, schema, { server })).toEqual({ stored: 1 });
  expect(sent).toEqual(["a tar", "a tar", "a tar"]);
});

it("blobs are not sent again if the service asks for a long wait, and the reason is reported", async () => {
  const { server, sent } = await serving([{ status: 503, retryAfter: "3600", body: busy }, stored]);
  await expect(transferJson(call, schema, { server })).rejects.toThrow("Send it again.");
  expect(sent).toHaveLength(1);
});
