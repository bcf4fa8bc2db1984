import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { keep, only, serve } from "./test-servers";
import { reply, text } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

/**
 * Only one large reply of all servers may be in memory at a time: from its second megabyte until
 * its result is stored.
 */

const LARGE = text("x".repeat(3_000_000));
const repliesLarge = only(({ response, message }) => reply(response, message.id, LARGE));
/** Long enough for a reply that does not have to wait. */
const A_WHILE_MS = 400;
const aWhile = () => new Promise((resolve) => setTimeout(resolve, A_WHILE_MS));

/** Two servers with one tool each. A call's result counts as stored after `storeResult`. */
async function twoServers(first = repliesLarge, second = repliesLarge, isRepeatable = false) {
  const [one, other] = [await serve(first), await serve(second)];
  const trust = isRepeatable
    ? [{ url: other.url, tool: "act", allows: "idempotent" as const }]
    : [];
  const servers = keep(
    await connected([server(one.url), server(other.url, { name: "other" })], { trust }),
  );
  const call = (name: "box" | "other") => {
    const releases: (() => void)[] = [];
    const abort = new AbortController();
    const state = { isDone: false };
    const onResultStored = (release: () => void) => void releases.push(release);
    const run = toolOf(servers, `mcp__${name}__act`).run(
      {},
      context({ signal: abort.signal, onResultStored }),
    );
    const ended = run.finally(() => {
      state.isDone = true;
    });
    ended.catch(() => undefined);
    return {
      ended,
      state,
      abort: () => abort.abort(new Error("aborted")),
      storeResult: () => releases.map((release) => release()),
    };
  };
  return { one, other, call };
}

describe("a large reply", () => {
  it("is not received before the result of the previous one is stored", async () => {
    const { other, call } = await twoServers();
    const first = call("box");
    expect((await first.ended).text).toHaveLength(3_000_000);
    const second = call("other");
    await expect.poll(() => other.messages("tools/call").length).toBe(1);
    await aWhile();
    expect(second.state.isDone).toBe(false);
    first.storeResult();
    expect((await second.ended).text).toHaveLength(3_000_000);
  });

  it("does not delay a small reply", async () => {
    const { call } = await twoServers(
      repliesLarge,
      only(({ response, message }) => reply(response, message.id, text("small"))),
    );
    await call("box").ended;
    expect((await call("other").ended).text).toBe("small");
  });

  it("that is not stored does not delay others after its call", async () => {
    const { one, call } = await twoServers();
    const servers = keep(await connected([server(one.url)]));
    const act = toolOf(servers, "mcp__box__act");
    await act.run({}, context());
    expect((await act.run({}, context())).text).toHaveLength(3_000_000);
    await call("other").ended;
  });

  it("that is aborted while it is received does not delay others", async () => {
    const startedReplies: ServerResponse[] = [];
    const incompleteReply = only(({ response }) => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .write(`{"jsonrpc":"2.0","x":"${"x".repeat(2_000_000)}`);
      startedReplies.push(response);
    });
    const { call } = await twoServers(incompleteReply);
    const first = call("box");
    await expect.poll(() => startedReplies.length).toBe(1);
    await aWhile();
    const second = call("other");
    await aWhile();
    expect(second.state.isDone).toBe(false);
    first.abort();
    await expect(first.ended).rejects.toThrow("aborted");
    expect((await second.ended).text).toHaveLength(3_000_000);
  });

  it("that is aborted while it waits does not delay others", async () => {
    const { other, call } = await twoServers();
    const first = call("box");
    await first.ended;
    const second = call("other");
    await expect.poll(() => other.messages("tools/call").length).toBe(1);
    await aWhile();
    second.abort();
    await expect(second.ended).rejects.toThrow("aborted");
    const third = call("other");
    await aWhile();
    expect(third.state.isDone).toBe(false);
    first.storeResult();
    expect((await third.ended).text).toHaveLength(3_000_000);
  });

  it("that breaks off does not delay the next try of its call", async () => {
    let tries = 0;
    const brokenReply = only(({ response, message }) => {
      tries += 1;
      if (tries > 1) return reply(response, message.id, LARGE);
      response.writeHead(200, { "content-type": "application/json" });
      response.write(
        `{"jsonrpc":"2.0","x":"${"x".repeat(2_000_000)}`,
        () => void setTimeout(() => response.destroy(), 200),
      );
    });
    const tools = [
      { name: "act", inputSchema: { type: "object" }, annotations: { idempotentHint: true } },
    ];
    const { call } = await twoServers(repliesLarge, { ...brokenReply, tools }, true);
    expect((await call("other").ended).text).toHaveLength(3_000_000);
    expect(tries).toBe(2);
  });
});
