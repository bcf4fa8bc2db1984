import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { TicketSchema } from "../../../src/protocol/api/keys";
import { sessionName } from "../../../src/tenancy/principal";
import { teamOf } from "../../durable-objects/session/session-client";
import { ask, askWith, keys, makeKey } from "../keyed-client";

const owner = await makeKey("acme");

async function startAndFollow(key = owner.key): Promise<string> {
  const body = { question: "What is six times seven?", config: teamOf(["quick", "plain"]) };
  const response = await askWith(key, "/api/runs", { method: "POST", body });
  if (response.status !== 202) throw new Error(await response.text());
  const { session_id } = await response.json<{ session_id: string }>();
  await (await askWith(key, `/api/sessions/${session_id}/turns/1/events`)).text();
  return session_id;
}

const requestTicket = (session: string, key = owner.key) =>
  askWith(key, `/api/sessions/${session}/tickets`, { method: "POST" });
const createTicket = async (session: string, key = owner.key) =>
  TicketSchema.parse(await (await requestTicket(session, key)).json()).ticket;
const openStream = (session: string, ticket: string, path = "/turns/1/events") =>
  ask(`/api/sessions/${session}${path}?ticket=${ticket}`);

const session = await startAndFollow();

describe("A7 a ticket", () => {
  it("opens one stream of its session without a header, and only once", async () => {
    const response = await requestTicket(session);
    expect(response.status).toBe(201);
    const { ticket, expires_at } = TicketSchema.parse(await response.json());
    expect(expires_at - Date.now() / 1000).toBeGreaterThan(55);
    const opened = await openStream(session, ticket);
    expect([opened.status, opened.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(await opened.text()).toContain("event: turn.completed");
    expect((await openStream(session, ticket)).status).toBe(401);
  });

  it("also opens the stream of the whole session", async () => {
    const opened = await openStream(session, await createTicket(session), "/events");
    expect(opened.status).toBe(200);
    await opened.body?.cancel();
  });

  it("opens only streams of its session, and only one of several concurrent requests", async () => {
    const second = await startAndFollow();
    expect((await openStream(second, await createTicket(session))).status).toBe(401);
    expect(
      (
        await ask(
          `https://massgen.example.com/api/sessions/${session}?ticket=${await createTicket(session)}`,
        )
      ).status,
    ).toBe(401);
    const ticket = await createTicket(session);
    const responses = await Promise.all([
      openStream(session, ticket),
      openStream(session, ticket),
      openStream(session, ticket),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    await Promise.all(responses.map(({ body }) => body?.cancel()));
  });

  it("opens no stream after a minute", async () => {
    const ticket = await createTicket(session);
    const stub = env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "acme", session)));
    await runInDurableObject(
      stub,
      (_, { storage }) =>
        void storage.sql.exec("UPDATE tickets SET expires_at = expires_at - 60000"),
    );
    expect((await openStream(session, ticket)).status).toBe(401);
  });

  it("opens no stream after the key that created it is revoked", async () => {
    const { key, id } = await makeKey("acme");
    const ticket = await createTicket(session, key);
    await keys.revoke("acme", id, Date.now());
    expect((await openStream(session, ticket)).status).toBe(401);
  });

  it.each(["", "x", "mgt_short_acme", `mgt_${"A".repeat(43)}_acme`, `mgt_${"A".repeat(43)}_other`])(
    "with the text `%s` is invalid",
    async (ticket) => {
      expect((await openStream(session, ticket)).status).toBe(401);
    },
  );

  it("cannot be created for a session of another tenant, or with a key without the scope run", async () => {
    const other = await makeKey("other");
    expect((await requestTicket(session, other.key)).status).toBe(404);
    const reader = await makeKey("acme", { scopes: "read" });
    expect((await requestTicket(session, reader.key)).status).toBe(403);
  });
});
