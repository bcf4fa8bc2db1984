import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../src/env";
import { SnapshotCosts } from "./snapshot-costs";

/**
 * A Worker that replaces the service. Its session object takes snapshots of a file tree and returns
 * the cost of each operation.
 */
export { RateGateObject } from "../../../durable-objects/rate-gate/rate-gate";
export { RelayObject } from "../../../durable-objects/relay/relay";
export { EvalRunObject, TenantObject } from "../../../src/worker";

/**
 * `POST /write?session=a&files=3` rewrites 3 files in the next turn of session `a`. `/snapshot`
 * takes a snapshot. `/copy` copies all files. `/puts?bytes=100&objects=2` only uploads 100 bytes in
 * 2 objects. `/tidy` removes contents that the next turn does not need.
 */
export class SessionObject extends DurableObject<Env> {
  #costs: SnapshotCosts | null = null;

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    this.#costs ??= new SnapshotCosts(
      this.ctx.storage,
      this.env.BUCKET,
      searchParams.get("session") ?? "",
    );
    const parameter = (name: string) => Number(searchParams.get(name));
    if (pathname === "/tidy") return Response.json(await this.#costs.tidy());
    if (pathname === "/write") return Response.json(await this.#costs.write(parameter("files")));
    if (pathname === "/puts")
      return Response.json(await this.#costs.puts(parameter("bytes"), parameter("objects")));
    return Response.json(
      await (pathname === "/copy" ? this.#costs.copy() : this.#costs.snapshot()),
    );
  }
}

type BenchEnv = { SESSIONS: DurableObjectNamespace<SessionObject> };

// biome-ignore lint/style/noDefaultExport: the runtime finds a Worker by its default export
export default {
  fetch(request, env) {
    const session = new URL(request.url).searchParams.get("session") ?? "";
    return env.SESSIONS.get(env.SESSIONS.idFromName(session)).fetch(request);
  },
} satisfies ExportedHandler<BenchEnv>;
