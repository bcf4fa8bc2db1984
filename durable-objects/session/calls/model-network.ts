import { connect } from "cloudflare:sockets";
import type { Env } from "../../../src/env";
import { modelNetwork, type NetworkOver } from "../../shared/outgoing";
import { OriginProbes } from "./origin-probes";

type NetworkEnv = Pick<Env, "ALLOWED_ORIGINS" | "SERVICE_ORIGINS" | "OPEN_ACCESS">;

/**
 * The network of model calls, and the probes of its guard. `probes` is `null` on Cloudflare's edge,
 * where the result of a probe has no meaning for `fetch` (see `OriginProbes`).
 */
export function probedNetwork(env: NetworkEnv): {
  networkOver: NetworkOver;
  probes: OriginProbes | null;
} {
  if (env.OPEN_ACCESS !== "loopback") return { networkOver: modelNetwork(env), probes: null };
  const probes = new OriginProbes(connect);
  const probe = (url: URL, signal: AbortSignal | null) => probes.reaches(url, signal);
  return { networkOver: modelNetwork(env, probe), probes };
}
