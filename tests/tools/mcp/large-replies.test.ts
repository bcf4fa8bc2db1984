import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { keep, only, serve } from "./test-servers";
import { reply, text } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

/**
 * One large reply is in memory at a time, over all servers: from its second megabyte until its
 * result is stored.
 */

const LARGE = text("x".repeat(3_000_000));
const repliesLarge = only(({ response, message }) => reply(response, message.id, LARGE));
/** Long enough for a reply on this machine. */
const A_WHILE_MS = 400;
const aWhile = () => new Promise((resolve) => setTimeout(resolve, A_WHILE_MS));

/** Two servers with one tool each, and calls that store their results when a test says so. */
async function two(first = repliesLarge, second = repliesLarge, trusted = false) {
  const [one, other] = [await serve(first), await serve(second)];
  const trust = trusted ? [{ url: other.url, tool: "act", allows: "idempotent" as const }] : [];
  const servers = keep(
    await connected([server(one.url), server(other.url, { name: "other" })], { trust }),
  );
  const call = (name: "box" | "other") => {
    const releases: (() => void)[] = [];
    const abort = new AbortController();
    const seen = { isDone: false };
    const onResultStored = (release: () => void) => void releases.push(release);
    const run = toolOf(servers, `mcp__${name}__act`).run(
      {},
      context({ signal: abort.signal, onResultStored }),
    );
    const ended = run.finally(() => {
      seen.isDone = true;
    });
    ended.catch(() => undefined);
    return {
      ended,
      seen,
      abort: () => abort.abort(new Error("nobody waits")),
      storeResult: () => releases.map((release) => release()),
    };
  };
  return { one, other, call };
}

describe("a large reply", () => {
  it("is not received before the result of the previous one is stored", async () => {
    const { other, call } = await two();
    const first = call("box");
    expect((await first.ended).text).toHaveLength(3_000_000);
    const second = call("other");
    await expect.poll(() => other.messages("tools/call").length).toBe(1);
    await aWhile();
    expect(second.seen.isDone).toBe(false);
    first.storeResult();
    expect((await second.ended).text).toHaveLength(3_000_000);
  });

  it("does not delay a small one", async () => {
    const { call } = await two(
      repliesLarge,
      only(({ response, message }) => reply(response, message.id, text("small"))),
    );
    await call("box").ended;
    expect((await call("other").ended).text).toBe("small");
  });

  it("that is never stored delays no other", async () => {
    const { one, call } = await two();
    const servers = keep(await connected([server(one.url)]));
    const act = toolOf(servers, "mcp__box__act");
    await act.run({}, context());
    expect((await act.run({}, context())).text).toHaveLength(3_000_000);
    await call("other").ended;
  });

  it("that is aborted in the middle does not delay others", async () => {
    const begun: ServerResponse[] = [];
    const stalls = only(({ response }) => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .write(`{"jsonrpc":"2.0","x":"${"x".repeat(2_000_000)}`);
      begun.push(response);
    });
    const { call } = await two(stalls);
    const first = call("box");
    await expect.poll(() => begun.length).toBe(1);
    await aWhile();
    const second = call("other");
    await aWhile();
    expect(second.seen.isDone).toBe(false);
    first.abort();
    await expect(first.ended).rejects.toThrow("nobody waits");
    expect((await second.ended).text).toHaveLength(3_000_000);
  });

  it("that is aborted while it waits does not delay others", async () => {
    const { other, call } = await two();
    const first = call("box");
    await first.ended;
    const second = call("other");
    await expect.poll(() => other.messages("tools/call").length).toBe(1);
    await aWhile();
    second.abort();
    await expect(second.ended).rejects.toThrow("nobody waits");
    const third = call("other");
    await aWhile();
    expect(third.seen.isDone).toBe(false);
    first.storeResult();
    expect((await third.ended).text).toHaveLength(3_000_000);
  });

  it("that breaks off admits the next try, also its own", async () => {
    let tries = 0;
    const breaksOff = only(({ response, message }) => {
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
    const { call } = await two(repliesLarge, { ...breaksOff, tools }, true);
    expect((await call("other").ended).text).toHaveLength(3_000_000);
    expect(tries).toBe(2);
  });
});
