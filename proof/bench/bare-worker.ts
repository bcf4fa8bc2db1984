import { DurableObject } from "cloudflare:workers";
import { type LoopJob, runBareLoop } from "./bare-loop";
import type { BatchObject } from "./batches";
import type { RelayObject } from "./relay";

export { BatchObject } from "./batches";
export { RelayObject } from "./relay";

/** The least that a session must do before its first event: one new table and one row, on disk. */
export class RowObject extends DurableObject {
  override async fetch(): Promise<Response> {
    this.ctx.storage.sql.exec("CREATE TABLE rows (body TEXT NOT NULL)");
    this.ctx.storage.sql.exec("INSERT INTO rows (body) VALUES ('one')");
    return new Response("one row");
  }
}

type Env = {
  ROWS: DurableObjectNamespace<RowObject>;
  RELAYS: DurableObjectNamespace<RelayObject>;
  BATCHES: DurableObjectNamespace<BatchObject>;
};

/**
 * The Worker of the lower bounds. `POST /loop` runs the bare loop in this runtime. `POST /row`
 * creates an object that writes one row. `/relay/{name}` is sent to the relay of that name. `POST
 * /batches` creates an object that relays and stores the replies to its requests.
 */
// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/row") return env.ROWS.get(env.ROWS.newUniqueId()).fetch(request.url);
    if (pathname === "/batches") return env.BATCHES.get(env.BATCHES.newUniqueId()).fetch(request);
    if (pathname.startsWith("/relay/"))
      return env.RELAYS.get(env.RELAYS.idFromName(pathname)).fetch(request);
    const job: LoopJob = await request.json();
    return Response.json({ chunks: await runBareLoop(job) });
  },
} satisfies ExportedHandler<Env>;
