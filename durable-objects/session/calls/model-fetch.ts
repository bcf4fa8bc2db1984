import { connect } from "cloudflare:sockets";
import type { Env } from "../../../src/env";
import { OriginProbes } from "./origin-probes";
import { outgoingFetch } from "../../shared/outgoing";

/**
 * The `fetch` of model calls, and the probes it makes. On Cloudflare's edge a probe says nothing,
 * so there are none.
 */
export function modelFetch(env: Pick<Env, "ALLOWED_ORIGINS" | "SERVICE_ORIGINS" | "OPEN_ACCESS">): {
  fetch: typeof fetch;
  probes: OriginProbes | null;
} {
  if (env.OPEN_ACCESS !== "loopback") return { fetch: outgoingFetch(env), probes: null };
  const probes = new OriginProbes(connect);
  return { fetch: outgoingFetch(env, (url, signal) => probes.reaches(url, signal)), probes };
}
